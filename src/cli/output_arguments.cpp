#include "cli/output_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/profile_dataset.hpp"
#include "formats/registry.hpp"
#include "io/opened_files.hpp"

namespace fathom::cli {

void OutputArguments::declare_target(Options& declared, std::string help) {
  declared.value("-o,--output", "OUT", &target, std::move(help));
}

void OutputArguments::declare_format(Options& declared) {
  declared.value("--to", "F", &to, "write format F (default: by the ending of OUT)")
      .values("--option", "KEY=VALUE", options, "an option of the written format; may be repeated")
      .flag("--compress", compress, "pack values where the format can");
}

Result<WriteOptions> OutputArguments::write_options(const Format& format) const {
  WriteOptions out;
  out.compress = compress;
  for (const std::string& option : options) {
    const std::size_t at = option.find('=');
    if (at == std::string::npos || at == 0) {
      return Error::usage(fmt::format("--option: expected KEY=VALUE, got '{}'", option));
    }
    std::string key = option.substr(0, at);
    std::replace(key.begin(), key.end(), '_', '-');  // keep_values is as good as keep-values
    out.options.emplace_back(std::move(key), option.substr(at + 1));
  }
  FATHOM_CHECK(check_options(format, format.options.writing, out.options, "when it is written"));
  return out;
}

namespace {

// "cube (.cubex), hpctoolkit (.hpcdb)"
std::string what_can_be_written(std::span<const Level> levels) {
  std::string out;
  for (const Format* format : all_formats()) {
    if (!writes_one_of(*format, levels)) continue;
    if (!out.empty()) out += ", ";
    out += format->name;
    if (!format->extensions.empty()) out += fmt::format(" ({})", format->extensions);
  }
  return out.empty() ? "nothing" : out;
}

}  // namespace

Result<const Format*> OutputArguments::format(const Format* fallback, std::span<const Level> levels,
                                              const Format* own) const {
  const Format* found = nullptr;
  const std::string ending = std::filesystem::path(target).extension().string();
  if (!to.empty()) {
    FATHOM_TRY(found, find_format(to));
  } else {
    found = format_for_extension(target, levels);
    if (found == nullptr && ending.empty()) found = fallback;
  }
  std::vector<std::string> names;
  for (const Level level : levels) names.emplace_back(to_string(level));
  const auto refuse = [&](const std::string& what) {
    return Error::usage(what).hint(fmt::format("a {} can be written as: {}; --to F or the ending of OUT chooses",
                                               fmt::join(names, " or "), what_can_be_written(levels)));
  };
  if (found == nullptr) return refuse(fmt::format("the ending of '{}' names no format that can be written", target));
  if (found == own || writes_one_of(*found, levels)) return found;
  if (found->write == nullptr) return refuse(fmt::format("{} can be read but not written", found->name));
  return refuse(fmt::format("{} cannot hold a {}", found->name, fmt::join(names, " or a ")));
}

Result<void> OutputArguments::write(Session& session, const ProfilePtr& profile, const Format* fallback) const {
  if (target.empty()) return Error::usage("needs -o OUT: where to write the result");
  constexpr Level kLevels[] = {Level::profile};
  FATHOM_TRY(const Format* chosen, format(fallback, kLevels));
  if (chosen != fallback) FATHOM_CHECK(spare_inputs(target));
  FATHOM_TRY(const WriteOptions how, write_options(*chosen));
  const DatasetPtr dataset = make_profile_dataset(profile);
  FATHOM_CHECK(chosen->write(*dataset, target, how));
  session.note(fmt::format("wrote {} ({})", target, chosen->name));
  return {};
}

}  // namespace fathom::cli
