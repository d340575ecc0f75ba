// fathom sort: repairs the order of events in an ovni trace, or checks it.
#include <fmt/format.h>

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

  Result<int> repair(Session& session, ovni::NativeTrace& trace) const {
    if (window_ < 2) return Error::usage("-n must be at least 2");
    std::vector<ovni::SortResult> results(trace.streams.size());
    Progress progress("sorting", trace.streams.size());
    auto sorted = parallel_for(trace.streams.size(), [&](std::size_t i) -> Result<void> {
      auto result = ovni::sort_stream(trace.streams[i], window_);
      if (!result.ok()) return std::move(result).error();
      results[i] = std::move(*result);
      progress.advance();
      return {};
    });
    if (!sorted.ok()) return std::move(sorted).error();
    std::size_t changed = 0;
    std::vector<OutputFile> files;  // the streams that change take their places together
    for (std::size_t i = 0; i < results.size(); ++i) {
      ovni::Stream& stream = trace.streams[i];
      if (results[i].empty_regions > 0) {
        session.work()->diagnostics.info(
            "ovni.empty_region", stream.blob.place(),
            fmt::format("stream {} has {} empty regions", stream.path, results[i].empty_regions));
      }
      if (results[i].patches.empty()) continue;
      ++changed;
      if (target_.empty()) {
        FATHOM_TRY(OutputFile file, OutputFile::create(stream.file));
        ovni::patched(stream, results[i].patches, [&](Bytes bytes) { file.write(bytes); });
        FATHOM_CHECK(file.finish());
        files.push_back(std::move(file));
      } else {
        std::string whole;
        whole.reserve(stream.blob.size());
        ovni::patched(stream, results[i].patches, [&](Bytes bytes) { whole += as_text(bytes); });
        stream.blob = ovni::StreamBytes(Blob::own(stream.file.string(), std::move(whole)));
      }
    }
    for (OutputFile& file : files) FATHOM_CHECK(file.commit());
    if (!target_.empty())
      FATHOM_CHECK(
          ovni::write_trace(trace, target_, trace.layout, session.work(), session.work()->options.flag(kForce)));
    session.note(fmt::format("{} of {} streams changed", changed, trace.streams.size()));
    return kDone;
  }

  std::string trace_;
  std::string target_;
  std::uint64_t window_ = ovni::kSortWindow;
  bool check_ = false;
};

}  // namespace

std::unique_ptr<Command> make_sort_command() { return std::make_unique<SortCommand>(); }

}  // namespace fathom::cli
