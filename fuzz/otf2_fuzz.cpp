// Any bytes as each file of an archive in turn: anchor, global definitions, definitions of a location, its events,
// notes. The other files are small and sound.
#include <array>

#include "formats/otf2/check.hpp"
#include "formats/otf2/dump.hpp"
#include "formats/otf2/event_counts.hpp"
#include "questions.hpp"
#include "trace/call_statistics.hpp"
#include "trace/merge.hpp"

using namespace fathom;
using namespace fathom::otf2;

namespace {

std::string number(std::uint64_t value, int size) {
  std::string out;
  for (int i = 0; i < size; ++i) out += static_cast<char>(value >> 8 * i & 0xFF);
  return out;
}
std::string compact(std::uint64_t value) {
  std::string out;
  while (value > 0) {
    out += static_cast<char>(value & 0xFF);
    value >>= 8;
  }
  return static_cast<char>(out.size()) + out;
}
std::string record(int type, const std::string& fields) {
  return static_cast<char>(type) + std::string(1, static_cast<char>(fields.size())) + fields;
}
std::string chunk(const std::string& records) {
  return std::string("\x03\x42") + number(1, 8) + number(0, 8) + records + std::string("\x02\x01");
}
std::string compacts(std::initializer_list<std::uint64_t> values) {
  std::string out;
  for (const std::uint64_t value : values) out += compact(value);
  return out;
}

const std::string kUndefined = "\xFF";

std::string sound_anchor() {
  return std::string("\x03\x42OTF2\0", 7) + std::string("\x03\x02\x03\x00\x02", 5) + number(4096, 8) + number(4096, 8) +
         "\x01\x01" + number(1, 8) + number(12, 8) + std::string(3, '\0') + number(0, 4) + number(0, 8) + number(0, 8) +
         std::string("\x02\x01\x00", 3);
}
std::string sound_definitions() {
  const std::string zero(1, '\0');
  return chunk(record(5, compacts({1'000'000, 10, 1000, 0})) + record(10, compact(0) + std::string("name", 5)) +
               record(12, compacts({0, 0, 0}) + kUndefined) + record(13, compacts({0, 0}) + "\x01" + compact(0)) +
               record(14, compacts({0, 0}) + "\x01" + compacts({5, 0})) +
               record(15, compacts({0, 0, 0}) + zero + compacts({0, 1, 2, 0}) + "\x1C\x04" + compact(0)) +
               record(18, compacts({0, 0}) + zero + compacts({1, 0}) + "\x04\x04" + compact(0)) +
               record(18, compacts({1, 0}) + zero + compacts({1, 0}) + "\x05\x04" + compact(0)) +
               record(22, compacts({0, 0, 1}) + kUndefined) +
               record(19, compacts({0, 0, 0}) + std::string("\x00\x00\x04\x01", 4) + compacts({0, 0})) +
               record(20, compact(0) + "\x01" + compact(0) + zero + zero) +
               record(34, compacts({0, 0}) + kUndefined + kUndefined));
}
std::string sound_events() {
  return chunk("\x05" + number(100, 8) + "\x0C" + compact(0) + record(14, compacts({0, 0, 1, 8})) + "\x05" +
               number(200, 8) + "\x0D" + compact(0));
}

class FuzzFiles : public Files {
 public:
  FuzzFiles() { bytes = {{"otf2", sound_anchor()}, {"def", sound_definitions()}, {"0.evt", sound_events()}}; }
  [[nodiscard]] Result<std::optional<Blob>> of_archive(std::string_view extension) const override {
    return find(std::string(extension));
  }
  [[nodiscard]] Result<std::optional<Blob>> of_location(std::uint64_t id, std::string_view extension) const override {
    return find(id == 0 ? name(id, extension) : std::string());
  }
  [[nodiscard]] std::string name(std::uint64_t location, std::string_view extension) const override {
    return std::to_string(location) + '.' + std::string(extension);
  }
  [[nodiscard]] std::vector<std::uint64_t> locations() const override { return {0}; }
  std::map<std::string, std::string> bytes;

 private:
  [[nodiscard]] Result<std::optional<Blob>> find(const std::string& key) const {
    const auto at = bytes.find(key);
    if (at == bytes.end()) return std::optional<Blob>();
    return std::optional<Blob>(Blob::own(key, at->second));
  }
};

void read_events(const Trace& trace) {
  auto merged = MergedEvents::over(trace);
  if (!merged.ok()) return;
  std::string detail;
  while (const Event* event = merged->next()) {
    detail.clear();
    (void)trace.name(*event);
    (void)trace.detail(*event, detail);
  }
}

// What commands ask of an archive, one by one.
constexpr std::size_t kQuestions = 5;
void ask(const std::shared_ptr<const Files>& files, std::size_t question) {
  const Work work = make_work(false, std::uint64_t{256} << 20);
  const auto archive = Archive::open(files, work);
  if (!archive.ok()) return;
  if (question == 0) {
    (void)count_events(**archive);
    return;
  }
  if (question == 1) {
    (void)dump(**archive, {false, false, {"anchor", "definitions", "local", "events"}},
               [](std::string_view) { return true; });
    return;
  }
  const auto trace = Otf2Trace::make(*archive);
  if (!trace.ok()) return;
  (void)(*trace)->known_span();
  if (question == 2) read_events(**trace);
  if (question == 3) (void)call_statistics(**trace, {});
  if (question == 4) (void)check_archive(**trace);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  constexpr std::array kRoles = {"otf2", "def", "0.def", "0.evt", "marker"};
  const Questions questions(input, kQuestions * kRoles.size());
  for (std::size_t i = 0; i < kQuestions * kRoles.size(); ++i) {
    // An anchor is nothing else.
    const std::size_t role = is_anchor(input) ? 0 : 1 + i / kQuestions % (kRoles.size() - 1);
    if (!questions.asks(i)) continue;
    auto files = std::make_shared<FuzzFiles>();
    files->bytes[kRoles[role]] = input;
    ask(files, i % kQuestions);
  }
  return 0;
}
