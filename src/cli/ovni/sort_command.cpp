// fathom sort: repairs the order of events in an ovni trace, or checks it.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>

#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "cli/commands.hpp"
#include "cli/session.hpp"
#include "formats/ovni/sort.hpp"
#include "formats/ovni/trace_writer.hpp"
#include "io/output_file.hpp"
#include "io/output_set.hpp"

namespace fathom::cli {

namespace {

class SortCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("TRACE", trace_, "the directory of an ovni trace")
        .value("-n", "N", &window_, "events to look back at (1000000)")
        .value("-o,--output", "OUT", &target_, "write a new trace instead of replacing the streams that change")
        .flag("--check", check_, "only say whether every stream is in order (exit status 1 when one is not)")
        .about(
            "Events that come late, as those of the kernel do, lie in regions between OU[ and OU]. They are moved to "
            "where their clocks belong. A stream is replaced as a whole or not at all.")
        .example("fathom sort ovni/ -o sorted/", "a sorted copy")
        .example("fathom sort --check ovni/", "does it need sorting?");
  }

  Result<int> run(Session& session) override {
    std::error_code status;
    if (!std::filesystem::exists(trace_, status)) return Error("does not exist", Place::in(trace_));
    auto native = ovni::open_native(trace_, session.work());
    if (!native.ok()) return std::move(native).error().as(ErrorKind::refused);
    if (!native->unusable.empty()) return std::move(native->unusable.front()).as(ErrorKind::refused);
    return check_ ? check(session, *native) : repair(session, *native);
  }

 private:
  static Result<int> check(Session& session, const ovni::NativeTrace& trace) {
    std::vector<std::optional<Error>> found(trace.streams.size());
    FATHOM_CHECK(parallel_for(trace.streams.size(), [&](std::size_t i) -> Result<void> {
      found[i] = ovni::find_disorder(trace.streams[i]);
      return {};
    }));
    bool sorted = true;
    for (const auto& error : found) {
      if (!error) continue;
      sorted = false;
      session.show_error(*error);
    }
    return sorted ? kDone : kRefused;
  }

  Result<int> repair(Session& session, const ovni::NativeTrace& trace) const {
    if (window_ < 2) return Error::usage("-n must be at least 2");
    Progress progress("sorting", trace.streams.size());
    std::size_t changed = 0;
    if (target_.empty()) {
      FATHOM_TRY(changed, replace_streams(session, trace, progress));
    } else {
      const auto write = [&](const ovni::Stream& stream, const std::filesystem::path& target) -> Result<void> {
        FATHOM_TRY(OutputFile file, OutputFile::create(target));
        FATHOM_TRY(const bool moved, sort_into(session, stream, [&](Bytes bytes) -> Result<void> {
                     file.write(bytes);
                     return {};
                   }));
        if (!moved) file.write(stream.blob.bytes());
        changed += moved ? 1 : 0;
        progress.advance();
        return file.commit();
      };
      FATHOM_CHECK(
          ovni::write_trace(trace, target_, trace.layout, session.work(), session.work()->options.flag(kForce), write));
    }
    session.note(fmt::format("{} of {} streams changed", changed, trace.streams.size()));
    return kDone;
  }

  // Streams that are replaced: a set in the directory of the trace, which no number of open files limits.
  class Replacement {
   public:
    explicit Replacement(const std::filesystem::path& root) {
      std::error_code unknown;
      root_ = std::filesystem::canonical(root.empty() ? "." : root, unknown);
    }

    // MT: safe.
    Result<OutputFile> create(const std::filesystem::path& stream, bool& alone) {
      std::error_code unknown;
      const std::filesystem::path real = std::filesystem::canonical(stream, unknown);
      const std::filesystem::path inside = real.lexically_relative(root_);
      alone = inside.empty() || *inside.begin() == ".." || device(real) != device(root_);
      if (alone) return OutputFile::create(stream);
      if (access(real.c_str(), W_OK) != 0) {
        return Error(fmt::format("cannot write: {}", std::strerror(errno)), Place::in(stream.string()));
      }
      {
        const std::scoped_lock lock(mutex_);
        if (!set_) {
          FATHOM_TRY(OutputSet set, OutputSet::beside(root_ / "streams", {}));
          set_.emplace(std::move(set));
        }
      }
      const std::filesystem::path target = set_->path() / inside;
      std::filesystem::create_directories(target.parent_path(), unknown);
      return OutputFile::create(target);
    }
    Result<void> commit() {
      if (set_) FATHOM_CHECK(set_->commit());
      return {};
    }

   private:
    static std::optional<dev_t> device(const std::filesystem::path& path) {
      struct stat about {};
      return stat(path.c_str(), &about) == 0 ? std::optional(about.st_dev) : std::nullopt;
    }

    std::filesystem::path root_;
    std::mutex mutex_;
    std::optional<OutputSet> set_;
  };

  // The streams that change take their places together; until then they wait on the disk, not in memory. Those that lie
  // outside of the trace, where links lead, come after them.
  Result<std::size_t> replace_streams(Session& session, const ovni::NativeTrace& trace, Progress& progress) const {
    Replacement replacement(trace.root);
    std::vector<std::optional<OutputFile>> outside(trace.streams.size());
    std::atomic<std::size_t> changed = 0;
    FATHOM_CHECK(parallel_for(trace.streams.size(), [&](std::size_t i) -> Result<void> {
      std::optional<OutputFile> out;
      bool alone = false;
      const auto sink = [&](Bytes bytes) -> Result<void> {
        if (!out) {
          FATHOM_TRY(OutputFile file, replacement.create(trace.streams[i].file, alone));
          out.emplace(std::move(file));
        }
        out->write(bytes);
        return {};
      };
      FATHOM_TRY(const bool moved, sort_into(session, trace.streams[i], sink));
      progress.advance();
      if (!moved) return {};
      ++changed;
      if (!alone) return out->commit();
      outside[i].emplace(std::move(*out));
      return outside[i]->finish();
    }));
    FATHOM_CHECK(replacement.commit());
    for (auto& file : outside) {
      if (file) FATHOM_CHECK(file->commit());
    }
    return changed.load();
  }

  Result<bool> sort_into(Session& session, const ovni::Stream& stream, const ovni::SortedBytes& sink) const {
    FATHOM_TRY(const ovni::SortResult result, ovni::sort_stream(stream, window_, sink, session.work()));
    if (result.empty_regions > 0) {
      session.work()->diagnostics.info("ovni.empty_region", stream.blob.place(),
                                       fmt::format("stream {} has {} empty region{}", stream.path, result.empty_regions,
                                                   result.empty_regions == 1 ? "" : "s"));
    }
    return result.changed;
  }

  std::string trace_;
  std::string target_;
  std::uint64_t window_ = ovni::kSortWindow;
  bool check_ = false;
};

}  // namespace

std::unique_ptr<Command> make_sort_command() { return std::make_unique<SortCommand>(); }

}  // namespace fathom::cli
