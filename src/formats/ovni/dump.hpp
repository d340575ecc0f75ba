// The events as text, one line each, in time order over all streams.
#pragma once

#include "formats/dataset.hpp"
#include "formats/ovni/native_trace.hpp"

namespace fathom::ovni {

enum class DumpForm : std::uint8_t {
  sentence,  // clock, code, stream, what happens
  raw,       // clock, code, stream, payload bytes
  old,       // as the tools of the trace's own age printed it
};

// Which events are wanted; empty = all.
struct DumpFilter {
  std::vector<std::string> codes;    // patterns of MCV, e.g. "OH*"
  std::vector<std::string> streams;  // patterns of stream paths
};

Result<void> dump(const NativeTrace& trace, DumpForm form, const DumpFilter& filter, const TextSink& sink,
                  const Work& work);

// Whether the payload is large enough for the arguments, and of their kind; and how it is not.
bool holds_arguments(const Event& event, const EventInfo& info);
std::string payload_defect(const Event& event, const EventInfo& info);

// The sentence of one event, appended. False when the event is not in the catalogue or its payload does not hold the
// arguments; the text then says so.
bool append_sentence(std::string& text, const Event& event);

// "name=value;…" of the arguments, appended; nothing for an unknown event or a payload that is too short.
void append_arguments(std::string& text, const Event& event);

// Reports streams that end in the middle of an event.
Result<void> report_incomplete(const NativeTrace& trace, std::size_t stream, const StreamCursor& cursor,
                               const Work& work);

}  // namespace fathom::ovni
