#include "cli/reading_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/text.hpp"
#include "cli/session.hpp"
#include "formats/registry.hpp"
#include "formats/run_members.hpp"

namespace fathom::cli {

namespace {

bool reads_experiments(const Format& format) {
  const auto& levels = format.can.reads;
  return std::find(levels.begin(), levels.end(), Level::experiment) != levels.end();
}

std::string names_of(std::span<const Format* const> formats) {
  std::string names;
  for (const Format* format : formats) names += (names.empty() ? "" : ", ") + std::string(format->name);
  return names;
}

// "runs, extra-prof: how the locations ..."; no formats where all of them know it.
std::string help_of(const ReadingOption& one) {
  const auto all = std::count_if(all_formats().begin(), all_formats().end(),
                                 [](const Format* format) { return reads_experiments(*format); });
  if (static_cast<std::ptrdiff_t>(one.formats.size()) == all) return std::string(one.option->help);
  return fmt::format("{}: {}", names_of(one.formats), one.option->help);
}

}  // namespace

void ReadingOptions::declare(Options& options) {
  std::vector<ReadingOption> all = reading_options();
  // Those of runs first: they are what most people look for.
  std::stable_partition(all.begin(), all.end(),
                        [](const ReadingOption& one) { return one.formats.back()->name == "runs"; });
  for (const ReadingOption& one : all) {
    if (std::none_of(one.formats.begin(), one.formats.end(), [](const Format* f) { return reads_experiments(*f); })) {
      continue;
    }
    Given& given = given_.emplace_back();
    given.option = one.option;
    const std::string name = "--" + std::string(one.option->name);
    const std::string placeholder(one.option->placeholder);
    if (one.option->type == OptionType::flag) {
      options.flag(name, given.flag, help_of(one));
    } else if (one.option->type == OptionType::list) {
      options.values(name, placeholder, given.list, help_of(one));
    } else if (!one.option->choices.empty()) {
      const auto choices = split(one.option->choices, ' ');
      options.choice(name, given.text, {choices.begin(), choices.end()}, help_of(one));
    } else {
      options.value(name, placeholder, &given.text, help_of(one));
    }
  }
}

Result<void> ReadingOptions::apply(WorkContext& work) const {
  for (const Given& given : given_) {
    if (given.flag) FATHOM_CHECK(work.options.set_text(*given.option, "true"));
    if (!given.text.empty()) FATHOM_CHECK(work.options.set_text(*given.option, given.text));
    for (const std::string& one : given.list) FATHOM_CHECK(work.options.set_text(*given.option, one));
  }
  return {};
}

void ReadingOptions::tell_unused(Session& session, const Dataset& dataset) const {
  if (dataset.format().name == "runs") return;
  for (const Given& given : given_) {
    if (!given.flag && given.text.empty() && given.list.empty()) continue;
    for (const ReadingOption& one : reading_options()) {
      if (one.option != given.option) continue;
      if (std::find(one.formats.begin(), one.formats.end(), &dataset.format()) != one.formats.end()) continue;
      session.warn(fmt::format("--{} has no effect on {}, which is {} (it is for {})", one.option->name,
                               dataset.path().string(), dataset.format().name, names_of(one.formats)));
    }
  }
}

Result<DatasetPtr> open_experiment(Session& session, const std::vector<std::string>& paths) {
  if (paths.size() == 1) return session.open(paths.front());
  std::vector<std::filesystem::path> members(paths.begin(), paths.end());
  return open_run_members(members, session.work());
}

}  // namespace fathom::cli
