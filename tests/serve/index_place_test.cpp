// An index that reads again from its input is used as long as that is the one it was made from.
#include "serve/index_place.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "../temporary_directory.hpp"
#include "formats/hpctoolkit/database_writer.hpp"
#include "formats/registry.hpp"
#include "trace/summary/timeline.hpp"

namespace fathom::serve {
namespace {

namespace fs = std::filesystem;

struct Opened {
  Work work = make_work();
  std::unique_ptr<Dataset> dataset;
  std::shared_ptr<const Trace> trace;
  std::shared_ptr<summary::Timeline> timeline;
};

Opened open(const fs::path& path, bool indexed) {
  Opened out;
  out.dataset = open_dataset(path, out.work).value();
  out.trace = out.dataset->trace().value();
  IndexOptions options;
  options.beside = true;
  const summary::IndexPlace place = indexed ? index_place(*out.trace, path, {}, options) : summary::IndexPlace();
  out.timeline = summary::Timeline::build(*out.trace, {}, out.work, place).value();
  return out;
}

std::string tile(const Opened& opened) {
  summary::TileRequest request;
  for (std::uint32_t i = 0; i < opened.timeline->row_count(); ++i) request.rows.push_back({i});
  const std::int64_t span = opened.timeline->end_ns() - opened.timeline->begin_ns();
  while ((std::int64_t{512} << request.k) < span) ++request.k;
  return summary::encode_tile(*opened.timeline, request);
}

TEST(IndexPlace, OfSamplesThatHaveChangedItIsMadeAnew) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "db";
  {
    const auto samples =
        open_dataset(fs::path(FATHOM_SOURCE_DIR) / "examples" / "samples.perf.txt", make_work()).value();
    const auto trace = samples->trace().value();
    ASSERT_TRUE(
        hpctoolkit::write_database(*samples->profile().value(), trace.get(), {}, hpctoolkit::Generation::meta, path)
            .ok());
  }
  const Opened made = open(path, true);
  EXPECT_FALSE(made.timeline->progress().stored);
  ASSERT_TRUE(made.timeline->row(0)->tree.needs_trace());
  const std::string before = tile(made);
  const Opened again = open(path, true);
  EXPECT_TRUE(again.timeline->progress().stored);
  EXPECT_TRUE(tile(again) == before);
  EXPECT_EQ(again.work->diagnostics.size(), made.work->diagnostics.size());
  // The first sample was in the outermost context; the size stays.
  {
    std::fstream file(path / "trace.db", std::ios::binary | std::ios::in | std::ios::out);
    std::uint64_t line = 0;
    file.seekg(0x48);
    file.read(reinterpret_cast<char*>(&line), sizeof line);
    const std::uint32_t context = 1;
    file.seekp(static_cast<std::streamoff>(line + 8));
    file.write(reinterpret_cast<const char*>(&context), sizeof context);
    ASSERT_TRUE(file.good());
  }
  fs::last_write_time(path / "trace.db", fs::last_write_time(path / "trace.db") + std::chrono::seconds(2));
  const Opened changed = open(path, true);
  EXPECT_FALSE(changed.timeline->progress().stored);
  EXPECT_TRUE(tile(changed) != before);
  EXPECT_TRUE(tile(changed) == tile(open(path, false)));
  EXPECT_EQ(changed.work->diagnostics.all().back().id, "view.index_remade");
  EXPECT_TRUE(open(path, true).timeline->progress().stored);
}

}  // namespace
}  // namespace fathom::serve
