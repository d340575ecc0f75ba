// Which call path each API call of an Nsight report belongs to, and what was spent in each.
#pragma once

#include <string_view>

#include "formats/nsight/native.hpp"

namespace fathom::nsight {

// The path of what no recorded call asked for.
inline constexpr std::string_view kUncorrelated = "[Uncorrelated]";

struct CallPaths {
  std::vector<ResolvedPath> rows;
  std::vector<IdlePath> idle;  // where the GPU waited although work for it was in sight
};

// As stored in the database, or else from Extra-Prof's markers, or else from the calls' stacks, or else the names of
// the API calls alone. Paths are decoded.
CallPaths resolve_call_paths(const Report& report);

// Calls whose record lies inside another record of the same call. With call chains newer exports have each call twice:
// as `cudaMalloc` with its chain, and inside of it as `cudaMalloc_v3020` without.
std::vector<bool> repeated_calls(const Report& report);

// A path as people read it: lists of symbol pointers become names.
std::string decode_path(std::string_view path, const std::unordered_map<std::string, std::string>& symbols);

}  // namespace fathom::nsight
