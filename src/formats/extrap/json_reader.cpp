// Extra-P JSON.
//
//   new      {"parameters":[names],"measurements":{callpath:{metric:[{"point":[..],"values":[..]},..]}}}
//   legacy   {"parameters":[{id,name}],"callpaths":[..],"metrics":[..],
//             "coordinates":[{id,"parameter_value_pairs":[{parameter_id,parameter_value}]}],
//             "measurements":[{coordinate_id,callpath_id,metric_id,value}]}
//
// The document is walked in place, so a file may be of any size.
#include "formats/extrap/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/text.hpp"
#include "experiment/builder.hpp"
#include "formats/extrap/json_measurements.hpp"
#include "formats/extrap/json_values.hpp"
#include "io/json_scanner.hpp"

namespace fathom::extrap {
namespace {

namespace od = simdjson::ondemand;

// Where the values of the top-level keys lie.
struct Parts {
  std::map<std::string, std::pair<std::size_t, std::size_t>, std::less<>> at;  // offset and length

  [[nodiscard]] bool has(std::string_view key) const { return at.find(key) != at.end(); }
};

Result<Parts> find_parts(const Blob& blob) {
  JsonScanner scanner(blob);
  Parts parts;
  if (scanner.at_end()) return Error("File contains no data", Place::in(blob.name()));
  if (scanner.peek() != '{') {
    return Error("expected an object with 'parameters' and 'measurements'", scanner.place());
  }
  scanner.expect('{');
  bool first = true;
  while (const auto raw = scanner.next_key(first)) {
    const auto key = json_unescape(*raw);
    if (!key) scanner.fail("malformed key");
    scanner.peek();
    const std::size_t begin = scanner.offset();
    const std::string_view value = scanner.skip_value();
    if (!scanner.ok()) break;
    parts.at[*key] = {begin, value.size()};
  }
  FATHOM_CHECK(scanner.status());
  if (!scanner.at_end()) {
    scanner.fail("something follows the end of the JSON document");
    FATHOM_CHECK(scanner.status());
  }
  return parts;
}

// A list of texts.
Result<std::vector<std::string>> names(JsonScanner& scanner) {
  std::vector<std::string> names;
  scanner.expect('[');
  bool first = true;
  while (scanner.ok() && scanner.next_element(first)) {
    const Place place = scanner.place();
    const std::string_view raw = scanner.skip_value();
    if (!scanner.ok()) break;
    if (raw.size() < 2 || raw.front() != '"') return Error("expected a name in quotes", place);
    auto name = json_unescape(raw.substr(1, raw.size() - 2));
    if (!name) return Error("malformed name", place);
    names.push_back(std::move(*name));
  }
  FATHOM_CHECK(scanner.status());
  return names;
}

// Almost all files have the two keys of the new layout, in this order, and nothing is wrong with them: these are read
// in one go. Nothing for any other, which is read from its start and with care, so that errors say what is wrong.
Result<ExperimentPtr> read_usual(const Blob& blob, const Work& work) {
  const Error unusual("another order");
  JsonScanner scanner(blob);
  if (!scanner.accept('{') || !scanner.accept_key("parameters")) return unusual;
  ExperimentBuilder builder(blob.name(), work);
  FATHOM_TRY(const auto parameters, names(scanner));
  for (const std::string& p : parameters) builder.parameter(p);
  if (!scanner.accept(',') || !scanner.accept_key("measurements") || scanner.peek() != '{') return unusual;
  FATHOM_CHECK(read_measurements_in_pieces(blob.part(scanner.offset(), blob.size() - scanner.offset()), builder, work));
  FATHOM_TRY(ExperimentPtr experiment, std::move(builder).finish());
  return experiment;
}

class Reader {
 public:
  Reader(const Blob& blob, const Work& work, Parts parts)
      : blob_(blob), work_(work), parts_(std::move(parts)), parser_(blob) {}

  Result<ExperimentPtr> read() {
    if (parts_.has("callpaths")) return legacy();
    return current();
  }

 private:
  Result<Blob> part(std::string_view key) {
    const auto found = parts_.at.find(key);
    if (found == parts_.at.end()) {
      return Error(fmt::format("the key '{}' is missing", key), Place::in(blob_.name()));
    }
    return blob_.part(found->second.first, found->second.second);
  }

  Result<ExperimentPtr> current() {
    ExperimentBuilder builder(blob_.name(), work_);
    FATHOM_TRY(const Blob list, part("parameters"));
    JsonScanner scanner(list);
    FATHOM_TRY(const auto parameters, names(scanner));
    for (const std::string& p : parameters) builder.parameter(p);
    FATHOM_TRY(const Blob measurements, part("measurements"));
    FATHOM_CHECK(read_measurements(measurements, builder));
    FATHOM_TRY(ExperimentPtr experiment, std::move(builder).finish());
    return experiment;
  }

  // Calls `visit` with each object of a list of the legacy layout.
  template <class Visit>
  Result<void> each(std::string_view key, const Visit& visit) {
    FATHOM_TRY(const Blob list, part(key));
    JsonScanner scanner(list);
    scanner.expect('[');
    bool first = true;
    while (scanner.ok() && scanner.next_element(first)) {
      const Place place = scanner.place();
      const std::string_view piece = scanner.skip_value();
      if (!scanner.ok()) break;
      od::document document;
      auto status = [&]() -> Result<void> {
        if (const auto code = parser_.iterate(piece, document)) return json_error(code);
        od::object object;
        if (const auto code = document.get_object().get(object)) return json_error(code);
        return visit(object, place);
      }();
      if (!status) return std::move(status).error().where(place).with(fmt::format("entry of '{}'", key));
    }
    return scanner.status();
  }

  // Ids may be numbers or numeric texts.
  static Result<std::int64_t> id(od::object& object, std::string_view key) {
    od::value value;
    if (object.find_field_unordered(key).get(value) != simdjson::SUCCESS) {
      return Error(fmt::format("the key '{}' is missing", key));
    }
    auto number = read_number(value);
    if (!number) return std::move(number).error().with(std::string(key));
    if (!(*number > -1e15 && *number < 1e15)) return Error(fmt::format("'{}' is no id", key));
    return static_cast<std::int64_t>(*number);
  }

  struct Entry {
    std::int64_t id = 0;
    std::string name;
    std::vector<double> point;
  };

  // Sorted by id, which must be unique.
  static Result<void> order(std::vector<Entry>& entries, std::string_view key) {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.id < b.id; });
    for (std::size_t i = 1; i < entries.size(); ++i) {
      if (entries[i].id == entries[i - 1].id) {
        return Error(fmt::format("the id {} occurs twice in '{}'", entries[i].id, key));
      }
    }
    return {};
  }

  Result<std::vector<Entry>> named(std::string_view key) {
    std::vector<Entry> entries;
    FATHOM_CHECK(each(key, [&](od::object& object, const Place&) -> Result<void> {
      Entry entry;
      FATHOM_TRY(entry.id, id(object, "id"));
      od::value value;
      if (object.find_field_unordered("name").get(value) != simdjson::SUCCESS) {
        return Error("the key 'name' is missing");
      }
      FATHOM_TRY(entry.name, read_string(value));
      entries.push_back(std::move(entry));
      return {};
    }));
    FATHOM_CHECK(order(entries, key));
    return entries;
  }

  Result<std::vector<Entry>> coordinates() {
    std::vector<Entry> entries;
    FATHOM_CHECK(each("coordinates", [&](od::object& object, const Place&) -> Result<void> {
      Entry entry;
      FATHOM_TRY(entry.id, id(object, "id"));
      od::array pairs;
      if (object.find_field_unordered("parameter_value_pairs").get_array().get(pairs) != simdjson::SUCCESS) {
        return Error("the list 'parameter_value_pairs' is missing");
      }
      std::vector<std::pair<std::int64_t, double>> values;
      for (auto item : pairs) {
        od::object pair;
        if (const auto code = item.get_object().get(pair)) return json_error(code);
        FATHOM_TRY(const std::int64_t parameter, id(pair, "parameter_id"));
        od::value value;
        if (pair.find_field_unordered("parameter_value").get(value) != simdjson::SUCCESS) {
          return Error("the key 'parameter_value' is missing");
        }
        FATHOM_TRY(const double number, read_number(value));
        values.emplace_back(parameter, number);
      }
      std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& [parameter, value] : values) entry.point.push_back(value);
      entries.push_back(std::move(entry));
      return {};
    }));
    FATHOM_CHECK(order(entries, "coordinates"));
    return entries;
  }

  // Ids are keys; where they do not start at 1 without gaps, that is what their writer meant.
  struct ById {
    explicit ById(const std::vector<Entry>& entries) : entries_(entries) {
      for (std::size_t i = 0; i < entries.size(); ++i) dense_ &= entries[i].id == static_cast<std::int64_t>(i) + 1;
    }
    [[nodiscard]] const Entry* find(std::int64_t id) const {
      if (dense_) {
        return id >= 1 && id <= static_cast<std::int64_t>(entries_.size()) ? &entries_[static_cast<std::size_t>(id - 1)]
                                                                           : nullptr;
      }
      const auto found = std::lower_bound(entries_.begin(), entries_.end(), id,
                                          [](const Entry& e, std::int64_t i) { return e.id < i; });
      return found != entries_.end() && found->id == id ? &*found : nullptr;
    }
    const std::vector<Entry>& entries_;
    bool dense_ = true;
  };

  Result<ExperimentPtr> legacy() {
    for (const char* key : {"parameters", "metrics", "coordinates", "measurements"}) {
      FATHOM_CHECK(part(key).ok() ? Result<void>{} : Result<void>(part(key).error()));
    }
    ExperimentBuilder builder(blob_.name(), work_, ExperimentBuilder::Repeats::collect);
    FATHOM_TRY(const auto parameters, named("parameters"));
    FATHOM_TRY(const auto callpaths, named("callpaths"));
    FATHOM_TRY(const auto metrics, named("metrics"));
    FATHOM_TRY(const auto points, coordinates());
    // Everything that is declared counts, so that a declared point without data is noticed.
    builder.keep_point_numbers();
    for (const Entry& p : parameters) builder.parameter(p.name);
    for (const Entry& p : points) builder.point(p.point);
    for (const Entry& c : callpaths) builder.callpath(c.name);
    for (const Entry& m : metrics) builder.metric(m.name);
    const ById callpath_ids(callpaths);
    const ById metric_ids(metrics);
    const ById point_ids(points);
    FATHOM_CHECK(each("measurements", [&](od::object& object, const Place&) -> Result<void> {
      FATHOM_TRY(const std::int64_t point_id, id(object, "coordinate_id"));
      FATHOM_TRY(const std::int64_t callpath_id, id(object, "callpath_id"));
      FATHOM_TRY(const std::int64_t metric_id, id(object, "metric_id"));
      const Entry* point = point_ids.find(point_id);
      const Entry* callpath = callpath_ids.find(callpath_id);
      const Entry* metric = metric_ids.find(metric_id);
      if (point == nullptr) return Error(fmt::format("there is no coordinate with id {}", point_id));
      if (callpath == nullptr) return Error(fmt::format("there is no callpath with id {}", callpath_id));
      if (metric == nullptr) return Error(fmt::format("there is no metric with id {}", metric_id));
      od::value value;
      if (object.find_field_unordered("value").get(value) != simdjson::SUCCESS) {
        return Error("the key 'value' is missing");
      }
      if (auto status = read_values(value, values_); !status) return status;
      const auto c = builder.callpath(callpath->name);
      const auto m = builder.metric(metric->name);
      builder.add(c, m, builder.point(point->point), values_.values, values_.repetitions, values_.shape);
      return builder.ok() ? Result<void>() : builder.status();
    }));
    FATHOM_TRY(ExperimentPtr experiment, std::move(builder).finish());
    return experiment;
  }

  Blob blob_;
  Work work_;
  Parts parts_;
  PieceParser parser_;
  ValueList values_;
};

}  // namespace

Result<ExperimentPtr> read_json(const Blob& blob, const Work& work) {
  if (auto usual = read_usual(blob, work); usual.ok() || usual.error().kind() == ErrorKind::cancelled) return usual;
  FATHOM_TRY(Parts parts, find_parts(blob));
  auto result = Reader(blob, work, std::move(parts)).read();
  if (!result) return std::move(result).error().where(Place::in(blob.name()));
  return result;
}

bool looks_like_json_line(std::string_view head) {
  return head.find("\"params\"") != std::string_view::npos && head.find("\"value\"") != std::string_view::npos;
}

}  // namespace fathom::extrap
