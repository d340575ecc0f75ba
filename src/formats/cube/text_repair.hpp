// Texts of an anchor as the official reader takes them: its writers copy names and paths byte by byte, so that there
// may be Latin-1 in them, whatever the first line says, and control characters, both of which end an XML parser's work.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace fathom::cube {

// Passes text on in UTF-8: bytes that are none become the characters that they are in Latin-1, control characters '?'.
// NUL stays what it is, since no text has it, and so does UTF-16.
class TextRepair {
 public:
  using Sink = std::function<Result<void>(std::string_view)>;
  explicit TextRepair(Sink sink) : sink_(std::move(sink)) {}

  Result<void> feed(std::string_view text);
  // Passes on what is held back: a character whose end has not come.
  Result<void> finish();

  struct Repaired {
    std::uint64_t count = 0;
    std::uint64_t line = 0;  // of the first one
  };
  [[nodiscard]] const Repaired& latin1() const { return latin1_; }
  [[nodiscard]] const Repaired& control() const { return control_; }

 private:
  Result<void> pass(std::string_view text, bool last);
  void note(Repaired& repaired, std::string_view before);

  Sink sink_;
  std::string held_;
  bool begun_ = false;
  bool as_it_is_ = false;
  std::uint64_t lines_ = 1;
  Repaired latin1_;
  Repaired control_;
};

}  // namespace fathom::cube
