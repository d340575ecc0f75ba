// What can be asked of a reader or writer beside the path: declared once, next to the code that obeys it. The command
// line, `formats NAME`, the library and Python know options from these declarations only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace fathom {

enum class OptionType : std::uint8_t { flag, text, list, count, number };
std::string_view to_string(OptionType type);

struct OptionDeclaration {
  std::string_view name;         // "use-inclusive-measurements"
  std::string_view placeholder;  // "SHARE"; empty for flags
  std::string_view help;
  OptionType type = OptionType::text;
  std::string_view choices = {};  // allowed texts, blank separated; empty = any
};

template <class T>
constexpr OptionType option_type() {
  if constexpr (std::is_same_v<T, bool>) return OptionType::flag;
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return OptionType::list;
  if constexpr (std::is_same_v<T, std::uint64_t>) return OptionType::count;
  if constexpr (std::is_same_v<T, double>) return OptionType::number;
  return OptionType::text;
}

// A declaration that knows the type of its value: `inline constexpr Option<bool> kForce{"force", "", "..."}`.
template <class T>
struct Option : OptionDeclaration {
  constexpr Option(std::string_view its_name, std::string_view its_placeholder, std::string_view its_help,
                   std::string_view its_choices = {})
      : OptionDeclaration{its_name, its_placeholder, its_help, option_type<T>(), its_choices} {}
};

// The options that were given. MT: set before work begins, read by anyone.
class OptionValues {
 public:
  template <class T>
  void set(const Option<T>& option, std::type_identity_t<T> value) {
    values_[option.name] = std::move(value);
  }
  // From a text, as its type has it; lists grow by one. A usage error names what was expected.
  Result<void> set_text(const OptionDeclaration& option, std::string_view text);

  template <class T>
  [[nodiscard]] std::optional<T> get(const Option<T>& option) const {
    const auto found = values_.find(option.name);
    if (found == values_.end()) return std::nullopt;
    return std::get<T>(found->second);
  }
  [[nodiscard]] bool flag(const Option<bool>& option) const { return get(option).value_or(false); }
  // An empty text where it was not given.
  [[nodiscard]] std::string text(const Option<std::string>& option) const {
    return get(option).value_or(std::string());
  }

 private:
  // Names are those of declarations, which live as long as the program.
  std::map<std::string_view, std::variant<bool, std::string, std::vector<std::string>, std::uint64_t, double>> values_;
};

// The declaration of that name among those that can be; a usage error with a suggestion otherwise. `what` is for the
// message: "cube, when it is written,".
Result<const OptionDeclaration*> find_option(const std::vector<const OptionDeclaration*>& declared,
                                             std::string_view name, std::string_view what);

}  // namespace fathom
