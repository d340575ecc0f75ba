#include "base/table.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fathom {
namespace {

Table calls() {
  TableBuilder builder({"calls",
                        {{"name", ColumnType::text},
                         {"count", ColumnType::uint64},
                         {"wall_s", ColumnType::float64, "s"},
                         {"sum", ColumnType::int128},
                         {"late", ColumnType::boolean}}});
  builder.row("MPI_Send", 12U, 0.5, Int128{1} << 100, true);
  builder.row(std::string("MPI_Recv"), 3, std::optional<double>(), 7, false);
  builder.row("MPI_Send", 1U, 2.0, kMissing, kMissing);
  return std::move(builder).finish();
}

TEST(Table, RowsBecomeTypedColumns) {
  const Table table = calls();
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.column("count").values<std::uint64_t>()[1], 3U);
  EXPECT_TRUE(table.column("sum").values<Int128>()[0] == Int128{1} << 100);
  EXPECT_EQ(table.column("late").values<std::uint8_t>()[0], 1);
  EXPECT_EQ(table.column("name").text(1), "MPI_Recv");
}

TEST(Table, EqualTextsShareOneCode) {
  const Table table = calls();
  const auto codes = table.column("name").values<std::uint32_t>();
  EXPECT_EQ(codes[0], codes[2]);
  EXPECT_EQ(table.column("name").dictionary()->size(), 2U);
}

TEST(Table, MissingCellsAreNullAndNotANumber) {
  const Table table = calls();
  EXPECT_FALSE(table.column("wall_s").is_null(0));
  EXPECT_TRUE(table.column("wall_s").is_null(1));
  EXPECT_TRUE(std::isnan(table.column("wall_s").real(1)));
  EXPECT_TRUE(table.column("count").validity().empty());
}

TEST(Table, ValidityReachesBeyondOneWord) {
  TableBuilder builder({"long", {{"n", ColumnType::int64}}});
  for (int i = 0; i < 200; ++i) {
    if (i % 3 == 0) {
      builder.row(kMissing);
    } else {
      builder.row(i);
    }
  }
  const Table table = std::move(builder).finish();
  for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(table.column("n").is_null(i), i % 3 == 0) << i;
}

TEST(Table, SecondsKeepEveryNanosecondAndFreeTextsTheirBytes) {
  TableBuilder builder({"calls", {{"wall_s", ColumnType::seconds, "s"}, {"detail", ColumnType::free_text}}});
  builder.row(std::int64_t{9'007'199'254'740'993}, "a=1");
  builder.row(kMissing, kMissing);
  builder.row(-1, std::string("b") + '\0');
  const auto table = read_all(*source_of(std::move(builder).finish()));
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->column("wall_s").values<std::int64_t>()[0], 9'007'199'254'740'993);  // 2^53 + 1
  EXPECT_DOUBLE_EQ(table->column("wall_s").real(2), -1e-9);
  EXPECT_EQ(table->column("detail").text(0), "a=1");
  EXPECT_TRUE(table->column("detail").is_null(1));
  EXPECT_EQ(table->column("detail").text(1), "");
  EXPECT_EQ(table->column("detail").text(2), std::string_view("b\0", 2));
  EXPECT_EQ(table->column("detail").offsets().back(), 5);
}

TEST(Table, ABatchCanBeMadeAfterItsReaderWentOn) {
  const auto source = source_of(calls());
  const auto reader = source->open(0, {});
  ASSERT_TRUE(reader.ok());
  BatchMaker first;
  BatchMaker second;
  ASSERT_TRUE(*(*reader)->prepare(first));
  EXPECT_FALSE(*(*reader)->prepare(second));
  const auto batch = first();
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->rows, 3U);
}

TEST(Table, ScanGivesTheColumnsThatWereAskedFor) {
  const auto source = source_of(calls());
  const auto table = read_all(*source, {{2, 0}, 1});
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->schema.columns.size(), 2U);
  EXPECT_EQ(table->schema.columns[0].name, "wall_s");
  EXPECT_EQ(table->column("wall_s").real(2), 2.0);
  EXPECT_EQ(table->column("name").text(2), "MPI_Send");
}

}  // namespace
}  // namespace fathom
