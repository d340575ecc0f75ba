// What tests of formats of slices share: what a trace says per name, and what Perfetto's trace processor says of the
// file.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "formats/registry.hpp"
#include "profile/compute.hpp"
#include "trace/trace.hpp"

namespace fathom::test {

struct NameSums {
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;  // of those that end
  std::uint64_t unfinished = 0;
  std::uint64_t instants = 0;  // markers
};

struct TraceSums {
  std::map<std::string, NameSums> names;
  std::uint64_t slices = 0, counters = 0, unfinished = 0, markers = 0, sends = 0, receives = 0;
};

// Leaves must match the innermost enter, and times must ascend.
inline TraceSums sums_of(const Trace& trace) {
  TraceSums sums;
  for (std::size_t i = 0; i < trace.location_count(); ++i) {
    auto stream = trace.open(LocationId(i), {});
    EXPECT_TRUE(stream.ok());
    EventCursor cursor(std::move(*stream), 5);
    std::vector<std::pair<std::uint32_t, std::int64_t>> open;
    std::int64_t before = INT64_MIN;
    while (const Event* event = cursor.next()) {
      EXPECT_GE(event->time_ns, before);
      before = event->time_ns;
      const std::string name(trace.name(*event));
      if (event->kind == EventKind::enter) {
        open.emplace_back(event->name, event->time_ns);
        ++sums.names[name].count;
        ++sums.slices;
      } else if (event->kind == EventKind::leave) {
        EXPECT_FALSE(open.empty());
        if (open.empty()) return sums;
        EXPECT_EQ(open.back().first, event->name);
        sums.names[name].total_ns += event->time_ns - open.back().second;
        open.pop_back();
      } else if (event->kind == EventKind::marker) {
        ++sums.names[name].instants;
        ++sums.markers;
      } else {
        sums.counters += event->kind == EventKind::counter ? 1 : 0;
        sums.sends += event->kind == EventKind::send ? 1 : 0;
        sums.receives += event->kind == EventKind::recv ? 1 : 0;
      }
    }
    for (const auto& [region, time] : open) {
      ++sums.names[trace.definitions().regions[region].name].unfinished;
      ++sums.unfinished;
    }
  }
  return sums;
}

// Per name, as the trace processor has them; it counts instants as slices and -1 for what never ends.
inline void expect_names(const TraceSums& sums, const nlohmann::json& expected,
                         const std::vector<std::string>& unfinished_there = {}) {
  for (const auto& row : expected["by_name"]) {
    const std::string name = row["name"].is_null() ? "" : row["name"].get<std::string>();
    const auto found = sums.names.find(name);
    ASSERT_NE(found, sums.names.end()) << name;
    const NameSums& ours = found->second;
    EXPECT_EQ(ours.count + ours.instants, row["n"].get<std::uint64_t>()) << name;
    if (std::find(unfinished_there.begin(), unfinished_there.end(), name) != unfinished_there.end()) continue;
    EXPECT_EQ(ours.total_ns - static_cast<std::int64_t>(ours.unfinished), row["total_ns"].get<std::int64_t>()) << name;
  }
}

inline nlohmann::json expected_of(const std::filesystem::path& file) {
  std::ifstream in(std::filesystem::path(FATHOM_SHARED_DATA) / "perfetto" / "expected" /
                   (file.filename().string() + ".json"));
  return nlohmann::json::parse(in);
}

inline std::shared_ptr<const Trace> read_text(const std::string& text, std::string_view format, DatasetPtr& dataset,
                                              const Work& work = make_work()) {
  auto opened = open_source(Source::of(Blob::own("made", text)), work, format);
  EXPECT_TRUE(opened.ok()) << opened.error().text();
  if (!opened.ok()) return nullptr;
  dataset = std::move(*opened);
  auto trace = dataset->trace();
  EXPECT_TRUE(trace.ok()) << trace.error().text();
  return trace.ok() ? *trace : nullptr;
}

// What contexts have of their own in a metric, over all locations, by the name of their region.
inline std::map<std::string, double> own_by_region(const Profile& profile, MetricId metric) {
  std::map<std::string, double> out;
  Selection selection;
  selection.flavour.kind = Flavour::Kind::own;
  selection.locations = all_locations(profile.defs());
  selection.aggregate = true;
  const auto cells = compute(profile, metric, selection);
  EXPECT_TRUE(cells.ok());
  if (!cells.ok()) return out;
  for (std::size_t row = 0; row < cells->rows(); ++row) {
    if (cells->is_zero(row, 0)) continue;
    out[profile.defs().region_of(ContextId(row)).name] += parse_double(cells->at(row, 0).text()).value_or(0);
  }
  return out;
}

}  // namespace fathom::test
