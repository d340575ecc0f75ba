// Small changes to the bytes of an input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fathom {

// xorshift64*: the same numbers for the same seed, a few instructions each.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1DU;
  }
  // From 0 to below; below must not be 0.
  std::size_t below(std::size_t below) { return static_cast<std::size_t>((next() >> 33) % below); }

 private:
  std::uint64_t state_;
};

// Changes the bytes once, never to more than `most`; `other` is an input whose bytes may be taken over.
void mutate(std::string& bytes, std::size_t most, std::string_view other, Dice& dice);

}  // namespace fathom
