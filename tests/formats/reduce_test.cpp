// Every trace that there is becomes a profile that keeps what the trace says.
#include "profile/reduce/reduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/execution.hpp"
#include "base/parallel.hpp"
#include "formats/all_traces.hpp"
#include "profile/compute.hpp"
#include "trace/made_trace.hpp"

namespace fathom {
namespace {

// What is stored, down to the last bit.
std::string fingerprint(const Profile& profile) {
  const Definitions& defs = profile.defs();
  std::string out;
  for (const Context& context : defs.contexts.all()) {
    out += defs.region(context.region).name + "<" + std::to_string(context.parent.value) + ";";
  }
  for (std::size_t m = 0; m < defs.metrics.size(); ++m) {
    out += "\n" + defs.metrics[m].name + ":";
    const StoredMetric metric{MetricId(m), 0};
    const Box box{{&metric, 1}, {0, static_cast<std::uint32_t>(defs.contexts.size())}, all_locations(defs)};
    const auto done = profile.values->scan(box, [&](const Run& run) -> Result<void> {
      out.append(reinterpret_cast<const char*>(run.values), run.count * 8);
      for (const std::uint32_t position : run.positions) out += std::to_string(position) + ",";
      return {};
    });
    EXPECT_TRUE(done.ok());
  }
  return out;
}

// Sums over contexts of own values by location, and over the roots of inclusive ones.
std::vector<double> sums(const Profile& profile, std::string_view metric, Flavour::Kind kind) {
  const Definitions& defs = profile.defs();
  Selection selection;
  selection.flavour.kind = kind;
  selection.locations = all_locations(defs);
  if (kind == Flavour::Kind::inclusive) selection.contexts = defs.contexts.roots();
  std::vector<double> out(defs.system.location_count());
  if (defs.contexts.size() == 0) return out;
  const auto cells = compute(profile, defs.find_metric(metric), selection);
  EXPECT_TRUE(cells.ok());
  for (std::size_t row = 0; cells.ok() && row < cells->rows(); ++row) {
    for (std::size_t l = 0; l < out.size(); ++l) out[l] += cells->scalar(row, l);
  }
  return out;
}

// What a plain count of the events says, to be found in the profile again.
struct Counted {
  std::map<std::string, std::uint64_t> enters;
  std::int64_t sent = 0;
  std::int64_t received = 0;
  std::uint64_t samples = 0;
};
Counted count_events(const Trace& trace) {
  Counted out;
  for (std::size_t l = 0; l < trace.location_count(); ++l) {
    auto stream = trace.open(LocationId(l), {});
    EXPECT_TRUE(stream.ok());
    if (!stream.ok()) continue;
    for (const Event& event : test::read_all(**stream)) {
      if (event.kind == EventKind::enter) ++out.enters[std::string(trace.name(event))];
      if (event.kind == EventKind::sample) ++out.samples;
      // What is sent to the null process goes nowhere.
      const bool moves = event.kind == EventKind::collective || event.peer != kNoPeer;
      if (moves && (event.kind == EventKind::send || event.kind == EventKind::collective)) out.sent += event.bytes;
      if (moves && event.kind == EventKind::recv) out.received += event.bytes;
      if (event.kind == EventKind::collective) out.received += event.value;
    }
  }
  return out;
}

std::uint64_t visits_of(const Profile& profile, const std::string& region) {
  const Definitions& defs = profile.defs();
  Selection selection;
  selection.flavour.kind = Flavour::Kind::own;
  selection.locations = all_locations(defs);
  selection.aggregate = true;
  const auto cells = compute(profile, defs.find_metric("visits"), selection);
  std::uint64_t out = 0;
  for (std::size_t i = 0; cells.ok() && i < defs.contexts.size(); ++i) {
    if (defs.region_of(ContextId(i)).name == region) out += static_cast<std::uint64_t>(cells->at(i, 0).integer());
  }
  return out;
}

TEST(ReduceData, TotalsOfEveryTraceAreKept) {
  std::size_t seen = 0;
  for (const auto& path : test::all_traces()) {
    SCOPED_TRACE(path.string());
    DatasetPtr dataset;
    const auto trace = test::open_trace(path, dataset);
    if (trace == nullptr) continue;
    ++seen;
    ReduceOptions options;
    options.name = path.string();
    const auto profile = reduce(*trace, options, dataset->work());
    ASSERT_TRUE(profile.ok()) << profile.error().text();
    const auto spans = location_spans(*trace);
    ASSERT_TRUE(spans.ok());
    const auto exclusive = sums(**profile, "time", Flavour::Kind::own);
    const auto inclusive = sums(**profile, "time", Flavour::Kind::inclusive);
    for (std::size_t l = 0; l < exclusive.size(); ++l) {
      // A place of counters does nothing.
      const bool counters = trace->definitions().system.location(LocationId(l)).type == "metric";
      const auto& span = (*spans)[l];
      const double length = span && !counters ? static_cast<double>(static_cast<std::uint64_t>(span->to_ns) -
                                                                    static_cast<std::uint64_t>(span->from_ns)) /
                                                    1e9
                                              : 0;
      EXPECT_NEAR(exclusive[l], length, 1e-12 * length + 1e-12) << "location " << l;
      EXPECT_NEAR(inclusive[l], length, 1e-12 * length + 1e-12) << "location " << l;
    }
    const Counted counted = count_events(*trace);
    const auto total = [&](std::string_view metric) {
      double sum = 0;
      if ((*profile)->defs().find_metric(metric).valid()) {
        for (const double one : sums(**profile, metric, Flavour::Kind::own)) sum += one;
      }
      return sum;
    };
    EXPECT_EQ(total("bytes_sent"), static_cast<double>(counted.sent));
    EXPECT_EQ(total("bytes_received"), static_cast<double>(counted.received));
    EXPECT_EQ(total("samples"), static_cast<double>(counted.samples));
    for (const auto& [region, count] : counted.enters) EXPECT_EQ(visits_of(**profile, region), count) << region;
  }
  EXPECT_GE(seen, 2U);
  if (!std::filesystem::exists(FATHOM_SHARED_DATA)) GTEST_SKIP() << "only the examples: no " << FATHOM_SHARED_DATA;
}

TEST(ReduceData, ThreadsMakeNoDifference) {
  for (const auto& path : test::all_traces()) {
    SCOPED_TRACE(path.string());
    std::string one;
    for (const unsigned threads : {1U, 2U, 8U}) {
      const Execution execution(threads);
      const ExecutionScope scope(execution);
      DatasetPtr dataset;
      const auto trace = test::open_trace(path, dataset);
      if (trace == nullptr) break;
      const auto profile = reduce(*trace, {}, dataset->work());
      ASSERT_TRUE(profile.ok()) << profile.error().text();
      const std::string print = fingerprint(**profile);
      if (threads == 1) one = print;
      EXPECT_TRUE(print == one) << threads << " threads";
    }
  }
}

TEST(ReduceData, PartsOfTheTimeAddUpToTheWhole) {
  for (const auto& path : test::all_traces()) {
    SCOPED_TRACE(path.string());
    DatasetPtr dataset;
    const auto trace = test::open_trace(path, dataset);
    if (trace == nullptr) continue;
    const auto whole = reduce(*trace, {}, dataset->work());
    ReduceOptions options;
    options.parts = 3;
    const auto parts = reduce(*trace, options, dataset->work());
    ASSERT_TRUE(whole.ok());
    if (!parts.ok()) continue;  // nothing has a time, or all the same
    for (const char* metric : {"time", "visits", "bytes_sent", "bytes_received", "samples"}) {
      if (!(*whole)->defs().find_metric(metric).valid()) continue;
      const auto all = sums(**whole, metric, Flavour::Kind::own);
      const auto pieces = sums(**parts, metric, Flavour::Kind::own);
      ASSERT_EQ(pieces.size(), 3 * all.size());
      for (std::size_t l = 0; l < all.size(); ++l) {
        EXPECT_NEAR(pieces[3 * l] + pieces[3 * l + 1] + pieces[3 * l + 2], all[l], 1e-12 * std::abs(all[l]) + 1e-12)
            << metric << " at location " << l;
      }
    }
  }
}

// Windows at random are what they are when cut out of the whole.
TEST(ReduceData, AnyWindowIsCutOutOfTheWhole) {
  std::mt19937_64 random(7);
  for (const auto& path : test::all_traces()) {
    SCOPED_TRACE(path.string());
    DatasetPtr dataset;
    const auto trace = test::open_trace(path, dataset);
    if (trace == nullptr) continue;
    for (std::size_t l = 0; l < std::min<std::size_t>(trace->location_count(), 6); ++l) {
      auto all = trace->open(LocationId(l), {});
      ASSERT_TRUE(all.ok());
      const auto whole = test::read_all(**all);
      if (whole.empty()) continue;
      for (int i = 0; i < 12; ++i) {
        // Ends are times of events, so that what lies on them is tried.
        TimeWindow window{whole[random() % whole.size()].time_ns, whole[random() % whole.size()].time_ns};
        if (window.to_ns < window.from_ns) std::swap(window.from_ns, window.to_ns);
        window.to_ns += static_cast<std::int64_t>(random() % 3);
        auto stream = trace->open(LocationId(l), window);
        ASSERT_TRUE(stream.ok());
        const auto got = test::read_all(**stream);
        const auto expected = test::cut_out(whole, window, trace.get());
        ASSERT_EQ(got.size(), expected.size()) << window.from_ns << " to " << window.to_ns << " of location " << l;
        const std::size_t e = test::first_difference(got, expected);
        ASSERT_EQ(e, got.size()) << test::text_of(got[e]) << " instead of " << test::text_of(expected[e]);
      }
    }
  }
}

}  // namespace
}  // namespace fathom
