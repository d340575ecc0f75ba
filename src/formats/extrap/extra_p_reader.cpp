// .extra-p: a zip with experiment.json (measurements as statistics, model sets) and, when values were kept,
// values/<k>.vals and values/<k>.indx.
#include "formats/extrap/extra_p_reader.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "experiment/builder.hpp"
#include "formats/extrap/extra_p_models.hpp"
#include "formats/extrap/kept_values.hpp"
#include "io/zip.hpp"

namespace fathom::extrap {
namespace {

namespace dom = simdjson::dom;

constexpr std::uint64_t kLargestJson = 0xFFFFFFFF;
constexpr std::uint64_t kTreePerByte = 3;  // tokens, numbers and texts of the parsed document, as measured

bool could_not_be_computed(dom::element value) {
  std::string_view text;
  return value.is_null() || (value.get(text) == simdjson::SUCCESS && text == kNotComputed);
}

class Reader {
 public:
  Reader(ZipReader zip, const Blob& archive, const Work& work)
      : zip_(std::move(zip)), archive_(archive), work_(work), builder_(archive.name(), work) {}

  Result<StoredExperiment> read() {
    FATHOM_TRY(const Blob json, zip_.read("experiment.json", work_));
    place_ = Place::in(json.name());
    if (json.size() >= kLargestJson) {
      return Error("experiment.json is larger than 4 GiB, which the JSON parser cannot take", place_)
          .hint("write the experiment as JSON Lines instead: those are read line by line, at any size");
    }
    FATHOM_TRY(const auto tree_memory,
               work_->budget.reserve(json.size() * kTreePerByte, "the tree of experiment.json"));
    dom::parser parser;
    dom::element root;
    // The zip reader leaves readable bytes behind a member.
    if (const auto code = parser.parse(json.text().data(), json.size(), false).get(root)) {
      return Error(fmt::format("malformed JSON: {}", simdjson::error_message(code)), place_);
    }
    dom::object top;
    if (root.get(top) != simdjson::SUCCESS) return Error("expected an object", place_);
    StoredExperiment result;
    if (std::string_view version; top["Extra-P"].get(version) == simdjson::SUCCESS) result.version = version;
    FATHOM_CHECK(warn_of_newer(result.version));
    if (std::string_view scaling; top["scaling"].get(scaling) == simdjson::SUCCESS) FATHOM_CHECK(set_scaling(scaling));
    if (dom::array names; top["parameters"].get(names) == simdjson::SUCCESS) {
      for (const dom::element name : names) {
        std::string_view text;
        if (name.get(text) != simdjson::SUCCESS) return Error("parameters: expected names", place_);
        builder_.parameter(text);
      }
    }
    // Entities with tags come first, in this order.
    FATHOM_CHECK(tagged(top, "callpaths", true));
    FATHOM_CHECK(tagged(top, "metrics", false));
    dom::object measurements;
    if (top["measurements"].get(measurements) == simdjson::SUCCESS) FATHOM_CHECK(read_measurements(measurements));
    FATHOM_TRY(result.experiment, std::move(builder_).finish());
    if (dom::array sets; top["modelers"].get(sets) == simdjson::SUCCESS) {
      FATHOM_TRY(result.models, read_model_sets(sets, *result.experiment, names_, work_, place_));
    }
    return result;
  }

 private:
  Result<void> warn_of_newer(std::string_view version) {
    const auto parts = split(version, '.');
    const auto part = [&](std::size_t i) { return i < parts.size() ? parse_integer<int>(parts[i]).value_or(0) : 0; };
    if (part(0) < 4 || (part(0) == 4 && part(1) <= 3)) return {};
    return work_->diagnostics.warn(
        "extra-p.newer", place_, fmt::format("written by Extra-P {}, which is newer than what Fathom knows", version));
  }

  Result<void> set_scaling(std::string_view text) {
    for (const Scaling s : {Scaling::weak, Scaling::weak_threaded, Scaling::strong}) {
      if (text == to_string(s)) {
        builder_.set_scaling(s);
        return {};
      }
    }
    return work_->diagnostics.warn("extra-p.scaling", place_, fmt::format("unknown scaling '{}' is ignored", text));
  }

  Result<void> tagged(dom::object& top, std::string_view key, bool callpaths) {
    dom::object entries;
    if (top[key].get(entries) != simdjson::SUCCESS) return {};
    for (const auto field : entries) {
      const auto number = callpaths ? builder_.callpath(field.key) : builder_.metric(field.key);
      dom::object tags;
      if (field.value["tags"].get(tags) != simdjson::SUCCESS) continue;
      Tags& list = callpaths ? builder_.callpath_tags(number) : builder_.metric_tags(number);
      for (const auto tag : tags) list.emplace_back(std::string(tag.key), simdjson::minify(tag.value));
    }
    return {};
  }

  // Old files put the tags into the name: name, 0x03, JSON object.
  Result<std::uint32_t> entity(std::string_view name, bool callpath) {
    const auto mark = name.find('\x03');
    const std::string_view plain = name.substr(0, mark);
    const auto number = callpath ? builder_.callpath(plain) : builder_.metric(plain);
    if (mark == std::string_view::npos) return number;
    names_.emplace(std::string(name), std::string(plain));
    dom::parser parser;
    dom::object tags;
    if (parser.parse(simdjson::padded_string(name.substr(mark + 1))).get(tags) != simdjson::SUCCESS) {
      FATHOM_CHECK(work_->diagnostics.warn("extra-p.tags", place_,
                                           fmt::format("the tags in the name of '{}' are malformed", plain)));
      return number;
    }
    Tags& list = callpath ? builder_.callpath_tags(number) : builder_.metric_tags(number);
    for (const auto tag : tags) {
      if (find_tag(list, tag.key) == nullptr) list.emplace_back(std::string(tag.key), simdjson::minify(tag.value));
    }
    return number;
  }

  Result<void> read_measurements(dom::object measurements) {
    for (const auto callpath_field : measurements) {
      FATHOM_TRY(const std::uint32_t callpath, entity(callpath_field.key, true));
      dom::object metrics;
      if (callpath_field.value.get(metrics) != simdjson::SUCCESS) {
        return Error(fmt::format("measurements of '{}': expected an object", callpath_field.key), place_);
      }
      for (const auto metric_field : metrics) {
        FATHOM_TRY(const std::uint32_t metric, entity(metric_field.key, false));
        dom::array list;
        if (metric_field.value.get(list) != simdjson::SUCCESS) {
          return Error(fmt::format("measurements of '{}': expected a list", callpath_field.key), place_);
        }
        for (const dom::element item : list) {
          auto status = measurement(callpath, metric, item);
          if (!status) {
            return std::move(status).error().where(place_).with(
                fmt::format("metric '{}' of '{}'", metric_field.key, callpath_field.key));
          }
        }
      }
    }
    return {};
  }

  Result<void> measurement(std::uint32_t callpath, std::uint32_t metric, dom::element item) {
    dom::object object;
    if (item.get(object) != simdjson::SUCCESS) return Error("a measurement must be an object");
    dom::array coordinate;
    if (object["coordinate"].get(coordinate) != simdjson::SUCCESS) return Error("the list 'coordinate' is missing");
    point_.clear();
    for (const dom::element x : coordinate) {
      FATHOM_TRY(const double value, stored_number(x));
      point_.push_back(value);
    }
    ValueStatistics s;
    const std::pair<const char*, double*> figures[] = {{"mean", &s.mean},
                                                       {"median", &s.median},
                                                       {"minimum", &s.minimum},
                                                       {"maximum", &s.maximum},
                                                       {"std", &s.deviation}};
    // What is not there is taken from what is: the middle stands for all.
    std::vector<double*> missing;
    for (const auto& [key, target] : figures) {
      dom::element value;
      if (object[key].get(value) == simdjson::SUCCESS && !could_not_be_computed(value)) {
        FATHOM_TRY(*target, stored_number(value));
        continue;
      }
      missing.push_back(target);
      FATHOM_CHECK(work_->diagnostics.warn(
          fmt::format("extrap.no_{}", key), place_,
          fmt::format("a measurement has no '{}'; {}", key,
                      target == &s.deviation ? "it is taken as 0" : "another figure stands for it")));
    }
    const auto lacks = [&](const double* figure) {
      return std::find(missing.begin(), missing.end(), figure) != missing.end();
    };
    if (lacks(&s.mean) && lacks(&s.median)) return Error("a measurement has neither 'mean' nor 'median'");
    for (double* target : missing) *target = target == &s.deviation ? 0 : lacks(&s.mean) ? s.median : s.mean;
    std::uint64_t repetitions = 0;
    if (double r = 0; object["repetitions"].get(r) == simdjson::SUCCESS && r > 0 && r < 4e9) {
      repetitions = static_cast<std::uint64_t>(r);
    }
    kept_.values.clear();
    kept_.shape.clear();
    if (dom::array where; object["values"].get(where) == simdjson::SUCCESS) FATHOM_CHECK(read_kept(where));
    // Where the mean is a number, so were all values.
    if (!std::isnan(s.mean)) drop_padding(kept_);
    builder_.add_statistics(callpath, metric, builder_.point(point_), s, static_cast<std::uint32_t>(repetitions),
                            kept_.values, kept_.shape);
    return builder_.ok() ? Result<void>() : builder_.status();
  }

  Result<void> read_kept(dom::array where) {
    std::uint64_t chunk = 0;
    std::uint64_t index = 0;
    if (where.size() != 2 || where.at(0).get(chunk) != simdjson::SUCCESS ||
        where.at(1).get(index) != simdjson::SUCCESS) {
      return Error("'values' must be [chunk, index]");
    }
    auto entry = chunks_.find(chunk);
    if (entry == chunks_.end()) {
      FATHOM_TRY(KeptValues values, KeptValues::open(zip_, chunk, work_));
      entry = chunks_.emplace(chunk, std::move(values)).first;
    }
    // At the border of a chunk the writer names the next one although the array still lies in this one.
    if (index >= entry->second.count() && chunk > 0) {
      if (const auto before = chunks_.find(chunk - 1); before != chunks_.end() && index < before->second.count()) {
        return before->second.read(index, kept_);
      }
    }
    return entry->second.read(index, kept_);
  }

  ZipReader zip_;
  Blob archive_;
  Work work_;
  Place place_;
  ExperimentBuilder builder_;
  NameMap names_;
  std::map<std::uint64_t, KeptValues> chunks_;
  std::vector<double> point_;
  KeptArray kept_;
};

}  // namespace

Result<StoredExperiment> read_extra_p(const Blob& archive, const Work& work) {
  FATHOM_TRY(ZipReader zip, ZipReader::open(archive));
  auto result = Reader(std::move(zip), archive, work).read();
  if (!result) return std::move(result).error().where(Place::in(archive.name()));
  return result;
}

}  // namespace fathom::extrap
