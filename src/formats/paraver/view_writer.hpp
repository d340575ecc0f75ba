// Writes views as Paraver files: NAME.prv (records), NAME.pcf (names of types and values), NAME.row (names of rows).
#pragma once

#include <filesystem>
#include <memory>

#include "io/output_file.hpp"
#include "trace/views.hpp"

namespace fathom::paraver {

class ViewWriter : public ViewSink {
 public:
  // The directory is made when it is missing.
  explicit ViewWriter(std::filesystem::path directory) : directory_(std::move(directory)) {}

  Result<void> begin(std::span<const View> views) override;
  void encode(std::span<const ViewRecord> records, std::vector<std::string>& texts) const override;
  Result<void> write(const std::vector<std::string>& texts) override;
  Result<void> end(std::span<const View> views, std::int64_t final_time_ns) override;

 private:
  std::filesystem::path directory_;
  std::vector<std::unique_ptr<OutputFile>> files_;
  std::vector<std::vector<std::string>> prefixes_;  // per view and row: "2:0:1:1:ROW:"
};

// "#Paraver (date):time_ns:…" of a view with that many rows; the time has always 20 digits.
std::string header_line(std::int64_t final_time_ns, std::size_t rows);
std::string pcf_text(const View& view);
std::string row_text(const View& view);

}  // namespace fathom::paraver
