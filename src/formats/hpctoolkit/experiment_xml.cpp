#include "formats/hpctoolkit/experiment_xml.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string_view>

#include "base/cancel.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "io/xml.hpp"

namespace fathom::hpctoolkit {

namespace {

struct Attribute {
  const char** list;
  [[nodiscard]] const char* find(const char* name) const {
    for (const char** at = list; *at != nullptr; at += 2) {
      if (std::string_view(at[0]) == name) return at[1];
    }
    return nullptr;
  }
  [[nodiscard]] std::string text(const char* name) const {
    const char* found = find(name);
    return found == nullptr ? std::string() : std::string(found);
  }
};

// "0x1176", "12", "10-12" (the first line of a range), "-3".
std::optional<std::int64_t> leading_integer(const char* text) {
  if (text == nullptr) return std::nullopt;
  std::string_view view(text);
  if (view.starts_with("0x") || view.starts_with("0X")) {
    const auto value = parse_integer<std::uint64_t>(view.substr(2), 16);
    return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
  }
  const auto dash = view.find('-', 1);
  if (dash != std::string_view::npos) view = view.substr(0, dash);
  return parse_integer<std::int64_t>(view);
}

constexpr std::array<std::pair<std::string_view, Tag>, 6> kTags = {{{"PF", Tag::frame},
                                                                    {"Pr", Tag::inlined},
                                                                    {"A", Tag::alien},
                                                                    {"L", Tag::loop},
                                                                    {"C", Tag::call_site},
                                                                    {"S", Tag::statement}}};

constexpr std::string_view kValue = "M";

class Parser final : private XmlHandler {
 public:
  Parser(const Blob& blob, const Work& work) : blob_(blob), work_(work) { xml_.file_name = blob.name(); }

  Result<ExperimentXml> read() {
    Progress progress("reading " + blob_.name(), blob_.size());
    constexpr std::size_t kChunk = std::size_t{1} << 20;
    const std::string_view text = blob_.text();
    for (std::size_t at = 0; at < text.size() || at == 0; at += kChunk) {
      if (cancelled()) return cancelled_error();
      const std::string_view chunk = text.substr(std::min(at, text.size()), kChunk);
      const bool last = at + kChunk >= text.size();
      if (auto status = parser_.parse(chunk, last); !status.ok()) {
        if (!parser_.malformed()) return std::move(status).error();
        return Error(status.error().text(), here())
            .hint("the analysis that wrote the database may have been interrupted");
      }
      progress.advance(chunk.size());
      if (last) break;
    }
    if (!in_data_seen_) return Error("holds no call path profile", Place::in(blob_.name()));
    return std::move(xml_);
  }

 private:
  [[nodiscard]] std::uint64_t line() const { return parser_.line(); }
  [[nodiscard]] Place here() const { return Place::at_line(blob_.name(), line()); }
  Result<void> element_begins(const char* name, const char** attributes) override {
    start(name, {attributes});
    return outcome();
  }
  Result<void> element_ends(const char* name) override {
    end(name);
    return outcome();
  }
  // Whether the last element was one to stop at.
  Result<void> outcome() {
    if (error_) return *error_;
    return {};
  }
  void stop(Error error) {
    if (!error_) error_ = std::move(error);
  }
  void warn(const char* id, std::string text) {
    if (auto status = work_->diagnostics.warn(id, here(), std::move(text)); !status) stop(std::move(status).error());
  }

  void lost(const char* id, std::string text) {
    if (auto status = work_->diagnostics.lost(id, here(), std::move(text)); !status) stop(std::move(status).error());
  }

  void start(const char* tag, Attribute attributes) {
    const std::string_view name(tag);
    if (in_data_) return start_scope(name, attributes);
    if (name == "HPCToolkitExperiment") {
      xml_.version = attributes.text("version");
    } else if (name == "Header") {
      xml_.title = attributes.text("n");
    } else if (name == "SecCallPathProfileData" || name == "SecFlatProfileData") {
      xml_.flat = name == "SecFlatProfileData";
      in_data_ = in_data_seen_ = true;
    } else if (name == "Identifier") {
      const auto kind = leading_integer(attributes.find("i"));
      if (!kind || *kind < 0 || *kind > 0xFFFF) return warn("hpctoolkit.xml_id", "an Identifier has no usable number");
      if (xml_.id_names.size() <= static_cast<std::size_t>(*kind))
        xml_.id_names.resize(static_cast<std::size_t>(*kind) + 1);
      xml_.id_names[static_cast<std::size_t>(*kind)] = attributes.text("n");
    } else if (name == "Metric") {
      start_metric(attributes);
    } else if (name == "MetricFormula") {
      if (xml_.metrics.empty()) return;
      xml_.metrics.back().formulas.push_back(
          {attributes.text("t"), attributes.text("frm"), static_cast<std::uint32_t>(line())});
    } else if (name == "NV") {
      if (!xml_.metrics.empty()) xml_.metrics.back().info.emplace_back(attributes.text("n"), attributes.text("v"));
    } else if (name == "MetricDB") {
      start_metric_db(attributes);
    } else if (name == "TraceDB") {
      start_trace_db(attributes);
    } else if (name == "LoadModule") {
      number(attributes, modules_, xml_.modules.size());
      xml_.modules.push_back(attributes.text("n"));
    } else if (name == "File") {
      number(attributes, files_, xml_.files.size());
      xml_.files.push_back(attributes.text("n"));
    } else if (name == "Procedure") {
      number(attributes, procedures_, xml_.procedures.size());
      XmlProcedure procedure;
      procedure.name = attributes.text("n");
      procedure.address = static_cast<std::uint64_t>(leading_integer(attributes.find("v")).value_or(0));
      procedure.artificial = leading_integer(attributes.find("f")).value_or(0) != 0;
      xml_.procedures.push_back(std::move(procedure));
    }
  }

  void end(const char* tag) {
    const std::string_view name(tag);
    if (!in_data_) return;
    if (name == "SecCallPathProfileData" || name == "SecFlatProfileData") {
      in_data_ = false;
    } else if (is_scope(name)) {
      if (!open_.empty()) open_.pop_back();
    } else if (name != kValue && !unknown_.empty()) {
      unknown_.pop_back();
    }
  }

  static bool is_scope(std::string_view name) {
    for (const auto& [text, tag] : kTags) {
      if (text == name) return true;
    }
    return false;
  }

  using Numbers = std::unordered_map<std::int64_t, std::int32_t>;
  void number(Attribute attributes, Numbers& numbers, std::size_t index) {
    if (const auto id = leading_integer(attributes.find("i")))
      numbers.try_emplace(*id, static_cast<std::int32_t>(index));
  }

  void start_metric(Attribute attributes) {
    XmlMetric metric;
    metric.id = leading_integer(attributes.find("i")).value_or(0);
    metric.name = attributes.text("n");
    metric.description = attributes.text("md");
    metric.value_type = attributes.text("v");
    metric.scope = attributes.text("t");
    metric.partner = leading_integer(attributes.find("partner"));
    metric.order = leading_integer(attributes.find("o"));
    metric.show = static_cast<int>(leading_integer(attributes.find("show")).value_or(1));
    metric.show_percent = leading_integer(attributes.find("show-percent")).value_or(0) != 0;
    metric.format = attributes.text("fmt");
    xml_.metrics.push_back(std::move(metric));
  }

  void start_metric_db(Attribute attributes) {
    XmlMetricDb column;
    column.id = leading_integer(attributes.find("i")).value_or(0);
    column.name = attributes.text("n");
    column.scope = attributes.text("t");
    column.partner = leading_integer(attributes.find("partner"));
    column.glob = attributes.text("db-glob");
    column.column = static_cast<std::uint32_t>(leading_integer(attributes.find("db-id")).value_or(0));
    column.columns = static_cast<std::uint32_t>(leading_integer(attributes.find("db-num-metrics")).value_or(0));
    column.header_size = static_cast<std::uint64_t>(leading_integer(attributes.find("db-header-sz")).value_or(0));
    xml_.metric_dbs.push_back(std::move(column));
  }

  void start_trace_db(Attribute attributes) {
    const auto unsigned_value = [&](const char* name) {
      const char* text = attributes.find(name);
      return text == nullptr ? std::nullopt : parse_integer<std::uint64_t>(text);
    };
    XmlTraceDb trace;
    trace.min_time = unsigned_value("db-min-time").value_or(0);
    trace.max_time = unsigned_value("db-max-time").value_or(0);
    trace.ticks_per_second = unsigned_value("u");
    trace.glob = attributes.text("db-glob");
    trace.header_size = unsigned_value("db-header-sz").value_or(0);
    xml_.trace = std::move(trace);
  }

  void start_scope(std::string_view name, Attribute attributes) {
    if (name == kValue) return add_value(attributes);
    for (const auto& [text, tag] : kTags) {
      if (text == name) return add_element(tag, attributes);
    }
    unknown_.push_back(open_.size());
    lost("hpctoolkit.xml_element", fmt::format("an element <{}> in the tree is not known; left out", name));
  }

  void add_value(Attribute attributes) {
    const auto metric = leading_integer(attributes.find("n"));
    const char* text = attributes.find("v");
    const auto value = text == nullptr ? std::nullopt : parse_double(text);
    if (!metric || !value) return warn("hpctoolkit.xml_value", "an M element without a metric or a number; left out");
    if (!unknown_.empty() && unknown_.back() == open_.size()) {
      return lost("hpctoolkit.xml_value", "an M element of an element that is not known; left out");
    }
    xml_.values.push_back({open_.empty() ? 0xFFFFFFFF : open_.back(), static_cast<std::int32_t>(*metric), *value});
  }

  // The entry of a table behind an attribute. Old files write the name itself instead of a number.
  template <class Add>
  std::int32_t refer(const char* text, const char* what, const Numbers& numbers,
                     std::unordered_map<std::string, std::int32_t>& literal, Add&& add) {
    if (text == nullptr) return -1;
    if (const auto id = parse_integer<std::int64_t>(text)) {
      const auto found = numbers.find(*id);
      if (found != numbers.end()) return found->second;
      warn("hpctoolkit.xml_reference", fmt::format("{} {} is in no table of the file", what, *id));
      return -1;
    }
    const auto found = literal.find(text);
    if (found != literal.end()) return found->second;
    const std::int32_t index = add(std::string(text));
    literal.emplace(text, index);
    return index;
  }

  void add_element(Tag tag, Attribute attributes) {
    XmlElement element;
    element.tag = tag;
    const auto id = leading_integer(attributes.find("i"));
    if (id && *id > INT32_MIN && *id <= INT32_MAX) {
      element.id = static_cast<std::int32_t>(*id);
    } else {
      warn("hpctoolkit.xml_id", "an element without a usable id; its values cannot be found");
    }
    element.parent = open_.empty() ? 0xFFFFFFFF : open_.back();
    element.sample_id = static_cast<std::int32_t>(leading_integer(attributes.find("it")).value_or(0));
    element.procedure =
        refer(attributes.find("n"), "procedure", procedures_, literal_procedures_, [&](std::string text) {
          xml_.procedures.push_back({std::move(text), 0, false});
          return static_cast<std::int32_t>(xml_.procedures.size() - 1);
        });
    const auto add_to = [](std::vector<std::string>& names) {
      return [&names](std::string text) {
        names.push_back(std::move(text));
        return static_cast<std::int32_t>(names.size() - 1);
      };
    };
    element.module = refer(attributes.find("lm"), "load module", modules_, literal_modules_, add_to(xml_.modules));
    element.file = refer(attributes.find("f"), "file", files_, literal_files_, add_to(xml_.files));
    element.line = static_cast<std::int32_t>(leading_integer(attributes.find("l")).value_or(-1));
    element.address = static_cast<std::uint64_t>(leading_integer(attributes.find("v")).value_or(0));
    open_.push_back(static_cast<std::uint32_t>(xml_.elements.size()));
    xml_.elements.push_back(element);
  }

  const Blob& blob_;
  Work work_;
  XmlParser parser_{*this, {.doctype = true, .characters = false}};
  ExperimentXml xml_;
  Numbers modules_;
  Numbers files_;
  Numbers procedures_;
  std::unordered_map<std::string, std::int32_t> literal_modules_;
  std::unordered_map<std::string, std::int32_t> literal_files_;
  std::unordered_map<std::string, std::int32_t> literal_procedures_;
  std::vector<std::uint32_t> open_;   // elements around the current one
  std::vector<std::size_t> unknown_;  // elements that are not known around it: how many of the others they lie in
  std::optional<Error> error_;
  bool in_data_ = false;
  bool in_data_seen_ = false;
};

}  // namespace

std::string ExperimentXml::version_in(std::string_view head) {
  const auto root = head.find("<HPCToolkitExperiment");
  if (root == std::string_view::npos) return {};
  const std::string_view element = head.substr(root, head.find('>', root) - root);
  const auto at = element.find("version=");
  if (at == std::string_view::npos || at + 9 >= element.size()) return "2.0";
  const char quote = element[at + 8];
  const auto end = element.find(quote, at + 9);
  return std::string(element.substr(at + 9, end == std::string_view::npos ? 3 : end - at - 9));
}

Result<ExperimentXml> ExperimentXml::read(const Blob& blob, const Work& work) {
  if (blob.size() == 0) return Error("is empty: the analysis was interrupted", blob.place());
  return Parser(blob, work).read();
}

}  // namespace fathom::hpctoolkit
