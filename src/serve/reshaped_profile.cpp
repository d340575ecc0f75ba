#include "serve/reshaped_profile.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "profile/algebra/algebra.hpp"
#include "profile/cubepl/cubepl.hpp"
#include "profile/expression/derive.hpp"
#include "profile/selection.hpp"

namespace fathom::serve {

namespace {

constexpr std::size_t kMostLines = 32;

Result<std::vector<std::string>> lines_of(const Request& request, std::string_view name) {
  std::vector<std::string> out;
  for (const std::string_view line : split(request.get(name), '\n')) {
    if (!trim(line).empty()) out.emplace_back(trim(line));
  }
  if (out.size() > kMostLines) return Error::usage(fmt::format("'{}' has more than {} lines", name, kMostLines));
  return out;
}

Result<algebra::CutOptions> cut_options(const std::vector<std::string>& lines) {
  algebra::CutOptions out;
  out.keep_ids = true;
  for (const std::string& line : lines) {
    const auto space = line.find(' ');
    const std::string verb = line.substr(0, space);
    const std::string pattern = space == std::string::npos ? "" : std::string(trim(line.substr(space + 1)));
    auto* list = verb == "elide"      ? &out.elide
                 : verb == "prune"    ? &out.prune
                 : verb == "fold"     ? &out.fold
                 : verb == "root"     ? &out.roots
                 : verb == "collapse" ? &out.collapse
                                      : nullptr;
    if (list == nullptr || pattern.empty()) {
      return Error::usage(fmt::format("expected elide, prune, fold, root or collapse and a pattern, found '{}'", line));
    }
    list->push_back(pattern);
  }
  return out;
}

}  // namespace

std::string shape_of(const Request& request) {
  std::string out;
  for (const std::string_view name : {"hide", "derive", "cubepl"}) {
    if (!request.get(name).empty()) out += fmt::format("{}\x1f{}\x1e", name, request.get(name));
  }
  return out;
}

Result<ProfilePtr> reshaped(ProfilePtr profile, const Request& request) {
  FATHOM_TRY(const auto hide, lines_of(request, "hide"));
  if (!hide.empty()) {
    FATHOM_TRY(const algebra::CutOptions options, cut_options(hide));
    for (const auto* patterns : {&options.elide, &options.prune, &options.fold, &options.roots, &options.collapse}) {
      FATHOM_CHECK(check_region_patterns(profile->defs(), *patterns));
    }
    FATHOM_TRY(profile, algebra::cut(profile, options));
  }
  FATHOM_TRY(const auto derive, lines_of(request, "derive"));
  auto derived = with_derived(profile, derive);
  if (!derived) return std::move(derived).error().as(ErrorKind::usage);
  FATHOM_TRY(const auto cubepl, lines_of(request, "cubepl"));
  auto made = cubepl::with_cubepl(*derived, cubepl);
  if (!made) return std::move(made).error().as(ErrorKind::usage);
  return made;
}

}  // namespace fathom::serve
