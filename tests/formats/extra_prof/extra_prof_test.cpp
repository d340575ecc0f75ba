#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "formats/extra_prof/native.hpp"
#include "formats/extrap/expected.hpp"
#include "formats/registry.hpp"
#include "temporary_directory.hpp"

namespace fathom::extra_prof {
namespace {

using extrap::testing::data;
using extrap::testing::Json;

// ["EXTRA PROF", "1", ["", [["main", [["f", [], 0, 0, 30, 2, 0]], 0, 0, 100, 1, 0]], 0, 0, 0, 0, 0]]
std::string small_file() {
  const auto text = [](std::string_view t) {
    return std::string(1, static_cast<char>(0xA0 | t.size())) + std::string(t);
  };
  const std::string f = "\x97" + text("f") + "\x90" + std::string("\x00\x00", 2) + "\x1E\x02" + std::string(1, '\0');
  const std::string main =
      "\x97" + text("main") + "\x91" + f + std::string("\x00\x00", 2) + "\x64\x01" + std::string(1, '\0');
  const std::string root = "\x97" + text("") + "\x91" + main + std::string("\x00\x00\x00\x00\x00", 5);
  return "\x93" + text("EXTRA PROF") + text("1") + root;
}

TEST(ExtraProf, SmallFile) {
  const auto file = read_file(Blob::own("x", small_file()), make_work());
  ASSERT_TRUE(file.ok()) << file.error().text();
  ASSERT_EQ(file->nodes.size(), 3u);
  EXPECT_EQ(file->nodes[1].name, "main");
  EXPECT_EQ(file->nodes[2].duration, std::vector<double>{30});
  auto dataset = open_source(Source::of(Blob::own("x", small_file())), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto e = *(*dataset)->experiment();
  ASSERT_EQ(e->callpaths().size(), 2u);
  EXPECT_EQ(e->callpaths()[1].name, "main->f");
  const auto series = e->find_series(0, 1);
  ASSERT_GE(series, 0);
  EXPECT_DOUBLE_EQ(e->means()[e->series()[static_cast<std::size_t>(series)].first], 70e-9);
}

// [name, [children], type, 0, [durations of two threads], 1, 0]; numbers below 128.
std::string node(std::string_view name, char type, char a, char b, const std::vector<std::string>& children = {}) {
  std::string out = "\x97";
  out += static_cast<char>(0xA0 | name.size());
  out += name;
  out += static_cast<char>(0x90 | children.size());
  for (const std::string& child : children) out += child;
  return out + type + '\0' + "\x92" + a + b + "\x01" + '\0';
}

std::map<std::string, double> times(const std::vector<std::string>& flags) {
  const std::string main = node("main", 0, 10, 10, {node("k", 2, 40, 60), node("f", 0, 30, 30, {node("g", 0, 5, 5)})});
  const std::string file = "\x93" + ("\xAA" + std::string("EXTRA PROF")) + "\xA1" + "1" + node("", 0, 0, 0, {main});
  const Work work = make_work();
  for (const std::string& flag : flags) {
    EXPECT_TRUE(set_reading_option(*work, flag, "true").ok());
  }
  auto dataset = open_source(Source::of(Blob::own("x", file)), work);
  EXPECT_TRUE(dataset.ok()) << dataset.error().text();
  const auto e = *(*dataset)->experiment();
  // What is left out is told, one by one.
  std::uint64_t told = 0;
  for (const Diagnostic& one : work->diagnostics.all()) told += one.id == "extra_prof.left_out" ? one.count : 0;
  EXPECT_EQ(told, 4 - e->callpaths().size());
  std::map<std::string, double> out;
  for (const Series& s : e->series()) {
    if (e->metrics()[s.metric].name != "time") continue;
    out[e->callpaths()[s.callpath].name] = std::round(e->means()[s.first] * 1e9);
  }
  return out;
}

TEST(ExtraProf, Options) {
  using Times = std::map<std::string, double>;
  // f takes longer than main: what is below main is left out, and main keeps its time.
  EXPECT_EQ(times({}), (Times{{"main", 10}}));
  EXPECT_EQ(times({"concurrent-threads"}),
            (Times{{"main", 10}, {"main->GPU k", 50}, {"main->f", 25}, {"main->f->g", 5}}));
  EXPECT_EQ(times({"concurrent-threads", "sum-gpu-threads"}),
            (Times{{"main", 10}, {"main->GPU k", 100}, {"main->f", 25}, {"main->f->g", 5}}));
  EXPECT_EQ(times({"use-inclusive-measurements"}),
            (Times{{"main", 10}, {"main->GPU k", 50}, {"main->f", 30}, {"main->f->g", 5}}));
}

// Means of one metric, in its own unit, of a file that was read with these flags.
std::map<std::string, double> means(const std::string& file, std::string_view metric,
                                    const std::vector<std::string>& flags) {
  const Work work = make_work();
  for (const std::string& flag : flags) {
    EXPECT_TRUE(set_reading_option(*work, flag, "true").ok());
  }
  auto dataset = open_source(Source::of(Blob::own("x", file)), work);
  EXPECT_TRUE(dataset.ok()) << dataset.error().text();
  const auto e = *(*dataset)->experiment();
  std::map<std::string, double> out;
  for (const Series& s : e->series()) {
    if (e->metrics()[s.metric].name == metric) out[e->callpaths()[s.callpath].name] = e->means()[s.first];
  }
  return out;
}

// As node(), with visits of two threads, no values of the GPU, and the energy of the node.
std::string with_energy(std::string_view name, char type, char duration, char visits, char energy,
                        const std::vector<std::string>& children = {}) {
  std::string out = "\x99";
  out += static_cast<char>(0xA0 | name.size());
  out += name;
  out += static_cast<char>(0x90 | children.size());
  for (const std::string& child : children) out += child;
  out += std::string(1, type) + '\0' + "\x92" + duration + duration;
  return out + "\x92" + visits + visits + '\0' + "\x90" + "\x91" + energy;
}

TEST(ExtraProf, OtherMetricsUnderTheOptions) {
  const auto file = [](const std::string& main) {
    const std::string head = "\x95" + ("\xAA" + std::string("EXTRA PROF")) + "\xA1" + "1";
    return head + with_energy("", 0, 0, 0, 0, {main}) + "\x90" + "\x91\x92\xA6" + "energy" + std::string(1, '\0');
  };
  using Values = std::map<std::string, double>;
  // Only times of the GPU are added up over threads.
  const std::string calls = file(with_energy("main", 0, 100, 1, 50, {with_energy("k", 2, 40, 6, 8)}));
  EXPECT_EQ(means(calls, "visits", {"sum-gpu-threads"}), (Values{{"main", 1}, {"main->GPU k", 6}}));
  EXPECT_EQ(means(calls, "energy", {"sum-gpu-threads"}), (Values{{"main", 50}, {"main->GPU k", 8}}));
  EXPECT_DOUBLE_EQ(means(calls, "time", {"sum-gpu-threads"}).at("main->GPU k"), 80e-9);
  // f takes longer than main. Where it is left out main keeps all; where it stays, its energy counts once.
  const std::string beside = file(with_energy("main", 0, 10, 1, 50, {with_energy("f", 0, 30, 1, 20)}));
  EXPECT_EQ(means(beside, "energy", {}), (Values{{"main", 50}}));
  EXPECT_EQ(means(beside, "energy", {"concurrent-threads"}), (Values{{"main", 30}, {"main->f", 20}}));
}

TEST(ExtraProf, ADamagedRunIsNamedAndLeftOut) {
  const TemporaryDirectory folder;
  for (const char* name : {"app.n1.r1", "app.n1.r2", "app.n2.r1"}) {
    std::filesystem::create_directory(folder.path() / name);
    const bool damaged = std::string_view(name) == "app.n1.r2";
    std::ofstream(folder.path() / name / "profile.extra-prof.msgpack", std::ios::binary)
        << (damaged ? small_file().substr(0, 30) : small_file());
  }
  const Work work = make_work();
  const auto dataset = open_dataset(folder.path(), work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto experiment = (*dataset)->experiment();
  ASSERT_TRUE(experiment.ok()) << experiment.error().text();
  EXPECT_EQ((*experiment)->point_count(), 2U);
  for (const std::uint32_t repetitions : (*experiment)->repetitions()) EXPECT_EQ(repetitions, 1U);
  ASSERT_FALSE(work->diagnostics.all().empty());
  EXPECT_EQ(work->diagnostics.all()[0].id, "runs.unreadable");
  EXPECT_NE(work->diagnostics.all()[0].place.file.find("app.n1.r2"), std::string::npos);
  const auto strict = open_dataset(folder.path(), make_work(true));
  EXPECT_FALSE(strict.ok() && (*strict)->experiment().ok());
}

TEST(ExtraProf, DamagedFilesAreRefused) {
  const std::string whole = small_file();
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const auto file = read_file(Blob::own("x", whole.substr(0, n)), make_work());
    ASSERT_FALSE(file.ok()) << n;
    EXPECT_EQ(file.error().place().file, "x");
  }
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string bad = whole;
    bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
    (void)read_file(Blob::own("x", bad), make_work());
  }
}

// A byte may be a list of its own: what is made of a file is many times as large as the file.
TEST(ExtraProf, ListsCountAgainstTheMemoryLimit) {
  const std::uint32_t lists = 1'000'000;
  std::string bytes =
      "\x93\xaa"
      "EXTRA PROF\xa1"
      "1\xdd";
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(lists >> shift & 0xFF);
  bytes += std::string(lists, '\x90');
  const auto refused = read_file(Blob::own("x", bytes), make_work(false, 32 << 20));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("Extra-Prof profile needs"), std::string::npos) << refused.error().text();
}

// Time, visits and bytes of every call path of the reference's directories.
TEST(ExtraProf, DirectoriesOfTheReference) {
  if (!extrap::testing::have_data()) GTEST_SKIP() << "no reference data";
  const std::string target = ::testing::TempDir() + "extra_prof_runs";
  for (const char* name : {"test2", "test3", "test_with_energy"}) {
    const std::string archive = data(std::string("gpu/extra_prof_") + name + ".tar.gz").string();
    ASSERT_EQ(std::system(("mkdir -p '" + target + "' && tar -xzf '" + archive + "' -C '" + target + "'").c_str()), 0);
    for (const char* scaling : {"weak_threaded", "strong"}) {
      SCOPED_TRACE(std::string(name) + " " + scaling);
      const Json expected = extrap::testing::load_json(
          data(std::string("gpu/extra_prof_") + name + "." + scaling + ".expected.json.gz"))["experiment"];
      const Work work = make_work();
      EXPECT_TRUE(set_reading_option(*work, "scaling", scaling).ok());
      auto dataset = open_dataset(std::filesystem::path(target) / name, work);
      ASSERT_TRUE(dataset.ok()) << dataset.error().text();
      auto experiment = (*dataset)->experiment();
      ASSERT_TRUE(experiment.ok()) << experiment.error().text();
      const Experiment& e = **experiment;
      std::map<std::pair<std::string, std::string>, const Series*> series;
      for (const Series& s : e.series()) {
        series[{e.callpaths()[s.callpath].name, e.metrics()[s.metric].name}] = &s;
      }
      std::size_t compared = 0;
      for (const auto& own : expected["measurements"]) {
        const auto found = series.find({own["callpath"].get<std::string>(), own["metric"].get<std::string>()});
        ASSERT_NE(found, series.end()) << own["callpath"] << own["metric"];
        const auto points = e.points_of(*found->second);
        ASSERT_EQ(points.size(), own["points"].size()) << own["callpath"] << own["metric"];
        for (std::size_t k = 0; k < points.size(); ++k) {
          const double mean = e.means()[found->second->first + k];
          ASSERT_TRUE(extrap::testing::close(mean, own["points"][k][1].get<double>(), 1e-9, 1e-15))
              << own["callpath"] << own["metric"] << mean << " vs " << own["points"][k][1];
        }
        ++compared;
      }
      EXPECT_EQ(compared, e.series().size());
    }
  }
}

}  // namespace
}  // namespace fathom::extra_prof
