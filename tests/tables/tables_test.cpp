#include "tables/tables.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "formats/registry.hpp"
#include "model/fit.hpp"
#include "profile/compute.hpp"
#include "profile/expression/derive.hpp"
#include "trace/details.hpp"
#include "trace/merge.hpp"
#include "trace/trace.hpp"

namespace fathom {
namespace {

DatasetPtr open_example(const std::string& path) {
  auto dataset = open_dataset(path, make_work());
  EXPECT_TRUE(dataset.ok()) << dataset.error().text();
  return dataset.ok() ? std::move(*dataset) : nullptr;
}

Table read(Dataset& dataset, std::string_view name, const TableBounds& bounds = {}) {
  auto source = open_table(dataset, name, bounds);
  EXPECT_TRUE(source.ok()) << source.error().text();
  if (!source.ok()) return {};
  auto table = read_all(**source);
  EXPECT_TRUE(table.ok()) << table.error().text();
  return table.ok() ? std::move(*table) : Table{};
}

using Cell = std::tuple<std::string, std::int64_t, std::int64_t>;

std::map<Cell, double> values(const Table& table) {
  std::map<Cell, double> out;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const Cell cell{table.column("metric").text(row), table.column("context").values<std::int64_t>()[row],
                    table.column("location").values<std::int64_t>()[row]};
    EXPECT_TRUE(out.emplace(cell, table.column("value").real(row)).second) << "a cell is there twice";
  }
  return out;
}

// What compute() gives, cell by cell.
std::map<Cell, double> computed(const Profile& profile, const Flavour& flavour) {
  std::map<Cell, double> out;
  const Definitions& defs = profile.defs();
  for (std::size_t m = 0; m < defs.metrics.size(); ++m) {
    if (!why_unavailable(profile, MetricId(m)).empty() || only_when_named(defs.metrics[m])) continue;
    Selection selection{.flavour = flavour, .contexts = {}, .locations = all_locations(defs), .void_values = true};
    const auto cells = compute(profile, MetricId(m), selection);
    EXPECT_TRUE(cells.ok());
    for (std::size_t row = 0; cells.ok() && row < cells->rows(); ++row) {
      for (std::size_t i = 0; i < cells->columns(); ++i) {
        if (cells->is_zero(row, i)) continue;
        out[{defs.metrics[m].name, static_cast<std::int64_t>(defs.contexts[ContextId(row)].file_id),
             static_cast<std::int64_t>(defs.system.location(LocationId(i)).file_id)}] = cells->scalar(row, i);
      }
    }
  }
  return out;
}

class ProfileTables : public testing::TestWithParam<const char*> {};

TEST_P(ProfileTables, ValuesAreThoseThatAreComputed) {
  if (!std::filesystem::exists(GetParam())) GTEST_SKIP() << GetParam() << " is missing";
  const DatasetPtr dataset = open_example(GetParam());
  ASSERT_TRUE(dataset);
  const auto profile = dataset->profile();
  ASSERT_TRUE(profile.ok());
  for (const auto& [name, kind] :
       {std::pair{"", Flavour::Kind::stored}, std::pair{"inclusive", Flavour::Kind::inclusive},
        std::pair{"exclusive", Flavour::Kind::exclusive}}) {
    const auto expected = computed(**profile, {kind, {}});
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(values(read(*dataset, "value", {.flavour = name})), expected) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, ProfileTables,
                         testing::Values("examples/stencil.cubex", FATHOM_SHARED_DATA "/hpctoolkit/b-small",
                                         FATHOM_SHARED_DATA "/hpctoolkit/a-small",
                                         FATHOM_SHARED_DATA "/hpctoolkit/b-loops-cuda"));

TEST(Tables, OnlyFilesNamedAfterTablesAreTheirs) {
  for (const char* own : {"value.csv", "event.csv", "metric.csv"}) EXPECT_TRUE(is_table_file(own, ".csv")) << own;
  for (const char* own : {"value.parquet", "event/part-0003.parquet", "event/location=0/data_0.parquet"}) {
    EXPECT_TRUE(is_table_file(own, ".parquet")) << own;
  }
  for (const char* other :
       {"survey.csv", "value.csv.bak", "value.json", "deep/value.csv", "value/notes.csv", "value.old.csv"}) {
    EXPECT_FALSE(is_table_file(other, ".csv")) << other;
  }
  for (const char* other :
       {"survey.parquet", "event/mine.parquet", "event/old/data_0.parquet", "event/location=0/x.parquet"}) {
    EXPECT_FALSE(is_table_file(other, ".parquet")) << other;
  }
}

TEST(Tables, BoundsOfValuesChooseRows) {
  const DatasetPtr dataset = open_example("examples/stencil.cubex");
  ASSERT_TRUE(dataset);
  const auto all = values(read(*dataset, "value"));
  std::map<Cell, double> expected;
  for (const auto& [cell, value] : all) {
    const auto& [metric, context, location] = cell;
    if (metric == "time" && location < 3 && (context == 2 || context == 5)) expected[cell] = value;
  }
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(
      values(read(*dataset, "value", {.locations = {"0", "1", "2"}, .metrics = {"time"}, .contexts = {"2", "5"}})),
      expected);
  const auto unknown = open_table(*dataset, "value", {.metrics = {"tiem"}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().text().find("time"), std::string::npos);
  EXPECT_FALSE(open_table(*dataset, "value", {.from_ns = 3}).ok());
  EXPECT_FALSE(open_table(*dataset, "event").ok());
  EXPECT_FALSE(open_table(*dataset, "vlaue").ok());
}

TEST(Tables, OnlyTheColumnsAskedForAreMade) {
  const DatasetPtr dataset = open_example("examples/stencil.cubex");
  ASSERT_TRUE(dataset);
  const auto source = open_table(*dataset, "context");
  ASSERT_TRUE(source.ok());
  const auto table = read_all(**source, {.columns = {4, 0}, .batch_rows = 7});
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->schema.columns.size(), 2U);
  EXPECT_EQ(table->schema.columns[0].name, "path");
  const Definitions& defs = (*dataset->profile())->defs();
  ASSERT_EQ(table->rows(), defs.contexts.size());
  for (std::size_t i = 0; i < table->rows(); ++i) {
    EXPECT_EQ(table->data.columns[0].text(i), defs.path(ContextId(i)));
    EXPECT_EQ(table->data.columns[1].values<std::int64_t>()[i],
              static_cast<std::int64_t>(defs.contexts[ContextId(i)].file_id));
  }
}

TEST(Tables, ParentsAndRegionsOfContextsAreTheirIds) {
  const DatasetPtr dataset = open_example("examples/stencil.cubex");
  ASSERT_TRUE(dataset);
  const Table contexts = read(*dataset, "context");
  const Table regions = read(*dataset, "region");
  std::map<std::int64_t, std::string> names;
  for (std::size_t i = 0; i < regions.rows(); ++i) {
    names[regions.column("id").values<std::int64_t>()[i]] = regions.column("name").text(i);
  }
  const Definitions& defs = (*dataset->profile())->defs();
  EXPECT_EQ(names.size(), defs.regions.size());
  std::size_t roots = 0;
  for (std::size_t i = 0; i < contexts.rows(); ++i) {
    const Context& context = defs.contexts[ContextId(i)];
    EXPECT_EQ(names[contexts.column("region").values<std::int64_t>()[i]], defs.region(context.region).name);
    EXPECT_EQ(contexts.column("parent").is_null(i), !context.parent.valid());
    if (context.parent.valid()) {
      EXPECT_EQ(contexts.column("parent").values<std::int64_t>()[i],
                static_cast<std::int64_t>(defs.contexts[context.parent].file_id));
    } else {
      ++roots;
    }
  }
  EXPECT_EQ(roots, defs.contexts.roots().size());
}

TEST(Tables, EventsAreThoseOfTheStreams) {
  const DatasetPtr dataset = open_example("examples/ring/ring.meta");
  ASSERT_TRUE(dataset);
  const auto trace = dataset->trace();
  ASSERT_TRUE(trace.ok());
  const Table table = read(*dataset, "event");
  std::size_t row = 0;
  std::string detail;
  for (std::size_t l = 0; l < (*trace)->location_count(); ++l) {
    auto stream = (*trace)->open(LocationId(l), {});
    ASSERT_TRUE(stream.ok());
    EventCursor cursor(std::move(*stream));
    while (const Event* event = cursor.next()) {
      ASSERT_LT(row, table.rows());
      EXPECT_EQ(table.column("time_ns").is_null(row), !event->has_time);
      if (event->has_time) {
        EXPECT_EQ(table.column("time_ns").values<std::int64_t>()[row], event->time_ns);
      }
      EXPECT_EQ(table.column("location").values<std::int64_t>()[row], static_cast<std::int64_t>(l));
      EXPECT_EQ(table.column("kind").text(row), to_string(event->kind));
      EXPECT_EQ(table.column("name").text(row), (*trace)->name(*event));
      detail.clear();
      ASSERT_TRUE((*trace)->detail(*event, detail).ok());
      EXPECT_EQ(table.column("detail").text(row), detail);
      ++row;
    }
  }
  EXPECT_EQ(row, table.rows());
  EXPECT_GT(row, 100U);
}

// DUMPI's streams say where the record of a call is; an event without that has the same arguments, found by a search.
TEST(Tables, ArgumentsOfCallsAreFoundWithAndWithoutTheirPlace) {
  const DatasetPtr dataset = open_example("examples/ring/ring.meta");
  ASSERT_TRUE(dataset);
  const auto trace = dataset->trace();
  ASSERT_TRUE(trace.ok());
  std::size_t calls = 0;
  for (std::size_t l = 0; l < (*trace)->location_count(); ++l) {
    auto stream = (*trace)->open(LocationId(l), {});
    ASSERT_TRUE(stream.ok());
    EventCursor cursor(std::move(*stream));
    while (const Event* event = cursor.next()) {
      if (event->kind != EventKind::enter && event->kind != EventKind::leave) continue;
      std::string known, searched;
      ASSERT_TRUE((*trace)->detail(*event, known).ok());
      Event bare = *event;
      EXPECT_GT(bare.bytes, 0);
      bare.bytes = 0;
      ASSERT_TRUE((*trace)->detail(bare, searched).ok());
      EXPECT_EQ(known, searched);
      ++calls;
    }
  }
  EXPECT_GT(calls, 100U);
}

// Of all locations in turns, as the events of a trace are written.
TEST(Tables, DetailsOfManyEventsAreThoseOfEach) {
  const DatasetPtr dataset = open_example("examples/ring/ring.meta");
  ASSERT_TRUE(dataset);
  const auto trace = dataset->trace();
  ASSERT_TRUE(trace.ok());
  auto merged = MergedEvents::over(**trace);
  ASSERT_TRUE(merged.ok());
  std::vector<Event> events;
  while (const Event* event = merged->next()) events.push_back(*event);
  std::string all = "before";
  std::vector<std::int64_t> ends;
  ASSERT_TRUE(append_details(**trace, events, all, ends).ok());
  ASSERT_EQ(ends.size(), events.size());
  std::string expected = "before";
  for (std::size_t i = 0; i < events.size(); ++i) {
    std::string one;
    ASSERT_TRUE((*trace)->detail(events[i], one).ok());
    expected += one;
    EXPECT_EQ(ends[i], static_cast<std::int64_t>(expected.size()));
  }
  EXPECT_EQ(all, expected);
}

TEST(Tables, EventsKeepToTheirBounds) {
  const DatasetPtr dataset = open_example("examples/ring/ring.meta");
  ASSERT_TRUE(dataset);
  const Table all = read(*dataset, "event");
  std::vector<std::int64_t> times;
  for (std::size_t i = 0; i < all.rows(); ++i) times.push_back(all.column("time_ns").values<std::int64_t>()[i]);
  std::vector<std::int64_t> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  const std::int64_t from = sorted[sorted.size() / 4];
  const std::int64_t to = sorted[sorted.size() / 2];
  std::size_t expected = 0;
  for (std::size_t i = 0; i < all.rows(); ++i) {
    const std::int64_t location = all.column("location").values<std::int64_t>()[i];
    if (times[i] >= from && times[i] < to && (location == 1 || location == 3)) ++expected;
  }
  const Table some = read(*dataset, "event", {.from_ns = from, .to_ns = to, .locations = {"1", "3"}});
  EXPECT_GT(expected, 0U);
  EXPECT_EQ(some.rows(), expected);
}

TEST(Tables, MessagesHaveBothEnds) {
  const DatasetPtr dataset = open_example("examples/ring/ring.meta");
  ASSERT_TRUE(dataset);
  const auto trace = dataset->trace();
  ASSERT_TRUE(trace.ok());
  std::vector<Message> expected;
  ASSERT_TRUE((*trace)
                  ->messages({},
                             [&](const Message& message) {
                               expected.push_back(message);
                               return true;
                             })
                  .ok());
  const Table table = read(*dataset, "message");
  ASSERT_EQ(table.rows(), expected.size());
  ASSERT_GT(expected.size(), 0U);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(table.column("src").values<std::int64_t>()[i], expected[i].from_rank);
    EXPECT_EQ(table.column("dst").values<std::int64_t>()[i], expected[i].to_rank);
    EXPECT_EQ(table.column("bytes").values<std::int64_t>()[i], expected[i].bytes);
    EXPECT_EQ(table.column("t_send").values<std::int64_t>()[i], *expected[i].sent_ns);
  }
  // A reader that is dropped early ends its work.
  const auto source = open_table(*dataset, "message");
  ASSERT_TRUE(source.ok());
  const auto reader = (*source)->open(0, {.columns = {0}, .batch_rows = 1});
  ASSERT_TRUE(reader.ok());
  Batch batch;
  const auto more = (*reader)->next(batch);
  ASSERT_TRUE(more.ok());
  EXPECT_TRUE(*more);
  EXPECT_EQ(batch.rows, 1U);
}

TEST(Tables, ModelsAreThoseThatAreFitted) {
  const DatasetPtr dataset = open_example("examples/scaling.txt");
  ASSERT_TRUE(dataset);
  const auto experiment = dataset->experiment();
  ASSERT_TRUE(experiment.ok());
  const auto options = fit_options("default", (*experiment)->parameters().size());
  ASSERT_TRUE(options.ok());
  const auto set = fit(**experiment, *options, make_work());
  ASSERT_TRUE(set.ok());
  const Table models = read(*dataset, "model");
  ASSERT_EQ(models.rows(), set->models.size());
  for (std::size_t i = 0; i < models.rows(); ++i) {
    EXPECT_EQ(models.column("function").text(i), text(set->models[i].function, (*experiment)->parameters()));
    EXPECT_EQ(models.column("SMAPE").real(i), set->models[i].quality.smape);
  }
  const Table points = read(*dataset, "point");
  ASSERT_EQ(points.rows(), (*experiment)->point_count());
  const Table measurements = read(*dataset, "measurement");
  EXPECT_EQ(measurements.rows(), (*experiment)->measurement_count());
  EXPECT_EQ(read(*dataset, "parameter").rows(), (*experiment)->parameters().size());
}

TEST(Tables, EveryTableOfEveryExampleCanBeRead) {
  for (const char* path : {"examples/stencil.cubex", "examples/ring/ring.meta", "examples/ovni", "examples/scaling.txt",
                           "examples/gpu.sqlite"}) {
    const DatasetPtr dataset = open_example(path);
    ASSERT_TRUE(dataset) << path;
    std::set<std::string> names;
    for (const TableKind* kind : tables_of(dataset->levels())) {
      names.emplace(kind->name);
      const Table table = read(*dataset, kind->name);
      EXPECT_EQ(table.schema.name, kind->name);
      if (kind->name == "event" || kind->name == "value" || kind->name == "context") {
        const bool empty_tree = kind->name == "context" && names.contains("event");
        EXPECT_TRUE(table.rows() > 0 || empty_tree || kind->name == "context") << path << " " << kind->name;
      }
    }
    EXPECT_TRUE(names.contains("diagnostic"));
  }
}

}  // namespace
}  // namespace fathom
