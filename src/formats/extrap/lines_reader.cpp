// One JSON object per line, each a repetition (or a list of them) of one measurement.
//
//   JSON Lines  {"params":{"p":1},"callpath":"a->b","metric":"t","value":1.5}   callpath and metric may be absent
//   TaLPas      {"parameters":{"p":1};"callpath":"a->b";"metric":"t";"value":1.5}   ';' stands for ',' everywhere
//
// The parameters and their order come from the first line; later lines are looked up by name.
#include "formats/extrap/lines_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "experiment/builder.hpp"
#include "formats/extrap/json_values.hpp"
#include "io/line_cursor.hpp"

namespace fathom::extrap {
namespace {

namespace od = simdjson::ondemand;

struct Dialect {
  std::string_view parameters;
  bool semicolons;
  bool names_required;
};
constexpr Dialect kJsonLines{"params", false, false};
constexpr Dialect kTalpas{"parameters", true, true};

class Reader {
 public:
  Reader(const Blob& blob, const Dialect& dialect, const Work& work)
      : dialect_(dialect),
        lines_(blob),
        parser_(blob),
        builder_(blob.name(), work, ExperimentBuilder::Repeats::collect) {}

  Result<ExperimentPtr> read() {
    while (const auto line = lines_.next()) {
      const std::string_view content = trim(*line);
      if (content.empty()) continue;
      auto status = read_line(content);
      if (!status) {
        return std::move(status)
            .error()
            .where(lines_.place())
            .with(fmt::format("Decoding of the line failed: {}", fit(content, 60)));
      }
    }
    if (names_.empty()) return Error("File contains no data");
    FATHOM_TRY(ExperimentPtr experiment, std::move(builder_).finish());
    return experiment;
  }

 private:
  static Error missing(std::string_view name) {
    return Error(fmt::format("Missing property '{}'", name)).hint("every line needs the keys of the first");
  }

  Result<void> read_line(std::string_view line) {
    od::document document;
    bool padded = false;
    if (dialect_.semicolons) {
      replaced_.assign(line);
      std::replace(replaced_.begin(), replaced_.end(), ';', ',');
      replaced_.append(simdjson::SIMDJSON_PADDING, '\0');
      line = std::string_view(replaced_).substr(0, line.size());
      padded = true;
    }
    if (const auto code = parser_.iterate(line, document, padded)) return json_error(code);
    od::object object;
    if (const auto code = document.get_object().get(object)) return json_error(code);
    bool has_parameters = false;
    bool has_value = false;
    bool has_callpath = false;
    bool has_metric = false;
    callpath_ = "<root>";
    metric_ = "<default>";
    for (auto field : object) {
      std::string_view key;
      if (const auto code = field.unescaped_key().get(key)) return json_error(code);
      od::value value;
      if (const auto code = field.value().get(value)) return json_error(code);
      if (key == dialect_.parameters) {
        FATHOM_CHECK(read_parameters(value));
        has_parameters = true;
      } else if (key == "value") {
        FATHOM_CHECK(read_values(value, values_));
        has_value = true;
      } else if (key == "callpath") {
        FATHOM_TRY(callpath_, read_string(value));
        has_callpath = true;
      } else if (key == "metric") {
        FATHOM_TRY(metric_, read_string(value));
        has_metric = true;
      }
    }
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      return Error("something follows the object on its line");
    }
    if (!has_parameters) return missing(dialect_.parameters);
    if (!has_value) return missing("value");
    if (dialect_.names_required && !has_metric) return missing("metric");
    if (dialect_.names_required && !has_callpath) return missing("callpath");
    const auto callpath = builder_.callpath(callpath_);
    const auto metric = builder_.metric(metric_);
    builder_.add(callpath, metric, builder_.point(point_), values_.values, values_.repetitions, values_.shape);
    return builder_.ok() ? Result<void>() : builder_.status();
  }

  Result<void> read_parameters(od::value value) {
    od::object object;
    if (const auto code = value.get_object().get(object)) return json_error(code);
    const bool first = names_.empty();
    std::size_t found = 0;
    if (!first) {
      point_.assign(names_.size(), 0);
      given_.assign(names_.size(), false);
    }
    std::size_t position = 0;
    for (auto field : object) {
      std::string_view key;
      if (const auto code = field.unescaped_key().get(key)) return json_error(code);
      od::value coordinate;
      if (const auto code = field.value().get(coordinate)) return json_error(code);
      if (first) {
        auto number = read_number(coordinate);
        if (!number) return std::move(number).error().with(fmt::format("parameter '{}'", key));
        if (std::find(names_.begin(), names_.end(), key) != names_.end()) continue;
        names_.emplace_back(key);
        builder_.parameter(names_.back());
        point_.push_back(*number);
        ++found;
        continue;
      }
      // Lines mostly keep the order of the first.
      std::size_t index = position;
      if (index >= names_.size() || names_[index] != key) {
        index = static_cast<std::size_t>(std::find(names_.begin(), names_.end(), key) - names_.begin());
      }
      position = index + 1;
      if (index == names_.size()) continue;  // extra parameters are ignored
      auto number = read_number(coordinate);
      if (!number) return std::move(number).error().with(fmt::format("parameter '{}'", names_[index]));
      point_[index] = *number;
      if (!given_[index]) ++found;
      given_[index] = true;
    }
    if (names_.empty()) return Error("no parameters").hint("an experiment needs at least one parameter");
    if (found < names_.size()) {
      const auto absent = std::find(given_.begin(), given_.end(), false) - given_.begin();
      return missing(names_[static_cast<std::size_t>(absent)]);
    }
    return {};
  }

  Dialect dialect_;
  LineCursor lines_;
  PieceParser parser_;
  ExperimentBuilder builder_;
  std::string replaced_;
  std::vector<std::string> names_;
  std::vector<bool> given_;
  std::vector<double> point_;
  ValueList values_;
  std::string callpath_;
  std::string metric_;
};

Result<ExperimentPtr> read_with(const Blob& blob, const Dialect& dialect, const Work& work) {
  auto result = Reader(blob, dialect, work).read();
  if (!result) return std::move(result).error().where(Place::in(blob.name()));
  return result;
}

}  // namespace

Result<ExperimentPtr> read_json_lines(const Blob& blob, const Work& work) { return read_with(blob, kJsonLines, work); }
Result<ExperimentPtr> read_talpas(const Blob& blob, const Work& work) { return read_with(blob, kTalpas, work); }

}  // namespace fathom::extrap
