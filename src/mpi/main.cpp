// fathom-mpi: the commands of fathom, run by the processes of an MPI job together.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/interrupt.hpp"
#include "cli/program.hpp"
#include "cli/progress_bar.hpp"
#include "cli/standard_streams.hpp"
#include "mpi/mpi_team.hpp"

namespace {

using fathom::mpi::Account;
using fathom::mpi::MpiTeam;

// What this program has beside the commands.
struct OwnOptions {
  std::string timing;  // file
  bool progress = false;
  double every_s = 5;
};

OwnOptions take_own(std::vector<std::string>& words) {
  OwnOptions own;
  for (auto it = words.begin(); it != words.end();) {
    if (*it == "--progress") {
      own.progress = true;
      it = words.erase(it);
    } else if (*it == "--timing" && it + 1 != words.end()) {
      own.timing = *(it + 1);
      it = words.erase(it, it + 2);
    } else if (*it == "--progress-every" && it + 1 != words.end() && fathom::parse_double(*(it + 1))) {
      own.progress = true;
      own.every_s = *fathom::parse_double(*(it + 1));
      it = words.erase(it, it + 2);
    } else {
      ++it;
    }
  }
  return own;
}

// For the log of a batch job.
fathom::ProgressSink lines(fathom::Output& err, double every_s) {
  const auto between_ms = static_cast<std::int64_t>(every_s * 1000);
  auto last = std::make_shared<std::int64_t>(0);
  auto label = std::make_shared<std::string>();
  return [&err, last, label, between_ms](const fathom::ProgressReport& report) {
    if (*label != report.label) {
      *label = report.label;
      *last = 0;
    }
    if (report.finished || report.elapsed_ms - *last < between_ms) return;
    *last = report.elapsed_ms;
    err.write(fmt::format("fathom: {}: {} of {} after {} s\n", report.label, report.done, report.total,
                          report.elapsed_ms / 1000));
    err.flush();
  };
}

// Launchers of another MPI library start processes that do not know each other, each of which would do everything.
struct Launched {
  unsigned size = 1;
  unsigned rank = 0;
  std::string_view by;
};
Launched launched() {
  struct Names {
    const char* size;
    const char* rank;
    std::string_view by;
  };
  for (const Names& names :
       {Names{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpirun"},
        Names{"PMI_SIZE", "PMI_RANK", "MPICH's mpirun"}, Names{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"}}) {
    const char* size = std::getenv(names.size);
    const char* rank = std::getenv(names.rank);
    if (size == nullptr || rank == nullptr) continue;
    const auto many = fathom::parse_integer<unsigned>(size);
    const auto which = fathom::parse_integer<unsigned>(rank);
    if (many && which && *many > 1) return {*many, *which, names.by};
  }
  return {};
}

void write_timing(const std::string& file, const std::vector<Account>& accounts) {
  fathom::Output text;
  fathom::JsonWriter json(text);
  json.begin_object().key("processes").begin_array();
  for (const Account& one : accounts) {
    json.begin_object();
    json.member("wall_s", one.wall_seconds).member("cpu_s", one.cpu_seconds);
    json.member("shared_s", one.shared_seconds).member("shared_cpu_s", one.shared_cpu_seconds);
    json.member("waiting_s", one.waiting_seconds).member("shared_weight", one.shared_weight);
    json.member("bytes_sent", one.bytes_sent).member("steps", one.steps);
    json.member("files_opened", one.files_opened);
    json.end_object();
  }
  json.end_array().end_object();
  std::ofstream(file) << text.text() << "\n";
}

int run(MpiTeam& team, std::vector<std::string> words) {
  // Only the first process speaks.
  const int nowhere = team.first() ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);
  fathom::Output out(team.first() ? 1 : nowhere);
  fathom::Output err(team.first() ? 2 : nowhere);
  if (const Launched by = launched(); team.alone() && by.size > 1) {
    if (by.rank != 0) return 0;
    err.write(fmt::format(
        "fathom: error: {} has started {} processes, but this program was built with {} and they do not know each "
        "other\n  there is one program per MPI library: fathom-mpi.openmpi, fathom-mpi.mpich\n",
        by.by, by.size, FATHOM_MPI_FLAVOUR));
    return 2;
  }
  const OwnOptions own = take_own(words);
  fathom::ProgressSink sink;
  if (team.first()) sink = own.progress ? lines(err, own.every_s) : fathom::cli::progress_bar();
  team.show_progress(std::move(sink));
  const fathom::TeamScope together(&team);
  const int status = fathom::cli::run_program(words, out, err);
  if (!own.timing.empty()) {
    const std::vector<Account> accounts = team.accounts();
    if (!accounts.empty()) write_timing(own.timing, accounts);
  }
  // One process that fails is enough for the launcher.
  return team.first() ? status : 0;
}

}  // namespace

int main(int count, char** arguments) {
  fathom::cli::hold_closed_streams();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const std::shared_ptr<MpiTeam> team = MpiTeam::start(&count, &arguments);
  fathom::cli::install_interrupt_handler();
  try {
    return run(*team, {arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    // Nothing throws on purpose: memory ran out, or a fault of the program.
    fmt::print(stderr, "fathom: error: {}\n", error.what());
    std::_Exit(2);  // the launcher ends the others
  }
}
