// Something for every region that occurs on a location. Where locations are as many as regions (a thousand programs in
// one trace) a list of all regions for each of them would cost their product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace fathom {

template <class T>
class PerRegion {
 public:
  T& operator[](std::uint32_t region) {
    if (region >= kFew) return many_[region];
    if (region >= few_.size()) few_.resize(std::size_t{region} + 1);
    return few_[region];
  }
  // Those that were asked for, and some that never were.
  template <class Use>
  void each(const Use& use) const {
    for (std::size_t i = 0; i < few_.size(); ++i) use(static_cast<std::uint32_t>(i), few_[i]);
    for (const auto& [region, value] : many_) use(region, value);
  }

 private:
  // Most traces have fewer.
  static constexpr std::uint32_t kFew = 4096;

  std::vector<T> few_;
  std::unordered_map<std::uint32_t, T> many_;
};

}  // namespace fathom
