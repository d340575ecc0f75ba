// Writes views as Paraver files: NAME.prv (records), NAME.pcf (names of types and values), NAME.row (names of rows).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "io/output_file.hpp"
#include "io/output_set.hpp"
#include "trace/views.hpp"

namespace fathom::paraver {

class ViewWriter : public ViewSink {
 public:
  // The directory is made when it is missing; all files appear in it together. `with_windows`: also cfg/VIEW/*.cfg, a
  // window of Paraver per type.
  explicit ViewWriter(std::filesystem::path directory, bool with_windows = false)
      : directory_(std::move(directory)), with_windows_(with_windows) {}

  Result<void> begin(std::span<const View> views) override;
  void encode(std::span<const ViewRecord> records, std::vector<std::string>& texts) const override;
  Result<void> write(const std::vector<std::string>& texts) override;
  Result<void> end(std::span<const View> views, std::int64_t final_time_ns) override;

 private:
  [[nodiscard]] Result<void> write_windows(const View& view) const;

  std::filesystem::path directory_;
  bool with_windows_;
  std::optional<OutputSet> set_;
  std::vector<std::unique_ptr<OutputFile>> files_;
  std::vector<std::vector<std::string>> prefixes_;  // per view and row: "2:0:1:1:ROW:"
};

// "#Paraver (date):time_ns:…" of a view with that many rows; the time has always 20 digits.
std::string header_line(std::int64_t final_time_ns, std::size_t rows);
std::string pcf_text(const View& view);
std::string row_text(const View& view);

}  // namespace fathom::paraver
