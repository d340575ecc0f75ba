// One file profile.NODE.CONTEXT.THREAD of TAU: what one thread did, in one metric.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/work.hpp"
#include "defs/attributes.hpp"
#include "io/blob.hpp"

namespace fathom::tau {

struct FunctionLine {
  std::string_view name;  // as in the file, with blanks at its end
  double calls = 0, subrs = 0, exclusive = 0, inclusive = 0;
  std::string_view groups;
};

struct UserEvent {
  std::string_view name;
  double count = 0, maximum = 0, minimum = 0, mean = 0, sum_of_squares = 0;
};

struct TauFile {
  Blob blob;
  std::string metric;  // empty: the file does not say
  std::vector<FunctionLine> functions;
  std::vector<UserEvent> events;
  Attributes metadata;
};

// Lines that cannot be read are left out and counted, a file that breaks off keeps what comes before.
Result<TauFile> read(const Blob& blob, const Work& work);

// True when the text begins as such files do.
bool looks_like_profile(std::string_view head);

}  // namespace fathom::tau
