#include "formats/dumpi/decoder.hpp"

namespace fathom::dumpi {

// `count` strings, each with an i32 length in front.
Decoder::Outcome Decoder::strings(const std::byte*& p, const std::byte* end, std::uint32_t count) {
  // Each takes four bytes at least: a wild count ends the loop soon.
  for (std::uint32_t i = 0; i < count; ++i) {
    if (end - p < 4) return Outcome::short_of_bytes;
    const auto length = detail::load<std::int32_t>(p);
    if (length < 0) return Outcome::bad_count;
    if (end - p - 4 < length) return Outcome::short_of_bytes;
    p += 4 + length;
  }
  return Outcome::ok;
}

template <bool kStore>
Decoder::Outcome Decoder::arguments(const Function& function, std::uint8_t mask, const std::byte*& at,
                                    const std::byte* end, Call* call) const {
  const std::byte* const begin = at;
  const std::byte* p = at;
  // Offsets inside a record are kept in 32 bits; no real record comes near that.
  if (end - begin > 0x7FFFFFFF) end = begin + 0x7FFFFFFF;
  // Scalars whose values decide about later fields; offsets are enough to find them again.
  std::array<std::uint32_t, kMaxArguments> local;
  auto& where = [&]() -> auto& {
    if constexpr (kStore) {
      return call->at_;
    } else {
      return local;
    }
  }();
  const auto left = [&] { return end - p; };
  const auto value_of = [&](std::int8_t i) -> std::int64_t {
    const std::uint32_t offset = where[static_cast<std::size_t>(i)];
    if (offset == Call::kAbsent) return 0;
    return detail::load_value(begin + offset, function.argument[static_cast<std::size_t>(i)].type);
  };

  for (std::size_t i = 0; i < function.argument_count; ++i) {
    const Argument& argument = function.argument[i];
    if (argument.only_if >= 0 && value_of(argument.only_if) != value_of(argument.equals)) {
      where[i] = Call::kAbsent;
      continue;
    }
    where[i] = static_cast<std::uint32_t>(p - begin);
    if (argument.type == Type::status) {
      if ((mask & kMaskStatus) == 0) {
        where[i] = Call::kAbsent;
        continue;
      }
      if (left() < 4) return Outcome::short_of_bytes;
      const auto count = detail::load<std::int32_t>(p);
      if (count < 0) return Outcome::bad_count;
      p += 4;
      if (left() / rules_.status_size < count) return Outcome::short_of_bytes;
      p += static_cast<std::ptrdiff_t>(count) * rules_.status_size;
      continue;
    }
    switch (argument.shape) {
      case Shape::scalar: {
        if (argument.type == Type::str) {
          if (const Outcome outcome = strings(p, end, 1); outcome != Outcome::ok) return outcome;
          break;
        }
        const std::uint8_t size = wire_size(argument.type);
        if (left() < size) return Outcome::short_of_bytes;
        p += size;
        if (rules_.repeated_argc && function.id == ids::kInit && i == 0) {
          if (left() < 4) return Outcome::short_of_bytes;
          p += 4;
        }
        break;
      }
      case Shape::array: {
        if (left() < 4) return Outcome::short_of_bytes;
        const bool single = (rules_.single_coords && function.id == ids::kCartGet && i == 5) ||
                            (rules_.single_indices && function.id == ids::kTypeStruct && i == 2);
        if (single) {
          if constexpr (kStore) call->single_ = static_cast<std::uint8_t>(i);
          p += 4;
          break;
        }
        const auto count = detail::load<std::int32_t>(p);
        if (count < 0) return Outcome::bad_count;
        p += 4;
        const std::uint8_t size = wire_size(argument.type);
        if (left() / size < count) return Outcome::short_of_bytes;
        p += static_cast<std::ptrdiff_t>(count) * size;
        break;
      }
      case Shape::triples: {
        if (left() < 4) return Outcome::short_of_bytes;
        const auto rows = detail::load<std::int32_t>(p);
        if (rows < 0) return Outcome::bad_count;
        p += 4;
        for (std::int32_t row = 0; row < rows; ++row) {
          if (left() < 4) return Outcome::short_of_bytes;
          const auto count = detail::load<std::int32_t>(p);
          if (count != 3) return Outcome::bad_count;
          p += 4;
          if (left() < 12) return Outcome::short_of_bytes;
          p += 12;
        }
        break;
      }
      case Shape::string_by_arg: {
        const std::int64_t count = value_of(argument.length);
        if (count < 0) break;
        if (const Outcome outcome = strings(p, end, static_cast<std::uint32_t>(count)); outcome != Outcome::ok) {
          return outcome;
        }
        break;
      }
      case Shape::string_list:
      case Shape::open_list: {
        if (left() < 4) return Outcome::short_of_bytes;
        const auto count = detail::load<std::int32_t>(p);
        if (count < 0) return Outcome::bad_count;
        p += 4;
        if (const Outcome outcome = strings(p, end, static_cast<std::uint32_t>(count)); outcome != Outcome::ok) {
          return outcome;
        }
        break;
      }
      case Shape::list_of_lists: {
        if (left() < 4) return Outcome::short_of_bytes;
        const auto lists = detail::load<std::int32_t>(p);
        if (lists < 0) return Outcome::bad_count;
        p += 4;
        for (std::int32_t list = 0; list < lists; ++list) {
          if (left() < 4) return Outcome::short_of_bytes;
          const auto count = detail::load<std::int32_t>(p);
          if (count < 0) return Outcome::bad_count;
          p += 4;
          if (const Outcome outcome = strings(p, end, static_cast<std::uint32_t>(count)); outcome != Outcome::ok) {
            return outcome;
          }
        }
        break;
      }
    }
  }
  at = p;
  return Outcome::ok;
}

template Decoder::Outcome Decoder::arguments<true>(const Function&, std::uint8_t, const std::byte*&, const std::byte*,
                                                   Call*) const;
template Decoder::Outcome Decoder::arguments<false>(const Function&, std::uint8_t, const std::byte*&, const std::byte*,
                                                    Call*) const;

}  // namespace fathom::dumpi
