// Extra-P's format strings: text with placeholders in braces, which may hold lists with their own formats.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace fathom {

// {name} or {name:rest}
struct Placeholder {
  std::string text;
  std::string name;
  std::string rest;
};

using Resolve = std::function<Result<std::string>(const Placeholder&)>;

// Replaces every placeholder by what `resolve` gives for it. {{ and }} stand for single braces; \n and \t inside a
// placeholder are a line break and a tab.
Result<std::string> expand(std::string_view format, const Resolve& resolve);

// sep:'...'; format:'...' in any order; \' is an apostrophe.
struct ListOptions {
  std::optional<std::string> separator;
  std::optional<std::string> format;
};
Result<ListOptions> list_options(std::string_view text);

// A number by a printf format with one conversion of a double ("%6.2f %%"); nothing when the format is no such one.
std::optional<std::string> printf_format(double value, const std::string& format);

// A number in Python's format mini-language; without a specification the shortest text that reads back.
Result<std::string> python_format(double value, std::string_view spec);

}  // namespace fathom
