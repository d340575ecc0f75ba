// How often each name is open on one stack or several. Before the end of something that was never begun is looked for
// in all of a deep stack: broken traces have many such ends, and open more and more without closing it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace fathom {

class OpenNames {
 public:
  void add(std::uint32_t name) { ++count_of(name); }
  void remove(std::uint32_t name) { --count_of(name); }
  [[nodiscard]] bool has(std::uint32_t name) const {
    if (name < few_.size()) return few_[name] > 0;
    const auto found = many_.find(name);
    return found != many_.end() && found->second > 0;
  }
  void clear() {
    few_.clear();
    many_.clear();
  }

 private:
  // Most traces have fewer regions; what is no region has a number far above.
  static constexpr std::uint32_t kFew = 4096;

  std::uint32_t& count_of(std::uint32_t name) {
    if (name >= kFew) return many_[name];
    if (name >= few_.size()) few_.resize(std::size_t{name} + 1);
    return few_[name];
  }

  std::vector<std::uint32_t> few_;
  std::unordered_map<std::uint32_t, std::uint32_t> many_;
};

}  // namespace fathom
