// Texts to dense numbers, in the order in which they are first met.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace fathom {

// MT: externally synchronised.
class NameTable {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t add(std::string_view text) {
    if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
    const std::string& kept = texts_.emplace_back(text);
    return numbers_.emplace(kept, static_cast<std::uint32_t>(texts_.size() - 1)).first->second;
  }
  [[nodiscard]] std::uint32_t find(std::string_view text) const {
    const auto found = numbers_.find(text);
    return found == numbers_.end() ? kNone : found->second;
  }
  [[nodiscard]] const std::string& operator[](std::uint32_t number) const { return texts_[number]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }
  [[nodiscard]] const std::deque<std::string>& texts() const { return texts_; }

 private:
  std::deque<std::string> texts_;  // texts stay where they are
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace fathom
