// fathom sync: tables of clock offsets, computed from samples or checked against a trace.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/session.hpp"
#include "formats/ovni/clock_offsets.hpp"
#include "io/file.hpp"
#include "io/output_file.hpp"

namespace fathom::cli {

namespace {

class SyncCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("PATH", path_, "a text file of samples, or an ovni trace whose table is to be checked")
        .value("-o,--output", "FILE", &target_, "where the table goes; without it, to standard output")
        .value("-c,--clock-offsets", "FILE", &table_, "with a trace: this table instead of its clock-offsets.txt")
        .about(
            "Samples are lines of rank, host name and clock in nanoseconds, taken at the same moments on all ranks. "
            "The "
            "table says what has to be added to the clocks of each host to bring them to those of the lowest rank.")
        .example("fathom sync samples.txt -o ovni/clock-offsets.txt", "make the table of a trace")
        .example("fathom sync ovni/", "check the table of a trace and show what is added to each stream");
  }

  Result<int> run(Session& session) override {
    std::error_code status;
    if (std::filesystem::is_directory(path_, status)) return check(session);
    FATHOM_TRY(const Blob samples, open_file(path_, session.work()));
    FATHOM_TRY(const auto offsets, ovni::offsets_from_samples(samples));
    const std::string text = ovni::offsets_text(offsets);
    if (target_.empty()) {
      session.out().write(text);
    } else {
      FATHOM_CHECK(write_file(target_, text));
    }
    return kDone;
  }

 private:
  Result<int> check(Session& session) const {
    auto native = ovni::open_native(path_, session.work());
    if (!native.ok()) return std::move(native).error();
    const std::filesystem::path file =
        table_.empty() ? native->root / "clock-offsets.txt" : std::filesystem::path(table_);
    FATHOM_TRY(const Blob blob, map_file(file));
    auto offsets = ovni::read_offsets(blob);
    if (!offsets.ok()) return std::move(offsets).error().as(ErrorKind::refused);
    auto applied = ovni::stream_offsets(*native, *offsets, blob.place());
    if (!applied.ok()) return std::move(applied).error().as(ErrorKind::refused);
    for (std::size_t i = 0; i < native->streams.size(); ++i) {
      session.out().write(fmt::format("{:>20}  {}\n", (*applied)[i], native->streams[i].path));
    }
    return kDone;
  }

  std::string path_;
  std::string target_;
  std::string table_;
};

}  // namespace

std::unique_ptr<Command> make_sync_command() { return std::make_unique<SyncCommand>(); }

}  // namespace fathom::cli
