// int16 order mark (1 read as little endian = little endian), string "EXTRAP_EXPERIMENT", string version, then records,
// each a string with its type and its fields. id and int: int64; value: float64; string: uint32 length and bytes.
#include "formats/extrap/extra_p_3.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/text.hpp"
#include "experiment/builder.hpp"
#include "experiment/unit.hpp"
#include "formats/experiment_dataset.hpp"
#include "formats/extrap/extrap_formats.hpp"
#include "formats/reading_options.hpp"
#include "io/byte_cursor.hpp"

namespace fathom::extrap {
namespace {

constexpr std::string_view kQualifier = "EXTRAP_EXPERIMENT";
constexpr std::size_t kSmallestItem = 8;  // every listed item takes at least this many bytes

class Reader {
 public:
  Reader(const Blob& blob, const Work& work) : cursor_(blob), work_(work), builder_(blob.name(), work) {}

  Result<StoredExperiment> read() {
    FATHOM_CHECK(header());
    while (!cursor_.at_end() && cursor_.ok()) {
      const Place place = cursor_.place();
      const std::string type = string("record type");
      if (!cursor_.ok()) break;
      auto status = record(type);
      if (!status) return std::move(status).error().where(place).with(fmt::format("{} record", fit(type, 40)));
    }
    FATHOM_CHECK(cursor_.status());
    return finish();
  }

 private:
  struct PointRecord {
    std::int64_t coordinate, metric, callpath;
    std::uint64_t samples;
    ValueStatistics statistics;
    std::uint64_t offset;
  };
  struct ModelRecord {
    std::int64_t metric, callpath, generator;
    Model model;
  };
  struct Generator {
    ModelerInfo info;
    std::string name;
  };

  std::string string(const char* field) {
    const std::uint32_t length = cursor_.u32(field);
    return std::string(as_text(cursor_.bytes(length, field)));
  }
  std::uint64_t count(const char* field) {
    const std::int64_t n = cursor_.i64(field);
    if (n < 0) {
      cursor_.fail(fmt::format("{} is negative ({})", field, n));
      return 0;
    }
    return cursor_.count_that_fits(static_cast<std::uint64_t>(n), kSmallestItem, field);
  }

  Result<void> header() {
    cursor_.set_order(Endian::little);
    const std::int16_t mark = cursor_.i16("byte order");
    cursor_.set_order(mark == 1 ? Endian::little : Endian::big);
    if (!cursor_.ok()) return Error("This is not an Extra-P 3 Experiment File.");
    const std::uint32_t length = cursor_.u32("qualifier");
    if (!cursor_.ok() || length > cursor_.remaining()) return Error("This is not an Extra-P 3 Experiment File.");
    const std::string qualifier(as_text(cursor_.bytes(length, "qualifier")));
    if (qualifier != kQualifier) {
      return Error(fmt::format("This is not an Extra-P 3 Experiment File. Qualifier was {}", fit(qualifier, 40)));
    }
    version_ = string("version");
    return cursor_.status();
  }

  Result<void> record(const std::string& type) {
    if (type == "Parameter") {
      cursor_.i64("id");
      builder_.parameter(string("name"));
    } else if (type == "Metric") {
      cursor_.i64("id");
      metrics_.push_back(string("name"));
      set_unit(builder_.metric_tags(builder_.metric(metrics_.back())), string("unit"));
    } else if (type == "Region") {
      const std::int64_t id = cursor_.i64("id");
      const std::string name = string("name");
      string("source file");
      cursor_.i64("source line");
      // A name used before gets a number.
      int& used = region_names_[name];
      regions_[id] = used == 0 ? name : fmt::format("{} #{}", name, used);
      ++used;
    } else if (type == "Callpath") {
      return callpath();
    } else if (type == "Coordinate") {
      return coordinate();
    } else if (type == "ModelComment") {
      cursor_.i64("id");
      string("text");
    } else if (type == "SingleParameterSimpleModelGenerator") {
      FATHOM_CHECK(single_generator("SingleParameterModeler"));
      const std::uint64_t n = count("term count");
      for (std::uint64_t i = 0; i < n && cursor_.ok(); ++i) {
        string("term type");
        Term unused;
        FATHOM_CHECK(compound_term(0, unused));
      }
      cursor_.i64("maximal term count");
    } else if (type == "SingleParameterRefiningModelGenerator") {
      return single_generator("RefiningModeler");
    } else if (type == "MultiParameterSimpleModelGenerator" || type == "MultiParameterSparseModelGenerator") {
      Generator generator;
      generator.name = string("name");
      generator.info = {"MultiParameterModeler", measure(string("model option")), {}};
      sparse_block();
      generators_.push_back(std::move(generator));
    } else if (type == "ExperimentPoint") {
      point();
    } else if (type == "Model") {
      return model();
    } else {
      return Error(fmt::format("Unknown object: {}. Can not load experiment.", fit(type, 60)));
    }
    return cursor_.status();
  }

  static Measure measure(std::string_view option) {
    return option == "GENERATE_MODEL_MEDIAN" ? Measure::median : Measure::mean;
  }

  Result<void> callpath() {
    const std::int64_t id = cursor_.i64("id");
    const std::int64_t region = cursor_.i64("region");
    const std::int64_t parent = cursor_.i64("parent");
    FATHOM_CHECK(cursor_.status());
    const auto name = regions_.find(region);
    if (name == regions_.end()) return Error(fmt::format("there is no region {}", region));
    std::string path = name->second;
    if (parent != -1) {
      const auto above = callpaths_.find(parent);
      if (above == callpaths_.end()) return Error(fmt::format("there is no call path {}", parent));
      if (above->second.size() > (1 << 20)) return Error("the call path is longer than a megabyte");
      path = above->second + "->" + path;
    }
    builder_.callpath(path);
    callpaths_[id] = std::move(path);
    return {};
  }

  Result<void> coordinate() {
    const std::int64_t id = cursor_.i64("id");
    const std::uint64_t n = count("coordinate count");
    std::vector<double> point;
    for (std::uint64_t i = 0; i < n && cursor_.ok(); ++i) {
      const std::string name = string("parameter");
      const double value = cursor_.f64("value");
      const auto index = builder_.parameter(name);
      if (index >= point.size()) point.resize(index + 1, 0);
      point[index] = value;
    }
    FATHOM_CHECK(cursor_.status());
    coordinates_[id] = builder_.point(point);
    return {};
  }

  void point() {
    PointRecord p{};
    p.offset = cursor_.offset();
    p.coordinate = cursor_.i64("coordinate");
    p.samples = cursor_.u64("sample count");
    p.statistics.mean = cursor_.f64("mean");
    cursor_.f64("mean confidence");
    cursor_.f64("mean confidence");
    p.statistics.deviation = cursor_.f64("standard deviation");
    p.statistics.median = cursor_.f64("median");
    cursor_.f64("median confidence");
    cursor_.f64("median confidence");
    p.statistics.minimum = cursor_.f64("minimum");
    p.statistics.maximum = cursor_.f64("maximum");
    p.metric = cursor_.i64("metric");
    p.callpath = cursor_.i64("call path");
    if (cursor_.ok()) points_.push_back(p);
  }

  Result<void> single_generator(const char* type) {
    Generator generator;
    generator.name = string("user name");
    string("cross-validation");
    cursor_.f64("epsilon");
    generator.info = {type, measure(string("model option")), {}};
    sparse_block();
    generators_.push_back(std::move(generator));
    return cursor_.status();
  }

  // Only newer files have it, and nothing says so: read on trial.
  void sparse_block() {
    if (!cursor_.ok()) return;
    const ByteCursor before = cursor_;
    cursor_.i64("minimal points");
    const std::string single = string("single strategy");
    cursor_.i64("add points");
    cursor_.i64("additional points");
    const std::string multi = string("multi strategy");
    const bool known =
        (single == "FIRST_POINTS_FOUND" || single == "MAX_NUMBER_POINTS" || single == "CHEAPEST_POINTS") &&
        (multi == "INCREASING_COST" || multi == "DECREASING_COST");
    if (cursor_.ok() && known) {
      sparse_ = true;
    } else {
      cursor_ = before;
    }
  }

  Result<void> simple_term(Factor& factor) {
    const std::string type = string("term type");
    const Exponent exponent = Exponent::decimal(cursor_.f64("exponent"));
    FATHOM_CHECK(cursor_.status());
    if (type == "polynomial") {
      factor.power = exponent;
    } else if (type == "logarithm") {
      factor.log = exponent;
    } else {
      return Error(fmt::format("unknown term type '{}'", fit(type, 40)));
    }
    return {};
  }

  Result<void> compound_term(std::uint32_t parameter, Term& term) {
    term.coefficient *= cursor_.f64("coefficient");
    const std::uint64_t n = count("simple term count");
    Factor factor;
    factor.parameter = parameter;
    for (std::uint64_t i = 0; i < n && cursor_.ok(); ++i) {
      string("SimpleTerm");
      Factor part;
      FATHOM_CHECK(simple_term(part));
      // The usual pair of power and logarithm is one factor; whatever else is there stays a factor of its own.
      const bool taken = part.power.zero() ? !factor.log.zero() : !factor.power.zero() || !factor.log.zero();
      if (taken) {
        term.factors.push_back(factor);
        factor = Factor{};
        factor.parameter = parameter;
      }
      if (!part.power.zero()) factor.power = part.power;
      if (!part.log.zero()) factor.log = part.log;
    }
    term.factors.push_back(factor);
    return cursor_.status();
  }

  Result<Function> function() {
    const std::string type = string("function type");
    FATHOM_CHECK(cursor_.status());
    Function f;
    if (type == "Function") return f;
    if (type == "SimpleTerm") {
      Term term;
      term.factors.emplace_back();
      FATHOM_CHECK(simple_term(term.factors.back()));
      f.terms.push_back(std::move(term));
      return f;
    }
    if (type == "CompoundTerm") {
      Term term;
      FATHOM_CHECK(compound_term(0, term));
      f.terms.push_back(std::move(term));
      return f;
    }
    if (type != "SingleParameterFunction" && type != "MultiParameterFunction") {
      return Error(fmt::format("unknown function type '{}'", fit(type, 40)));
    }
    f.constant = cursor_.f64("constant");
    const std::uint64_t n = count("term count");
    for (std::uint64_t i = 0; i < n && cursor_.ok(); ++i) {
      Term term;
      if (type == "SingleParameterFunction") {
        string("CompoundTerm");
        FATHOM_CHECK(compound_term(0, term));
      } else {
        term.coefficient = cursor_.f64("coefficient");
        const std::uint64_t factors = count("factor count");
        for (std::uint64_t k = 0; k < factors && cursor_.ok(); ++k) {
          const std::string parameter = string("parameter");
          string("CompoundTerm");
          FATHOM_CHECK(compound_term(builder_.parameter(parameter), term));
        }
      }
      f.terms.push_back(std::move(term));
    }
    FATHOM_CHECK(cursor_.status());
    return f;
  }

  Result<void> model() {
    ModelRecord m{};
    m.metric = cursor_.i64("metric");
    m.callpath = cursor_.i64("call path");
    m.generator = cursor_.i64("generator");
    FATHOM_TRY(m.model.function, function());
    // Confidence interval, error cone, noise error: upper and lower each.
    for (int i = 0; i < 6; ++i) {
      FATHOM_TRY([[maybe_unused]] const Function bound, function());
    }
    m.model.quality.rss = cursor_.f64("RSS");
    m.model.quality.ar2 = cursor_.f64("AR2");
    m.model.quality.smape = cursor_.f64("SMAPE");
    if (sparse_) m.model.quality.re = cursor_.f64("RE");
    const std::uint64_t comments = count("comment count");
    for (std::uint64_t i = 0; i < comments && cursor_.ok(); ++i) cursor_.i64("comment");
    const std::uint64_t parameters = count("interval count");
    for (std::uint64_t i = 0; i < parameters && cursor_.ok(); ++i) {
      string("parameter");
      const std::uint64_t intervals = count("interval count");
      cursor_.skip(intervals * 16, "intervals");
    }
    FATHOM_CHECK(cursor_.status());
    models_.push_back(std::move(m));
    return {};
  }

  Result<StoredExperiment> finish() {
    const auto metric_number = [&](std::int64_t position) -> Result<std::uint32_t> {
      if (position < 0 || position >= static_cast<std::int64_t>(metrics_.size())) {
        return Error(fmt::format("there is no metric {}", position));
      }
      return builder_.metric(metrics_[static_cast<std::size_t>(position)]);
    };
    const auto callpath_number = [&](std::int64_t id) -> Result<std::uint32_t> {
      const auto found = callpaths_.find(id);
      if (found == callpaths_.end()) return Error(fmt::format("there is no call path {}", id));
      return builder_.callpath(found->second);
    };
    for (std::size_t i = 0; i < metrics_.size(); ++i)
      FATHOM_CHECK(as_status(metric_number(static_cast<std::int64_t>(i))));
    for (const PointRecord& p : points_) {
      const Place place = cursor_.blob().place(p.offset);
      auto metric = metric_number(p.metric);
      if (!metric) return std::move(metric).error().where(place);
      auto callpath = callpath_number(p.callpath);
      if (!callpath) return std::move(callpath).error().where(place);
      const auto coordinate = coordinates_.find(p.coordinate);
      if (coordinate == coordinates_.end()) {
        return Error(fmt::format("there is no coordinate {}", p.coordinate), place);
      }
      builder_.add_statistics(*callpath, *metric, coordinate->second, p.statistics, 0);
      if (!builder_.ok()) return Error(builder_.status().error()).where(place);
    }
    StoredExperiment result;
    result.version = version_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pair_of_model;
    for (const ModelRecord& m : models_) {
      FATHOM_TRY(const std::uint32_t metric, metric_number(m.metric));
      FATHOM_TRY(const std::uint32_t callpath, callpath_number(m.callpath));
      pair_of_model.emplace_back(callpath, metric);
    }
    FATHOM_TRY(result.experiment, std::move(builder_).finish());
    ModelSets sets;
    for (const Generator& g : generators_) sets.push_back({g.name, g.info, {}});
    for (std::size_t i = 0; i < models_.size(); ++i) {
      ModelRecord& m = models_[i];
      const std::int64_t series = result.experiment->find_series(pair_of_model[i].first, pair_of_model[i].second);
      if (m.generator < 0 || m.generator >= static_cast<std::int64_t>(sets.size()) || series < 0) {
        FATHOM_CHECK(work_->diagnostics.warn("extra-p-3.model", Place::in(cursor_.blob().name()),
                                             "a model without generator or measurements is left out"));
        continue;
      }
      m.model.series = static_cast<std::uint32_t>(series);
      sets[static_cast<std::size_t>(m.generator)].models.push_back(std::move(m.model));
    }
    std::erase_if(sets, [](const ModelSet& s) { return s.models.empty(); });
    for (ModelSet& s : sets) {
      std::stable_sort(s.models.begin(), s.models.end(),
                       [](const Model& a, const Model& b) { return a.series < b.series; });
    }
    result.models = std::move(sets);
    return result;
  }

  static Result<void> as_status(Result<std::uint32_t> result) {
    if (!result) return std::move(result).error();
    return {};
  }

  ByteCursor cursor_;
  Work work_;
  ExperimentBuilder builder_;
  std::string version_;
  std::vector<std::string> metrics_;
  std::unordered_map<std::string, int> region_names_;
  std::unordered_map<std::int64_t, std::string> regions_;
  std::unordered_map<std::int64_t, std::string> callpaths_;
  std::unordered_map<std::int64_t, std::uint32_t> coordinates_;
  std::vector<PointRecord> points_;
  std::vector<Generator> generators_;
  std::vector<ModelRecord> models_;
  bool sparse_ = false;
};

Match recognise(const Source& source) {
  if (source.is_directory() || !is_extra_p_3(source.head(64))) return {};
  return {Confidence::certain, "its qualifier is EXTRAP_EXPERIMENT"};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  if (source.is_directory()) return Error("is a directory, not an Extra-P 3 file");
  FATHOM_TRY(StoredExperiment stored, read_extra_p_3(source.blob(), work));
  auto dataset =
      std::make_unique<ExperimentDataset>(extra_p_3_format(), source.path(), work, stored.experiment, stored.version);
  dataset->set_models(std::move(stored.models));
  return DatasetPtr(std::move(dataset));
}

}  // namespace

bool is_extra_p_3(std::string_view head) { return head.size() > 6 && head.substr(6).starts_with(kQualifier); }

Result<StoredExperiment> read_extra_p_3(const Blob& blob, const Work& work) {
  auto result = Reader(blob, work).read();
  if (!result) return std::move(result).error().where(Place::in(blob.name()));
  return result;
}

const Format& extra_p_3_format() {
  static const Format kFormat = {.name = "extra-p-3",
                                 .title = "Extra-P 3 experiment with models",
                                 .extensions = "",
                                 .can = {{Level::experiment, Level::model}, {}},
                                 .recognise = recognise,
                                 .open = open,
                                 .options = {.reading = {&kAllowIncomplete, &kMultiplyBy}}};
  return kFormat;
}

}  // namespace fathom::extrap
