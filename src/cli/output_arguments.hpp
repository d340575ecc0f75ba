// What commands that write a dataset have in common: -o, --to, --option, --compress.
#pragma once

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

  [[nodiscard]] Result<WriteOptions> write_options() const;
  // --to, or the ending of the target, or `fallback` (may be null).
  [[nodiscard]] Result<const Format*> format(const Format* fallback) const;
  // Writes a computed profile; `fallback` as above.
  Result<void> write(Session& session, const ProfilePtr& profile, const Format* fallback) const;
};

}  // namespace fathom::cli
