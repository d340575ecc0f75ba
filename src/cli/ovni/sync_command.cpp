// fathom sync: tables of clock offsets, computed from samples or checked against a trace.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/record/mpi_recorders.hpp"
#include "cli/run_command.hpp"
#include "cli/session.hpp"
#include "formats/ovni/clock_offsets.hpp"
#include "io/file.hpp"
#include "io/opened_files.hpp"
#include "io/output_file.hpp"

namespace fathom::cli {

namespace {

class SyncCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("PATH", words_, "a text file of samples, or an ovni trace whose table is to be checked", false)
        .flag("--sample", sample_, "take the samples now: the words behind -- start a program on every node")
        .value("-n,--samples", "N", &samples_, "with --sample: how many (100)")
        .choice("--mpi", library_, {"openmpi", "mpich"}, "with --sample: the MPI library, where it cannot be found out")
        .value("-o,--output", "FILE", &target_, "where the table goes; without it, to standard output")
        .value("-c,--clock-offsets", "FILE", &table_, "with a trace: this table instead of its clock-offsets.txt")
        .about(
            "Samples are lines of rank, host name and clock in nanoseconds, taken at the same moments on all ranks. "
            "The "
            "table says what has to be added to the clocks of each host to bring them to those of the lowest rank.")
        .example("fathom sync samples.txt -o ovni/clock-offsets.txt", "make the table of a trace")
        .example("fathom sync --sample -o ovni/clock-offsets.txt -- srun --ntasks-per-node=1",
                 "take samples and make it")
        .example("fathom sync ovni/", "check the table of a trace and show what is added to each stream");
  }

  Result<int> run(Session& session) override {
    if (sample_) return take_samples(session);
    if (words_.size() != 1) return Error::usage("sync takes one path").hint("to take samples: --sample -- srun …");
    path_ = words_.front();
    std::error_code status;
    if (std::filesystem::is_directory(path_, status)) return check(session);
    FATHOM_TRY(const Blob samples, open_file(path_, session.work()));
    FATHOM_TRY(const auto offsets, ovni::offsets_from_samples(samples));
    return write_table(session, offsets);
  }

 private:
  Result<int> write_table(Session& session, const std::vector<ovni::HostOffset>& offsets) const {
    const std::string text = ovni::offsets_text(offsets);
    if (target_.empty()) {
      session.out().write(text);
    } else {
      FATHOM_CHECK(spare_inputs(target_));
      FATHOM_CHECK(write_file(target_, text));
    }
    return kDone;
  }

  // Runs the small MPI program that reads the clocks, through the launcher that is given.
  Result<int> take_samples(Session& session) const {
    if (words_.empty()) {
      return Error::usage("--sample needs what starts a program on every node")
          .hint("fathom sync --sample -- mpirun -n 4");
    }
    if (samples_ < 1 || samples_ > 1'000'000) return Error::usage("--samples takes 1 to 1000000");
    FATHOM_TRY(const std::filesystem::path program, clock_sampler(words_, library_));
    std::vector<std::string> command = words_;
    command.push_back(program.string());
    command.push_back(std::to_string(samples_));
    std::string printed;
    FATHOM_TRY(const int code, run_command(command, {}, &printed));
    if (code != 0) return Error(fmt::format("{} ended with {}", fmt::join(command, " "), code));
    // What the launcher says beside it is handed on.
    std::string samples;
    for (const std::string_view line : split(printed, '\n')) {
      constexpr std::string_view kMark = "fathom-clock ";
      if (line.starts_with(kMark)) {
        samples.append(line.substr(kMark.size())) += '\n';
      } else if (!line.empty()) {
        session.note(std::string(line));
      }
    }
    if (samples.empty()) return Error(fmt::format("{} printed no samples", fmt::join(command, " ")));
    FATHOM_TRY(const auto offsets, ovni::offsets_from_samples(Blob::own("samples", std::move(samples))));
    return write_table(session, offsets);
  }

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

  std::vector<std::string> words_;
  std::string path_;
  std::string library_;
  std::uint64_t samples_ = 100;
  bool sample_ = false;
  std::string target_;
  std::string table_;
};

}  // namespace

std::unique_ptr<Command> make_sync_command() { return std::make_unique<SyncCommand>(); }

}  // namespace fathom::cli
