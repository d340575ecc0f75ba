#include "cli/output_arguments.hpp"

#include <fmt/format.h>

#include "formats/profile_dataset.hpp"
#include "formats/registry.hpp"

namespace fathom::cli {

void OutputArguments::declare_target(Options& declared, std::string help) {
  declared.value("-o,--output", "OUT", &target, std::move(help));
}

void OutputArguments::declare_format(Options& declared) {
  declared.value("--to", "F", &to, "write format F (default: by the ending of OUT)")
      .values("--option", "KEY=VALUE", options, "an option of the written format; may be repeated")
      .flag("--compress", compress, "pack values where the format can");
}

Result<WriteOptions> OutputArguments::write_options() const {
  WriteOptions out;
  out.compress = compress;
  for (const std::string& option : options) {
    const std::size_t at = option.find('=');
    if (at == std::string::npos || at == 0) {
      return Error::usage(fmt::format("--option: expected KEY=VALUE, got '{}'", option));
    }
    out.options.emplace_back(option.substr(0, at), option.substr(at + 1));
  }
  return out;
}

Result<const Format*> OutputArguments::format(const Format* fallback) const {
  const Format* found = fallback;
  if (!to.empty()) {
    FATHOM_TRY(found, find_format(to));
  } else if (const Format* by_ending = format_for_extension(target); by_ending != nullptr) {
    found = by_ending;
  }
  if (found == nullptr) {
    return Error::usage(fmt::format("the ending of '{}' names no format that can be written", target))
        .hint("--to F chooses one; 'fathom formats' lists them");
  }
  return found;
}

Result<void> OutputArguments::write(Session& session, const ProfilePtr& profile, const Format* fallback) const {
  if (target.empty()) return Error::usage("needs -o OUT: where to write the result");
  FATHOM_TRY(const Format* chosen, format(fallback));
  if (chosen->write == nullptr) return Error::usage(fmt::format("{} cannot be written", chosen->name));
  FATHOM_TRY(const WriteOptions how, write_options());
  const DatasetPtr dataset = make_profile_dataset(profile);
  FATHOM_CHECK(chosen->write(*dataset, target, how));
  session.note(fmt::format("wrote {} ({})", target, chosen->name));
  return {};
}

}  // namespace fathom::cli
