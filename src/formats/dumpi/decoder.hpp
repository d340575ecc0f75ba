// Finds the fields of one record. Everything is bounds-checked; nothing is copied but the head.
#pragma once

#include "fathom/dumpi.hpp"
#include "formats/dumpi/ids.hpp"

namespace fathom::dumpi {

// MT: safe (const).
class Decoder {
 public:
  explicit Decoder(const Rules& rules = {}) : rules_(rules), table_(functions().data()) {}

  enum class Outcome : std::uint8_t { ok, short_of_bytes, bad_id, bad_count };

  // Decodes the record at `at`; sets everything of `call` but number, offset and absolute times.
  Outcome decode(const std::byte* at, const std::byte* end, Call& call) const {
    const std::byte* p = at;
    if (end - p < 3) [[unlikely]]
      return Outcome::short_of_bytes;
    const auto id = detail::load<std::uint16_t>(p);
    if (id >= kIds || id == kAllFunctions) [[unlikely]]
      return Outcome::bad_id;
    const auto mask = static_cast<std::uint8_t>(p[2]);
    call.id = id;
    call.mask = mask;
    call.function_ = table_ + id;
    const std::size_t head = head_size(mask);
    if (static_cast<std::size_t>(end - p) < head) [[unlikely]]
      return Outcome::short_of_bytes;
    p += 3;
    call.thread = 0;
    if ((mask & kMaskThread) != 0) {
      call.thread = detail::load<std::uint16_t>(p);
      p += 2;
    }
    if ((mask & kMaskCpu) != 0) {
      call.cpu = clock(p);
      p += 12;
    } else {
      call.cpu = {};
    }
    if ((mask & kMaskWall) != 0) {
      call.wall = clock(p);
      p += 12;
    } else {
      call.wall = {};
    }
    call.counter_count = 0;
    if ((mask & kMaskCounters) != 0) {
      call.counter_count = static_cast<std::uint8_t>(*p++);
      call.counters_ = p;
      if (end - p < 16 * call.counter_count) [[unlikely]]
        return Outcome::short_of_bytes;
      p += 16 * call.counter_count;
    }
    call.arguments_ = p;
    call.status_size_ = rules_.status_size;
    call.single_ = 0xFF;
    const Function& function = *call.function_;
    if (function.fixed) {
      if (end - p < static_cast<std::ptrdiff_t>(function.fixed_size)) [[unlikely]]
        return Outcome::short_of_bytes;
      p += function.fixed_size;
    } else if (const Outcome outcome = arguments<true>(function, mask, p, end, &call); outcome != Outcome::ok)
        [[unlikely]] {
      return outcome;
    }
    call.size = static_cast<std::uint32_t>(p - at);
    return Outcome::ok;
  }

  // Moves `at` behind the record without keeping anything.
  Outcome skip(const std::byte*& at, const std::byte* end) const {
    if (end - at < 3) [[unlikely]]
      return Outcome::short_of_bytes;
    const auto id = detail::load<std::uint16_t>(at);
    if (id >= kIds || id == kAllFunctions) [[unlikely]]
      return Outcome::bad_id;
    const auto mask = static_cast<std::uint8_t>(at[2]);
    const std::byte* p = at;
    const Function& function = table_[id];
    std::size_t head = head_size(mask);
    if (static_cast<std::size_t>(end - p) < head) [[unlikely]]
      return Outcome::short_of_bytes;
    if ((mask & kMaskCounters) != 0) head += 16 * static_cast<std::size_t>(p[head - 1]);
    if (static_cast<std::size_t>(end - p) < head + function.fixed_size) [[unlikely]]
      return Outcome::short_of_bytes;
    p += head;
    if (function.fixed) {
      p += function.fixed_size;
    } else if (const Outcome outcome = arguments<false>(function, mask, p, end, nullptr); outcome != Outcome::ok)
        [[unlikely]] {
      return outcome;
    }
    at = p;
    return Outcome::ok;
  }

  // Bytes in front of counters and arguments, with the count of the counters.
  static std::size_t head_size(std::uint8_t mask) {
    return 3 + ((mask & kMaskThread) != 0 ? 2U : 0U) + ((mask & kMaskCpu) != 0 ? 12U : 0U) +
           ((mask & kMaskWall) != 0 ? 12U : 0U) + ((mask & kMaskCounters) != 0 ? 1U : 0U);
  }
  // Start and stop of one clock in the head of a record.
  static Clock clock(const std::byte* p) {
    Clock clock;
    clock.start_s = detail::load<std::uint16_t>(p);
    clock.start_ns = detail::load<std::uint32_t>(p + 2);
    clock.stop_s = detail::load<std::uint16_t>(p + 6);
    clock.stop_ns = detail::load<std::uint32_t>(p + 8);
    return clock;
  }
  [[nodiscard]] const Rules& rules() const { return rules_; }

 private:
  template <bool kStore>
  Outcome arguments(const Function& function, std::uint8_t mask, const std::byte*& at, const std::byte* end,
                    Call* call) const;
  static Outcome strings(const std::byte*& p, const std::byte* end, std::uint32_t count);

  Rules rules_;
  const Function* table_;
};

}  // namespace fathom::dumpi
