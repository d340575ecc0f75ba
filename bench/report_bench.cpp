// Bulk text: rows of a table that looks like events as CSV and as JSON, against copying the same bytes, and against the
// plain way (a formatting library, row by row). CPU time of all threads.
//   report_bench [million rows]
#include <fmt/format.h>

#include <cstdint>
#include <memory>

#include "base/table.hpp"
#include "base/text.hpp"
#include "measure.hpp"
#include "report/table_output.hpp"

namespace fathom {
namespace {

constexpr std::size_t kKept = 8192;

// The same batch over and over: what is measured is the text, not where the columns come from.
class Repeated final : public TableSource {
 public:
  explicit Repeated(std::uint64_t rows) : batches_(rows / kKept) {
    auto names = std::make_shared<std::vector<std::string>>();
    for (int i = 0; i < 40; ++i) names->push_back(fmt::format("MPI_Function_{}", i));
    auto places = std::make_shared<std::vector<std::string>>();
    for (int i = 0; i < 64; ++i) places->push_back(std::to_string(i));
    std::vector<std::int64_t> times;
    std::vector<std::uint32_t> name_codes;
    std::vector<std::uint32_t> place_codes;
    std::vector<std::int64_t> offsets = {0};
    std::string details;
    for (std::size_t i = 0; i < kKept; ++i) {
      times.push_back(1'600'000'000'000'000'000 + static_cast<std::int64_t>(i * 1237));
      name_codes.push_back(static_cast<std::uint32_t>(i * 7 % 40));
      place_codes.push_back(static_cast<std::uint32_t>(i * 5 % 64));
      if (i % 3 == 0) details += fmt::format("peer={};tag={};comm=MPI_COMM_WORLD;bytes={}", i % 64, i % 10, i * 8);
      offsets.push_back(static_cast<std::int64_t>(details.size()));
    }
    batch_ = {
        kKept,
        {Column::integers(std::move(times)), Column::texts(std::move(place_codes), places),
         Column::texts(std::move(name_codes), names), Column::free_texts(std::move(offsets), std::move(details))}};
  }
  [[nodiscard]] const Schema& schema() const override { return schema_; }
  [[nodiscard]] std::size_t parts() const override { return 1; }
  [[nodiscard]] Result<std::unique_ptr<BatchReader>> open(std::size_t, const ScanRequest&) const override {
    return std::unique_ptr<BatchReader>(std::make_unique<Reader>(*this));
  }
  [[nodiscard]] const Batch& batch() const { return batch_; }
  [[nodiscard]] std::uint64_t batches() const { return batches_; }

 private:
  class Reader final : public BatchReader {
   public:
    explicit Reader(const Repeated& of) : of_(of) {}
    Result<bool> next(Batch& batch) override {
      if (given_++ == of_.batches_) {
        batch = {};
        return false;
      }
      batch = of_.batch_;
      return true;
    }

   private:
    const Repeated& of_;
    std::uint64_t given_ = 0;
  };
  Schema schema_{"event",
                 {{"time_ns", ColumnType::int64, "ns"},
                  {"location", ColumnType::text},
                  {"name", ColumnType::text},
                  {"detail", ColumnType::free_text}}};
  std::uint64_t batches_;
  Batch batch_;
};

}  // namespace
}  // namespace fathom

int main(int argc, char** argv) {
  using namespace fathom;
  const std::uint64_t millions = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20;
  const Repeated source(millions * 1'000'000);
  const auto rows = static_cast<double>(source.batches() * kKept);
  FILE* nowhere = std::fopen("/dev/null", "w");
  const auto form = [&](RowForm wanted) {
    return bench::measure([&] {
      Output out(fileno(nowhere));
      bench::must(write_rows(out, wanted, source));
    });
  };
  const bench::Cost csv = form(RowForm::csv);
  const bench::Cost json = form(RowForm::json);
  const bench::Cost plain = bench::measure(
      [&] {
        Output out(fileno(nowhere));
        const auto& columns = source.batch().columns;
        for (std::uint64_t i = 0; i < source.batches(); ++i) {
          for (std::size_t row = 0; row < kKept; ++row) {
            out.write(fmt::format("{},{},{},{}\n", columns[0].values<std::int64_t>()[row],
                                  csv_quote(columns[1].text(row)), csv_quote(columns[2].text(row)),
                                  csv_quote(columns[3].text(row))));
          }
        }
      },
      1);
  std::printf("CSV   %6.1f M rows/s per core\n", rows / csv.cpu / 1e6);
  std::printf("JSON  %6.1f M rows/s per core, %.2f times the cost of CSV\n", rows / json.cpu / 1e6, json.cpu / csv.cpu);
  std::printf("plain %6.1f M rows/s per core, %.2f times the cost of CSV\n", rows / plain.cpu / 1e6,
              plain.cpu / csv.cpu);
  std::fclose(nowhere);
  return 0;
}
