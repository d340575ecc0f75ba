#include "trace/details.hpp"

#include "base/number_text.hpp"

namespace fathom {

Result<void> append_details(const Trace& trace, std::span<const Event> events, std::string& out,
                            std::vector<std::int64_t>& ends) {
  if (const auto* many = dynamic_cast<const ManyDetails*>(&trace)) return many->details(events, out, ends);
  std::string one;  // formats judge by what they have appended so far
  for (const Event& event : events) {
    one.clear();
    FATHOM_CHECK(trace.detail(event, one));
    out += one;
    ends.push_back(static_cast<std::int64_t>(out.size()));
  }
  return {};
}

bool put_own_detail(const Trace& trace, const Event& event, TextTail& out) {
  using namespace text_writing;
  constexpr std::size_t kRoom = 4 * kNumberRoom;
  const auto communicator = [&](char* at) {
    if (!event.communicator.valid()) return at;
    const std::string& name = trace.communicators()[event.communicator.index()].name;
    at = put(at, ";comm=");
    if (name.empty()) return put_integer(at, std::uint64_t{event.communicator.value});
    out.written(at);
    return put(out.room(kRoom + name.size()), name);
  };
  const auto number = [](char* at, std::string_view key, std::int64_t value) {
    return put_integer(put(at, key), value);
  };
  char* at = out.room(kRoom);
  switch (event.kind) {
    case EventKind::send:
    case EventKind::recv:
      at = communicator(number(number(at, "peer=", event.peer), ";tag=", event.tag));
      at = number(at, ";bytes=", event.bytes);
      break;
    case EventKind::collective:
      at = communicator(number(at, "root=", event.peer));
      at = number(number(at, ";sent=", event.bytes), ";received=", event.value);
      break;
    case EventKind::complete:
      at = put_integer(put(at, "origin="), event.origin);
      break;
    default:
      return false;
  }
  out.written(at);
  return true;
}

}  // namespace fathom
