// A sparse HPCToolkit database of 10,000 profiles × 100,000 contexts: writing and transposing it, opening it, one
// context over all profiles, one profile, totals of everything; each in a process of its own, against a plain pass over
// the bytes that the step touches. Usage: hpctoolkit_bench [directory] [profiles] [contexts] [samples per profile]
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>

#include "base/parallel.hpp"
#include "formats/hpctoolkit/database_writer.hpp"
#include "formats/hpctoolkit/profile_db.hpp"
#include "formats/hpctoolkit/transposition.hpp"
#include "formats/registry.hpp"
#include "io/file.hpp"
#include "made_system.hpp"
#include "measure.hpp"
#include "profile/compute.hpp"
#include "profile/views.hpp"

using namespace fathom;
using namespace fathom::bench;
namespace fs = std::filesystem;

namespace {

// The Python reader (Hatchet) on 5.95 M values: specs of the project, same class of machine.
constexpr double kPythonSecondsPerValue = 65 / 5.95e6;
constexpr double kPythonBytesPerValue = 7.5e9 / 5.95e6;

struct Size {
  std::uint32_t profiles = 10'000;
  std::uint32_t contexts = 100'000;
  std::uint32_t samples = 64;  // contexts of a profile that were hit
};

// Functions, loops and lines in turn, a fan-out of four, one rank per profile.
std::shared_ptr<Definitions> make_definitions(Size size) {
  auto defs = std::make_shared<Definitions>();
  Metric time;
  time.name = time.display_name = "CPUTIME (sec)";
  time.unit = "sec";
  time.scopes.push_back({Scope::own, {}});
  defs->metrics.push_back(std::move(time));
  constexpr const char* kRoles[] = {"function", "loop", "line"};
  for (int i = 0; i < 3000; ++i) {
    Region region;
    region.name = "region_" + std::to_string(i);
    region.role = kRoles[i % 3];
    region.file = "solver_" + std::to_string(i % 100) + ".c";
    region.begin_line = i;
    defs->regions.push_back(std::move(region));
  }
  ContextTreeBuilder builder;
  for (std::uint32_t i = 0; i < size.contexts; ++i) {
    const std::uint32_t parent = i == 0 ? ContextTreeBuilder::kRoot : (i - 1) / 4;
    builder.add(parent, RegionId(i % 3000), i, -1, i % 3 == 0 ? Edge::call : Edge::lexical);
  }
  defs->contexts = std::move(builder).build();
  SystemNode machine;
  machine.type = machine.name = "node";
  machine.kind = SystemKind::node;
  const SystemNodeId root = defs->system.add(machine);
  for (std::uint32_t i = 0; i < size.profiles; ++i) {
    add_process(defs->system, root, i, "RANK " + std::to_string(i), "THREAD 0");
  }
  return defs;
}

// Samples of every profile, half of them in contexts that all profiles share.
class MadeSamples : public ValueSource {
 public:
  explicit MadeSamples(Size size) : size_(size) {}
  [[nodiscard]] Axis cheap_axis() const override { return Axis::location; }
  Result<void> scan(const Box& box, const RunVisitor& visit) const override {
    for (const StoredMetric& metric : box.metrics) {
      for (std::uint32_t location = box.locations.begin; location < box.locations.end; ++location) {
        std::vector<std::uint32_t> positions;
        std::uint64_t state = location * 0x9E3779B97F4A7C15 + 1;
        for (std::uint32_t i = 0; i < size_.samples; ++i) {
          state = state * 6364136223846793005 + 1442695040888963407;
          const std::uint64_t pick = i % 2 == 0 ? i * 7919 : state >> 33;
          const auto context = static_cast<std::uint32_t>(pick % size_.contexts);
          if (box.contexts.contains(context)) positions.push_back(context);
        }
        std::sort(positions.begin(), positions.end());
        positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
        std::vector<double> values;
        for (const std::uint32_t context : positions) values.push_back(1e-3 * (context % 97 + 1));
        Run run;
        run.metric = metric;
        run.along = Axis::context;
        run.location = LocationId(location);
        run.positions = positions;
        run.count = positions.size();
        run.values = reinterpret_cast<const std::byte*>(values.data());
        if (run.count > 0) FATHOM_CHECK(visit(run));
      }
    }
    return {};
  }

 private:
  Size size_;
};

struct StepCost : Cost {
  double peak_mib = 0;  // of the process, mapped pages included
  double own_mib = 0;   // at the end, without mapped pages
  double answer = 0;
};

// Runs in a process of its own: `prepare` is not counted, of three runs of `work` the best is.
StepCost in_process(const std::function<std::function<double()>()>& prepare, int repeats = 3) {
  int pipes[2];
  if (pipe(pipes) != 0) std::exit(1);
  const pid_t child = fork();
  if (child == 0) {
    const auto work = prepare();
    StepCost best;
    static_cast<Cost&>(best) = measure([&] { best.answer = work(); }, repeats);
    best.peak_mib = status_mib("VmHWM:");
    best.own_mib = status_mib("RssAnon:");
    const bool sent = write(pipes[1], &best, sizeof best) == sizeof best;
    _exit(sent ? 0 : 1);
  }
  StepCost cost;
  if (read(pipes[0], &cost, sizeof cost) != sizeof cost) std::exit(1);
  close(pipes[0]);
  close(pipes[1]);
  int status = 0;
  waitpid(child, &status, 0);
  return cost;
}

// A plain pass over files, on all cores: the best that a reader of all their bytes could do.
StepCost plain_pass(const std::vector<fs::path>& files) {
  return in_process([&]() -> std::function<double()> {
    std::vector<Blob> blobs;
    for (const fs::path& file : files) blobs.push_back(must(map_file(file)));
    return [blobs] {
      double total = 0;
      for (const Blob& blob : blobs) {
        constexpr std::size_t kPiece = std::size_t{1} << 20;
        std::vector<std::uint64_t> sums(blob.size() / kPiece);
        must(parallel_for(sums.size(), [&](std::size_t i) -> Result<void> {
          std::uint64_t sum = 0;
          for (std::size_t k = 0; k < kPiece; k += sizeof(std::uint64_t)) {
            std::uint64_t word;
            std::memcpy(&word, blob.bytes().data() + i * kPiece + k, sizeof word);
            sum += word;
          }
          sums[i] = sum;
          return {};
        }));
        for (const std::uint64_t sum : sums) total += static_cast<double>(sum % 1000);
      }
      return total;
    };
  });
}

void report(const char* what, const StepCost& cost, const StepCost& pass) {
  std::printf("%-34s %9.4f s  %9.4f s CPU  %8.1f× a plain pass  %7.1f MiB peak, %6.1f MiB own\n", what, cost.wall,
              cost.cpu, cost.wall / std::max(pass.wall, 1e-9), cost.peak_mib, cost.own_mib);
}

Selection selection_of(const Profile& profile, Flavour::Kind flavour) {
  Selection selection;
  selection.flavour.kind = flavour;
  selection.locations = all_locations(profile.defs());
  return selection;
}

std::function<double()> with_open(const fs::path& path, std::function<double(const Profile&)> work) {
  auto dataset = std::make_shared<DatasetPtr>(must(open_dataset(path, make_work())));
  auto profile = must((*dataset)->profile());
  return [dataset, profile, work = std::move(work)] { return work(*profile); };
}

// cct.db again, from the profile.db that is there.
double transpose(const fs::path& database, const fs::path& target, std::uint32_t contexts) {
  const Work work = make_work();
  const Blob blob = must(map_file(database / "profile.db"));
  const auto db = must(hpctoolkit::ProfileDb::read(blob, work));
  constexpr std::size_t kScopes = 4;
  hpctoolkit::ContextSizes sizes(contexts + 1, kScopes);
  for (std::size_t i = 1; i < db.profiles().size(); ++i) {
    const auto block = db.block(i);
    for (std::uint64_t slot = 0; slot < block.index_count(); ++slot) {
      for (std::uint64_t k = block.begin(slot); k < block.end(slot); ++k) sizes.count(block.key(slot), block.id(k));
    }
  }
  const auto slot = [](std::uint16_t id) { return std::size_t{id}; };
  const auto id = [](std::size_t s) { return static_cast<std::uint16_t>(s); };
  const auto nothing = [](std::uint32_t, std::span<const hpctoolkit::SummaryCell>) {};
  must(hpctoolkit::write_transposed({.generation = hpctoolkit::Generation::meta,
                                     .profiles = blob,
                                     .last = db.profiles().size(),
                                     .records = db.profiles(),
                                     .sizes = sizes,
                                     .id_of_slot = id,
                                     .slot_of_id = slot,
                                     .summarise = nothing,
                                     .work = work},
                                    target));
  return static_cast<double>(fs::file_size(target));
}

}  // namespace

int main(int count, char** arguments) {
  Size size;
  const fs::path directory = count > 1 ? fs::path(arguments[1]) : fs::temp_directory_path();
  if (count > 2) size.profiles = static_cast<std::uint32_t>(std::atoi(arguments[2]));
  if (count > 3) size.contexts = static_cast<std::uint32_t>(std::atoi(arguments[3]));
  if (count > 4) size.samples = static_cast<std::uint32_t>(std::atoi(arguments[4]));
  const fs::path database = directory / ("fathom_hpctoolkit_bench_" + std::to_string(getpid()));

  const StepCost written = in_process(
      [&]() -> std::function<double()> {
        auto profile = std::make_shared<Profile>();
        profile->definitions = make_definitions(size);
        profile->values = std::make_shared<MadeSamples>(size);
        profile->name = "made";
        profile->work = make_work();
        return [profile, &database] {
          must(hpctoolkit::write_database(*profile, nullptr, {}, hpctoolkit::Generation::meta, database));
          return 0.0;
        };
      },
      1);
  const StepCost values = in_process([&]() -> std::function<double()> {
    return [&] {
      const auto db = must(hpctoolkit::ProfileDb::read(must(map_file(database / "profile.db")), make_work()));
      double sum = 0;
      for (std::size_t i = 1; i < db.profiles().size(); ++i) sum += static_cast<double>(db.profiles()[i].value_count);
      return sum;
    };
  });
  const auto mib = [&](const char* name) { return static_cast<double>(fs::file_size(database / name)) / (1 << 20); };
  std::printf("%u profiles × %u contexts, %.2f M values: meta.db %.0f, profile.db %.0f, cct.db %.0f MiB\n",
              size.profiles, size.contexts, values.answer * 1e-6, mib("meta.db"), mib("profile.db"), mib("cct.db"));

  const StepCost all = plain_pass({database / "profile.db", database / "cct.db"});
  const StepCost by_profile = plain_pass({database / "profile.db"});
  const StepCost by_context = plain_pass({database / "cct.db"});
  const StepCost described = plain_pass({database / "meta.db"});
  report("write: propagate, both files", written, all);
  const fs::path again = database / "again.db";
  report("transposition alone", in_process([&]() -> std::function<double()> {
           return [&] { return transpose(database, again, size.contexts); };
         }),
         all);
  fs::remove(again);

  const StepCost opened = in_process([&]() -> std::function<double()> {
    return [&] {
      const auto dataset = must(open_dataset(database, make_work()));
      return static_cast<double>(must(dataset->profile())->defs().contexts.size());
    };
  });
  report("open (pass: meta.db)", opened, described);

  const auto one_context = [](const Profile& profile) {
    Selection selection = selection_of(profile, Flavour::Kind::inclusive);
    selection.contexts = {ContextId(0U)};
    const Cells cells = must(compute(profile, MetricId(0U), selection));
    double sum = 0;
    for (std::size_t i = 0; i < cells.columns(); ++i) sum += cells.scalar(0, i);
    return sum;
  };
  const auto one_profile = [](const Profile& profile) {
    Selection selection = selection_of(profile, Flavour::Kind::inclusive);
    const auto middle = static_cast<std::uint32_t>(profile.defs().system.location_count() / 2);
    selection.locations = {middle, middle + 1};
    return must(compute(profile, MetricId(0U), selection)).scalar(0, 0);
  };
  const auto totals = [](const Profile& profile) {
    Selection selection = selection_of(profile, Flavour::Kind::inclusive);
    selection.aggregate = true;
    return must(compute(profile, MetricId(0U), selection)).scalar(0, 0);
  };
  const auto step = [&](const char* what, const std::function<double(const Profile&)>& work, const StepCost& pass) {
    const StepCost cost = in_process([&] { return with_open(database, work); });
    report(what, cost, pass);
    return cost;
  };
  step("one context, all profiles", one_context, by_context);
  step("one profile, all contexts", one_profile, by_profile);
  const StepCost both = step("totals per context", totals, by_context);
  fs::rename(database / "cct.db", database / "hidden");
  const StepCost other = step("the same without cct.db", totals, by_profile);
  fs::rename(database / "hidden", database / "cct.db");
  if (std::abs(both.answer - other.answer) > 1e-9 * std::abs(both.answer)) {
    std::fprintf(stderr, "the two files disagree: %.17g and %.17g\n", both.answer, other.answer);
    return 1;
  }
  const double python_seconds = kPythonSecondsPerValue * values.answer;
  const double python_mib = kPythonBytesPerValue * values.answer / (1 << 20);
  const double cpu = opened.cpu + both.cpu;
  const double peak = std::max(opened.peak_mib, both.peak_mib);
  std::printf(
      "open + totals: %.3f s CPU, %.0f MiB; the Python reader at its speed: %.0f s, %.0f MiB: %.0f× faster, 1/%.0f"
      " of the memory\n",
      cpu, peak, python_seconds, python_mib, python_seconds / cpu, python_mib / peak);
  fs::remove_all(database);
  return 0;
}
