#include "formats/dumpi/argument_text.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/number_text.hpp"
#include "formats/dumpi/names.hpp"

namespace fathom::dumpi {

namespace {

// ";count=", long enough to be copied in one go.
struct Label {
  static constexpr std::size_t kRoom = 32;
  std::array<char, kRoom> text{};
  std::uint8_t size = 0;
};
using Labels = std::array<Label, kMaxArguments>;

const Labels& labels_of(const Function& function) {
  static const std::vector<Labels> all = [] {
    std::vector<Labels> made;
    for (const Function& one : functions()) {
      Labels& labels = made.emplace_back();
      for (std::size_t i = 0; i < one.argument_count; ++i) {
        std::string text = ";";
        text.append(one.argument[i].name.substr(0, Label::kRoom - 2)) += '=';
        std::copy(text.begin(), text.end(), labels[i].text.begin());
        labels[i].size = static_cast<std::uint8_t>(text.size());
      }
    }
    return made;
  }();
  return all[static_cast<std::size_t>(&function - functions().data())];
}

// Numbers and names gather here; most calls have nothing else.
class Pieces {
 public:
  explicit Pieces(std::string& out) : out_(out) {}
  void text(std::string_view text) {
    if (text.size() > room()) flush();
    if (text.size() > room()) {
      out_ += text;
    } else {
      at_ = text_writing::put(at_, text);
    }
  }
  // Without its first character where it is the first.
  void label(const Label& label, bool first) {
    if (room() < Label::kRoom) flush();
    if (first) {
      std::memcpy(at_, label.text.data() + 1, Label::kRoom - 1);
      at_ += label.size - 1;
    } else {
      std::memcpy(at_, label.text.data(), Label::kRoom);
      at_ += label.size;
    }
  }
  void number(std::int64_t value) {
    if (room() < text_writing::kNumberRoom) flush();
    at_ = text_writing::put_signed(at_, value);
  }
  // What was gathered stands in the text.
  std::string& flush() {
    out_.append(buffer_, static_cast<std::size_t>(at_ - buffer_));
    at_ = buffer_;
    return out_;
  }

 private:
  [[nodiscard]] std::size_t room() const { return static_cast<std::size_t>(buffer_ + sizeof buffer_ - at_); }
  std::string& out_;
  char buffer_[256];
  char* at_ = buffer_;
};

void append_status(const Status& status, std::string& out) {
  append_number(out += "{bytes=", status.bytes);
  append_number(out += " source=", status.source);
  append_number(out += " tag=", status.tag);
  append_number(out += " cancelled=", status.cancelled);
  append_number(out += " error=", status.error);
  out += '}';
}

// ';' separates the arguments, so it cannot stand inside of one.
void append_text(std::string_view text, std::string& out) {
  for (const char c : text.substr(0, text.find('\0'))) out += c == ';' ? ',' : c;
}

void append_value(const Call& call, std::size_t i, std::string& out) {
  const Argument& argument = call.function().argument[i];
  if (argument.type == Type::status) {
    const Statuses statuses = call.statuses(i);
    for (std::uint32_t n = 0; n < statuses.size(); ++n) {
      if (n > 0) out += ' ';
      append_status(statuses[n], out);
    }
    return;
  }
  switch (argument.shape) {
    case Shape::scalar:
      append_text(call.string(i), out);
      return;
    case Shape::array: {
      const Values values = call.values(i);
      out += '[';
      for (std::uint32_t n = 0; n < values.size(); ++n) {
        if (n > 0) out += ' ';
        append_number(out, values[n]);
      }
      out += ']';
      return;
    }
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
      out += ']';
      return;
    }
    case Shape::list_of_lists:
      out += call.present(i) ? "[...]" : "[]";
      return;
    default: {
      const Strings strings = call.strings(i);
      auto each = strings.begin();
      out += '[';
      for (std::uint32_t n = 0; n < strings.size(); ++n, each.advance()) {
        if (n > 0) out += ' ';
        append_text(*each, out);
      }
      out += ']';
    }
  }
}

void add_scalar(const Call& call, std::size_t i, Pieces& pieces) {
  const Type type = call.function().argument[i].type;
  const std::int64_t value = call.integer(i);
  const std::string_view name = has_names(type) ? value_name(type, value) : std::string_view{};
  const bool predefined = name.starts_with("MPI_") && !name.ends_with("_ERROR");
  if (predefined) {
    pieces.text(name);
  } else {
    pieces.number(value);
  }
}

}  // namespace

void append_arguments(const Call& call, bool outputs, std::string& out) {
  const Function& function = call.function();
  const Labels& labels = labels_of(function);
  Pieces pieces(out);
  bool first = true;
  for (std::size_t i = 0; i < function.argument_count; ++i) {
    const Argument& argument = function.argument[i];
    if (argument.output != outputs || !call.present(i)) continue;
    pieces.label(labels[i], first);
    first = false;
    if (argument.shape == Shape::scalar && argument.type != Type::str && argument.type != Type::status) {
      add_scalar(call, i, pieces);
    } else {
      append_value(call, i, pieces.flush());
    }
  }
  pieces.flush();
}

}  // namespace fathom::dumpi
