// One trace per kind of defect: what `check` says about it, and where.
#include "formats/ovni/check.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "made_trace.hpp"
#include "ovni_cases.hpp"

namespace fathom::ovni {
namespace {

struct Found {
  std::string id;
  std::string file;  // its name alone
  std::uint64_t at = 0;
  std::string text;
};

std::vector<Found> check(const std::filesystem::path& root) {
  const Work work = make_work();
  work->diagnostics.list_every_occurrence();
  auto trace = open_native(root, work);
  if (trace.ok()) {
    EXPECT_TRUE(check_trace(*trace, work).ok());
  } else {
    (void)work->diagnostics.warn("error", trace.error().place(), trace.error().what());
  }
  std::vector<Found> found;
  for (const Diagnostic& one : work->diagnostics.all()) {
    found.push_back({one.id, std::filesystem::path(one.place.file).filename().string(),
                     one.place.offset.value_or(one.place.line.value_or(0)), one.text});
  }
  return found;
}

// Events behind a sound beginning, whose size is `kBegin`.
constexpr std::uint64_t kBegin = 8 + 28;
std::string stream_with(const std::function<void(StreamBuilder&)>& add) {
  StreamBuilder stream;
  stream.event("OHx", 1000, Payload().add(std::int32_t{0}).add(std::int32_t{-1}).add(std::uint64_t{0}));
  add(stream);
  stream.event("OHe", 5000);
  return stream.bytes();
}

void expect_one(const std::string& bytes, const std::string& id, std::uint64_t at, const std::string& words,
                const Metadata& metadata = made_metadata()) {
  TemporaryDirectory scratch;
  const auto found = check(write_made(scratch.path(), bytes, metadata));
  ASSERT_EQ(found.size(), 1U) << id << ": " << (found.empty() ? "nothing" : found[0].text + " … " + found.back().text);
  EXPECT_EQ(found[0].id, id);
  EXPECT_EQ(found[0].at, at) << found[0].text;
  EXPECT_NE(found[0].text.find(words), std::string::npos) << found[0].text;
}

TEST(OvniCheck, SoundTraceHasNoDefects) {
  TemporaryDirectory scratch;
  EXPECT_TRUE(check(write_made(scratch.path())).empty());
}

TEST(OvniCheck, Events) {
  using B = StreamBuilder;
  const auto with = [](const std::function<void(B&)>& add) { return stream_with(add); };
  expect_one(with([](B& s) { s.event("OB.", 900); }), "ovni.clock_order", kBegin, "clock goes backwards: 1000");
  expect_one(with([](B& s) { s.event("Z?!", 1100); }), "ovni.event", kBegin, "unknown model 'Z'");
  expect_one(with([](B& s) { s.event("OX!", 1100); }), "ovni.event", kBegin, "no such event");
  expect_one(with([](B& s) { s.event("6W[", 1100); }), "ovni.event", kBegin, "not enabled");
  expect_one(with([](B& s) { s.event("OHr", 1100); }), "ovni.event", kBegin, "is Running and cannot become");
  expect_one(with([](B& s) { s.event("VSf", 1100); }), "ovni.event", kBegin, "empty stack");
  expect_one(with([](B& s) { s.event("VSh", 1100).event("VS]", 1200).event("VSf", 1300); }), "ovni.event", kBegin + 12,
             "is on top");
  expect_one(with([](B& s) { s.event("VTx", 1100, Payload().add(std::uint32_t{7}).add(std::uint32_t{0})); }),
             "ovni.event", kBegin, "task 7 does not exist");
  expect_one(with([](B& s) { s.event("OM=", 1100, Payload().add(std::int64_t{1}).add(std::int32_t{9})); }),
             "ovni.event", kBegin, "mark type 9");
  // A payload that a model needs, and one that only its readers do.
  expect_one(with([](B& s) { s.event("OM=", 1100, Payload().add(std::int64_t{1})); }), "ovni.event", kBegin,
             "8 bytes, expected 12");
  expect_one(with([](B& s) { s.event("OHC", 1100, Payload().add(std::int32_t{1})); }), "ovni.payload", kBegin,
             "4 bytes, expected a payload of at least 12");
}

// A trace that ends inside a subsystem, as the emulator judges it with -l.
TEST(OvniCheck, SubsystemsThatAreLeftOpen) {
  expect_one(stream_with([](StreamBuilder& s) { s.event("VSh", 1100); }), "ovni.stack_left", 0,
             "1 values on its stack");
}

// One line that says what helps, however many events are out of order.
TEST(OvniCheck, UnsortedEventsAreToldOnce) {
  TemporaryDirectory scratch;
  const auto found = check(write_made(scratch.path(), stream_with([](StreamBuilder& s) {
                                        s.event("OB.", 1300).event("OB.", 1200).event("OB.", 1400).event("OB.", 1100);
                                      }),
                                      made_metadata()));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, "ovni.clock_order");
  EXPECT_NE(found[0].text.find("fathom sort"), std::string::npos);
}

TEST(OvniCheck, EndsOfStreams) {
  const std::string whole = made_stream();
  // Cut inside the last event: it is lost, and the thread never ends.
  TemporaryDirectory scratch;
  const auto found = check(write_made(scratch.path(), whole.substr(0, whole.size() - 5)));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].id, "ovni.incomplete_event");
  EXPECT_EQ(found[0].at, whole.size() - 12);
  EXPECT_EQ(found[1].id, "ovni.not_dead");
  expect_one(whole.substr(0, whole.size() - 12), "ovni.not_dead", 0, "not dead at the end but Running");
}

TEST(OvniCheck, Headers) {
  for (const auto& [bytes, at, words] :
       {std::tuple(std::string(), 0U, "empty"), std::tuple(std::string("ovni\1"), 0U, "incomplete"),
        std::tuple(std::string("ovnj\1\0\0\0", 8), 0U, "expected 'ovni'"),
        std::tuple(std::string("ovni\2\0\0\0", 8), 4U, "expected 1, found 2")}) {
    TemporaryDirectory scratch;
    write_made(scratch.path());
    const auto found = check(write_made(scratch.path(), bytes, made_metadata(12)));
    ASSERT_GE(found.size(), 1U);
    EXPECT_EQ(found[0].id, "ovni.stream_unusable");
    EXPECT_EQ(found[0].file, "stream.obs");
    EXPECT_EQ(found[0].at, at);
    EXPECT_NE(found[0].text.find(words), std::string::npos) << found[0].text;
  }
}

TEST(OvniCheck, Metadata) {
  Metadata metadata = made_metadata();
  metadata.finished.reset();
  expect_one(made_stream(), "ovni.metadata", 0, "ovni.finished", metadata);
  metadata = made_metadata();
  metadata.require->at(1).second = "9.0.0";
  expect_one(made_stream(), "ovni.metadata", 0, "nosv is required in version 9.0.0", metadata);
  metadata = made_metadata();
  metadata.cpus = {{{0, 4}, {2, 5}}};
  expect_one(made_stream(), "ovni.metadata", 0, "0 to 1", metadata);
  // Broken JSON costs the stream, and says where.
  TemporaryDirectory scratch;
  write_made(scratch.path());
  write_made(scratch.path(), made_stream(), made_metadata(12));
  std::ofstream(scratch / "loom.node.1/proc.10/thread.12/stream.json") << "{\"version\": 3,,}";
  const auto found = check(scratch.path());
  ASSERT_GE(found.size(), 1U);
  EXPECT_EQ(found[0].id, "ovni.stream_unusable");
  EXPECT_EQ(found[0].file, "stream.json");
  EXPECT_EQ(found[0].at, 14U);
}

TEST(OvniCheck, Clocks) {
  TemporaryDirectory scratch;
  write_made(scratch.path());
  StreamBuilder far;
  far.event("OHx", 4'000'000'000'000, Payload().add(std::int32_t{1}).add(std::int32_t{-1}).add(std::uint64_t{0}));
  far.event("OHe", 4'000'000'000'001);
  write_made(scratch.path(), far.bytes(), made_metadata(12));
  auto found = check(scratch.path());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, "ovni.clock_gap");
  EXPECT_EQ(found[0].at, 8U);
  std::ofstream(scratch / "clock-offsets.txt") << "heading\n\n0 node 0 0\n";
  found = check(scratch.path());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].id, "ovni.clock_offsets");
  EXPECT_EQ(found[0].at, 3U);  // line
}

}  // namespace
}  // namespace fathom::ovni
