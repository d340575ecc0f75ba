// experiment.xml of the 4.0 generation and of the classic one (2.x, 3.x), as the file says it. Parsed as a stream:
// memory is what the records take, not a tree of the document.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/work.hpp"
#include "io/blob.hpp"

namespace fathom::hpctoolkit {

enum class Tag : std::uint8_t { frame, inlined, alien, loop, call_site, statement };  // PF Pr A L C S

struct XmlFormula {
  std::string type;  // combine, finalize, view
  std::string text;
  std::uint32_t line = 0;  // in the XML, for messages
};

struct XmlMetric {
  std::int64_t id = 0;
  std::string name;
  std::string description;
  std::string value_type;  // raw, final, derived-incr, derived
  std::string scope;       // inclusive, exclusive, nil
  std::optional<std::int64_t> partner;
  std::optional<std::int64_t> order;
  int show = 1;
  bool show_percent = false;
  std::string format;
  std::vector<XmlFormula> formulas;
  std::vector<std::pair<std::string, std::string>> info;
};

// A column of the per-profile data.
struct XmlMetricDb {
  std::int64_t id = 0;
  std::string name;
  std::string scope;
  std::optional<std::int64_t> partner;
  std::string glob;  // classic: which files
  std::uint32_t column = 0;
  std::uint32_t columns = 0;
  std::uint64_t header_size = 0;
};

struct XmlTraceDb {
  std::uint64_t min_time = 0;
  std::uint64_t max_time = 0;
  std::optional<std::uint64_t> ticks_per_second;
  std::string glob;
  std::uint64_t header_size = 0;
};

struct XmlProcedure {
  std::string name;
  std::uint64_t address = 0;
  bool artificial = false;
};

struct XmlElement {
  std::int32_t id = 0;  // negative: auxiliary, |id| owns the values
  std::uint32_t parent = 0xFFFFFFFF;
  std::int32_t sample_id = 0;   // "it"; 0 = none
  std::int32_t procedure = -1;  // index into ExperimentXml::procedures
  std::int32_t module = -1;     // of modules
  std::int32_t file = -1;       // of files
  std::int32_t line = -1;
  Tag tag = Tag::frame;
  std::uint64_t address = 0;
};

// A value inside the XML (classic only).
struct XmlValue {
  std::uint32_t element = 0xFFFFFFFF;  // none: of the root
  std::int32_t metric = 0;
  double value = 0;
};

struct ExperimentXml {
  std::string version;
  std::string title;
  bool flat = false;  // SecFlatProfile instead of a call path profile
  std::vector<std::string> id_names;
  std::vector<XmlMetric> metrics;
  std::vector<XmlMetricDb> metric_dbs;
  std::optional<XmlTraceDb> trace;
  std::vector<std::string> modules;
  std::vector<std::string> files;
  std::vector<XmlProcedure> procedures;
  std::deque<XmlElement> elements;  // in document order; there may be millions, which are not to be moved
  std::vector<XmlValue> values;
  std::string file_name;  // for messages

  // The version in the root element, from the first bytes; "" when this is no experiment.xml.
  static std::string version_in(std::string_view head);
  static Result<ExperimentXml> read(const Blob& blob, const Work& work);
  [[nodiscard]] bool classic() const { return version.empty() || version[0] < '4'; }
};

}  // namespace fathom::hpctoolkit
