// Details of many events (Trace::detail), as tables of them need.
#pragma once

#include "base/text_tail.hpp"
#include "trace/trace.hpp"

namespace fathom {

// A trace that has its records at hand for less when it is asked for many. MT: safe (const).
class ManyDetails {
 public:
  virtual ~ManyDetails() = default;
  // One text behind the other; `ends` gets where each one ends in `out`.
  virtual Result<void> details(std::span<const Event> events, std::string& out,
                               std::vector<std::int64_t>& ends) const = 0;
};

// The same of any trace, one by one where it knows no better.
Result<void> append_details(const Trace& trace, std::span<const Event> events, std::string& out,
                            std::vector<std::int64_t>& ends);

// What Trace::detail() says by itself of events that move or end something; false = an event of another kind.
bool put_own_detail(const Trace& trace, const Event& event, TextTail& out);

}  // namespace fathom
