#include "formats/dumpi/argument_text.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/number_text.hpp"
#include "formats/dumpi/names.hpp"
#include "formats/dumpi/transfer.hpp"

namespace fathom::dumpi {

namespace {

using text_writing::put;
using text_writing::put_integer;

// A text that is copied in one go, whatever its length.
struct Word {
  static constexpr std::size_t kRoom = 32;
  std::array<char, kRoom + 1> text{};
  std::uint8_t size = 0;

  explicit Word(std::string_view from) : size(static_cast<std::uint8_t>(std::min(from.size(), kRoom))) {
    std::copy_n(from.begin(), size, text.begin());
  }
  // Without its first `skipped` characters, which are one at most.
  char* put(char* to, std::size_t skipped = 0) const {
    std::memcpy(to, text.data() + skipped, kRoom);
    return to + size - skipped;
  }
};

// How an argument is written.
enum class Form : std::uint8_t { number4, number2, number, named, numbers, statuses, other };
struct Part {
  Word label;  // ";count="
  Form form = Form::other;
  std::uint8_t argument = 0;
  Type type = Type::i32;
};

// The arguments of a function on one side of the call, in their order.
using Parts = std::vector<Part>;

// Values of a type that have a name which says more than the number; the longest of all are written another way.
using Names = std::vector<Word>;
bool is_telling(std::string_view name) { return name.starts_with("MPI_") && !name.ends_with("_ERROR"); }

const Names& names_of(Type type) {
  static const auto all = [] {
    constexpr std::int64_t kMost = 64;  // more than any type has
    std::array<Names, static_cast<std::size_t>(Type::status) + 1> made;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const auto of = static_cast<Type>(i);
      if (!has_names(of)) continue;
      for (std::int64_t value = 0; value < kMost; ++value) {
        const std::string_view name = value_name(of, value);
        made[i].emplace_back(is_telling(name) && name.size() <= Word::kRoom ? name : std::string_view{});
      }
    }
    return made;
  }();
  return all[static_cast<std::size_t>(type)];
}

Form form_of(const Argument& argument) {
  if (argument.type == Type::status) return Form::statuses;
  if (argument.shape == Shape::array) return Form::numbers;
  if (argument.shape != Shape::scalar || argument.type == Type::str) return Form::other;
  if (has_names(argument.type)) return Form::named;
  return wire_size(argument.type) == 4 ? Form::number4 : wire_size(argument.type) == 2 ? Form::number2 : Form::number;
}

const Parts& parts_of(const Function& function, bool outputs) {
  static const auto all = [] {
    std::vector<std::array<Parts, 2>> made(functions().size());
    for (std::size_t id = 0; id < made.size(); ++id) {
      const Function& one = functions()[id];
      for (std::uint8_t i = 0; i < one.argument_count; ++i) {
        const Argument& argument = one.argument[i];
        std::string label = ";";
        label.append(argument.name.substr(0, Word::kRoom - 2)) += '=';
        made[id][argument.output ? 1 : 0].push_back({Word(label), form_of(argument), i, argument.type});
      }
    }
    return made;
  }();
  return all[static_cast<std::size_t>(&function - functions().data())][outputs ? 1 : 0];
}

constexpr std::size_t kNumber = 24;  // of an argument, with what separates it from the next

void append_statuses(const Statuses& statuses, TextTail& out) {
  constexpr std::size_t kRoom = 5 * kNumber + 64;
  for (std::uint32_t n = 0; n < statuses.size(); ++n) {
    const Status status = statuses[n];
    char* at = out.room(kRoom);
    if (n > 0) *at++ = ' ';
    at = put_integer(put(at, "{bytes="), std::int64_t{status.bytes});
    at = put_integer(put(at, " source="), std::int64_t{status.source});
    at = put_integer(put(at, " tag="), std::int64_t{status.tag});
    at = put_integer(put(at, " cancelled="), std::int64_t{status.cancelled});
    at = put_integer(put(at, " error="), std::int64_t{status.error});
    *at++ = '}';
    out.written(at);
  }
}

void append_numbers(const Values& values, TextTail& out) {
  out.append("[");
  for (std::uint32_t n = 0; n < values.size(); ++n) {
    char* at = out.room(kNumber);
    if (n > 0) *at++ = ' ';
    out.written(put_integer(at, values[n]));
  }
  out.append("]");
}

// ';' separates the arguments, so it cannot stand inside of one.
void append_text(std::string_view text, std::string& out) {
  for (const char c : text.substr(0, text.find('\0'))) out += c == ';' ? ',' : c;
}

// What few calls have.
std::string other_text(const Call& call, std::size_t i) {
  std::string out;
  switch (call.function().argument[i].shape) {
    case Shape::scalar:
      append_text(call.string(i), out);
      return out;
    case Shape::triples: {
      const std::byte* p = call.raw(i);
      const std::uint32_t rows = p == nullptr ? 0 : detail::load<std::uint32_t>(p);
      out += '[';
      for (std::uint32_t row = 0; row < rows; ++row) {
        const std::byte* at = p + 4 + 16 * std::size_t{row} + 4;
        append_number(out += row > 0 ? " [" : "[", detail::load<std::int32_t>(at));
        append_number(out += ' ', detail::load<std::int32_t>(at + 4));
        append_number(out += ' ', detail::load<std::int32_t>(at + 8));
        out += ']';
      }
      return out += ']';
    }
    case Shape::list_of_lists:
      return call.present(i) ? "[...]" : "[]";
    default: {
      const Strings strings = call.strings(i);
      auto each = strings.begin();
      out += '[';
      for (std::uint32_t n = 0; n < strings.size(); ++n, each.advance()) {
        if (n > 0) out += ' ';
        append_text(*each, out);
      }
      return out += ']';
    }
  }
}

// Predefined handles and constants by their names.
char* put_named(char* at, Type type, std::int64_t value, TextTail& out) {
  const Names& names = names_of(type);
  if (value >= 0 && static_cast<std::size_t>(value) < names.size() && names[static_cast<std::size_t>(value)].size > 0)
      [[likely]]
    return names[static_cast<std::size_t>(value)].put(at);
  const std::string_view name = value_name(type, value);
  if (!is_telling(name)) return put_integer(at, value);
  out.written(at);
  out.append(name);
  return out.room(0);
}

// What sends and receives are called with is the same again and again: its texts are kept by its bytes.
class KnownTexts {
 public:
  static constexpr std::size_t kKey = PointToPoint::kRequestAt;  // the bytes of count, datatype, peer, tag and comm
  struct Entry {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint16_t id = 0;
    std::uint16_t size = 0;  // 0 = nothing is kept here
    std::array<char, 104> text{};
  };
  // Where the text of a call is kept, or is to be kept.
  Entry& of(std::uint16_t id, std::uint64_t low, std::uint64_t high) {
    const std::uint64_t mixed = (low ^ high * 0x9E3779B97F4A7C15ULL ^ id) * 0xC2B2AE3D27D4EB4FULL;
    return entries_[mixed >> (64 - kBits)];
  }

 private:
  static constexpr int kBits = 8;
  std::array<Entry, std::size_t{1} << kBits> entries_{};
};

void append_parts(const Call& call, bool outputs, TextTail& out) {
  std::size_t first = 1;
  for (const Part& part : parts_of(call.function(), outputs)) {
    const std::size_t i = part.argument;
    const std::byte* const raw = call.raw(i);
    if (raw == nullptr) continue;
    char* at = part.label.put(out.room(3 * Word::kRoom), first);
    first = 0;
    switch (part.form) {
      case Form::number4:
        out.written(put_integer(at, std::int64_t{detail::load<std::int32_t>(raw)}));
        break;
      case Form::number2:
        out.written(put_integer(at, std::int64_t{detail::load<std::int16_t>(raw)}));
        break;
      case Form::number:
        out.written(put_integer(at, detail::load_value(raw, part.type)));
        break;
      case Form::named:
        out.written(put_named(at, part.type, detail::load_value(raw, part.type), out));
        break;
      case Form::numbers:
        out.written(at);
        append_numbers(call.values(i), out);
        break;
      case Form::statuses:
        out.written(at);
        append_statuses(call.statuses(i), out);
        break;
      case Form::other:
        out.written(at);
        out.append(other_text(call, i));
        break;
    }
  }
}

}  // namespace

void append_arguments(const Call& call, bool outputs, TextTail& out) {
  const Role role = role_of(call.id);
  if (outputs || (role != Role::send && role != Role::recv)) return append_parts(call, outputs, out);
  static thread_local KnownTexts known;
  std::uint64_t low, high;
  static_assert(KnownTexts::kKey == sizeof low + sizeof high);
  std::memcpy(&low, call.raw_arguments(), sizeof low);
  std::memcpy(&high, call.raw_arguments() + sizeof low, sizeof high);
  KnownTexts::Entry& entry = known.of(call.id, low, high);
  if (entry.size > 0 && entry.low == low && entry.high == high && entry.id == call.id) [[likely]] {
    char* const at = out.room(entry.text.size());
    std::memcpy(at, entry.text.data(), entry.text.size());
    out.written(at + entry.size);
    return;
  }
  const std::size_t begin = out.size();
  append_parts(call, outputs, out);
  const std::size_t size = out.size() - begin;
  if (size > entry.text.size()) return;
  entry = {low, high, call.id, static_cast<std::uint16_t>(size), {}};
  std::memcpy(entry.text.data(), out.room(0) - size, size);
}

}  // namespace fathom::dumpi
