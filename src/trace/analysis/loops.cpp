#include "trace/analysis/loops.hpp"

namespace fathom::analysis {

namespace {

constexpr std::size_t kSamples = 64;
constexpr double kEqual = 0.97;

// A look at a few places tells most wrong periods: the right one has nearly all of them equal.
bool looks_periodic(std::span<const std::uint32_t> tokens, std::size_t period) {
  const std::size_t pairs = tokens.size() - period;
  std::size_t different = 0;
  std::uint64_t state = 0x9E3779B97F4A7C15U;
  for (std::size_t i = 0; i < kSamples; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const std::size_t at = static_cast<std::size_t>((state >> 33) % pairs);
    different += tokens[at] != tokens[at + period] ? 1 : 0;
    if (different > kSamples / 6) return false;
  }
  return true;
}

bool is_periodic(std::span<const std::uint32_t> tokens, std::size_t period) {
  const std::size_t pairs = tokens.size() - period;
  const auto allowed = static_cast<std::size_t>(static_cast<double>(pairs) * (1 - kEqual));
  std::size_t different = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    different += tokens[i] != tokens[i + period] ? 1 : 0;
    if (different > allowed) return false;
  }
  return true;
}

}  // namespace

std::uint32_t find_period(std::span<const std::uint32_t> tokens) {
  for (std::size_t period = 1; period <= tokens.size() / 4; ++period) {
    if (looks_periodic(tokens, period) && is_periodic(tokens, period)) return static_cast<std::uint32_t>(period);
  }
  return 0;
}

std::optional<std::size_t> first_turn(std::span<const std::uint32_t> tokens, std::uint32_t period) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i + period < tokens.size(); ++i) {
    equal = tokens[i] == tokens[i + period] ? equal + 1 : 0;
    if (equal == period) return i + 1 - period;
  }
  return std::nullopt;
}

}  // namespace fathom::analysis
