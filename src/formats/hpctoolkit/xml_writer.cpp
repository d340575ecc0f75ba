#include "formats/hpctoolkit/xml_writer.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "base/shown_files.hpp"
#include "base/text.hpp"
#include "formats/hpctoolkit/derived_writer.hpp"
#include "formats/hpctoolkit/mapping.hpp"
#include "formats/hpctoolkit/sparse_writer.hpp"
#include "io/output_file.hpp"
#include "profile/export/xml_names.hpp"

namespace fathom::hpctoolkit {

namespace {

constexpr std::uint32_t kUnknownFile = 2147483647;
constexpr std::size_t kFirstModule = 2;  // 0 and 1 stand for "unknown" and "none"
constexpr std::size_t kFirstProcedure = 4;
// Numbers of the scopes.
constexpr unsigned kFunctionNumber = 1;
constexpr unsigned kExecutionNumber = 2;

class XmlWriter {
 public:
  XmlWriter(const Profile& profile, const std::vector<MetricPlan>& plans, OutputFile& out)
      : profile_(profile), defs_(profile.defs()), plans_(plans), out_(out) {}

  Result<void> write(std::optional<TimeWindow> trace) {
    const std::string* attribute = find_attribute(defs_.attributes, "title");
    const std::string title = xml_escape(attribute != nullptr ? *attribute : shown_file(profile_.name));
    put("<?xml version=\"1.0\"?>\n<HPCToolkitExperiment version=\"4.0\">\n<Header n=\"{0}\">\n<Info/>\n</Header>\n"
        "<SecCallPathProfile i=\"0\" n=\"{0}\">\n<SecHeader>\n<IdentifierNameTable>\n",
        title);
    for (std::size_t i = 0; i < default_id_names().size(); ++i) {
      put("<Identifier i=\"{}\" n=\"{}\"/>\n", i, default_id_names()[i]);
    }
    put("</IdentifierNameTable>\n");
    FATHOM_CHECK(metrics());
    FATHOM_CHECK(tell_names_altered_by_xml(profile_));
    put("<TraceDBTable>\n");
    if (trace) {
      put("<TraceDB i=\"0\" db-min-time=\"{}\" db-max-time=\"{}\" u=\"1000000000\"/>\n", trace->from_ns, trace->to_ns);
    }
    put("</TraceDBTable>\n");
    tables();
    put("<Info/>\n</SecHeader>\n<SecCallPathProfileData>\n");
    contexts();
    put("</SecCallPathProfileData>\n</SecCallPathProfile>\n</HPCToolkitExperiment>\n");
    return {};
  }

 private:
  template <class... T>
  void put(fmt::format_string<T...> format, T&&... values) {
    text_.clear();
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(values)...);
    out_.write(text_);
  }

  // Accumulators, the statistics that follow from them, and the columns of the profiles.
  Result<void> metrics() {
    const MetricNumbers numbers{Generation::xml};
    struct Flavour {
      const char* suffix;
      const char* type;
      unsigned scope;
    };
    constexpr Flavour kFlavours[] = {{"I", "inclusive", kExecutionNumber}, {"E", "exclusive", kFunctionNumber}};
    put("<MetricTable>\n");
    int next = -1;
    for (std::size_t plan = 0; plan < plans_.size(); ++plan) {
      const std::string name = xml_escape(defs_.metric(plans_[plan].metric).name);
      for (unsigned partial = 0; partial < kPartials; ++partial) {
        for (const Flavour& flavour : kFlavours) {
          // As the reference writer does, every accumulator is listed under the id of the first one.
          const unsigned id = numbers.value_id(plan, flavour.scope);
          const unsigned other = numbers.value_id(plan, 3 - flavour.scope);
          const char* combine = partial == kMinimum ? "min" : partial == kMaximum ? "max" : "sum";
          metric(static_cast<int>(id), static_cast<int>(other),
                 fmt::format("{}:PARTIAL:{} ({})", name, partial, flavour.suffix), name, flavour.type, 4, 0, "combine",
                 fmt::format("{0}(${1}, ${1})", combine, id));
        }
      }
      for (const char* statistic : {"Sum", "Mean", "StdDev", "CfVar", "Min", "Max"}) {
        for (const Flavour& flavour : kFlavours) {
          const auto at = [&](Partial partial) {
            return fmt::format("${}", numbers.statistic_id(plan, flavour.scope, partial));
          };
          const std::string mean = fmt::format("({}/{})", at(kSum), at(kCount));
          const std::string deviation = fmt::format("sqrt(({}/{})-({}^2))", at(kSquares), at(kCount), mean);
          const std::string_view which(statistic);
          const std::string formula = which == "Sum"      ? at(kSum)
                                      : which == "Mean"   ? mean
                                      : which == "StdDev" ? deviation
                                      : which == "CfVar"  ? fmt::format("({}/{})", deviation, mean)
                                      : which == "Min"    ? at(kMinimum)
                                                          : at(kMaximum);
          const bool inclusive = flavour.scope == kExecutionNumber;
          metric(next, inclusive ? next - 1 : next + 1, fmt::format("{}:{} ({})", name, statistic, flavour.suffix),
                 name, flavour.type, 1, which == "Sum" ? 1 : 0, "view", formula);
          --next;
        }
      }
    }
    FATHOM_CHECK(derived_metrics(numbers, next));
    put("</MetricTable>\n<MetricDBTable>\n");
    for (std::size_t plan = 0; plan < plans_.size(); ++plan) {
      for (const Flavour& flavour : kFlavours) {
        put("<MetricDB i=\"{}\" n=\"{} ({})\"/>\n", numbers.value_id(plan, flavour.scope),
            xml_escape(defs_.metric(plans_[plan].metric).name), flavour.suffix);
      }
    }
    put("</MetricDBTable>\n");
    return {};
  }

  Result<void> derived_metrics(const MetricNumbers& numbers, int next) {
    FATHOM_TRY(
        const auto formulas,
        written_formulas(
            profile_, plans_, FormulaStyle::infix, [&](std::size_t plan, WrittenScope scope, expression::Over over) {
              constexpr Partial kPartialOf[] = {kSum, kCount, kSquares, kMinimum, kMaximum};
              const unsigned number = scope == kExecution ? kExecutionNumber : kFunctionNumber;
              return fmt::format("${}", numbers.statistic_id(plan, number, kPartialOf[static_cast<std::size_t>(over)]));
            }));
    for (const WrittenFormula& formula : formulas) {
      const Metric& from = defs_.metric(formula.metric);
      const std::string name = xml_escape(from.name);
      const std::string description = xml_escape(from.description);
      const bool both = !formula.inclusive.empty() && !formula.exclusive.empty();
      if (!formula.inclusive.empty()) {
        metric(next, next - 1, name + (both ? " (I)" : ""), description, "inclusive", 1, 0, "view",
               xml_escape(formula.inclusive));
      }
      if (!formula.exclusive.empty()) {
        metric(next - 1, next, name + (both ? " (E)" : ""), description, "exclusive", 1, 0, "view",
               xml_escape(formula.exclusive));
      }
      next -= 2;
    }
    return {};
  }

  void metric(int id, int partner, const std::string& name, const std::string& description, const char* type, int show,
              int percent, const char* kind, const std::string& formula) {
    put("<Metric i=\"{0}\" o=\"{0}\" n=\"{1}\" md=\"{2}\" v=\"derived-incr\" t=\"{3}\" partner=\"{4}\" show=\"{5}\" "
        "show-percent=\"{6}\">\n<MetricFormula t=\"{7}\" frm=\"{8}\"/>\n<Info><NV n=\"units\" v=\"events\"/></Info>\n"
        "</Metric>\n",
        id, name, description, type, partner, show, percent, kind, formula);
  }

  static bool is_frame(const Region& region) {
    return region.role != "loop" && region.role != "line" && region.role != "call site";
  }

  void tables() {
    put("<LoadModuleTable>\n<LoadModule i=\"0\" n=\"&lt;unknown module&gt;\"/>\n"
        "<LoadModule i=\"1\" n=\"&lt;no module&gt;\"/>\n");
    for (const Region& region : defs_.regions) {
      if (region.module.empty()) continue;
      const auto [found, fresh] = modules_.try_emplace(region.module, modules_.size() + kFirstModule);
      if (fresh) put("<LoadModule i=\"{}\" n=\"{}\"/>\n", found->second, xml_escape(region.module));
    }
    put("</LoadModuleTable>\n<FileTable>\n<File i=\"{}\" n=\"&lt;unknown file&gt;\"/>\n", kUnknownFile);
    for (const Region& region : defs_.regions) {
      if (region.file.empty()) continue;
      const auto [found, fresh] = files_.try_emplace(region.file, files_.size());
      if (fresh) {
        put("<File i=\"{}\" n=\"{}{}\"/>\n", found->second, region.file.starts_with("src/") ? "./" : "",
            xml_escape(region.file));
      }
    }
    put("</FileTable>\n<ProcedureTable>\n");
    for (std::size_t i = 0; i < defs_.regions.size(); ++i) {
      const Region& region = defs_.regions[i];
      if (!is_frame(region)) continue;
      put("<Procedure i=\"{}\" n=\"{}\" v=\"{}\"{}/>\n", i + kFirstProcedure, xml_escape(region.name),
          address_of(region), region.role == "placeholder" || region.role == "entry point" ? " f=\"1\"" : "");
    }
    put("</ProcedureTable>\n");
  }

  static std::string address_of(const Region& region) {
    const std::string* offset = find_attribute(region.attributes, "offset");
    return offset != nullptr ? xml_escape(*offset) : "0";
  }

  [[nodiscard]] std::uint32_t file_of(const Region& region) const {
    return region.file.empty() ? kUnknownFile : static_cast<std::uint32_t>(files_.at(region.file));
  }

  // Frames and call sites must alternate: a frame whose parent is no call site gets an auxiliary one around it. A line
  // that something hangs below is written as a call site, since statements are leaves.
  void contexts() {
    const ContextTree& tree = defs_.contexts;
    std::vector<std::pair<std::uint32_t, const char*>> open;  // end of the subtree, closing tags
    for (std::uint32_t i = 0; i < tree.size(); ++i) {
      while (!open.empty() && open.back().first <= i) {
        out_.write(open.back().second);
        open.pop_back();
      }
      const Context& context = tree[ContextId(i)];
      const Region& region = defs_.region(context.region);
      const std::uint32_t id = i + 1;
      const bool leaf = context.end == i + 1;
      const std::int64_t line = std::max<std::int64_t>(0, context.line >= 0 ? context.line : region.begin_line);
      const std::uint32_t file = file_of(region);
      if (region.role == "loop") {
        put("<L i=\"{}\" s=\"{}\" v=\"0\" f=\"{}\" l=\"{}\">\n", id, context.region.value, file, line);
        open.emplace_back(context.end, "</L>\n");
      } else if (!is_frame(region)) {
        if (leaf) {
          put("<S i=\"{0}\" it=\"{0}\" f=\"{1}\" l=\"{2}\" s=\"{3}\" v=\"0\"/>\n", id, file, line,
              context.region.value);
        } else {
          put("<C i=\"{0}\" s=\"{1}\" f=\"{2}\" l=\"{3}\" v=\"{4}\" it=\"{0}\">\n", id, context.region.value, file,
              line, address_of(region));
          open.emplace_back(context.end, "</C>\n");
        }
      } else {
        const bool below_frame = context.parent.valid() && (is_frame(defs_.region_of(context.parent)) ||
                                                            defs_.region_of(context.parent).role == "loop");
        if (below_frame) {
          const std::uint32_t owner = context.edge == Edge::inlined_call ? id : context.parent.value + 1;
          put("<C i=\"-{0}\" it=\"{0}\" s=\"{1}\" v=\"0\" f=\"{2}\" l=\"0\">\n", owner, context.region.value,
              kUnknownFile);
        }
        put("<PF i=\"{}\" s=\"{}\" n=\"{}\" v=\"0\" f=\"{}\" l=\"{}\" lm=\"{}\">\n", id, context.region.value,
            context.region.value + kFirstProcedure, file, std::max<std::int64_t>(0, region.begin_line),
            region.module.empty() ? 1 : modules_.at(region.module));
        open.emplace_back(context.end, below_frame ? "</PF>\n</C>\n" : "</PF>\n");
      }
    }
    while (!open.empty()) {
      out_.write(open.back().second);
      open.pop_back();
    }
  }

  const Profile& profile_;
  const Definitions& defs_;
  const std::vector<MetricPlan>& plans_;
  OutputFile& out_;
  std::string text_;
  std::unordered_map<std::string, std::size_t> modules_;
  std::unordered_map<std::string, std::size_t> files_;
};

}  // namespace

Result<void> write_xml(const Profile& profile, const std::vector<MetricPlan>& plans, std::optional<TimeWindow> trace,
                       const std::filesystem::path& directory) {
  FATHOM_TRY(OutputFile out, OutputFile::create(directory / "experiment.xml"));
  FATHOM_CHECK(XmlWriter(profile, plans, out).write(trace));
  return out.commit();
}

}  // namespace fathom::hpctoolkit
