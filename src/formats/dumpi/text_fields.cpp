#include "formats/dumpi/text_fields.hpp"

#include <fmt/format.h>

#include "formats/dumpi/names.hpp"

namespace fathom::dumpi {

Error TextCursor::error(const std::string& what) const {
  const auto line =
      static_cast<std::uint64_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) + 1;
  return Error(fmt::format("{}, found '{}'", what, peek_line().substr(0, 60)), Place::at_line(source.name(), line));
}

Result<void> read_field(TextCursor& in, const Function& function, std::size_t order, Field& out) {
  const std::size_t i = function.text_order[order];
  const Argument& argument = function.argument[i];
  const auto wrong = [&] { return in.error(fmt::format("{} of {} must follow", argument.name, function.name)); };
  const bool fn = argument.name == "fn";
  if (!in.take(fn ? "int" : c_type(argument.type)) || !in.take(" ") || !in.take(argument.name)) return wrong();

  const auto statuses = [&]() -> bool {
    if (in.take("<IGNORED>\n")) {
      out.ignored = true;
      return true;
    }
    if (!in.take("[")) return false;
    while (true) {
      Status status;
      int cancelled = 0;
      int code = 0;
      if (!in.take("{bytes=") || !in.take_number(status.bytes) || !in.take(", cancelled=") ||
          !in.take_number(cancelled) || !in.take(", source=") || !in.take_number(status.source) || !in.take(", tag=") ||
          !in.take_number(status.tag) || !in.take(", error=") || !in.take_number(code) || !in.take("}")) {
        return false;
      }
      status.cancelled = static_cast<std::int8_t>(cancelled);
      status.error = static_cast<std::int8_t>(code);
      out.statuses.push_back(status);
      if (in.take("]\n")) return true;
      if (!in.take(", ")) return false;
    }
  };
  const auto list = [&](std::string_view separator) -> bool {
    std::vector<std::string_view> strings;
    if (!in.take("[")) return false;
    while (!in.take("]")) {
      if (!strings.empty() && !in.take(separator)) return false;
      // The text ends before the next one or before the end of the list.
      if (!in.take("\"")) return false;
      std::size_t end = in.text.find('"', in.at);
      while (end != std::string_view::npos) {
        const std::string_view after = in.text.substr(end + 1);
        if (after.starts_with(']') || (after.starts_with(separator) && after.substr(separator.size()).starts_with('"')))
          break;
        end = in.text.find('"', end + 1);
      }
      if (end == std::string_view::npos) return false;
      strings.push_back(in.text.substr(in.at, end - in.at));
      in.at = end + 1;
    }
    out.lists.push_back(std::move(strings));
    return true;
  };

  if (argument.shape == Shape::scalar) {
    if (!in.take("=")) return wrong();
    if (argument.type == Type::status) return statuses() ? Result<void>() : wrong();
    if (argument.type == Type::str) {
      // What comes next tells where the text ends.
      std::string next = "\n";
      if (order + 1 < function.argument_count) {
        const Argument& following = function.argument[function.text_order[order + 1]];
        next += fmt::format("{} {}", c_type(following.type), following.name);
      } else {
        next += fmt::format("{} returning at walltime ", function.name);
      }
      std::string_view text;
      if (!in.take_string(text, next) || !in.take("\n")) return wrong();
      out.lists.push_back({text});
      return {};
    }
    const bool brackets = argument.type == Type::request || argument.type == Type::iorequest;
    if (brackets && !in.take("[")) return wrong();
    if (!in.take_number(out.number)) return wrong();
    if (fn) {
      // A label may hold anything; the line that follows is known.
      const std::string next = fmt::format("\")\n{} returning at walltime ", function.name);
      const auto end = in.text.find(next, in.at);
      if (end == std::string_view::npos) return wrong();
      in.at = end + 3;
      return {};
    }
    in.rest_of_line();
    return {};
  }

  if (!in.take("[")) return wrong();
  std::int64_t length = 0;
  if (!in.take_number(length) || !in.take("]")) return wrong();
  switch (argument.shape) {
    case Shape::array: {
      if (!in.take("=")) return wrong();
      if (argument.type == Type::status) return statuses() ? Result<void>() : wrong();
      if (in.take("<IGNORED>\n")) {
        out.ignored = true;
        return {};
      }
      if (!in.take("[")) return wrong();
      while (!in.take("]\n")) {
        if (!out.numbers.empty() && !in.take(", ")) return wrong();
        if (!in.take_number(out.numbers.emplace_back())) return wrong();
      }
      return {};
    }
    case Shape::triples: {
      if (!in.take("[3]=")) return wrong();
      if (in.take("<IGNORED>\n")) {
        out.ignored = true;
        return {};
      }
      if (!in.take("[")) return wrong();
      // The closing bracket has no newline behind it.
      while (!in.take("]")) {
        if (!out.numbers.empty() && !in.take(", ")) return wrong();
        if (!in.take("[")) return wrong();
        for (int n = 0; n < 3; ++n) {
          if (n > 0 && !in.take(", ")) return wrong();
          if (!in.take_number(out.numbers.emplace_back())) return wrong();
        }
        if (!in.take("]\n")) return wrong();
      }
      return {};
    }
    default: {
      const bool nested = argument.shape == Shape::list_of_lists;
      if (nested && !in.take("[-2]")) return wrong();
      if (!in.take("=")) return wrong();
      if (in.take("<IGNORED>\n")) {
        out.ignored = true;
        return {};
      }
      if (!nested) {
        if (!list(argument.shape == Shape::open_list ? "" : ", ") || !in.take("\n")) return wrong();
        return {};
      }
      if (!in.take("[")) return wrong();
      while (!in.take("]\n")) {
        if (!out.lists.empty() && !in.take(", ")) return wrong();
        if (!list("")) return wrong();
      }
      return {};
    }
  }
}

void encode_fields(const Function& function, const std::vector<Field>& fields, const Rules& rules, ByteText& bytes) {
  const auto strings = [&](const std::vector<std::string_view>& list) {
    for (const std::string_view text : list) {
      bytes.number(static_cast<std::int32_t>(text.size()));
      bytes.bytes(text);
    }
  };
  for (std::size_t i = 0; i < function.argument_count; ++i) {
    const Argument& argument = function.argument[i];
    const Field& field = fields[i];
    if (argument.only_if >= 0 && fields[static_cast<std::size_t>(argument.only_if)].number !=
                                     fields[static_cast<std::size_t>(argument.equals)].number) {
      continue;
    }
    if (argument.type == Type::status) {
      bytes.number(static_cast<std::int32_t>(field.statuses.size()));
      for (const Status& status : field.statuses) {
        bytes.number(status.bytes);
        bytes.number(status.source);
        bytes.number(status.cancelled);
        bytes.number(status.error);
        if (rules.status_size >= 14) bytes.number(status.tag);
      }
      continue;
    }
    switch (argument.shape) {
      case Shape::scalar:
        if (argument.type == Type::str) {
          strings(field.lists.empty() ? std::vector<std::string_view>{""} : field.lists[0]);
          break;
        }
        bytes.value(argument.type, field.number);
        if (rules.repeated_argc && function.id == ids::kInit && i == 0) bytes.value(argument.type, field.number);
        break;
      case Shape::array:
        if ((rules.single_coords && function.id == ids::kCartGet && i == 5) ||
            (rules.single_indices && function.id == ids::kTypeStruct && i == 2)) {
          bytes.value(argument.type, field.numbers.empty() ? 0 : field.numbers[0]);
          break;
        }
        bytes.number(static_cast<std::int32_t>(field.numbers.size()));
        for (const std::int64_t value : field.numbers) bytes.value(argument.type, value);
        break;
      case Shape::triples:
        bytes.number(static_cast<std::int32_t>(field.numbers.size() / 3));
        for (std::size_t n = 0; n < field.numbers.size(); ++n) {
          if (n % 3 == 0) bytes.number(std::int32_t{3});
          bytes.number(static_cast<std::int32_t>(field.numbers[n]));
        }
        break;
      case Shape::string_by_arg:
        if (!field.lists.empty()) strings(field.lists[0]);
        break;
      case Shape::list_of_lists:
        bytes.number(static_cast<std::int32_t>(field.lists.size()));
        for (const auto& one : field.lists) {
          bytes.number(static_cast<std::int32_t>(one.size()));
          strings(one);
        }
        break;
      default:
        bytes.number(static_cast<std::int32_t>(field.lists.empty() ? 0 : field.lists[0].size()));
        if (!field.lists.empty()) strings(field.lists[0]);
    }
  }
}

}  // namespace fathom::dumpi
