#include "profile/cubepl/variables.hpp"

#include <algorithm>

#include "base/shown_files.hpp"
#include "base/text.hpp"
#include "profile/cubepl/type_names.hpp"
#include "profile/expression/program.hpp"
#include "profile/profile.hpp"

namespace fathom::cubepl {

namespace {

using expression::Datum;
using expression::Environment;
using expression::Point;

// What a variable is about; `what` below is its name within that.
enum class About : std::uint8_t { profile, metric, callpath, region, stn, group, location, calculation };

// Where the position in ${name}[position] comes from.
enum class At : std::uint8_t { none, given, running };

struct Variable {
  std::string_view name;
  About about;
  std::string_view what;
  At at;
};

// The last block has the names of version 0.0, which speak of what is being calculated without a position.
constexpr Variable kVariables[] = {
    {"cube::#mirrors", About::profile, "#mirrors", At::none},
    {"cube::#metrics", About::profile, "#metrics", At::none},
    {"cube::#root::metrics", About::profile, "#root::metrics", At::none},
    {"cube::#regions", About::profile, "#regions", At::none},
    {"cube::#callpaths", About::profile, "#callpaths", At::none},
    {"cube::#root::callpaths", About::profile, "#root::callpaths", At::none},
    {"cube::#locations", About::profile, "#locations", At::none},
    {"cube::#locations::void", About::profile, "#locations::void", At::none},
    {"cube::#locations::nonvoid", About::profile, "#locations::nonvoid", At::none},
    {"cube::#locationgroups", About::profile, "#groups", At::none},
    {"cube::#locationgroups::void", About::profile, "#groups::void", At::none},
    {"cube::#locationgroups::nonvoid", About::profile, "#groups::nonvoid", At::none},
    {"cube::#stns", About::profile, "#stns", At::none},
    {"cube::#rootstns", About::profile, "#rootstns", At::none},
    {"cube::filename", About::profile, "filename", At::none},
    {"cube::metric::uniq::name", About::metric, "uniq::name", At::given},
    {"cube::metric::disp::name", About::metric, "disp::name", At::given},
    {"cube::metric::url", About::metric, "url", At::given},
    {"cube::metric::description", About::metric, "description", At::given},
    {"cube::metric::dtype", About::metric, "dtype", At::given},
    {"cube::metric::uom", About::metric, "uom", At::given},
    {"cube::metric::expression", About::metric, "expression", At::given},
    {"cube::metric::initexpression", About::metric, "initexpression", At::given},
    {"cube::metric::#children", About::metric, "#children", At::given},
    {"cube::metric::parent::id", About::metric, "parent::id", At::given},
    {"cube::metric::children", About::metric, "children", At::given},
    {"cube::metric::enumeration", About::metric, "enumeration", At::given},
    {"cube::callpath::mod", About::callpath, "mod", At::given},
    {"cube::callpath::line", About::callpath, "line", At::given},
    {"cube::callpath::calleeid", About::callpath, "calleeid", At::given},
    {"cube::callpath::#children", About::callpath, "#children", At::given},
    {"cube::callpath::parent::id", About::callpath, "parent::id", At::given},
    {"cube::callpath::children", About::callpath, "children", At::given},
    {"cube::callpath::enumeration", About::callpath, "enumeration", At::given},
    {"cube::region::name", About::region, "name", At::given},
    {"cube::region::mangled::name", About::region, "mangled::name", At::given},
    {"cube::region::paradigm", About::region, "paradigm", At::given},
    {"cube::region::role", About::region, "role", At::given},
    {"cube::region::url", About::region, "url", At::given},
    {"cube::region::description", About::region, "description", At::given},
    {"cube::region::mod", About::region, "mod", At::given},
    {"cube::region::begin::line", About::region, "begin::line", At::given},
    {"cube::region::end::line", About::region, "end::line", At::given},
    {"cube::stn::name", About::stn, "name", At::given},
    {"cube::stn::class", About::stn, "class", At::given},
    {"cube::stn::description", About::stn, "description", At::given},
    {"cube::stn::#children", About::stn, "#children", At::given},
    {"cube::stn::children", About::stn, "children", At::given},
    {"cube::stn::#locationgroups", About::stn, "#groups", At::given},
    {"cube::stn::locationgroups", About::stn, "groups", At::given},
    {"cube::stn::parent::id", About::stn, "parent::id", At::given},
    {"cube::stn::parent::sysid", About::stn, "parent::sysid", At::given},
    {"cube::locationgroup::name", About::group, "name", At::given},
    {"cube::locationgroup::rank", About::group, "rank", At::given},
    {"cube::locationgroup::type", About::group, "type", At::given},
    {"cube::locationgroup::void", About::group, "void", At::given},
    {"cube::locationgroup::#locations", About::group, "#children", At::given},
    {"cube::locationgroup::locations", About::group, "children", At::given},
    {"cube::locationgroup::parent::id", About::group, "parent::id", At::given},
    {"cube::locationgroup::parent::sysid", About::group, "parent::sysid", At::given},
    {"cube::location::name", About::location, "name", At::given},
    {"cube::location::rank", About::location, "rank", At::given},
    {"cube::location::type", About::location, "type", At::given},
    {"cube::location::void", About::location, "void", At::given},
    {"cube::location::parent::id", About::location, "parent::id", At::given},
    {"cube::location::parent::sysid", About::location, "parent::sysid", At::given},
    {"calculation::metric::id", About::calculation, "metric", At::none},
    {"calculation::callpath::id", About::calculation, "callpath", At::given},
    {"calculation::callpath::state", About::calculation, "state", At::none},
    {"calculation::callpath::#elements", About::calculation, "#callpaths", At::none},
    {"calculation::region::id", About::calculation, "region", At::given},
    {"calculation::region::#elements", About::calculation, "#regions", At::none},
    {"calculation::sysres::id", About::calculation, "sysres", At::given},
    {"calculation::sysres::sysid", About::calculation, "sysid", At::given},
    {"calculation::sysres::kind", About::calculation, "kind", At::none},
    {"calculation::sysres::state", About::calculation, "sysstate", At::none},
    {"calculation::sysres::#elements", About::calculation, "#sysres", At::none},
    {"cube::#threads", About::profile, "#locations", At::none},
    {"cube::#threads::void", About::profile, "#locations::void", At::none},
    {"cube::#threads::nonvoid", About::profile, "#locations::nonvoid", At::none},
    {"cube::#processes::void", About::profile, "#groups::void", At::none},
    {"cube::#processes::nonvoid", About::profile, "#groups::nonvoid", At::none},
    {"calculation::metric::uniq::name", About::metric, "uniq::name", At::running},
    {"calculation::metric::disp::name", About::metric, "disp::name", At::running},
    {"calculation::metric::url", About::metric, "url", At::running},
    {"calculation::metric::description", About::metric, "description", At::running},
    {"calculation::metric::dtype", About::metric, "dtype", At::running},
    {"calculation::metric::uom", About::metric, "uom", At::running},
    {"calculation::metric::expression", About::metric, "expression", At::running},
    {"calculation::metric::#children", About::metric, "#children", At::running},
    {"calculation::callpath::mod", About::callpath, "mod", At::running},
    {"calculation::callpath::line", About::callpath, "line", At::running},
    {"calculation::callpath::#children", About::callpath, "#children", At::running},
    {"calculation::region::name", About::region, "name", At::running},
    {"calculation::region::url", About::region, "url", At::running},
    {"calculation::region::description", About::region, "description", At::running},
    {"calculation::region::mod", About::region, "mod", At::running},
    {"calculation::region::begin::line", About::region, "begin::line", At::running},
    {"calculation::region::end::line", About::region, "end::line", At::running},
    {"calculation::sysres::name", About::location, "name", At::running},
    {"calculation::sysres::rank", About::location, "rank", At::running},
    {"calculation::thread::void", About::location, "void", At::running},
    {"calculation::process::void", About::group, "void", At::running},
};

// The reference knows these names but never gives them values: what cells they would have is not known.
constexpr bool is_list(std::string_view what) {
  return what == "children" || what == "enumeration" || what == "groups";
}

// A process says so in its name, for its threads too.
bool is_void(const SystemTree& system, const SystemNode& node) {
  const auto named_so = [](const SystemNode& any) { return any.name.find("VOID") != std::string::npos; };
  return named_so(node) ||
         (node.kind == SystemKind::location && node.parent.valid() && named_so(system.nodes[node.parent.index()]));
}

// What the reference counts a kind of group or location as.
double type_number(const SystemNode& node) {
  if (node.kind == SystemKind::group) return node.type == "metrics" ? 1 : node.type == "accelerator" ? 2 : 0;
  return node.type == "accelerator stream" || node.type == "gpu" ? 1 : node.type == "metric" ? 2 : 0;
}

double number(std::size_t value) { return static_cast<double>(value); }

// Ids mostly are positions.
std::size_t find_region(const std::vector<Region>& list, std::uint64_t id) {
  if (id < list.size() && list[id].file_id == id) return id;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].file_id == id) return i;
  }
  return list.size();
}

// Tree nodes and groups are numbered in the order of the document, each kind on its own, whatever ids the file has;
// locations have their ids.
std::size_t find_node(const SystemTree& system, SystemKind kind, std::uint64_t number) {
  if (kind == SystemKind::location) {
    const std::size_t at = number < system.locations.size() ? system.locations[number].index() : system.nodes.size();
    if (at < system.nodes.size() && system.nodes[at].file_id == number) return at;
  }
  for (std::size_t i = 0; i < system.nodes.size(); ++i) {
    if (system.nodes[i].kind != kind) continue;
    if (kind == SystemKind::location ? system.nodes[i].file_id == number : number-- == 0) return i;
  }
  return system.nodes.size();
}

double number_of(const SystemTree& system, SystemNodeId id) {
  const SystemNode& node = system.nodes[id.index()];
  if (node.kind == SystemKind::location) return static_cast<double>(node.file_id);
  return static_cast<double>(std::count_if(system.nodes.begin(),
                                           system.nodes.begin() + static_cast<std::ptrdiff_t>(id.index()),
                                           [&](const SystemNode& other) { return other.kind == node.kind; }));
}

Datum of_profile(std::string_view what, const Point& point) {
  const Definitions& defs = point.profile->defs();
  // Those of the profile, the one that is worked out among them, without what was added on the fly.
  const auto metrics = [&](bool roots_only) {
    const auto program = point.profile->programs.find(point.metric);
    const bool known = program != point.profile->programs.end() && program->second->globals;
    const std::size_t own = known ? program->second->globals->own_metrics : defs.metrics.size();
    std::size_t count = 0;
    for (std::size_t i = 0; i < std::min(own, defs.metrics.size()); ++i) {
      const Metric& metric = defs.metrics[i];
      count += !metric.hidden && (!roots_only || !metric.parent.valid());
    }
    return number(count);
  };
  const auto nodes = [&](SystemKind kind, int wanted_void) {
    return number(static_cast<std::size_t>(
        std::count_if(defs.system.nodes.begin(), defs.system.nodes.end(), [&](const SystemNode& node) {
          return node.kind == kind && (wanted_void < 0 || is_void(defs.system, node) == (wanted_void == 1));
        })));
  };
  if (what == "#mirrors") return number(defs.mirrors.size());
  if (what == "#metrics") return metrics(false);
  if (what == "#root::metrics") return metrics(true);
  if (what == "#regions") return number(defs.regions.size());
  if (what == "#callpaths") return number(defs.contexts.size());
  if (what == "#root::callpaths") return number(defs.contexts.roots().size());
  if (what == "#locations") return nodes(SystemKind::location, -1);
  if (what == "#locations::void") return nodes(SystemKind::location, 1);
  if (what == "#locations::nonvoid") return nodes(SystemKind::location, 0);
  if (what == "#groups") return nodes(SystemKind::group, -1);
  if (what == "#groups::void") return nodes(SystemKind::group, 1);
  if (what == "#groups::nonvoid") return nodes(SystemKind::group, 0);
  if (what == "#stns") return nodes(SystemKind::node, -1);
  if (what == "filename") return shown_file(point.profile->name);
  return number(static_cast<std::size_t>(
      std::count_if(defs.system.nodes.begin(), defs.system.nodes.end(),
                    [](const SystemNode& node) { return node.kind == SystemKind::node && !node.parent.valid(); })));
}

Datum of_metric(std::string_view what, const Profile& profile, std::size_t index) {
  const Definitions& defs = profile.defs();
  if (index >= defs.metrics.size()) return 0.0;
  const Metric& metric = defs.metrics[index];
  if (what == "uniq::name") return metric.name;
  if (what == "disp::name") return metric.display_name;
  if (what == "url") return metric.url;
  if (what == "description") return metric.description;
  if (what == "dtype") return dtype_name(metric.type);
  if (what == "uom") return metric.unit;
  if (what == "expression") return metric.expression;
  if (what == "initexpression") {
    const auto found = profile.programs.find(MetricId(index));
    std::string all;
    if (found == profile.programs.end()) return all;
    for (const expression::Tree& tree : found->second->init) all += tree.source;
    return all;
  }
  if (what == "#children") return number(defs.metric_children(MetricId(index)).size());
  return metric.parent.valid() ? number(metric.parent.index()) : -1.0;  // parent::id
}

Datum of_callpath(std::string_view what, const Definitions& defs, ContextId id) {
  if (!id.valid()) return 0.0;
  const Context& context = defs.contexts[id];
  if (what == "mod") return defs.contexts.details(id).file;
  if (what == "line") return static_cast<double>(context.line);
  if (what == "calleeid") return static_cast<double>(defs.region(context.region).file_id);
  if (what == "#children") return number(defs.contexts.children(id).size());
  return context.parent.valid() ? static_cast<double>(defs.contexts[context.parent].file_id) : -1.0;  // parent::id
}

Datum of_region(std::string_view what, const Definitions& defs, std::size_t index) {
  if (index >= defs.regions.size()) return 0.0;
  const Region& region = defs.regions[index];
  if (what == "name") return region.name;
  if (what == "mangled::name") return region.mangled_name.empty() ? region.name : region.mangled_name;
  if (what == "paradigm") return region.paradigm;
  if (what == "role") return region.role;
  if (what == "url") return region.url;
  if (what == "description") return region.description;
  if (what == "mod") return region.file;
  return static_cast<double>(what == "begin::line" ? region.begin_line : region.end_line);
}

Datum of_node(std::string_view what, const SystemTree& system, std::size_t index) {
  if (index >= system.nodes.size()) return 0.0;
  const SystemNode& node = system.nodes[index];
  if (what == "name") return node.name;
  if (what == "class") return node.type;
  if (what == "type") return type_number(node);
  if (what == "description") return node.description;
  if (what == "rank") return static_cast<double>(node.rank.value_or(0));
  if (what == "void") return is_void(system, node) ? 1.0 : 0.0;
  if (what == "parent::sysid") return node.parent.valid() ? number(node.parent.index()) : -1.0;
  if (what == "parent::id") return node.parent.valid() ? number_of(system, node.parent) : 0.0;
  if (what == "#children" || what == "#groups") {
    // A tree node has tree nodes and groups below it, a group locations.
    const SystemKind below = node.kind == SystemKind::group ? SystemKind::location
                             : what == "#groups"            ? SystemKind::group
                                                            : SystemKind::node;
    return number(
        static_cast<std::size_t>(std::count_if(system.nodes.begin(), system.nodes.end(), [&](const SystemNode& other) {
          return other.parent == SystemNodeId(index) && other.kind == below;
        })));
  }
  return 0.0;
}

Datum of_calculation(std::string_view what, std::size_t position, const Point& point) {
  const Definitions& defs = point.profile->defs();
  const bool resource = !point.whole_system && position < point.locations.size();
  if (what == "metric") return number(point.metric.index());
  if (what == "state") return static_cast<double>(point.state);
  // As the official tools ask: a location for itself (1, exclusive), a resource with everything in it (0, inclusive).
  // Exclusive values of resources, of which the Cube browser asks where they are unfolded, do not exist here.
  if (what == "sysstate") return resource && !point.resource.valid() ? 1.0 : 0.0;
  if (what == "#callpaths" || what == "#regions") return number(point.contexts.size());
  if (point.resource.valid() && position == 0) {
    const SystemNode& node = defs.system.nodes[point.resource.index()];
    if (what == "#sysres") return 1.0;
    if (what == "kind") return node.kind == SystemKind::group ? 6.0 : 5.0;
    if (what == "sysres") return number_of(defs.system, point.resource);
    if (what == "sysid") return number(point.resource.index());
  }
  if (what == "#sysres") return number(point.whole_system ? 0 : point.locations.size());
  if (what == "kind") return point.whole_system || point.locations.empty() ? 0.0 : 7.0;
  if (what == "sysres")
    return resource ? static_cast<double>(defs.system.location(point.locations[position]).file_id) : 0.0;
  if (what == "sysid") {
    return resource ? number(defs.system.locations[point.locations[position].index()].index()) : 0.0;
  }
  if (position >= point.contexts.size()) return 0.0;
  const Context& context = defs.contexts[point.contexts[position]];
  if (what == "callpath") return static_cast<double>(context.file_id);
  return static_cast<double>(defs.region(context.region).file_id);
}

class CubeEnvironment : public Environment {
 public:
  [[nodiscard]] expression::Varies varies(std::uint32_t id) const override {
    using expression::Varies;
    const Variable& variable = kVariables[id];
    if (variable.about == About::calculation) {
      if (variable.what == "metric" || variable.what == "state") return Varies::never;
      const bool system = variable.what.find("sys") != std::string_view::npos || variable.what == "kind";
      return system ? Varies::by_cell : Varies::by_row;
    }
    if (variable.at != At::running || variable.about == About::metric) return Varies::never;
    return variable.about == About::location || variable.about == About::group ? Varies::by_cell : Varies::by_row;
  }

  [[nodiscard]] Datum value(std::uint32_t id, std::int64_t position, const Point& point) const override {
    const Variable& variable = kVariables[id];
    const Definitions& defs = point.profile->defs();
    const bool running = variable.at == At::running;
    if ((position < 0 && !running) || is_list(variable.what)) return 0.0;
    const auto at = static_cast<std::uint64_t>(std::max<std::int64_t>(position, 0));
    const ContextId context = point.contexts.empty() ? ContextId() : point.contexts[0];
    switch (variable.about) {
      case About::profile:
        return of_profile(variable.what, point);
      case About::calculation:
        return of_calculation(variable.what, at, point);
      case About::metric:
        return of_metric(variable.what, *point.profile, running ? point.metric.index() : at);
      case About::callpath:
        return of_callpath(variable.what, defs, running ? context : defs.contexts.find(at));
      case About::region:
        if (running && !context.valid()) return 0.0;
        return of_region(variable.what, defs,
                         running ? defs.contexts[context].region.index() : find_region(defs.regions, at));
      case About::stn:
        return of_node(variable.what, defs.system, find_node(defs.system, SystemKind::node, at));
      case About::group:
      case About::location:
        if (running) {
          if (point.whole_system || point.locations.empty()) return 0.0;
          const SystemNodeId location = defs.system.locations[point.locations[0].index()];
          const SystemNodeId group = defs.system.nodes[location.index()].parent;
          const SystemNodeId node = variable.about == About::group ? group
                                    : point.resource.valid()       ? point.resource
                                                                   : location;
          return node.valid() ? of_node(variable.what, defs.system, node.index()) : Datum(0.0);
        }
        if (variable.about == About::group) {
          return of_node(variable.what, defs.system, find_node(defs.system, SystemKind::group, at));
        }
        return of_node(variable.what, defs.system, find_node(defs.system, SystemKind::location, at));
    }
    return 0.0;
  }

  [[nodiscard]] std::size_t size(std::uint32_t id, const Point& point) const override {
    const Variable& variable = kVariables[id];
    if (variable.at != At::given) return 1;
    if (is_list(variable.what)) return 0;
    const Definitions& defs = point.profile->defs();
    const auto nodes = [&](SystemKind kind) {
      return static_cast<std::size_t>(std::count_if(defs.system.nodes.begin(), defs.system.nodes.end(),
                                                    [&](const SystemNode& node) { return node.kind == kind; }));
    };
    switch (variable.about) {
      case About::metric:
        return defs.metrics.size();
      case About::callpath:
        return defs.contexts.size();
      case About::region:
        return defs.regions.size();
      case About::stn:
        return nodes(SystemKind::node);
      case About::group:
        return nodes(SystemKind::group);
      case About::location:
        return nodes(SystemKind::location);
      case About::calculation:
        return variable.what == "sysres" || variable.what == "sysid" ? point.locations.size() : point.contexts.size();
      case About::profile:
        break;
    }
    return 1;
  }

  [[nodiscard]] std::string property(const Profile& profile, std::string_view metric,
                                     std::string_view name) const override {
    const MetricId id = profile.defs().find_metric(metric);
    if (!id.valid()) return {};
    const Metric& info = profile.defs().metric(id);
    if (name == "unique name") return info.name;
    if (name == "display name") return info.display_name;
    if (name == "uom") return info.unit;
    if (name == "dtype") return dtype_name(info.type);
    if (name == "url") return info.url;
    if (name == "description") return info.description;
    if (name == "value") return info.switched_off ? "VOID" : "";
    return {};
  }
};

}  // namespace

std::optional<std::uint32_t> find_variable(std::string_view name) {
  for (std::uint32_t i = 0; i < std::size(kVariables); ++i) {
    if (kVariables[i].name == name) return i;
  }
  return std::nullopt;
}

std::string_view variable_name(std::uint32_t id) { return id < std::size(kVariables) ? kVariables[id].name : ""; }

std::shared_ptr<const Environment> make_environment() {
  static const auto kEnvironment = std::make_shared<const CubeEnvironment>();
  return kEnvironment;
}

}  // namespace fathom::cubepl
