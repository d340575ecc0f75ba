#include "cli/model_sets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "cli/options.hpp"
#include "formats/registry.hpp"
#include "report/csv.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

namespace {

// A file may hold several sets of one name: the second one is NAME#2.
std::vector<std::string> names_of(const ModelSets& sets) {
  std::map<std::string, std::size_t> seen;
  std::vector<std::string> names;
  for (const ModelSet& set : sets) {
    const std::size_t number = ++seen[set.name];
    names.push_back(number == 1 ? set.name : fmt::format("{}#{}", set.name, number));
  }
  return names;
}

Result<ModelSets::iterator> find_set(ModelSets& sets, const std::string& name) {
  const std::vector<std::string> names = names_of(sets);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return sets.begin() + (found - names.begin());
  return Error::usage(fmt::format("no set of models is called '{}'{}", name, did_you_mean(name, names_of(sets))))
      .hint(fmt::format("there are: {}", fmt::join(names_of(sets), ", ")));
}

}  // namespace

void ModelSetChoice::declare(Options& options) {
  options.flag("--sets", list, "list the sets of models that the file holds")
      .value("--set", "NAME", &name, "with --stored: this set of models, where the file holds several")
      .values("--rename-set", "OLD=NEW", rename, "with --stored --save: give a set another name")
      .values("--delete-set", "NAME", remove, "with --stored --save: leave a set out");
}

Result<void> ModelSetChoice::check(bool stored) const {
  if (stored || list) return {};
  for (const auto& [option, given] : {std::pair("--set", name.has_value()), std::pair("--rename-set", !rename.empty()),
                                      std::pair("--delete-set", !remove.empty())}) {
    if (given)
      return Error::usage(fmt::format("{} is about the models that a file holds: --stored is missing", option));
  }
  return {};
}

Result<void> ModelSetChoice::change(ModelSets& sets, bool saved) const {
  if ((!rename.empty() || !remove.empty()) && !saved) {
    return Error::usage("--rename-set and --delete-set need --save FILE");
  }
  for (const std::string& change : rename) {
    const auto equals = change.find('=');
    if (equals == std::string::npos) return Error::usage(fmt::format("'{}' is not OLD=NEW", change));
    FATHOM_TRY(const auto set, find_set(sets, change.substr(0, equals)));
    std::string fresh = change.substr(equals + 1);
    if (fresh != set->name && find_set(sets, fresh)) {
      return Error::usage(fmt::format("a set of models is called '{}' already", fresh));
    }
    set->name = std::move(fresh);
  }
  for (const std::string& gone : remove) {
    FATHOM_TRY(const auto set, find_set(sets, gone));
    sets.erase(set);
  }
  if (sets.empty()) return Error::usage("no set of models is left");
  return {};
}

Result<void> ModelSetChoice::choose(Session& session, ModelSets& sets, bool all_printed) const {
  if (name) {
    FATHOM_TRY(const auto set, find_set(sets, *name));
    ModelSet chosen = std::move(*set);
    sets.clear();
    sets.push_back(std::move(chosen));
  } else if (sets.size() > 1 && !all_printed) {
    session.note(fmt::format("the file holds {} sets of models, '{}' is shown; --set NAME takes another: {}",
                             sets.size(), sets.front().name, fmt::join(names_of(sets), ", ")));
  }
  return {};
}

Result<ModelSets> stored_model_sets(Dataset& dataset) {
  FATHOM_TRY(const auto models, dataset.models());
  if (models->empty()) return Error("the file holds no models").hint("leave out --stored to make some");
  return ModelSets(*models);
}

Result<int> list_model_sets(Session& session, Dataset& dataset) {
  FATHOM_TRY(const ModelSets sets, stored_model_sets(dataset));
  if (session.json()) {
    JsonWriter json(session.out());
    json.begin_array();
    for (const ModelSet& set : sets) {
      json.begin_object().member("name", std::string_view(set.name));
      json.member("models", std::uint64_t{set.models.size()}).end_object();
    }
    json.end_array();
    return kDone;
  }
  if (session.csv()) {
    CsvWriter csv(session.out());
    csv.header({"name", "models"});
    for (const ModelSet& set : sets) {
      csv.field(set.name);
      csv.field(std::to_string(set.models.size()));
      csv.end_row();
    }
    return kDone;
  }
  TextTable table;
  table.column("SET", Align::left, true).column("MODELS", Align::right);
  const std::vector<std::string> names = names_of(sets);
  for (std::size_t i = 0; i < sets.size(); ++i) table.row({{names[i]}, {grouped(sets[i].models.size())}});
  session.out().write(table.text(session.terminal()));
  return kDone;
}

}  // namespace fathom::cli
