// Feeds a document to expat in pieces. Cube writes two attributes without quotes, which is not XML: they get theirs on
// the way.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace fathom::cube {

// Passes text on with quotes around the values of rowwise= and cubeplaggrtype= inside <cubepl…> tags.
class QuotingFilter {
 public:
  using Sink = std::function<Result<void>(std::string_view)>;
  explicit QuotingFilter(Sink sink) : sink_(std::move(sink)) {}

  Result<void> feed(std::string_view text);
  // Passes on what is held back: a tag whose end has not come.
  Result<void> finish();

 private:
  Result<void> pass_tag(std::string_view tag);

  Sink sink_;
  std::string held_;
};

}  // namespace fathom::cube
