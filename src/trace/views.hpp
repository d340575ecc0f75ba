// Timelines that an emulation makes: views of rows, on which typed values change over time. Declared here so that the
// one who makes them (a trace format) and the one who writes them (Paraver) need not know each other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace fathom {

// From now on, in this view and row, this type has this value (0 = none).
struct ViewRecord {
  std::int64_t time_ns;
  std::int64_t value;
  std::uint32_t row;  // from 0
  std::uint16_t type;
  std::uint16_t view;
};

struct ViewType {
  int type = 0;
  std::string label;
  std::vector<std::pair<std::int64_t, std::string>> values;  // in the order in which they are to be listed
};

struct View {
  std::string name;  // of the files: "thread", "cpu"
  std::vector<std::string> rows;
  std::vector<ViewType> types;  // may grow until the end
};

class ViewSink {
 public:
  virtual ~ViewSink() = default;
  // Rows are known now; types are read at the end.
  virtual Result<void> begin(std::span<const View> views) = 0;
  // Records as text, one text per view. MT: safe (const).
  virtual void encode(std::span<const ViewRecord> records, std::vector<std::string>& texts) const = 0;
  // Texts of encode(), in the order of the records.
  virtual Result<void> write(const std::vector<std::string>& texts) = 0;
  // Everything to its place.
  virtual Result<void> end(std::span<const View> views, std::int64_t final_time_ns) = 0;
};

}  // namespace fathom
