#include "formats/cube3/cube3_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "base/cancel.hpp"
#include "base/text.hpp"
#include "formats/cube3/cube3_format.hpp"
#include "formats/cube3/system_levels.hpp"
#include "io/inflate.hpp"
#include "io/output_file.hpp"
#include "profile/absent.hpp"
#include "profile/compute.hpp"
#include "profile/export/void_metrics.hpp"
#include "profile/export/xml_names.hpp"

namespace fathom::cube3 {

namespace {

constexpr int kGzipLevel = 6;

class Writer {
 public:
  // Rewriting: the ids are those of a Cube 3 file, and stay as they are.
  Writer(const Profile& profile, OutputFile& out, bool rewriting)
      : profile_(profile),
        defs_(profile.defs()),
        system_(levels_of(defs_.system, rewriting)),
        out_(out),
        rewriting_(rewriting) {}

  Result<void> write() {
    line("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    line("<cube version=\"3.0\">");
    for (const auto& [key, value] : defs_.attributes) {
      line("<attr key=\"{}\" value=\"{}\"/>", xml_escape(key), xml_escape(value));
    }
    line("<doc>\n<mirrors>");
    for (const std::string& mirror : defs_.mirrors) element("murl", mirror);
    line("</mirrors>\n</doc>");
    choose_metrics();
    number_contexts();
    metrics();
    program();
    system();
    FATHOM_CHECK(values());
    line("</cube>");
    FATHOM_CHECK(tell_names_altered_by_xml(profile_));
    return report_losses();
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    buffer_.clear();
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    buffer_ += '\n';
    out_.write(buffer_);
  }
  void element(const char* name, std::string_view content) { line("<{}>{}</{}>", name, xml_escape(content), name); }

  void choose_metrics() {
    number_.assign(defs_.metrics.size(), kLeftOut);
    for (std::size_t i = 0; i < defs_.metrics.size(); ++i) {
      const Metric& metric = defs_.metrics[i];
      const char* why = metric.derived() ? "derived metrics (fathom derive --store makes stored ones of them)"
                        : metric.hidden  ? "ghost metrics"
                        : !metric.type.is_plain_number() ? "metrics that are no plain numbers"
                        : !metric.switched_off && !why_unavailable(profile_, MetricId(i)).empty()
                            ? "metrics that cannot be read"
                            : nullptr;
      if (why != nullptr) {
        left_out_[why].push_back(metric.name);
        continue;
      }
      chosen_.emplace_back(i);
    }
    std::set<std::uint64_t> ids;
    for (const MetricId id : chosen_) ids.insert(defs_.metric(id).file_id);
    const bool keep = rewriting_ || (ids.size() == chosen_.size() && (ids.empty() || *ids.rbegin() < ids.size()));
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      number_[chosen_[i].index()] = static_cast<std::uint32_t>(keep ? defs_.metric(chosen_[i]).file_id : i);
    }
  }

  // Ids stay as the profile has them where they are 0, 1, 2, ... in any order.
  void number_contexts() {
    const ContextTree& contexts = defs_.contexts;
    context_id_.resize(contexts.size());
    std::vector<bool> seen(contexts.size(), false);
    const bool keep = rewriting_ || std::all_of(contexts.all().begin(), contexts.all().end(), [&](const Context& one) {
                        const bool fresh = one.file_id < seen.size() && !seen[one.file_id];
                        if (fresh) seen[one.file_id] = true;
                        return fresh;
                      });
    for (std::size_t i = 0; i < context_id_.size(); ++i) {
      context_id_[i] = keep ? contexts[ContextId(i)].file_id : i;
    }
  }

  [[nodiscard]] std::uint64_t region_id(std::size_t region) const {
    return rewriting_ ? defs_.regions[region].file_id : region;
  }

  // The next metric above that is there.
  [[nodiscard]] MetricId parent_of(MetricId id) const {
    MetricId at = defs_.metric(id).parent;
    while (at.valid() && number_[at.index()] == kLeftOut) at = defs_.metric(at).parent;
    return at;
  }

  void metrics() {
    std::vector<std::vector<MetricId>> children(defs_.metrics.size());
    std::vector<MetricId> pending;  // an invalid one closes an element
    for (std::size_t i = chosen_.size(); i-- > 0;) {
      const MetricId parent = parent_of(chosen_[i]);
      (parent.valid() ? children[parent.index()] : pending).push_back(chosen_[i]);
    }
    line("<metrics>");
    while (!pending.empty()) {
      const MetricId id = pending.back();
      pending.pop_back();
      if (!id.valid()) {
        line("</metric>");
        continue;
      }
      const Metric& metric = defs_.metric(id);
      line("<metric id=\"{}\">", number_[id.index()]);
      element("disp_name", metric.display_name.empty() ? metric.name : metric.display_name);
      element("uniq_name", metric.name);
      element("dtype", metric.type.is_integer() ? "INTEGER" : "FLOAT");
      element("uom", metric.unit);
      element("val", metric.switched_off ? "VOID" : "");
      element("url", metric.url);
      element("descr", metric.description);
      pending.emplace_back();
      pending.insert(pending.end(), children[id.index()].begin(), children[id.index()].end());
      lost_attributes_ = lost_attributes_ || !metric.attributes.empty();
    }
    line("</metrics>");
  }

  void program() {
    line("<program>");
    for (std::size_t i = 0; i < defs_.regions.size(); ++i) {
      const Region& region = defs_.regions[i];
      line("<region id=\"{}\" mod=\"{}\" begin=\"{}\" end=\"{}\">", region_id(i),
           xml_escape(region.file.empty() ? region.module : region.file), region.begin_line, region.end_line);
      element("name", region.name);
      element("url", region.url);
      element("descr", region.description);
      line("</region>");
      lost_attributes_ = lost_attributes_ || !region.attributes.empty();
      lost_kinds_ = lost_kinds_ || !region.paradigm.empty() || !region.role.empty();
    }
    const std::size_t nameless = defs_.regions.size();
    const auto& contexts = defs_.contexts;
    if (std::any_of(contexts.all().begin(), contexts.all().end(), [](const Context& c) { return !c.region.valid(); })) {
      line(
          "<region id=\"{}\" mod=\"\" begin=\"-1\" "
          "end=\"-1\">\n<name>&lt;unknown&gt;</name>\n<url></url>\n<descr></descr>\n</region>",
          nameless);
    }
    std::vector<ContextId> open;
    for (std::size_t i = 0; i < contexts.size(); ++i) {
      const Context& context = contexts[ContextId(i)];
      while (!open.empty() && open.back() != context.parent) {
        open.pop_back();
        line("</cnode>");
      }
      const ContextDetails& details = contexts.details(ContextId(i));
      std::string place;
      if (context.line >= 0) place += fmt::format(" line=\"{}\"", context.line);
      if (!details.file.empty()) place += fmt::format(" mod=\"{}\"", xml_escape(details.file));
      line("<cnode id=\"{}\"{} calleeId=\"{}\">", context_id_[i], place,
           context.region.valid() ? region_id(context.region.index()) : nameless);
      open.emplace_back(i);
      lost_attributes_ = lost_attributes_ || !details.attributes.empty() || !details.parameters.empty();
    }
    for (; !open.empty(); open.pop_back()) line("</cnode>");
    line("</program>");
  }

  void system() {
    constexpr const char* kElements[] = {"machine", "node", "process", "thread"};
    line("<system>");
    std::size_t open = 0;
    const auto close_to = [&](std::size_t level) {
      while (open > level) line("</{}>", kElements[--open]);
    };
    for (const LevelledNode& node : system_.nodes) {
      close_to(static_cast<std::size_t>(node.kind));
      line("<{} Id=\"{}\">", kElements[open], node.id);
      element("name", node.name);
      if (node.kind == FileSystemNode::Kind::machine || node.kind == FileSystemNode::Kind::node) {
        element("descr", node.description);
      } else {
        line("<rank>{}</rank>", node.rank);
      }
      ++open;
    }
    close_to(0);
    topologies();
    line("</system>");
  }

  void topologies() {
    constexpr const char* kIds[] = {"machId", "nodeId", "procId", "thrdId"};
    line("<topologies>");
    for (const Topology& topology : defs_.system.topologies) {
      const std::string name = topology.name.empty() ? "" : fmt::format(" name=\"{}\"", xml_escape(topology.name));
      line("<cart{} ndims=\"{}\">", name, topology.dimensions.size());
      for (const TopologyDimension& dimension : topology.dimensions) {
        const std::string called =
            dimension.name.empty() ? "" : fmt::format(" name=\"{}\"", xml_escape(dimension.name));
        line("<dim{} size=\"{}\" periodic=\"{}\"/>", called, dimension.size, dimension.periodic);
      }
      for (const Topology::Coordinate& coordinate : topology.coordinates) {
        const auto found = system_.place.find(coordinate.node);
        if (found == system_.place.end()) {
          ++lost_coordinates_;
          continue;
        }
        const LevelledNode& node = system_.nodes[found->second];
        line("<coord {}=\"{}\">{}</coord>", kIds[static_cast<std::size_t>(node.kind)], node.id,
             fmt::join(coordinate.at, " "));
      }
      line("</cart>");
    }
    line("</topologies>");
  }

  Result<void> values() {
    line("<severity>");
    FATHOM_TRY(const std::vector<MetricId> metrics, without_void_metrics(profile_, chosen_, "Cube 3"));
    for (const MetricId id : metrics) {
      if (cancelled()) return cancelled_error();
      FATHOM_CHECK(matrix(id));
    }
    line("</severity>");
    return success();
  }

  Result<void> matrix(MetricId id) {
    Selection selection;
    selection.flavour.kind = defs_.contexts.only_calls() ? Flavour::Kind::exclusive : Flavour::Kind::own;
    selection.locations = all_locations(defs_);
    FATHOM_TRY(const Cells cells, compute(profile_, id, selection));
    line("<matrix metricId=\"{}\">", number_[id.index()]);
    for (std::size_t row = 0; row < cells.rows(); ++row) {
      for (const LocationId location : system_.others) lost_values_ += !cells.is_zero(row, location.index());
      const auto zero = [&](LocationId location) { return cells.is_zero(row, location.index()); };
      if (std::all_of(system_.threads.begin(), system_.threads.end(), zero)) continue;
      line("<row cnodeId=\"{}\">", context_id_[row]);
      for (const LocationId location : system_.threads) {
        const Value value = cells.at(row, location.index());
        line("{}", has_value(cells, row, location.index()) ? value.text() : "0");
        if (cells.type().is_integer()) too_large_ += value.integer() > std::numeric_limits<std::int64_t>::max();
      }
      line("</row>");
    }
    line("</matrix>");
    return success();
  }

  [[nodiscard]] std::size_t empty_places() const {
    const SystemTree& system = defs_.system;
    std::vector<bool> holds(system.nodes.size(), false);
    for (SystemNodeId at : system.locations) {
      for (; at.valid() && !holds[at.index()]; at = system.nodes[at.index()].parent) holds[at.index()] = true;
    }
    return static_cast<std::size_t>(std::count(holds.begin(), holds.end(), false));
  }

  Result<void> report_losses() {
    if (too_large_ > 0) {
      FATHOM_CHECK(profile_.work->diagnostics.add(
          "cube3.integer", Severity::data_loss, Place::in(profile_.name),
          "a whole number above 2^63 - 1 is written as it is, but integers of Cube 3 end there", too_large_));
    }
    if (!system_.others.empty()) {
      FATHOM_CHECK(profile_.work->diagnostics.add(
          "cube3.locations_left_out", Severity::data_loss, Place::in(profile_.name),
          fmt::format("Cube 3 has no place for {} locations that are no threads; they are left out with {} values",
                      system_.others.size(), lost_values_),
          system_.others.size()));
    }
    std::vector<std::string> lost;
    for (const auto& [why, names] : left_out_) lost.push_back(fmt::format("{}: {}", why, fmt::join(names, ", ")));
    if (system_.dropped_levels) lost.emplace_back("levels of the system tree between machine and node");
    const auto& places = defs_.system.nodes;
    if (std::any_of(places.begin(), places.end(), [](const SystemNode& node) { return !node.attributes.empty(); })) {
      lost.emplace_back("attributes of places in the system");
    }
    if (const std::size_t empty = empty_places(); empty > 0) {
      lost.push_back(fmt::format("{} places in the system without threads or other locations", empty));
    }
    if (lost_attributes_) lost.emplace_back("attributes and parameters of metrics, regions and call paths");
    if (lost_coordinates_ > 0) lost.push_back(fmt::format("{} coordinates of such places", lost_coordinates_));
    if (lost_kinds_) lost.emplace_back("paradigms and roles of regions");
    if (lost.empty()) return success();
    return profile_.work->diagnostics.warn("cube3.left_out", Place::in(profile_.name),
                                           fmt::format("Cube 3 has no place for: {}", fmt::join(lost, "; ")));
  }

  static constexpr std::uint32_t kLeftOut = 0xFFFFFFFF;

  const Profile& profile_;
  const Definitions& defs_;
  SystemLevels system_;
  OutputFile& out_;
  bool rewriting_;
  std::string buffer_;
  std::vector<std::uint32_t> number_;  // by metric
  std::vector<MetricId> chosen_;
  std::vector<std::uint64_t> context_id_;                     // by context
  std::map<std::string, std::vector<std::string>> left_out_;  // why -> metrics
  std::uint64_t lost_values_ = 0;                             // of locations that are no threads
  std::uint64_t lost_coordinates_ = 0;                        // of places in the system that are not written
  std::uint64_t too_large_ = 0;                               // values
  bool lost_attributes_ = false;
  bool lost_kinds_ = false;
};

}  // namespace

Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options) {
  FATHOM_TRY(const auto profile, dataset.profile());
  FATHOM_TRY(OutputFile out, OutputFile::create(target));
  FATHOM_CHECK(Writer(*profile, out, &dataset.format() == &format()).write());
  if (!options.compress && target.extension() != ".gz") return out.commit();
  FATHOM_TRY(const Blob plain, out.written());
  FATHOM_TRY(OutputFile packed, OutputFile::create(target));
  packed.write(Bytes(gzip(plain.bytes(), kGzipLevel)));
  return packed.commit();
}

}  // namespace fathom::cube3
