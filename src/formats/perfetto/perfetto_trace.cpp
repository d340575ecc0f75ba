#include "formats/perfetto/perfetto_trace.hpp"

#include "formats/perfetto/annotations.hpp"
#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/mapping.hpp"

namespace fathom::perfetto {

Result<std::shared_ptr<const PerfettoTrace>> PerfettoTrace::read(const Blob& blob, const Work& work) {
  auto trace = std::make_shared<PerfettoTrace>(blob, work);
  PerfettoMapping mapping(*trace);
  FATHOM_CHECK(mapping.take_trace(blob, 0));
  FATHOM_CHECK(mapping.finish());
  return std::shared_ptr<const PerfettoTrace>(std::move(trace));
}

// Interned names of arguments are not looked up again: that would need everything before the packet.
Result<void> PerfettoTrace::detail(const Event& event, std::string& out) const {
  const std::size_t before = out.size();
  FATHOM_CHECK(Trace::detail(event, out));
  const bool whole = event.kind == EventKind::enter || event.kind == EventKind::marker;
  if (!whole || compressed_ || event.record / kStride >= offsets_.size()) return {};
  FieldCursor cursor(blob_.text().substr(offsets_[event.record / kStride]));
  std::uint64_t left = event.record % kStride;
  for (Field field; cursor.next(field);) {
    if (field.number != trace_field::packet || field.wire != Wire::bytes) continue;
    if (left-- > 0) continue;
    FieldCursor packet(field.bytes);
    for (Field part; packet.next(part);) {
      if (part.number != packet_field::track_event || part.wire != Wire::bytes) continue;
      FieldCursor track_event(part.bytes);
      for (Field inner; track_event.next(inner);) {
        const auto add = [&](std::string_view key, std::string_view value) {
          if (key.empty()) return;
          if (out.size() > before) out += ';';
          ((out += key) += '=') += value;
        };
        if (inner.number == event_field::categories && inner.wire == Wire::bytes) add("cat", inner.bytes);
        if (inner.number == event_field::annotations && inner.wire == Wire::bytes)
          each_annotation(inner.bytes, nullptr, add);
      }
    }
    break;
  }
  return {};
}

}  // namespace fathom::perfetto
