// fathom record: runs an MPI program with the recorder of its MPI library in front of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/record/mpi_recorders.hpp"
#include "cli/run_command.hpp"
#include "cli/session.hpp"
#include "fathom/dumpi.hpp"
#include "formats/dumpi/added_calls.hpp"
#include "formats/otf2/trace_writer.hpp"
#include "io/file.hpp"
#include "io/output_file.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

namespace fs = std::filesystem;

namespace {

class RecordCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("COMMAND", command_, "what to run, behind --: mpirun and its arguments", false)
        .value("-o,--output", "DIR", &folder_, "where the trace goes (trace)")
        .values("--functions", "NAMES", functions_, "record these MPI calls only: MPI_Send,MPI_Recv or Send,Recv")
        .choice("--to", format_, {"dumpi", "otf2"},
                "dumpi; or otf2: an archive with the calls that a DUMPI trace has no place for, too")
        .was("--format")
        .flag("--no-cpu-time", no_cpu_time_, "wall time only: halves what recording costs")
        .flag("--no-statuses", no_statuses_, "leave out what receives and waits return")
        .values("--counters", "NAMES", counters_, "hardware counters at every call, through PAPI where it is installed")
        .choice("--mpi", library_, {"openmpi", "mpich"}, "the MPI library of the program, where it cannot be found out")
        .flag("--mpi-info", info_, "which MPI libraries can be recorded here")
        .flag("--dry-run", dry_run_, "show what would be run")
        .about(
            "The program needs no change: the recorder is loaded in front of it (LD_PRELOAD) and writes a DUMPI trace, "
            "one file per rank. A dumpi.conf in the working directory, or the one that DUMPI_CONF names, is used as "
            "well.")
        .example("fathom record -- mpirun -n 4 ./app", "record a run into trace/")
        .example("fathom record -o runs/app.p8 --no-cpu-time -- mpirun -n 8 ./app",
                 "one run of a series that 'fathom model runs' can use")
        .example("fathom record --to otf2 -- mpirun -n 4 ./app", "an archive for Vampir or Scalasca")
        .example("fathom stats trace", "look at what was recorded");
  }

  Result<int> run(Session& session) override {
    if (info_) return show_recorders(session);
    if (command_.empty()) {
      return Error::usage("record needs a command to run").hint("fathom record -- mpirun -n 4 ./program");
    }
    FATHOM_TRY(const MpiRecorder recorder, choose());
    std::error_code status;
    fs::create_directories(folder_, status);
    if (status) return Error(fmt::format("{}: cannot be made: {}", folder_, status.message()));
    const fs::path folder = fs::absolute(folder_);
    FATHOM_TRY(const std::string settings, settings_text(folder));
    const std::string settings_path = (folder / "dumpi.conf").string();

    std::vector<std::pair<std::string, std::string>> variables;
    const char* preload = std::getenv("LD_PRELOAD");
    variables.emplace_back("LD_PRELOAD",
                           recorder.path.string() + (preload == nullptr ? "" : fmt::format(" {}", preload)));
    variables.emplace_back("DUMPI_CONF", settings_path);
    const bool otf2 = format_ == "otf2";
    if (otf2) variables.emplace_back("FATHOM_ADDED_CALLS", "1");
    std::vector<std::string> words = command_;
    // mpirun of Open MPI hands only what is named to other nodes.
    if (recorder.library == "openmpi" && is_launcher_of(words.front(), "openmpi")) {
      words.insert(words.begin() + 1, {"-x", "LD_PRELOAD", "-x", "DUMPI_CONF"});
      if (otf2) words.insert(words.begin() + 1, {"-x", "FATHOM_ADDED_CALLS"});
    }
    if (dry_run_) {
      for (const auto& [name, value] : variables) session.out().write(fmt::format("{}={}\n", name, value));
      session.out().write(fmt::format("{}\n", fmt::join(words, " ")));
      session.out().write(settings);
      return kDone;
    }
    FATHOM_CHECK(write_file(settings_path, settings));
    const auto before = metafiles(folder);
    FATHOM_TRY(const int code, run_command(words, variables));
    std::vector<fs::path> made;
    for (const fs::path& path : metafiles(folder)) {
      if (std::find(before.begin(), before.end(), path) == before.end()) made.push_back(path);
    }
    if (otf2) {
      for (fs::path& path : made) {
        FATHOM_TRY(path, as_otf2(session, path));
      }
    }
    for (const fs::path& path : made)
      session.note(fmt::format("recorded {}", (fs::path(folder_) / path.filename()).string()));
    if (made.empty() && code == 0) {
      return Error(fmt::format("{} has no new trace: no process called MPI_Init", folder_))
          .hint("is the program linked to " + recorder.library + " as a shared library? --mpi chooses another");
    }
    return code;
  }

 private:
  Result<MpiRecorder> choose() const {
    const std::vector<MpiRecorder> recorders = mpi_recorders();
    if (recorders.empty()) {
      return Error("no recorder is installed beside this program")
          .hint(
              "build Fathom where the MPI library and its headers are installed; FATHOM_CAPTURE_DIR names another "
              "place");
    }
    const std::string library = library_.empty() ? mpi_library_of(command_) : library_;
    if (library.empty() && recorders.size() == 1) return recorders.front();
    if (library.empty()) {
      return Error::usage("it is not clear which MPI library the command uses").hint("--mpi openmpi or --mpi mpich");
    }
    for (const MpiRecorder& recorder : recorders) {
      if (recorder.library == library) return recorder;
    }
    return Error(fmt::format("there is no recorder for {}", library))
        .hint("'fathom record --mpi-info' shows those that there are");
  }

  Result<std::string> settings_text(const fs::path& folder) const {
    std::string text = fmt::format("fileroot={}\n", (folder / "dumpi").string());
    if (no_cpu_time_) text += "timestamp=wall\n";
    if (no_statuses_) text += "statuses=disable\n";
    std::string wanted;
    for (const std::string& list : functions_) {
      for (const std::string_view word : split(list, ',')) {
        if (word.empty()) continue;
        std::string name(word);
        if (dumpi::function(name) == nullptr) name = "MPI_" + name;
        const dumpi::Function* function = dumpi::function(name);
        if (function == nullptr || function->id >= dumpi::kFunctions) {
          return Error::usage(fmt::format("'{}' is no MPI call that a DUMPI trace can hold", word));
        }
        wanted += fmt::format("{}=enable\n", function->name);
      }
    }
    if (!wanted.empty()) {
      // Where the clocks of all ranks meet and end.
      text += wanted + "MPI_Init=enable\nMPI_Init_thread=enable\nMPI_Finalize=enable\nMPI_Default=disable\n";
    }
    for (const std::string& list : counters_) {
      for (const std::string_view name : split(list, ',')) {
        if (!name.empty()) text += fmt::format("PAPI={}\n", name);
      }
    }
    // The first setting of a key wins: ours, then the user's.
    const char* theirs = std::getenv("DUMPI_CONF");
    const fs::path own = theirs != nullptr ? fs::path(theirs) : fs::path("dumpi.conf");
    std::error_code status;
    if (fs::is_regular_file(own, status) && !fs::equivalent(own, folder / "dumpi.conf", status)) {
      FATHOM_TRY(const Blob blob, map_file(own));
      text += as_text(blob.bytes());
    }
    return text;
  }

  static std::vector<fs::path> metafiles(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code status;
    for (const auto& entry : fs::directory_iterator(folder, status)) {
      if (entry.path().extension() == ".meta") found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  // The archive NAME.otf2 in place of the files NAME*; the metafile's name becomes that of the anchor.
  static Result<fs::path> as_otf2(Session& session, const fs::path& metafile) {
    const fs::path anchor = fs::path(metafile).replace_extension(".otf2");
    {
      FATHOM_TRY(const DatasetPtr dataset, session.open(metafile));
      FATHOM_TRY(const auto trace, dataset->trace());
      FATHOM_TRY(const auto whole, dumpi::with_added_calls(trace, metafile, session.work()));
      if (whole.lost > 0) {
        session.warn(fmt::format("{} calls of ranks without a trace of their own are left out", whole.lost));
      }
      FATHOM_CHECK(otf2::write_trace(*whole.trace, anchor, session.work()));
    }
    // Nothing of it is left that the archive does not have.
    const std::string name = metafile.stem().string();
    std::error_code status;
    std::vector<fs::path> old = {metafile, fs::path(metafile).replace_extension(".unrecorded")};
    for (const auto& entry : fs::directory_iterator(metafile.parent_path(), status)) {
      const fs::path& path = entry.path();
      const bool of_rank = path.filename().string().starts_with(name + "-");
      if (of_rank && (path.extension() == ".bin" || path.extension() == ".calls")) old.push_back(path);
    }
    for (const fs::path& path : old) fs::remove(path, status);
    return anchor;
  }

  Result<int> show_recorders(Session& session) const {
    const std::vector<MpiRecorder> recorders = mpi_recorders();
    if (session.json()) {
      JsonWriter json(session.out());
      json.begin_array();
      for (const MpiRecorder& recorder : recorders) {
        json.begin_object().member("mpi", std::string_view(recorder.library));
        json.member("recorder", std::string_view(recorder.path.string())).end_object();
      }
      json.end_array();
      return kDone;
    }
    if (recorders.empty()) {
      session.note("no recorder is installed beside this program");
      return kDone;
    }
    TextTable table;
    table.column("MPI").column("RECORDER", Align::left, true);
    for (const MpiRecorder& recorder : recorders) table.row({{recorder.library, Style::cyan}, recorder.path.string()});
    session.out().write(table.text(session.terminal()));
    return kDone;
  }

  std::vector<std::string> command_;
  std::string folder_ = "trace";
  std::string format_ = "dumpi";
  std::vector<std::string> functions_;
  std::vector<std::string> counters_;
  std::string library_;
  bool no_cpu_time_ = false;
  bool no_statuses_ = false;
  bool info_ = false;
  bool dry_run_ = false;
};

}  // namespace

std::unique_ptr<Command> make_record_command() { return std::make_unique<RecordCommand>(); }

}  // namespace fathom::cli
