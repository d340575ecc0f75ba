// fathom topology: the topologies of a profile, listed, made or named.
#include <fmt/format.h>

#include <optional>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/output_arguments.hpp"
#include "io/file.hpp"
#include "profile/algebra/topology.hpp"

namespace fathom::cli {

namespace {

// [NAME=]SIZE[:periodic]
Result<TopologyDimension> parse_dimension(std::string_view text) {
  TopologyDimension out;
  std::string_view rest = text;
  if (const std::size_t equals = rest.find('='); equals != std::string_view::npos) {
    out.name = trim(rest.substr(0, equals));
    rest.remove_prefix(equals + 1);
  }
  const std::size_t colon = rest.find(':');
  const auto size = parse_integer<std::uint64_t>(trim(rest.substr(0, colon)));
  const std::string_view flag = colon == std::string_view::npos ? "" : trim(rest.substr(colon + 1));
  if (!size || (!flag.empty() && flag != "periodic")) {
    return Error::usage(fmt::format("--dimension: expected [NAME=]SIZE[:periodic], found '{}'", text));
  }
  out.size = *size;
  out.periodic = !flag.empty();
  return out;
}

// "WHICH=NEW"
Result<std::pair<std::string, std::string>> parse_naming(const char* option, const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    return Error::usage(fmt::format("{}: expected WHICH=NAME, found '{}'", option, text));
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

class TopologyCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("IN", in_, "a profile");
    output_.declare_target(options, "the profile to write; without it the topologies are listed");
    options.value("--create", "NAME", &create_, "add a topology of the given dimensions")
        .values("--dimension", "[NAME=]SIZE[:periodic]", dimensions_, "one of its dimensions, in order")
        .choice("--of", of_, {"locations", "processes", "nodes"}, "what stands at its points; default: locations")
        .value("--coordinates", "FILE", &coordinates_,
               "lines of an id and its coordinates; default: all in order, the last dimension fastest")
        .values("--rename", "WHICH=NAME", rename_, "another name for a topology (by name or number from 0)")
        .values("--name-dimensions", "WHICH=A,B,...", name_, "names for its dimensions");
    output_.declare_format(options);
    options.example("fathom topology app.cubex", "list them")
        .example("fathom topology app.cubex --create grid --dimension x=4 --dimension y=2:periodic -o out.cubex",
                 "eight locations as a grid of four by two")
        .example("fathom topology app.cubex --name-dimensions 0=x,y,z -o out.cubex", "names for the first one's axes");
  }

  Result<int> run(Session& session) override {
    if (!create_ && (!dimensions_.empty() || coordinates_)) {
      return Error::usage("--dimension and --coordinates go with --create");
    }
    FATHOM_TRY(const DatasetPtr dataset, session.open(in_));
    FATHOM_TRY(ProfilePtr profile, dataset->profile());
    if (!create_ && rename_.empty() && name_.empty()) {
      if (!output_.target.empty()) return Error::usage("-o needs --create, --rename or --name-dimensions");
      list(session, *profile);
      return kDone;
    }
    FATHOM_TRY(profile, changed(std::move(profile)));
    FATHOM_CHECK(output_.write(session, profile, &dataset->format()));
    return kDone;
  }

 private:
  static void list(Session& session, const Profile& profile) {
    TableBuilder table({"topologies",
                        {{"number", ColumnType::uint64},
                         {"name", ColumnType::text},
                         {"dimensions", ColumnType::text},
                         {"points", ColumnType::uint64, "occ"}}});
    const auto& all = profile.defs().system.topologies;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<std::string> dimensions;
      for (const TopologyDimension& d : all[i].dimensions) {
        dimensions.push_back(
            fmt::format("{}{}{}{}", d.name, d.name.empty() ? "" : "=", d.size, d.periodic ? ":periodic" : ""));
      }
      table.row(i, all[i].name, fmt::format("{}", fmt::join(dimensions, " ")), all[i].coordinates.size());
    }
    session.show_table(std::move(table).finish(), "topologies");
  }

  Result<ProfilePtr> changed(ProfilePtr profile) const {
    for (const std::string& text : rename_) {
      FATHOM_TRY(const auto naming, parse_naming("--rename", text));
      FATHOM_TRY(const std::size_t which, algebra::find_topology(profile->defs(), naming.first));
      FATHOM_TRY(profile, algebra::rename_topology(profile, which, naming.second));
    }
    for (const std::string& text : name_) {
      FATHOM_TRY(const auto naming, parse_naming("--name-dimensions", text));
      FATHOM_TRY(const std::size_t which, algebra::find_topology(profile->defs(), naming.first));
      std::vector<std::string> names;
      for (const std::string_view name : split(naming.second, ',')) names.emplace_back(trim(name));
      FATHOM_TRY(profile, algebra::name_dimensions(profile, which, names));
    }
    if (!create_) return profile;
    algebra::NewTopology wanted;
    wanted.name = *create_;
    wanted.of = of_ == "processes" ? algebra::TopologyOf::groups
                : of_ == "nodes"   ? algebra::TopologyOf::nodes
                                   : algebra::TopologyOf::locations;
    for (const std::string& text : dimensions_) {
      FATHOM_TRY(wanted.dimensions.emplace_back(), parse_dimension(text));
    }
    if (coordinates_) {
      FATHOM_TRY(const Blob file, open_file(*coordinates_, profile->work));
      wanted.coordinates = file.text();
    }
    return algebra::add_topology(profile, wanted);
  }

  std::string in_;
  OutputArguments output_;
  std::optional<std::string> create_;
  std::vector<std::string> dimensions_;
  std::string of_ = "locations";
  std::optional<std::string> coordinates_;
  std::vector<std::string> rename_;
  std::vector<std::string> name_;
};

}  // namespace

std::unique_ptr<Command> make_topology_command() { return std::make_unique<TopologyCommand>(); }

}  // namespace fathom::cli
