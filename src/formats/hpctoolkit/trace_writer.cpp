#include "formats/hpctoolkit/trace_writer.hpp"

#include <algorithm>

#include "formats/hpctoolkit/byte_buffer.hpp"
#include "formats/hpctoolkit/magic.hpp"
#include "io/output_file.hpp"

namespace fathom::hpctoolkit {

namespace {
constexpr std::uint64_t kMetaTracesAt = 0x40;
constexpr std::uint64_t kMetaRecordSize = 24;
constexpr std::uint64_t kXmlRecordSize = 22;
}  // namespace

Result<void> write_trace(const Trace& trace, Generation generation, const std::filesystem::path& directory,
                         const Work& work) {
  const bool meta = generation == Generation::meta;
  const std::size_t count = trace.location_count();
  FATHOM_TRY(OutputFile file, OutputFile::create(directory / "trace.db"));
  ByteBuffer records(order_of(generation));
  const std::uint64_t records_at = meta ? kMetaTracesAt : kXmlHeaderSize;
  const std::uint64_t records_size = count * (meta ? kMetaRecordSize : kXmlRecordSize);
  file.write(std::string(records_at + (records_size + 7) / 8 * 8, '\0'));
  // Nothing traced: the smallest time lies above the largest.
  std::uint64_t min_time = (std::uint64_t{1} << 63) - 1;
  std::uint64_t max_time = std::uint64_t{1} << 63;
  bool any = false;
  std::uint64_t others = 0;
  ByteBuffer samples(order_of(generation));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t begin = file.offset();
    FATHOM_TRY(auto stream, trace.open(LocationId(i), {}));
    EventCursor cursor(std::move(stream));
    while (const Event* event = cursor.next()) {
      if (event->kind != EventKind::sample) {
        ++others;
        continue;
      }
      const auto time = static_cast<std::uint64_t>(event->time_ns);
      min_time = any ? std::min(min_time, time) : time;
      max_time = any ? std::max(max_time, time) : time;
      any = true;
      samples.put<std::uint64_t>(time);
      samples.put<std::uint32_t>(event->context().valid() ? event->context().value + 1 : 0);
      if (samples.size() > 1U << 20) {
        file.write(samples.bytes());
        samples.clear();
      }
    }
    FATHOM_CHECK(cursor.status());
    file.write(samples.bytes());
    samples.clear();
    const std::uint64_t end = file.offset();
    records.put<std::uint32_t>(static_cast<std::uint32_t>(i + 1));
    if (meta) {
      records.zeros(4);
      if (end % 8 != 0) file.write(std::string(8 - end % 8, '\0'));
    } else {
      records.put<std::uint16_t>(0);
    }
    records.put<std::uint64_t>(begin);
    records.put<std::uint64_t>(end);
  }
  ByteBuffer header(order_of(generation));
  if (meta) {
    header.put_text(kMetaTraceMagic);
    header.put<std::uint8_t>(kMetaMajor);
    header.put<std::uint8_t>(0);
    header.put<std::uint64_t>(0x20 + records_size);
    header.put<std::uint64_t>(0x20);
    header.put<std::uint64_t>(kMetaTracesAt);
    header.put<std::uint32_t>(static_cast<std::uint32_t>(count));
    header.put<std::uint8_t>(kMetaRecordSize);
    header.zeros(3);
    header.put<std::uint64_t>(min_time);
    header.put<std::uint64_t>(max_time);
    file.write(kMetaTraceFooter);
  } else {
    header.put_text(kXmlTraceMagic);
    header.put<std::uint8_t>(1);
    header.put<std::uint8_t>(0);
    header.put<std::uint32_t>(static_cast<std::uint32_t>(count));
    header.put<std::uint16_t>(1);
    header.put<std::uint64_t>(records_size);
    header.put<std::uint64_t>(kXmlHeaderSize);
  }
  file.overwrite(0, header.bytes());
  file.overwrite(records_at, records.bytes());
  if (others > 0) {
    FATHOM_CHECK(work->diagnostics.add("hpctoolkit.trace_event_left_out", Severity::data_loss,
                                       Place::in((directory / "trace.db").filename().string()),
                                       "a value of a metric in the trace is not written: only samples are", others));
  }
  return file.commit();
}

}  // namespace fathom::hpctoolkit
