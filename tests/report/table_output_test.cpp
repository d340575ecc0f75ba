#include "report/table_output.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/execution.hpp"
#include "base/number_text.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "report/table_text.hpp"

namespace fathom {
namespace {

Table sample() {
  TableBuilder builder({"calls",
                        {{"name", ColumnType::text},
                         {"count", ColumnType::uint64, "occ"},
                         {"wall_s", ColumnType::seconds, "s"},
                         {"share", ColumnType::float64},
                         {"late", ColumnType::boolean},
                         {"sum", ColumnType::int128},
                         {"detail", ColumnType::free_text}}});
  builder.row("a,\"b\"", 12345U, 1'500'000'001, 0.25, true, Int128{1} << 64, "x=1;y=2");
  builder.row("c\n\xff", 0U, -1, std::numeric_limits<double>::quiet_NaN(), false, -5, "say \"é\"\t");
  builder.row(kMissing, kMissing, kMissing, kMissing, kMissing, kMissing, kMissing);
  return std::move(builder).finish();
}

std::string rows(RowForm form, const TableSource& source, const ScanRequest& request = {}) {
  Output out;
  const auto status = write_rows(out, form, source, request);
  EXPECT_TRUE(status.ok());
  return out.text();
}

// And it is UTF-8: what is none is U+FFFD, as in JSON.
TEST(TableOutput, CsvQuotesWhatRfc4180Says) {
  EXPECT_EQ(rows(RowForm::csv, *source_of(sample())),
            "name,count,wall_s,share,late,sum,detail\n"
            "\"a,\"\"b\"\"\",12345,1.500000001,0.25,true,18446744073709551616,x=1;y=2\n"
            "\"c\n\xEF\xBF\xBD\",0,-0.000000001,nan,false,-5,\"say \"\"é\"\"\t\"\n"
            ",,,,,,\n");
}

// --csv-safe: what a spreadsheet would evaluate is a text there; numbers stay numbers, whatever kind of column they are
// in.
TEST(TableOutput, SafeCsvHasNoFormulas) {
  TableBuilder builder(
      {"t", {{"name", ColumnType::text}, {"n", ColumnType::int64}, {"=detail", ColumnType::free_text}}});
  builder.row("=1+1", -1, "-2.5");
  builder.row("@a,b", 2, "+cmd|' /C calc'!A0");
  builder.row("a=b", 3, "-x");
  builder.row("-7", 4, "a much longer text that is copied in words: =1");
  const Table table = std::move(builder).finish();
  const std::string expected =
      "name,n,'=detail\n"
      "'=1+1,-1,-2.5\n"
      "\"'@a,b\",2,'+cmd|' /C calc'!A0\n"
      "a=b,3,'-x\n"
      "-7,4,a much longer text that is copied in words: =1\n";
  Output out;
  out.csv_safe(true);
  write_csv(out, table);
  EXPECT_EQ(out.text(), expected);
  Output many;
  many.csv_safe(true);
  ASSERT_TRUE(write_rows(many, RowForm::csv, *source_of(table)).ok());
  EXPECT_EQ(many.text(), expected);
}

TEST(TableOutput, JsonIsAnArrayOfValidObjects) {
  EXPECT_EQ(rows(RowForm::json, *source_of(sample())),
            "[\n"
            "  {\"name\": \"a,\\\"b\\\"\", \"count\": 12345, \"wall_s\": 1.500000001, \"share\": 0.25, \"late\": true, "
            "\"sum\": 18446744073709551616, \"detail\": \"x=1;y=2\"},\n"
            "  {\"name\": \"c\\n\xEF\xBF\xBD\", \"count\": 0, \"wall_s\": -0.000000001, \"share\": \"nan\", \"late\": "
            "false, \"sum\": -5, \"detail\": \"say \\\"é\\\"\\t\"},\n"
            "  {\"name\": null, \"count\": null, \"wall_s\": null, \"share\": null, \"late\": null, \"sum\": null, "
            "\"detail\": null}\n"
            "]\n");
}

TEST(TableOutput, NothingIsAnEmptyArrayAndABareHeader) {
  const auto none = source_of(TableBuilder({"t", {{"n", ColumnType::int64}}}).finish());
  EXPECT_EQ(rows(RowForm::json, *none), "[]\n");
  EXPECT_EQ(rows(RowForm::csv, *none), "n\n");
}

TEST(TableOutput, MembersOfAnObjectByRowOrByKey) {
  TableBuilder builder({"calls", {{"name", ColumnType::text}, {"n", ColumnType::int64}}});
  builder.row("a", 1);
  builder.row("b", kMissing);
  const Table table = std::move(builder).finish();
  Output out;
  JsonWriter json(out);
  json.begin_object().key("rows");
  write_json(json, table);
  json.key("calls");
  write_json_by_key(json, table, {.skip_missing = true});
  json.end_object();
  EXPECT_EQ(out.text(),
            "{\n  \"rows\": [{\"name\": \"a\", \"n\": 1}, {\"name\": \"b\", \"n\": null}],\n"
            "  \"calls\": {\"a\": {\"n\": 1}, \"b\": {}}\n}\n");
}

TEST(TableOutput, MarkdownKeepsItsColumns) {
  TableBuilder builder({"t", {{"name", ColumnType::text}, {"n", ColumnType::int64}}});
  builder.row("a|b\nc", 1);
  Output out;
  write_markdown(out, std::move(builder).finish());
  EXPECT_EQ(out.text(), "| name | n |\n|---|---:|\n| a\\|b c | 1 |\n");
}

// Texts that stand one behind the other are copied beyond their ends: of all lengths, alone and beside one that needs
// quotes.
TEST(TableOutput, FreeTextsStandAsTheyAreWhateverIsBesideThem) {
  for (const std::string_view odd : {"", "a,b", "say \"no\""}) {
    std::string bytes(odd);
    std::vector<std::int64_t> offsets = {0, static_cast<std::int64_t>(bytes.size())};
    std::string csv = "n,t\n0," + csv_quote(odd) + "\n";
    std::string json = "[\n  {\"n\": 0, \"t\": " + json_quote(odd) + "}";
    std::vector<std::int64_t> numbers = {0};
    for (std::size_t size = 0; size <= 70; ++size) {
      std::string text;
      for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + (size + i) % 26);
      bytes += text;
      offsets.push_back(static_cast<std::int64_t>(bytes.size()));
      numbers.push_back(static_cast<std::int64_t>(size));
      csv += std::to_string(size) + "," + text + "\n";
      json += ",\n  {\"n\": " + std::to_string(size) + ", \"t\": \"" + text + "\"}";
    }
    const std::size_t count = numbers.size();
    Table table{{"t", {{"n", ColumnType::int64}, {"t", ColumnType::free_text}}},
                {count, {Column::integers(std::move(numbers)), Column::free_texts(std::move(offsets), bytes)}}};
    const auto source = source_of(std::move(table));
    EXPECT_EQ(rows(RowForm::csv, *source), csv);
    EXPECT_EQ(rows(RowForm::json, *source), json + "\n]\n");
  }
}

// Every text of up to 20 characters around the edges of a word, against the plain quoting functions.
TEST(TableOutput, SpellingOfTextsAgreesWithTheSimpleForm) {
  const std::string alphabet("a,\"\\\n\r\x1f\x7f\x80\xc3\xa9 z", 13);
  for (std::size_t size = 0; size <= 20; ++size) {
    for (std::size_t at = 0; at <= size; ++at) {
      for (const char c : alphabet) {
        std::string text(size, 'x');
        if (at < size) text[at] = c;
        TextBuffer csv;
        append_spelled(RowForm::csv, text, csv);
        EXPECT_EQ(csv.view(), csv_quote(text));
        TextBuffer json;
        append_spelled(RowForm::json, text, json);
        EXPECT_EQ(json.view(), json_quote(text));
      }
    }
  }
}

TEST(TableOutput, LongNumbersAgreeWithTheSimpleForm) {
  for (std::uint64_t power = 1; power != 0 && power <= 10'000'000'000'000'000'000U; power *= 10) {
    for (const std::uint64_t value : {power - 1, power, power + 1, power * 9 / 8}) {
      char text[text_writing::kNumberRoom];
      EXPECT_EQ(std::string(text, text_writing::put_integer(text, value)), std::to_string(value));
      const auto negative = -static_cast<std::int64_t>(value / 2);
      EXPECT_EQ(std::string(text, text_writing::put_integer(text, negative)), std::to_string(negative));
    }
    if (power == 10'000'000'000'000'000'000U) break;
  }
  char text[text_writing::kNumberRoom];
  EXPECT_EQ(std::string(text, text_writing::put_integer(text, INT64_MIN)), "-9223372036854775808");
  EXPECT_EQ(std::string(text, text_writing::put_integer(text, UINT64_MAX)), "18446744073709551615");
}

// Numbers 0..n-1 in parts, each in batches of its own dictionary, made late.
class Counting final : public TableSource {
 public:
  [[nodiscard]] const Schema& schema() const override { return schema_; }
  [[nodiscard]] std::size_t parts() const override { return 7; }
  [[nodiscard]] Result<std::unique_ptr<BatchReader>> open(std::size_t part, const ScanRequest& request) const override {
    return std::unique_ptr<BatchReader>(std::make_unique<Reader>(part, request.batch_rows));
  }
  static constexpr std::uint64_t kRowsOfPart = 30000;

 private:
  class Reader final : public BatchReader {
   public:
    Reader(std::size_t part, std::size_t rows) : next_(part * kRowsOfPart), end_(next_ + kRowsOfPart), rows_(rows) {}
    Result<bool> prepare(BatchMaker& maker) override {
      const std::uint64_t begin = next_;
      const std::uint64_t count = std::min<std::uint64_t>(rows_, end_ - next_);
      next_ += count;
      maker = [begin, count]() -> Result<Batch> {
        std::vector<std::uint64_t> numbers;
        for (std::uint64_t i = 0; i < count; ++i) numbers.push_back(begin + i);
        auto texts = std::make_shared<const std::vector<std::string>>(1, std::to_string(begin));
        return Batch{count, {Column::naturals(numbers), Column::texts(std::vector<std::uint32_t>(count, 0), texts)}};
      };
      return count > 0;
    }
    Result<bool> next(Batch& batch) override {
      BatchMaker maker;
      FATHOM_TRY(const bool more, prepare(maker));
      FATHOM_TRY(batch, maker());
      return more;
    }

   private:
    std::uint64_t next_;
    std::uint64_t end_;
    std::size_t rows_;
  };
  Schema schema_{"count", {{"n", ColumnType::uint64}, {"batch", ColumnType::text}}};
};

TEST(TableOutput, BatchesLeaveInOrderWhateverTheNumberOfThreads) {
  const Counting source;
  for (const unsigned threads : {1U, 2U, 8U}) {
    const Execution execution(threads);
    const ExecutionScope scope(execution);
    const std::string text = rows(RowForm::csv, source, {{}, 1000});
    std::string expected = "n,batch\n";
    for (std::uint64_t i = 0; i < 7 * Counting::kRowsOfPart; ++i) {
      expected += std::to_string(i) + ',' + std::to_string(i / 1000 * 1000) + '\n';
    }
    EXPECT_EQ(text, expected) << threads;
  }
}

TEST(TableText, NumbersHaveUnitsAndBarsAreForTerminals) {
  TableBuilder builder({"calls",
                        {{"name", ColumnType::text},
                         {"count", ColumnType::uint64, "occ"},
                         {"wall_s", ColumnType::seconds, "s"},
                         {"rank", ColumnType::int64}}});
  builder.row("MPI_Send", 12345U, 1'500'000, 12345);
  builder.row("MPI_Recv", 1U, 500'000, kMissing);
  const Table table = std::move(builder).finish();
  EXPECT_EQ(table_text(table, {}),
            "NAME       COUNT     WALL   RANK\n"
            "MPI_Send  12,345  1.50 ms  12345\n"
            "MPI_Recv       1   500 µs\n");
  const TableLook look{.columns = {{"wall_s"}, {"wall_s", Show::of_sum}, {"wall_s", Show::bar}, {"name"}}};
  EXPECT_EQ(table_text(table, {}, look),
            "   WALL      %  NAME\n"
            "1.50 ms  75.0%  MPI_Send\n"
            " 500 µs  25.0%  MPI_Recv\n");
  EXPECT_NE(table_text(table, {.bars = true, .width = 80}, look).find("████████████"), std::string::npos);
}

TEST(TableText, ALongTableTakesItsWidthsFromTheFirstRows) {
  const Counting source;
  Output out;
  ASSERT_TRUE(write_text(out, source, {{0}, 1000}).ok());
  EXPECT_TRUE(out.text().starts_with("   N\n   0\n   1\n"));
  EXPECT_TRUE(out.text().ends_with("\n209999\n"));
}

}  // namespace
}  // namespace fathom
