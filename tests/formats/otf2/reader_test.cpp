// Reading against what the official library and otf2-print say of the same archives.
#include <bit>
#include <cmath>

#include "formats/otf2/event_counts.hpp"
#include "formats/otf2/event_file.hpp"
#include "otf2_cases.hpp"
#include "trace/call_statistics.hpp"

namespace fathom::otf2 {
namespace {

struct Case {
  const char* name;
  const char* anchor;
  const char* expected;
};
const Case kCases[] = {{"pingpong", "traces.otf2", "expected.json"},
                       {"mi300", "traces.otf2", "expected.json"},
                       {"apex_als", "APEX.otf2", "expected.json"},
                       {"kinds", "traces.otf2", "expected.json"},
                       {"eztrace_mpi4", "eztrace_log.otf2", "expected_print.json"},
                       {"integrity11", "TestTrace.otf2", "expected_print.json"}};

// MPI_SEND of the printer, MpiSend of the bindings.
std::string plain_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (out == "parameterint64") return "parameterint";
  if (out == "parameteruint64") return "parameterunsignedint";
  return out;
}

class Otf2Reader : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!has_data()) GTEST_SKIP() << "needs " << data_directory();
    const auto directory = data_directory() / GetParam().name;
    expected_ = read_json(directory / GetParam().expected);
    std::filesystem::path anchor = directory / GetParam().anchor;
    if (!std::filesystem::exists(anchor)) {
      const auto packed = directory / (std::string(GetParam().name) + ".tar.gz");
      const std::string command = "tar xzf " + packed.string() + " -C " + unpacked_.path().string();
      ASSERT_EQ(std::system(command.c_str()), 0);
      for (const auto& entry : std::filesystem::recursive_directory_iterator(unpacked_.path())) {
        if (entry.path().extension() == ".otf2") anchor = entry.path();
      }
    }
    archive_ = open_archive(anchor, work_);
    ASSERT_NE(archive_, nullptr);
    auto trace = Otf2Trace::make(archive_);
    ASSERT_TRUE(trace.ok()) << trace.error().text();
    trace_ = *trace;
  }

  [[nodiscard]] std::int64_t to_ns(std::uint64_t ticks) const {
    const ClockProperties& clock = archive_->definitions.clock;
    const auto passed = static_cast<__int128>(ticks) - static_cast<__int128>(clock.global_offset);
    __int128 product = passed * 1'000'000'000;
    const auto resolution = static_cast<__int128>(clock.resolution);
    __int128 quotient = product / resolution;
    if (quotient * resolution > product) --quotient;
    return static_cast<std::int64_t>(quotient);
  }
  [[nodiscard]] LocationId location(std::uint64_t id) const {
    return LocationId(archive_->definitions.locations.position(id));
  }

  Work work_ = make_work();
  TemporaryDirectory unpacked_;
  nlohmann::json expected_;
  std::shared_ptr<const Archive> archive_;
  std::shared_ptr<const Otf2Trace> trace_;
};

TEST_P(Otf2Reader, CountsEveryKindPerLocation) {
  const auto counts = count_events(*archive_);
  ASSERT_TRUE(counts.ok());
  std::uint64_t total = 0;
  for (const auto& wanted : expected_["locations"]) {
    const LocationId at = location(wanted["id"]);
    ASSERT_LT(at.index(), trace_->location_count());
    const EventCounts& found = (*counts)[at.index()];
    EXPECT_EQ(found.events, wanted["events"].get<std::uint64_t>());
    EXPECT_EQ(trace_->known_records(at), found.events);
    total += found.events;
    std::map<std::string, std::uint64_t> kinds;
    for (const auto& [name, count] : wanted["kinds"].items()) kinds[plain_name(name)] = count;
    std::map<std::string, std::uint64_t> named;
    for (std::size_t type = 0; type < 256; ++type) {
      if (found.by_type[type] == 0) continue;
      const RecordKind* const kind = find_event_kind(static_cast<std::uint8_t>(type));
      ASSERT_NE(kind, nullptr);
      named[plain_name(kind->name)] = found.by_type[type];
    }
    EXPECT_EQ(named, kinds);
  }
  EXPECT_EQ(total, expected_["events"].get<std::uint64_t>());
}

TEST_P(Otf2Reader, TimesAreCorrectedAndExact) {
  std::size_t compared = 0;
  for (const auto& wanted : expected_["locations"]) {
    if (wanted["first"].is_null()) continue;
    std::vector<Event> events = all_events(*trace_, location(wanted["id"]));
    const auto span = trace_->location_span(location(wanted["id"]));
    ASSERT_TRUE(span);
    EXPECT_EQ(span->from_ns, events.front().time_ns);
    EXPECT_EQ(span->to_ns, events.back().time_ns);
    std::erase_if(events, [](const Event& event) { return event.record == Event::kNoRecord; });
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events.front().time_ns, to_ns(wanted["first"]));
    EXPECT_EQ(events.back().time_ns, to_ns(wanted["last"]));
    EXPECT_TRUE(std::is_sorted(events.begin(), events.end(),
                               [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; }));
    ++compared;
  }
  EXPECT_GT(compared, 0U);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const auto& wanted : expected_["locations"]) {
    if (wanted["first"].is_null()) continue;
    first = std::min(first, to_ns(wanted["first"]));
    last = std::max(last, to_ns(wanted["last"]));
  }
  ASSERT_TRUE(trace_->known_span());
  EXPECT_EQ(trace_->known_span()->from_ns, first);
  EXPECT_EQ(trace_->known_span()->to_ns, last);
}

TEST_P(Otf2Reader, VisitsAndInclusiveTimes) {
  const auto statistics = call_statistics(*trace_, {});
  ASSERT_TRUE(statistics.ok()) << statistics.error().text();
  // Regions of the same name are one call; contexts that are entered count as well and are not among the expected.
  std::map<std::string, std::pair<std::uint64_t, double>> wanted;
  for (const auto& region : expected_["regions"]) {
    auto& sum = wanted[region["name"]];
    sum.first += region["visits"].get<std::uint64_t>();
    sum.second += region["inclusive"].get<double>();
  }
  const double ns = 1e9 / static_cast<double>(archive_->definitions.clock.resolution);
  std::size_t compared = 0;
  for (const CallStatistics& call : statistics->calls) {
    if (std::string_view(GetParam().name) == "kinds" && call.name == "work") continue;
    const auto found = wanted.find(call.name);
    ASSERT_NE(found, wanted.end()) << call.name;
    EXPECT_EQ(call.count, found->second.first) << call.name;
    EXPECT_NEAR(*call.wall_s * 1e9, found->second.second * ns, 2.0 * static_cast<double>(call.count)) << call.name;
    ++compared;
  }
  EXPECT_GE(compared + 1, wanted.size());
}

TEST_P(Otf2Reader, MessagesAndCollectives) {
  std::map<EventKind, std::pair<std::uint64_t, std::int64_t>> sums;
  std::int64_t received = 0;
  for (std::size_t i = 0; i < trace_->location_count(); ++i) {
    for (const Event& event : all_events(*trace_, LocationId(i))) {
      auto& sum = sums[event.kind];
      ++sum.first;
      sum.second += event.bytes;
      if (event.kind == EventKind::collective) received += event.value;
    }
  }
  const auto& kinds = expected_["events_by_kind"];
  std::map<std::string, std::uint64_t> wanted;
  for (const auto& [name, count] : kinds.items()) wanted[plain_name(name)] = count;
  EXPECT_EQ(sums[EventKind::send].first, wanted["mpisend"] + wanted["mpiisend"]);
  EXPECT_EQ(sums[EventKind::recv].first, wanted["mpirecv"] + wanted["mpiirecv"]);
  EXPECT_EQ(sums[EventKind::collective].first, wanted["mpicollectiveend"]);
  EXPECT_EQ(sums[EventKind::enter].first, wanted["enter"] + wanted["callingcontextenter"]);
  EXPECT_EQ(sums[EventKind::leave].first, wanted["leave"] + wanted["callingcontextleave"]);
  EXPECT_EQ(sums[EventKind::sample].first, wanted["callingcontextsample"]);
  const auto messages = expected_.value("messages", nlohmann::json::object());
  if (messages.contains("bytes_sent") && std::string_view(GetParam().name) != "apex_als") {
    EXPECT_EQ(sums[EventKind::send].second, messages["bytes_sent"].get<std::int64_t>());
    EXPECT_EQ(sums[EventKind::recv].second, messages["bytes_received"].get<std::int64_t>());
  }
  if (messages.contains("bytes_collective_sent")) {
    EXPECT_EQ(sums[EventKind::collective].second, messages["bytes_collective_sent"].get<std::int64_t>());
    EXPECT_EQ(received, messages["bytes_collective_received"].get<std::int64_t>());
  }
}

TEST_P(Otf2Reader, MetricsOfAllModes) {
  if (!expected_.contains("metrics")) GTEST_SKIP() << "has none";
  struct Sum {
    std::uint64_t values = 0;
    double sum = 0;
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
  };
  std::map<std::string, Sum> sums;
  for (std::size_t i = 0; i < trace_->location_count(); ++i) {
    for (const Event& event : all_events(*trace_, LocationId(i))) {
      if (event.kind != EventKind::counter) continue;
      ASSERT_LT(event.name, trace_->definitions().metrics.size());
      const Metric& metric = trace_->definitions().metrics[event.name];
      const double value = metric.type.is_double()     ? std::bit_cast<double>(event.value)
                           : metric.type.is_unsigned() ? static_cast<double>(static_cast<std::uint64_t>(event.value))
                                                       : static_cast<double>(event.value);
      Sum& sum = sums[metric.display_name];
      ++sum.values;
      sum.sum += value;
      sum.least = std::min(sum.least, value);
      sum.most = std::max(sum.most, value);
    }
  }
  for (const auto& [name, wanted] : expected_["metrics"].items()) {
    EXPECT_EQ(sums[name].values, wanted["values"].get<std::uint64_t>()) << name;
    EXPECT_EQ(sums[name].least, wanted["min"].get<double>()) << name;
    EXPECT_EQ(sums[name].most, wanted["max"].get<double>()) << name;
    EXPECT_NEAR(sums[name].sum, wanted["sum"].get<double>(), 1e-9 * std::abs(sums[name].sum)) << name;
  }
}

TEST_P(Otf2Reader, DefinitionsAreComplete) {
  if (!expected_.contains("definitions")) GTEST_SKIP() << "the printer does not count them";
  const GlobalDefinitions& native = archive_->definitions;
  const std::map<std::string, std::size_t> found = {{"strings", native.strings.size()},
                                                    {"attributes", native.attributes.size()},
                                                    {"system_tree_nodes", native.nodes.size()},
                                                    {"location_groups", native.groups.size()},
                                                    {"locations", native.locations.size()},
                                                    {"regions", native.regions.size()},
                                                    {"groups", native.sets.size()},
                                                    {"metric_members", native.members.size()},
                                                    {"metric_classes", native.classes.size()},
                                                    {"metric_instances", native.instances.size()},
                                                    {"comms", native.comms.size()},
                                                    {"parameters", native.parameters.size()},
                                                    {"rma_wins", native.windows.size()},
                                                    {"cart_topologies", native.topologies.size()},
                                                    {"cart_dimensions", native.dimensions.size()},
                                                    {"source_code_locations", native.sources.size()},
                                                    {"calling_contexts", native.contexts.size()},
                                                    {"interrupt_generators", native.generators.size()},
                                                    {"io_handles", native.handles.size()},
                                                    {"io_regular_files", native.files.size()}};
  for (const auto& [kind, count] : expected_["definitions"].items()) {
    const auto own = found.find(kind);
    if (own == found.end()) continue;
    EXPECT_EQ(own->second, count.get<std::size_t>()) << kind;
  }
  EXPECT_EQ(native.records, archive_->anchor.global_definitions);
}

TEST_P(Otf2Reader, DetailsOfAllEventsCanBeShown) {
  for (std::size_t i = 0; i < trace_->location_count(); ++i) {
    std::size_t shown = 0;
    for (const Event& event : all_events(*trace_, LocationId(i))) {
      std::string text;
      ASSERT_TRUE(trace_->detail(event, text).ok());
      if (event.kind == EventKind::marker && event.record != Event::kNoRecord) {
        EXPECT_TRUE(text.starts_with("record=")) << text;
      }
      if (++shown == 3000) break;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Data, Otf2Reader, testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace fathom::otf2
