// Turns the rows of function_table.hpp into what decoding needs, at compile time.
#include <unordered_map>

#include "fathom/dumpi.hpp"
#include "formats/dumpi/function_table.hpp"

namespace fathom::dumpi {

namespace {

struct TypeName {
  std::string_view name;
  Type type;
};
constexpr TypeName kTypeNames[] = {{"i32", Type::i32},
                                   {"i64", Type::i64},
                                   {"dest", Type::dest},
                                   {"source", Type::source},
                                   {"tag", Type::tag},
                                   {"comm", Type::comm},
                                   {"datatype", Type::datatype},
                                   {"group", Type::group},
                                   {"file", Type::file},
                                   {"info", Type::info},
                                   {"win", Type::win},
                                   {"errhandler", Type::errhandler},
                                   {"keyval", Type::keyval},
                                   {"request", Type::request},
                                   {"iorequest", Type::iorequest},
                                   {"op", Type::op},
                                   {"combiner", Type::combiner},
                                   {"distribution", Type::distribution},
                                   {"filemode", Type::filemode},
                                   {"locktype", Type::locktype},
                                   {"threadlevel", Type::threadlevel},
                                   {"topology", Type::topology},
                                   {"typeclass", Type::typeclass},
                                   {"whence", Type::whence},
                                   {"winassert", Type::winassert},
                                   {"comparison", Type::comparison},
                                   {"ordering", Type::ordering},
                                   {"str", Type::str},
                                   {"status", Type::status}};

// What cannot be parsed does not compile.
constexpr void require(bool condition) {
  if (!condition) throw "bad row in function_table.hpp";
}

constexpr std::string_view next_word(std::string_view& text) {
  const auto end = text.find(' ');
  const std::string_view word = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return word;
}

constexpr int position(const Function& function, std::string_view name) {
  const int found = function.find(name);
  require(found >= 0);
  return found;
}

constexpr void parse_argument(Function& function, std::string_view word) {
  Argument argument;
  const auto colon = word.find(':');
  argument.name = word.substr(0, colon);
  std::string_view rest = word.substr(colon + 1);
  if (const auto condition = rest.find('?'); condition != std::string_view::npos) {
    const std::string_view text = rest.substr(condition + 1);
    const auto equals = text.find("==");
    argument.only_if = static_cast<std::int8_t>(position(function, text.substr(0, equals)));
    argument.equals = static_cast<std::int8_t>(position(function, text.substr(equals + 2)));
    rest = rest.substr(0, condition);
  }
  const auto stop = rest.find_first_of("[*");
  std::string_view type = rest.substr(0, stop);
  const std::string_view suffix = stop == std::string_view::npos ? std::string_view{} : rest.substr(stop);
  if (type == "strs" || type == "strss") {
    argument.shape = type == "strss" ? Shape::list_of_lists : suffix == "[]" ? Shape::open_list : Shape::string_list;
    type = "str";
  } else if (suffix.starts_with('*')) {
    argument.shape = Shape::string_by_arg;
  } else if (suffix.ends_with("[3]")) {
    argument.shape = Shape::triples;
  } else if (!suffix.empty() && type != "str") {
    argument.shape = Shape::array;
  }
  if (suffix.size() > 1 && suffix != "[]") {
    const std::string_view length =
        suffix.substr(1, suffix.find(']') == std::string_view::npos ? suffix.size() - 1 : suffix.find(']') - 1);
    // The length of a string may stand behind it; it repeats what the string's own count says.
    argument.length = static_cast<std::int8_t>(function.find(length));
    require(argument.length >= 0 || type == "str");
  }
  bool known = false;
  for (const TypeName& candidate : kTypeNames) {
    if (candidate.name == type) {
      argument.type = candidate.type;
      known = true;
    }
  }
  require(known && function.argument_count < kMaxArguments);
  function.argument[function.argument_count++] = argument;
}

constexpr Function parse_row(const FunctionRow& row) {
  Function function;
  function.id = row.id;
  function.name = row.name;
  std::string_view text = row.arguments;
  while (!text.empty()) parse_argument(function, next_word(text));

  text = row.text_order;
  for (std::uint8_t i = 0; i < function.argument_count; ++i) {
    function.text_order[i] =
        row.text_order.empty() ? i : static_cast<std::uint8_t>(position(function, next_word(text)));
  }
  require(text.empty());
  text = row.outputs;
  while (!text.empty()) function.argument[static_cast<std::size_t>(position(function, next_word(text)))].output = true;

  function.fixed = true;
  for (std::uint8_t i = 0; i < function.argument_count; ++i) {
    const Argument& argument = function.argument[i];
    if (argument.shape != Shape::scalar || wire_size(argument.type) == 0 || argument.only_if >= 0) {
      function.fixed = false;
      break;
    }
    function.offset[i] = function.fixed_size;
    function.fixed_size += wire_size(argument.type);
  }
  return function;
}

constexpr std::array<Function, kIds> parse_table() {
  static_assert(std::size(kFunctionRows) == kIds);
  std::array<Function, kIds> table{};
  for (std::size_t i = 0; i < kIds; ++i) {
    require(kFunctionRows[i].id == i);
    table[i] = parse_row(kFunctionRows[i]);
  }
  return table;
}

constexpr std::array<Function, kIds> kTable = parse_table();

}  // namespace

std::span<const Function> functions() { return kTable; }

const Function* function(std::uint16_t id) { return id < kIds && id != kAllFunctions ? &kTable[id] : nullptr; }

const Function* function(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const Function*> map;
    for (const Function& function : kTable) {
      if (function.id != kAllFunctions) map.emplace(function.name, &function);
    }
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::uint16_t id_of(std::string_view name) {
  const Function* found = function(name);
  return found == nullptr ? kEndOfStream : found->id;
}

Rules Rules::of_version(std::array<std::uint8_t, 3> version) {
  const auto before = [&](std::uint8_t a, std::uint8_t b, std::uint8_t c) {
    return version < std::array<std::uint8_t, 3>{a, b, c};
  };
  Rules rules;
  rules.repeated_argc = before(0, 6, 2);
  rules.status_size = before(0, 6, 3) ? 10 : 14;
  rules.narrow_requests = before(0, 6, 7);
  rules.single_coords = before(0, 6, 8);
  rules.single_indices = before(0, 6, 9);
  return rules;
}

}  // namespace fathom::dumpi
