// Which questions an input is asked: all of them, or, with FATHOM_FUZZ_ONE_QUESTION set, the one that its bytes choose:
// a command as a user gives it, in a fraction of the time.
#pragma once

#include <cstdlib>
#include <functional>
#include <string_view>

namespace fathom {

class Questions {
 public:
  Questions(std::string_view input, std::size_t count) {
    static const bool kOne = std::getenv("FATHOM_FUZZ_ONE_QUESTION") != nullptr;
    if (kOne) only_ = std::hash<std::string_view>()(input) % count;
  }
  [[nodiscard]] bool asks(std::size_t question) const { return only_ == kAll || only_ == question; }

 private:
  static constexpr auto kAll = static_cast<std::size_t>(-1);
  std::size_t only_ = kAll;
};

}  // namespace fathom
