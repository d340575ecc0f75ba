// Function tracing (programs compiled with -finstrument-functions) and annotations (MPI_Pcontrol).
#include "dumpi/labels.hpp"

#include <dlfcn.h>

#include <cstdio>

#include "dumpi/recorder.hpp"

namespace fathom::capture {

namespace {

struct Label {
  std::uint64_t key;  // address of a function, or key of an annotation
  std::size_t text;   // in `texts`; 0: a function, its name is looked up at the end
  std::size_t length;
};
KeyMap<Label> known;
Array<std::uint64_t> order;
Array<char> texts;
std::uint64_t next_key = 4096;
constexpr char kAnnotation[] = "ANNOTATION: ";

// The first text for a key wins.
void remember(std::uint64_t key, const char* text, std::size_t length) {
  if (known.find(key) != nullptr) return;
  Label* label = known.add(key);
  if (label == nullptr || !order.push(key)) return;
  if (text == nullptr) return;
  if (texts.size() == 0) texts.resize(1);
  const std::size_t at = texts.size();
  if (!texts.resize(at + length)) return;
  std::memcpy(&texts[at], text, length);
  label->text = at;
  label->length = length;
}

void record(std::uint16_t id, std::uint64_t function) {
  Call call(id, Call::PseudoCall{});
  call.begin();
  call.end();
  Record out(call, 8);
  if (!out) return;
  out.i64(static_cast<std::int64_t>(function));
  out.close();
}

bool may_record() { return g.phase == Phase::running && !t.inside && g.profiling; }

void trace(std::uint16_t id, void* function) {
  if (!may_record()) return;
  const auto address = reinterpret_cast<std::uint64_t>(function);
  t.inside = true;
  {
    Lock lock;
    remember(address, nullptr, 0);
  }
  record(id, address);
  t.inside = false;
}

}  // namespace

namespace labels {

void annotate(std::uint64_t key, const char* format, std::va_list arguments) {
  if (!may_record() || format == nullptr) return;
  char text[1024];
  std::memcpy(text, kAnnotation, sizeof kAnnotation);
  const int length = std::vsnprintf(text + sizeof kAnnotation - 1, sizeof text - sizeof kAnnotation, format, arguments);
  if (length < 0) return;
  t.inside = true;
  {
    Lock lock;
    if (key == 0) key = next_key++;
    remember(key, text, std::strlen(text));
  }
  if (g.settings.trace_enter) record(kFunctionEnter, key);
  if (g.settings.trace_exit) record(kFunctionExit, key);
  t.inside = false;
}

bool write(Stream& stream) {
  unsigned char* at = stream.room(4);
  if (at == nullptr) return false;
  stream.commit(put32(at, static_cast<std::uint32_t>(order.size())));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Label* label = known.find(order[i]);
    const char* text = "<none>";
    std::size_t length = 6;
    Dl_info info;
    if (label != nullptr && label->text != 0) {
      text = &texts[label->text];
      length = label->length;
    } else if (dladdr(reinterpret_cast<void*>(order[i]), &info) != 0 && info.dli_sname != nullptr) {
      text = info.dli_sname;
      length = std::strlen(text);
    }
    if (length > 65535) length = 65535;
    at = stream.room(10 + length);
    if (at == nullptr) return false;
    at = put64(at, order[i]);
    at = put16(at, static_cast<std::uint16_t>(length));
    std::memcpy(at, text, length);
    stream.commit(at + length);
  }
  return true;
}

}  // namespace labels

}  // namespace fathom::capture

#pragma GCC visibility push(default)
extern "C" {
// What gcc and clang call for every function of code compiled with -finstrument-functions.
void __cyg_profile_func_enter(void* function, void*) {
  if (fathom::capture::g.settings.trace_enter) fathom::capture::trace(fathom::capture::kFunctionEnter, function);
}
void __cyg_profile_func_exit(void* function, void*) {
  if (fathom::capture::g.settings.trace_exit) fathom::capture::trace(fathom::capture::kFunctionExit, function);
}
}
#pragma GCC visibility pop
