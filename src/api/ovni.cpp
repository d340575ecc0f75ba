#include "fathom/ovni.hpp"

#include "api/state.hpp"
#include "formats/ovni/native_trace.hpp"
#include "formats/ovni/stream.hpp"

namespace fathom::api::ovni {

struct Trace::State {
  fathom::ovni::NativeTrace trace;
};

struct Reader::State {
  std::shared_ptr<const Trace::State> trace;
  const fathom::ovni::Stream& stream;
  fathom::ovni::StreamCursor cursor;
  Event event;
  std::uint64_t count = 0;
};

Reader::Reader(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

const Event* Reader::next() {
  fathom::ovni::Event event;
  if (!state_->cursor.next(event)) return nullptr;
  Event& out = state_->event;
  const std::uint32_t mcv = event.mcv();
  out.mcv = {static_cast<char>(mcv & 0xFF), static_cast<char>(mcv >> 8 & 0xFF), static_cast<char>(mcv >> 16 & 0xFF)};
  out.jumbo = event.jumbo();
  out.clock = event.clock();
  out.offset = fathom::ovni::offset_in(state_->stream, event.at);
  out.number = state_->count++;
  out.payload = event.data();
  return &out;
}

std::uint64_t Reader::left() const { return state_->cursor.left(); }

Trace::Trace(std::shared_ptr<const State> state) : state_(std::move(state)) {}
Trace::Trace(const Trace&) = default;
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(const Trace&) = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

Result<Trace> Trace::open(const std::string& path, const OpenOptions& options) {
  const Execution execution(options.threads, options.cancel.flag());
  return guarded<Trace>(execution, [&]() -> fathom::Result<Trace> {
    const Work work = make_work(options.strict, options.max_memory > 0 ? options.max_memory : Budget::default_limit());
    auto state = std::make_shared<State>();
    FATHOM_TRY(state->trace, fathom::ovni::open_native(path, work));
    return Trace(std::move(state));
  });
}

std::size_t Trace::streams() const { return state_->trace.streams.size(); }

StreamInfo Trace::stream(std::size_t position) const {
  const fathom::ovni::Stream& stream = state_->trace.streams[position];
  return {stream.path, stream.metadata.loom.value_or(""), stream.metadata.pid, stream.metadata.tid,
          stream.metadata.rank};
}

Reader Trace::reader(std::size_t stream) const {
  const fathom::ovni::Stream& chosen = state_->trace.streams[stream];
  return Reader(
      std::make_unique<Reader::State>(Reader::State{state_, chosen, fathom::ovni::StreamCursor(chosen), {}, 0}));
}

}  // namespace fathom::api::ovni
