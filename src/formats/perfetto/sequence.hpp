// What the packets of a sequence build on: texts that were told once, and defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fathom::perfetto {

struct SourceLocation {
  std::string file;
  std::int64_t line = -1;
};

struct Sequence {
  using Texts = std::unordered_map<std::uint64_t, std::string>;

  Texts names, categories, annotation_names, strings;
  std::unordered_map<std::uint64_t, SourceLocation> sources;
  std::unordered_map<std::uint64_t, std::uint32_t> regions;  // of names, as far as used

  std::optional<std::uint64_t> default_clock, default_track;
  std::vector<std::uint64_t> default_counters, default_double_counters;

  std::unordered_map<std::uint64_t, std::int64_t> sums;  // of incremental counters, by track
  bool has_thread = false;
  std::int64_t time_us = 0, thread_time_us = 0, instructions = 0;  // old: what deltas add to

  // Its state begins anew.
  void clear();
  void take_interned(std::string_view message);
  void take_defaults(std::string_view message);
  // An old thread descriptor says where deltas begin.
  void take_references(std::string_view thread_descriptor);

  [[nodiscard]] static std::string_view text(const Texts& texts, std::uint64_t iid) {
    const auto found = texts.find(iid);
    return found == texts.end() ? std::string_view{} : std::string_view(found->second);
  }
};

// Of a message SourceLocation.
SourceLocation source_location(std::string_view message);

}  // namespace fathom::perfetto
