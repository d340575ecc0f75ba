// What commands that write a dataset have in common: -o, --to, --option, --compress.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/session.hpp"
#include "formats/dataset.hpp"
#include "profile/profile.hpp"

namespace fathom::cli {

struct OutputArguments {
  std::string target;
  std::string to;
  std::vector<std::string> options;
  bool compress = false;

  // -o OUT; commands with OUT as an argument bind `target` themselves.
  void declare_target(Options& declared, std::string help);
  void declare_format(Options& declared);

  // What was given, if the format declares it.
  [[nodiscard]] Result<WriteOptions> write_options(const Format& format) const;
  // --to, or what the ending of the target names, or `fallback` (may be null) where it has no ending; it must be able
  // to hold one of the levels, unless it is the input's own.
  [[nodiscard]] Result<const Format*> format(const Format* fallback, std::span<const Level> levels,
                                             const Format* own = nullptr) const;
  // Writes a computed profile; `fallback` as above.
  Result<void> write(Session& session, const ProfilePtr& profile, const Format* fallback) const;
};

}  // namespace fathom::cli
