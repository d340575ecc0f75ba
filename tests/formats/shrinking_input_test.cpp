// Files that become shorter while they are mapped, as on clusters: an error that names the file, for every format.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <vector>

#include "formats/format.hpp"
#include "formats/registry.hpp"
#include "io/file.hpp"
#include "io/mapped_file.hpp"
#include "io/output_file.hpp"
#include "profile/compute.hpp"
#include "temporary_directory.hpp"
#include "trace/trace.hpp"

namespace fathom {
namespace {

namespace fs = std::filesystem;

const fs::path kExamples = fs::path(FATHOM_SOURCE_DIR) / "examples";
const fs::path kData = FATHOM_SHARED_DATA;

// Asks for everything there is; what it says does not matter here, only that it comes back.
void read_everything(Dataset& dataset) {
  (void)dataset.describe(true).ok();
  (void)dataset.check().ok();
  (void)dataset.dump({}, [](std::string_view) { return true; }).ok();
  if (auto statistics = dataset.statistics({}); !statistics) (void)statistics.error();
  for (const Level level : dataset.levels()) {
    if (level == Level::experiment) (void)dataset.experiment().ok();
    if (level == Level::profile) {
      const auto profile = dataset.profile();
      for (std::size_t i = 0; profile && i < (*profile)->defs().metrics.size(); ++i) {
        const Selection all{.flavour = {},
                            .contexts = {},
                            .locations = all_locations((*profile)->defs()),
                            .aggregate = true,
                            .void_values = true};
        (void)compute(**profile, MetricId(i), all).ok();
      }
    }
    if (level == Level::trace) {
      const auto trace = dataset.trace();
      for (std::size_t i = 0; trace && i < (*trace)->location_count(); ++i) {
        auto stream = (*trace)->open(LocationId(i), {});
        std::array<Event, 256> events;
        while (stream) {
          const auto count = (*stream)->next(events);
          if (!count || *count == 0) break;
        }
      }
    }
  }
}

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

struct Case {
  const char* format;
  fs::path from;          // what it is made from
  const char* name;       // under which it is written or copied
  const char* what = "";  // the file in it that is opened, where it is not the whole
};

class ShrinkingInput : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { reset_lost_input(); }
  void TearDown() override { reset_lost_input(); }

  // A copy of the case's own, written in its format where that can be done.
  fs::path make() {
    const Case& one = GetParam();
    if (!fs::exists(one.from)) return {};
    const fs::path target = folder_ / one.name;
    const auto dataset = open_dataset(one.from, make_work());
    EXPECT_TRUE(dataset.ok()) << dataset.error().text();
    if (!dataset) return {};
    if ((*dataset)->format().name == one.format) {
      fs::copy(one.from, target, fs::copy_options::recursive);
    } else {
      const auto format = find_format(one.format);
      EXPECT_TRUE((*format)->write(**dataset, target, {}).ok());
    }
    return *one.what == '\0' ? target : target / one.what;  // a slash at the end makes it a directory
  }
  static void expect_named(const std::vector<fs::path>& files) {
    const auto lost = lost_input();
    ASSERT_TRUE(lost.has_value());
    EXPECT_TRUE(std::any_of(files.begin(), files.end(), [&](const fs::path& file) {
      return fs::weakly_canonical(file) == fs::weakly_canonical(lost->place().file);
    })) << lost->text();
    EXPECT_TRUE(lost->place().offset.has_value());
  }

  TemporaryDirectory folder_;
};

TEST_P(ShrinkingInput, IsAnErrorThatNamesTheFile) {
  const fs::path path = make();
  if (path.empty()) GTEST_SKIP() << GetParam().from << " is not there";
  const auto files = files_of(path);
  const auto source = Source::at(path, make_work());
  ASSERT_TRUE(source.ok()) << source.error().text();
  if (!source->is_directory()) {
    // Between mapping and opening.
    for (const fs::path& file : files) ASSERT_EQ(truncate(file.c_str(), 0), 0);
    auto dataset = open_source(*source, make_work(), GetParam().format);
    if (dataset) read_everything(**dataset);
    expect_named(files);
    return;
  }
  // Between opening and reading.
  auto dataset = open_source(*source, make_work(), GetParam().format);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  for (const fs::path& file : files) ASSERT_EQ(truncate(file.c_str(), 0), 0);
  read_everything(**dataset);
  expect_named(files);
  // Nothing made from it is written any more.
  EXPECT_FALSE(write_file(folder_ / "result", "of no worth").ok());
  EXPECT_FALSE(fs::exists(folder_ / "result"));
}

const Case kCases[] = {
    {"cube", kExamples / "stencil.cubex", "a.cubex"},
    {"cube3", kExamples / "stencil.cubex", "a.cube"},
    {"hpctoolkit", kExamples / "stencil.cubex", "meta"},
    {"hpctoolkit-xml", kExamples / "stencil.cubex", "xml"},
    {"hpctoolkit-classic", kData / "hpctoolkit/c-cpi", "classic"},
    {"dumpi", kExamples / "ring", "ring"},
    {"dumpi", kExamples / "ring/ring-0000.bin", "ring-0000.bin"},
    {"dumpi-text", kExamples / "ring/ring-0000.bin", "ring.dumpi.txt"},
    {"ovni", kExamples / "ovni", "ovni"},
    {"paraver", kExamples / "ring", "ring.prv"},
    {"extrap-text", kExamples / "scaling.txt", "scaling.txt"},
    {"extrap-json", kExamples / "scaling.txt", "scaling.json"},
    {"extrap-jsonl", kExamples / "scaling.txt", "scaling.jsonl"},
    {"extra-p", kExamples / "scaling.txt", "scaling.extra-p"},
    {"nsight", kExamples / "gpu.sqlite", "gpu.sqlite"},
    {"extra-prof", kExamples / "gpu.extra-prof.msgpack", "gpu.extra-prof.msgpack"},
    {"otf2", kExamples / "ring", "ring.otf2"},
    {"otf2", kData / "otf2/pingpong", "pingpong"},
    {"pprof", kExamples / "stencil.cubex", "stencil.pb"},
    {"callgrind", kExamples / "stencil.cubex", "stencil.callgrind"},
    {"folded", kExamples / "stencil.cubex", "stencil.folded"},
    {"speedscope", kExamples / "stencil.cubex", "stencil.speedscope.json"},
    {"tau", kExamples / "tau", "tau"},
    {"caliper", kExamples / "steps.cali", "steps.cali"},
    {"caliper-json", kData / "elsewhere/caliper/lulesh.json", "lulesh.json"},
    {"chrome", kExamples / "ring", "ring.trace.json"},
    {"perfetto", kExamples / "ring", "ring.pftrace"},
    {"perf-script", kExamples / "samples.perf.txt", "samples.perf.txt"},
    {"talpas", kData / "extrap/inputs/talpas/talpas_1.txt", "talpas_1.txt"},
    {"extra-p-3", kData / "extrap/inputs/input/experiment_3", "experiment_3"},
};
INSTANTIATE_TEST_SUITE_P(Formats, ShrinkingInput, testing::ValuesIn(kCases), [](const auto& one) {
  std::string name = std::string(one.param.format) + "_" + std::to_string(one.index);
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(ShrinkingInputs, IsTriedForEveryFormatOfTheRegistry) {
  for (const Format* format : all_formats()) {
    // What cannot be read, and the directory of runs, whose members are files of the other formats.
    if (format->open == nullptr || format->name == "runs") continue;
    EXPECT_TRUE(
        std::any_of(std::begin(kCases), std::end(kCases), [&](const Case& one) { return one.format == format->name; }))
        << format->name << " is missing";
  }
}

TEST(MappedFile, ZerosAndANameForWhatIsGone) {
  reset_lost_input();
  const TemporaryDirectory folder;
  const fs::path path = folder / "file";
  std::ofstream(path) << std::string(100'000, 'x');
  auto blob = map_file(path);
  ASSERT_TRUE(blob.ok());
  EXPECT_EQ(blob->text()[99'999], 'x');
  ASSERT_EQ(truncate(path.c_str(), 50'000), 0);
  EXPECT_EQ(blob->text()[40'000], 'x');
  EXPECT_FALSE(lost_input().has_value());
  EXPECT_EQ(blob->text()[99'999], '\0');
  const auto lost = lost_input();
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->place().file, path.string());
  EXPECT_EQ(*lost->place().offset, 99'999U / 4096 * 4096);
  *blob = Blob();
  EXPECT_TRUE(lost_input().has_value());
  reset_lost_input();
  EXPECT_TRUE(map_file(path).ok());
  EXPECT_FALSE(lost_input().has_value());
}

TEST(MappedFile, CopyingWhatIsGoneIsNotABadAddress) {
  reset_lost_input();
  const TemporaryDirectory folder;
  const fs::path path = folder / "file";
  std::ofstream(path) << std::string(3'000'000, 'x');
  auto blob = map_file(path);
  ASSERT_TRUE(blob.ok());
  ASSERT_EQ(truncate(path.c_str(), 1'000'000), 0);
  const auto status = write_file(folder / "copy", blob->text());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().place().file, path.string());
  EXPECT_FALSE(fs::exists(folder / "copy"));
  reset_lost_input();
}

TEST(MappedFile, PipesAndDevicesAreRefusedWithoutWaiting) {
  const TemporaryDirectory folder;
  const fs::path path = folder / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const auto pipe = map_file(path);
  ASSERT_FALSE(pipe.ok());
  EXPECT_NE(pipe.error().text().find("is a pipe"), std::string::npos);
  EXPECT_FALSE(map_file("/dev/zero").ok());
}

}  // namespace
}  // namespace fathom
