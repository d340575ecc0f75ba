#include "formats/dumpi/argument_text.hpp"

#include "base/number_text.hpp"
#include "formats/dumpi/names.hpp"

namespace fathom::dumpi {

namespace {

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
    case Shape::scalar: {
      if (argument.type == Type::str) {
        append_text(call.string(i), out);
        return;
      }
      const std::int64_t value = call.integer(i);
      const std::string_view name = has_names(argument.type) ? value_name(argument.type, value) : std::string_view{};
      const bool predefined = name.starts_with("MPI_") && !name.ends_with("_ERROR");
      if (predefined) {
        out += name;
      } else {
        append_number(out, value);
      }
      return;
    }
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

}  // namespace

void append_arguments(const Call& call, bool outputs, std::string& out) {
  const Function& function = call.function();
  bool first = true;
  for (std::size_t i = 0; i < function.argument_count; ++i) {
    if (function.argument[i].output != outputs || !call.present(i)) continue;
    if (!first) out += ';';
    first = false;
    out += function.argument[i].name;
    out += '=';
    append_value(call, i, out);
  }
}

}  // namespace fathom::dumpi
