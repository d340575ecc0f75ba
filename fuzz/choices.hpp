// Numbers that follow from the seed of a mutator.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom {

class Choices {
 public:
  explicit Choices(unsigned seed) : state_(seed) {}
  // From 0 to below; 0 of nothing.
  std::size_t below(std::size_t below) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return below == 0 ? 0 : static_cast<std::size_t>(state_ >> 33) % below;
  }

 private:
  std::uint64_t state_;
};

}  // namespace fathom
