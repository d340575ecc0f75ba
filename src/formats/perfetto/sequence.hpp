// What the packets of a sequence build on: texts that were told once, and defaults.
#pragma once

#include <algorithm>
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

// Numbers by iid. Those are small as a rule, and then looked up in a table.
class IidTable {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  [[nodiscard]] std::uint32_t find(std::uint64_t iid) const {
    if (iid < dense_.size()) return dense_[iid];
    const auto found = sparse_.find(iid);
    return found == sparse_.end() ? kNone : found->second;
  }
  void set(std::uint64_t iid, std::uint32_t number) {
    if (iid >= kMostDense) {
      sparse_[iid] = number;
      return;
    }
    if (iid >= dense_.size()) dense_.resize(std::max<std::size_t>(iid + 1, 2 * dense_.size()), kNone);
    dense_[iid] = number;
  }
  void erase(std::uint64_t iid) {
    if (iid < dense_.size()) dense_[iid] = kNone;
    sparse_.erase(iid);
  }
  void clear() {
    dense_.clear();
    sparse_.clear();
  }

 private:
  static constexpr std::uint64_t kMostDense = 1 << 16;
  std::vector<std::uint32_t> dense_;
  std::unordered_map<std::uint64_t, std::uint32_t> sparse_;
};

struct Sequence {
  using Texts = std::unordered_map<std::uint64_t, std::string>;

  Texts names, categories, annotation_names, strings;
  std::unordered_map<std::uint64_t, SourceLocation> sources;
  IidTable regions;  // of names, as far as used

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
