// The C interface of include/fathom/undumpi. Structures of arguments are laid out here by the rules of C from the same
// table that their declarations are written from: fields in the order of the text dump, each with its own alignment.
#include <dumpi/libundumpi/libundumpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "formats/dumpi/file.hpp"
#include "formats/dumpi/ids.hpp"
#include "formats/dumpi/scan.hpp"
#include "io/file.hpp"

// What stands behind an open profile.
struct fathom_undumpi {
  explicit fathom_undumpi(fathom::dumpi::File opened) : file(std::move(opened)), held(file.hold()) {}

  fathom::dumpi::File file;
  std::shared_ptr<const fathom::Blob> held;
  const std::byte* at = nullptr;
  const std::byte* end = nullptr;
  fathom::dumpi::Rollover rollover;
  fathom::dumpi::Call call;
  dumpi_perfinfo counters = {};
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };
  std::vector<Chunk> chunks;  // filled again from the start by every call
  std::size_t chunk = 0;
  std::size_t used = 0;

  void* room(std::size_t bytes);
};

namespace fathom::dumpi {

namespace {

constexpr std::size_t kCallbacks = sizeof(libundumpi_callbacks) / sizeof(libundumpi_unsafe_fun);
constexpr std::uint16_t kPcontrol = 128;
static_assert(kCallbacks == kFunctions - 1 + 2, "one per call but MPI_Pcontrol, and the two of functions");

// The number of a call's callback; MPI_Pcontrol has none.
constexpr std::size_t callback_of(std::uint16_t id) {
  if (id >= kFunctionEnter) return kFunctions - 1 + (id - kFunctionEnter);
  return id < kPcontrol ? id : id - std::size_t{1};
}

// Bytes of a scalar in the structures.
constexpr std::size_t field_size(Type type) {
  if (type == Type::comparison || type == Type::ordering) return 1;
  const std::size_t wire = wire_size(type);
  return wire == 1 ? 2 : wire;
}

void store(char* to, std::size_t size, std::int64_t value) {
  switch (size) {
    case 1:
      *reinterpret_cast<std::int8_t*>(to) = static_cast<std::int8_t>(value);
      return;
    case 2: {
      const auto narrow = static_cast<std::int16_t>(value);
      std::memcpy(to, &narrow, 2);
      return;
    }
    case 4: {
      const auto narrow = static_cast<std::int32_t>(value);
      std::memcpy(to, &narrow, 4);
      return;
    }
    default:
      std::memcpy(to, &value, 8);
  }
}

char* text(fathom_undumpi& state, std::string_view value) {
  auto* out = static_cast<char*>(state.room(value.size() + 1));
  std::memcpy(out, value.data(), value.size());
  out[value.size()] = 0;
  return out;
}

// A list of texts with a null pointer behind it.
char** texts(fathom_undumpi& state, std::uint32_t count, Strings::Iterator& at) {
  auto** out = static_cast<char**>(state.room((std::size_t{count} + 1) * sizeof(char*)));
  for (std::uint32_t i = 0; i < count; ++i, at.advance()) out[i] = text(state, *at);
  out[count] = nullptr;
  return out;
}

// What a field that is no number points to; null for what is not there.
void* pointer(fathom_undumpi& state, const Call& call, std::size_t i) {
  const Argument& argument = call.function().argument[i];
  if (!call.present(i)) return nullptr;
  if (argument.type == Type::status) {
    const Statuses statuses = call.statuses(i);
    if (statuses.empty()) return nullptr;
    auto* out = static_cast<dumpi_status*>(state.room(statuses.size() * sizeof(dumpi_status)));
    for (std::uint32_t k = 0; k < statuses.size(); ++k) {
      const Status status = statuses[k];
      out[k] = {status.bytes, status.source, status.tag, status.cancelled, status.error};
    }
    return out;
  }
  switch (argument.shape) {
    case Shape::scalar:
      return text(state, call.string(i));
    case Shape::array: {
      const Values values = call.values(i);
      if (values.empty()) return nullptr;
      const std::size_t size = field_size(argument.type);
      auto* out = static_cast<char*>(state.room(values.size() * size));
      for (std::uint32_t k = 0; k < values.size(); ++k) store(out + k * size, size, values[k]);
      return out;
    }
    case Shape::triples: {
      const std::byte* at = call.raw(i);
      const auto rows = detail::load<std::uint32_t>(at);
      at += 4;
      auto** out = static_cast<int**>(state.room((std::size_t{rows} + 1) * sizeof(int*)));
      for (std::uint32_t row = 0; row < rows; ++row) {
        const auto count = detail::load<std::uint32_t>(at);
        at += 4;
        out[row] = static_cast<int*>(state.room(std::max<std::size_t>(count, 3) * sizeof(int)));
        for (std::uint32_t k = 0; k < count; ++k, at += 4) out[row][k] = detail::load<std::int32_t>(at);
      }
      out[rows] = nullptr;
      return out;
    }
    case Shape::list_of_lists: {
      const std::byte* at = call.raw(i);
      const auto count = detail::load<std::uint32_t>(at);
      at += 4;
      auto** out = static_cast<char***>(state.room((std::size_t{count} + 1) * sizeof(char**)));
      for (std::uint32_t k = 0; k < count; ++k) {
        const auto inner = detail::load<std::uint32_t>(at);
        Strings::Iterator words(at + 4);
        out[k] = texts(state, inner, words);
        at = words.position();
      }
      out[count] = nullptr;
      return out;
    }
    default: {
      const Strings strings = call.strings(i);
      Strings::Iterator at = strings.begin();
      return texts(state, strings.size(), at);
    }
  }
}

// The argument structure of a call.
const void* arguments(fathom_undumpi& state, const Call& call) {
  const Function& function = call.function();
  // Every field is at most a pointer, or an in-out pair of one argument each.
  auto* out = static_cast<char*>(state.room((kMaxArguments + 1) * 8));
  std::memset(out, 0, (kMaxArguments + 1) * 8);
  std::size_t at = 0;
  for (std::uint8_t k = 0; k < function.argument_count; ++k) {
    const std::size_t i = function.text_order[k];
    const Argument& argument = function.argument[i];
    const bool number = argument.shape == Shape::scalar && wire_size(argument.type) > 0;
    const std::size_t size = number ? field_size(argument.type) : sizeof(void*);
    at = (at + size - 1) / size * size;
    if (number) {
      std::int64_t value = call.integer(i);
      // An array's own count is what counts (Waitsome with nothing to wait for).
      for (std::uint8_t other = 0; other < function.argument_count; ++other) {
        const Argument& list = function.argument[other];
        if (list.shape == Shape::array && list.type != Type::status && list.length == static_cast<int>(i) &&
            call.present(other)) {
          value = call.values(other).size();
          break;
        }
      }
      store(out + at, size, value);
    } else {
      void* to = pointer(state, call, i);
      std::memcpy(out + at, &to, sizeof to);
    }
    at += size;
  }
  return out;
}

dumpi_clock clock_of(std::int64_t ns) {
  return {static_cast<std::int32_t>(ns / 1'000'000'000), static_cast<std::int32_t>(ns % 1'000'000'000)};
}

char* copy(std::string_view value) {
  auto* out = static_cast<char*>(std::malloc(value.size() + 1));
  if (out == nullptr) return nullptr;
  std::memcpy(out, value.data(), value.size());
  out[value.size()] = 0;
  return out;
}

int* copy(const std::vector<std::int32_t>& values) {
  auto* out = static_cast<int*>(std::calloc(values.size() + 1, sizeof(int)));
  if (out != nullptr) std::copy(values.begin(), values.end(), out);
  return out;
}

// The interface casts callbacks with typed arguments to one shape, which every ABI in use allows and a sanitizer cannot
// know.
#if defined(__clang__)
#define FATHOM_ANY_CALLBACK __attribute__((no_sanitize("function")))
#else
#define FATHOM_ANY_CALLBACK
#endif

// Reads the next record and hands it to its callback. 1: go on, 0: the end, -1: it cannot be read.
FATHOM_ANY_CALLBACK int next(dumpi_profile& profile, const libundumpi_cbpair* callbacks, void* user, int* finalized) {
  fathom_undumpi& state = *profile.state;
  const auto left = state.end - state.at;
  if (left < 2) return left == 0 || *finalized != 0 ? 0 : -1;
  const auto id = detail::load<std::uint16_t>(state.at);
  if (id == kEndOfStream || (id == ids::kSend && *finalized != 0)) return 0;
  if (state.file.decoder().decode(state.at, state.end, state.call) != Decoder::Outcome::ok) return -1;
  Call& call = state.call;
  state.rollover.apply(call, state.file.cpu_zero_ns(), std::int64_t{state.file.wall_bias()} * 1'000'000'000);
  state.at += call.size;
  profile.pos = static_cast<std::uint64_t>(state.at - state.held->bytes().data());
  if (call.id == ids::kFinalize) *finalized = 1;
  const libundumpi_unsafe_fun callout = callbacks[call.id].callout;
  if (callout == nullptr) return 1;
  state.chunk = 0;
  state.used = 0;
  dumpi_time cpu = {};
  dumpi_time wall = {};
  if (call.has_cpu()) cpu = {clock_of(call.cpu_start_ns), clock_of(call.cpu_stop_ns)};
  if (call.has_wall()) wall = {clock_of(call.wall_start_ns), clock_of(call.wall_stop_ns)};
  state.counters.count = std::min<int>(call.counter_count, DUMPI_MAX_PERFCTRS);
  for (int i = 0; i < state.counters.count; ++i) {
    state.counters.invalue[i] = call.counter_in(static_cast<std::size_t>(i));
    state.counters.outvalue[i] = call.counter_out(static_cast<std::size_t>(i));
  }
  // All callbacks have the same shape: a pointer to the arguments comes first.
  const auto call_back = reinterpret_cast<dumpi_generic_call>(callout);
  call_back(arguments(state, call), call.thread, &cpu, &wall, &state.counters, user);
  return 1;
}

}  // namespace

}  // namespace fathom::dumpi

void* fathom_undumpi::room(std::size_t bytes) {
  bytes = (bytes + 7) / 8 * 8;
  for (; chunk < chunks.size(); ++chunk, used = 0) {
    if (used + bytes > chunks[chunk].size) continue;
    void* out = chunks[chunk].bytes.get() + used;
    used += bytes;
    return out;
  }
  const std::size_t size = std::max(bytes, std::size_t{1} << 16);
  chunks.push_back({std::make_unique<char[]>(size), size});
  used = bytes;
  return chunks.back().bytes.get();
}

using namespace fathom;
using namespace fathom::dumpi;

extern "C" {

dumpi_profile* undumpi_open(const char* fname) {
  if (fname == nullptr) return nullptr;
  const Work work = make_work();
  auto opened = [&]() -> Result<File> {
    FATHOM_TRY(Blob blob, map_file(fname));
    return File::open(std::move(blob), work);
  }();
  if (!opened.ok()) {
    std::fprintf(stderr, "%s\n", opened.error().text().c_str());
    return nullptr;
  }
  auto* state = new fathom_undumpi(*std::move(opened));
  const auto& names = state->file.sections().counters;
  for (std::size_t i = 0; i < names.size() && i < DUMPI_MAX_PERFCTRS; ++i) {
    std::snprintf(state->counters.counter_tag[i], DUMPI_MAX_PERFCTR_NAME, "%s", names[i].c_str());
  }
  auto* profile = new dumpi_profile{};
  const auto& version = state->file.sections().header.version;
  for (std::size_t i = 0; i < 3; ++i) profile->version[i] = static_cast<char>(version[i]);
  profile->cpu_time_offset = state->file.cpu_bias();
  profile->wall_time_offset = state->file.wall_bias();
  profile->total_file_size = state->file.size();
  profile->state = state;
  dumpi_start_stream_read(profile);
  return profile;
}

void undumpi_close(dumpi_profile* profile) {
  if (profile == nullptr) return;
  delete profile->state;
  delete profile;
}

int dumpi_start_stream_read(dumpi_profile* profile) {
  fathom_undumpi& state = *profile->state;
  state.at = state.held->bytes().data() + state.file.stream_begin();
  state.end = state.held->bytes().data() + state.file.stream_limit();
  state.rollover = {};
  profile->pos = state.file.stream_begin();
  return 1;
}

void libundumpi_clear_callbacks(libundumpi_callbacks* callbacks) { *callbacks = {}; }

void libundumpi_set_callbacks(libundumpi_callbacks* callbacks, dumpi_generic_call handler) {
  for (std::size_t i = 0; i < kCallbacks; ++i) {
    std::memcpy(reinterpret_cast<char*>(callbacks) + i * sizeof handler, &handler, sizeof handler);
  }
}

void libundumpi_populate_callouts(const libundumpi_callbacks* callback, libundumpi_cbpair* callarr) {
  for (std::uint16_t id = 0; id < kIds; ++id) {
    callarr[id].callout = nullptr;
    if (id == kAllFunctions || id == kPcontrol) continue;
    std::memcpy(&callarr[id].callout,
                reinterpret_cast<const char*>(callback) + callback_of(id) * sizeof(libundumpi_unsafe_fun),
                sizeof(libundumpi_unsafe_fun));
  }
}

void libundumpi_populate_handlers(const libundumpi_callbacks*, libundumpi_cbpair*) {}

int undumpi_read_single_call(dumpi_profile* profile, struct libundumpi_cbpair* callarr, void* userarg,
                             int* mpi_finalized) {
  return next(*profile, callarr, userarg, mpi_finalized) > 0 ? 1 : 0;
}

int undumpi_read_stream_full(const char* metaname, dumpi_profile* profile, const libundumpi_callbacks* callback,
                             void* userarg, bool print_progress) {
  libundumpi_cbpair callarr[kIds] = {};
  libundumpi_populate_callouts(callback, callarr);
  dumpi_start_stream_read(profile);
  int finalized = 0;
  int shown = 0;
  for (;;) {
    const int more = next(*profile, callarr, userarg, &finalized);
    if (more <= 0) {
      if (more == 0 || profile->state->file.cut_off()) return 1;
      std::fprintf(stderr, "%s: this record cannot be read\n", profile->state->file.place(profile->pos).text().c_str());
      return 0;
    }
    const int percent = static_cast<int>(100 * profile->pos / std::max<std::uint64_t>(profile->total_file_size, 1));
    if (print_progress && percent > shown) {
      shown = percent;
      std::printf("DUMPI trace %3d percent complete: %s\n", percent, metaname);
      std::fflush(stdout);
    }
  }
}

int undumpi_read_stream(dumpi_profile* profile, const libundumpi_callbacks* callback, void* userarg,
                        bool print_progress) {
  return undumpi_read_stream_full("", profile, callback, userarg, print_progress);
}

dumpi_header* undumpi_read_header(dumpi_profile* profile) {
  const Sections& sections = profile->state->file.sections();
  // Without one (the job was killed) it is empty: programs of this shape do not ask.
  auto* out = static_cast<dumpi_header*>(std::calloc(1, sizeof(dumpi_header)));
  if (out == nullptr) return nullptr;
  for (std::size_t i = 0; i < 3; ++i) out->version[i] = static_cast<char>(sections.header.version[i]);
  out->starttime = sections.header.start_time;
  out->hostname = copy(sections.header.host);
  out->username = copy(sections.header.user);
  out->meshdim = static_cast<int>(sections.header.mesh_position.size());
  out->meshcrd = copy(sections.header.mesh_position);
  // Both have meshdim entries; the sizes are missing in traces before 0.5.0.
  std::vector<std::int32_t> sizes = sections.header.mesh_size;
  sizes.resize(sections.header.mesh_position.size());
  out->meshsize = copy(sizes);
  return out;
}

void dumpi_free_header(dumpi_header* header) {
  if (header == nullptr) return;
  std::free(header->hostname);
  std::free(header->username);
  std::free(header->meshcrd);
  std::free(header->meshsize);
  std::free(header);
}

dumpi_keyval_record* undumpi_read_keyval_record(dumpi_profile* profile) {
  auto* out = static_cast<dumpi_keyval_record*>(std::calloc(1, sizeof(dumpi_keyval_record)));
  if (out == nullptr) return nullptr;
  for (const auto& [name, value] : profile->state->file.sections().keyvals) {
    auto* entry = static_cast<dumpi_keyval_entry*>(std::calloc(1, sizeof(dumpi_keyval_entry)));
    if (entry == nullptr) break;
    entry->key = copy(name);
    entry->val = copy(value);
    (out->tail != nullptr ? out->tail->next : out->head) = entry;
    out->tail = entry;
    ++out->count;
  }
  return out;
}

void dumpi_free_keyval_record(dumpi_keyval_record* keyval) {
  if (keyval == nullptr) return;
  for (dumpi_keyval_entry* entry = keyval->head; entry != nullptr;) {
    dumpi_keyval_entry* following = entry->next;
    std::free(entry->key);
    std::free(entry->val);
    std::free(entry);
    entry = following;
  }
  std::free(keyval);
}

dumpi_footer* undumpi_read_footer(dumpi_profile* profile) {
  const Sections& sections = profile->state->file.sections();
  auto* out = static_cast<dumpi_footer*>(std::calloc(1, sizeof(dumpi_footer)));
  if (out == nullptr) return nullptr;
  static_assert(std::extent_v<decltype(dumpi_footer::call_count)> == kFooterSlots);
  std::copy(sections.footer.called.begin(), sections.footer.called.end(), out->call_count);
  std::copy(sections.footer.ignored.begin(), sections.footer.ignored.end(), out->ignored_count);
  return out;
}

void dumpi_free_footer(dumpi_footer* footer) { std::free(footer); }

dumpi_sizeof undumpi_read_datatype_sizes(dumpi_profile* profile) {
  const std::vector<std::int32_t>& sizes = profile->state->file.sections().sizes;
  // The interface counts in 16 bits.
  const std::size_t count = std::min<std::size_t>(sizes.size(), INT16_MAX);
  return {static_cast<dumpi_datatype>(count),
          copy({sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(count)})};
}

int dumpi_read_datatype_sizes(dumpi_profile* profile, dumpi_sizeof* sizes) {
  *sizes = undumpi_read_datatype_sizes(profile);
  return sizes->size != nullptr ? 1 : 0;
}

int dumpi_read_function_addresses(dumpi_profile* profile, int* count, uint64_t** addresses, char*** names) {
  const auto& labels = profile->state->file.sections().addresses;
  const std::size_t entries = labels.size();
  *count = 0;
  *addresses = static_cast<uint64_t*>(std::calloc(entries + 1, sizeof(uint64_t)));
  *names = static_cast<char**>(std::calloc(entries + 1, sizeof(char*)));
  if (*addresses == nullptr || *names == nullptr) return 0;
  for (const auto& [address, name] : labels) {
    (*addresses)[*count] = address;
    (*names)[*count] = copy(name);
    ++*count;
  }
  return 1;
}

void dumpi_read_perfctr_labels(dumpi_profile* profile, int* counters, dumpi_perflabel_t* labels, int maxlabels) {
  const auto& names = profile->state->file.sections().counters;
  *counters = static_cast<int>(std::min<std::size_t>(names.size(), static_cast<std::size_t>(std::max(maxlabels, 0))));
  for (int i = 0; i < *counters; ++i) {
    std::snprintf(labels[i], sizeof labels[i], "%s", names[static_cast<std::size_t>(i)].c_str());
  }
}

const char* undumpi_function_address_label(dumpi_profile* profile, uint64_t address) {
  const std::string* label = profile->state->file.sections().label(address);
  return label == nullptr ? nullptr : label->c_str();
}

const char* dumpi_function_label(dumpi_function id) {
  const Function* found = function(static_cast<std::uint16_t>(id));
  return found == nullptr ? "" : found->name.data();  // texts of the table end with a null
}
}
