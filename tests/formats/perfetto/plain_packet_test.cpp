// Packets that are read ahead: what the mapping makes of them is the same for any number of threads, and the same as
// for packets that are read in full.
#include "formats/perfetto/plain_packet.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/execution.hpp"
#include "formats/perfetto/proto.hpp"
#include "formats/registry.hpp"
#include "trace/trace.hpp"

namespace fathom::perfetto {
namespace {

struct Written {
  std::string text;
  std::map<std::string, std::int64_t> time;  // by region, inclusive
  std::map<std::string, int> calls;
};

std::string interned(std::uint64_t iid, const std::string& name) {
  std::string entry, data;
  put_number(entry, 1, iid);
  put_bytes(entry, 2, name);
  put_bytes(data, 2, entry);
  return data;
}

// Two sequences of 20,000 slices that follow each other, more than is read ahead at once. Names are interned, told in
// full (`plain` = false: all of them) or told anew under an old number; the second sequence has a default track.
Written written(bool plain) {
  Written made;
  std::mt19937 random(1);
  std::int64_t time = 1000;
  const auto packet = [&](std::uint64_t sequence, std::uint64_t flags, const std::string& event,
                          const std::string& data = {}, const std::string& defaults = {}) {
    std::string body;
    put_number(body, 8, static_cast<std::uint64_t>(time));
    put_number(body, 10, sequence);
    put_number(body, 13, flags);
    if (!data.empty()) put_bytes(body, 12, data);
    if (!defaults.empty()) put_bytes(body, 59, defaults);
    if (!event.empty()) put_bytes(body, 11, event);
    put_bytes(made.text, 1, body);
  };
  std::map<std::uint64_t, std::string> names[2];
  for (std::uint64_t s = 0; s < 2; ++s) {
    for (std::uint64_t iid = 1; iid <= 5; ++iid) {
      names[s][iid] = "f" + std::to_string(s * 2 + iid);
      std::string track, defaults;
      if (s == 1) put_number(track, 11, 900);
      if (s == 1) put_bytes(defaults, 11, track);
      packet(s + 1, iid == 1 ? 1 : 2, "", interned(iid, names[s][iid]), iid == 1 ? defaults : "");
    }
  }
  for (int i = 0; i < 40'000; ++i) {
    const std::uint64_t s = random() % 2;
    const std::uint64_t iid = 1 + random() % 5;
    if (random() % 1000 == 0)
      packet(s + 1, 2, "", interned(iid, names[s][iid] = "again" + std::to_string(random() % 4)));
    const bool in_full = !plain || random() % 10 == 0;
    const bool named_end = random() % 2 == 0;
    const std::int64_t duration = random() % 100;
    for (const std::uint64_t type : {1U, 2U}) {
      std::string event;
      put_number(event, 9, type);
      if (s == 0) put_number(event, 11, 800);
      if ((type == 1 || named_end) && in_full) put_bytes(event, 23, names[s][iid]);
      if ((type == 1 || named_end) && !in_full) put_number(event, 10, iid);
      packet(s + 1, 2, event);
      if (type == 1) time += duration;
    }
    made.time[names[s][iid]] += duration;
    ++made.calls[names[s][iid]];
    time += random() % 10;
  }
  return made;
}

std::shared_ptr<const Trace> read(const std::string& text, unsigned threads) {
  const Execution execution(threads);
  const ExecutionScope scope(execution);
  auto dataset = open_source(Source::of(Blob::own("made.pftrace", text)), make_work());
  if (!dataset.ok()) return nullptr;
  auto trace = (*dataset)->trace();
  return trace.ok() ? *trace : nullptr;
}

TEST(PlainPackets, AreTheSameForAnyNumberOfThreadsAndAsReadInFull) {
  for (const bool plain : {true, false}) {
    const Written made = written(plain);
    for (const unsigned threads : {1U, 4U}) {
      SCOPED_TRACE(std::to_string(threads) + (plain ? " threads, interned" : " threads, in full"));
      const auto trace = read(made.text, threads);
      ASSERT_NE(trace, nullptr);
      ASSERT_EQ(trace->location_count(), 2U);
      std::map<std::string, std::int64_t> time;
      std::map<std::string, int> calls;
      for (std::size_t i = 0; i < 2; ++i) {
        auto stream = trace->open(LocationId(i), {});
        ASSERT_TRUE(stream.ok());
        EventCursor cursor(*std::move(stream));
        std::int64_t begun = 0;
        while (const Event* event = cursor.next()) {
          const std::string name(trace->name(*event));
          if (event->kind == EventKind::enter) begun = event->time_ns;
          if (event->kind == EventKind::enter) ++calls[name];
          if (event->kind == EventKind::leave) time[name] += event->time_ns - begun;
        }
      }
      EXPECT_EQ(calls, made.calls);
      EXPECT_EQ(time, made.time);
    }
  }
}

// What is more than a plain begin or end is left to the mapping.
TEST(PlainPackets, OnlyBeginsAndEndsAreTakenApart) {
  const auto plain = [](std::initializer_list<std::pair<std::uint32_t, std::uint64_t>> event,
                        std::initializer_list<std::pair<std::uint32_t, std::uint64_t>> around) {
    std::string body, out;
    for (const auto& [field, value] : event) put_number(body, field, value);
    for (const auto& [field, value] : around) put_number(out, field, value);
    put_bytes(out, 11, body);
    PlainPacket packet;
    packet.bytes = out;
    packet.read();
    return packet.plain;
  };
  EXPECT_TRUE(plain({{9, 1}, {10, 3}, {11, 7}}, {{8, 100}, {10, 1}, {13, 2}}));
  EXPECT_TRUE(plain({{9, 2}}, {{8, 100}, {10, 1}}));
  EXPECT_FALSE(plain({{9, 1}, {11, 7}}, {{8, 100}, {10, 1}}));           // a begin without a name
  EXPECT_FALSE(plain({{9, 1}, {10, 3}}, {{10, 1}}));                     // no time
  EXPECT_FALSE(plain({{9, 1}, {10, 3}}, {{8, UINT64_MAX}, {10, 1}}));    // no possible time
  EXPECT_FALSE(plain({{9, 1}, {10, 3}}, {{8, 100}, {10, 1}, {13, 1}}));  // the sequence begins anew
  EXPECT_FALSE(plain({{9, 1}, {10, 3}}, {{8, 100}, {10, 1}, {58, 3}}));  // another clock
  EXPECT_FALSE(plain({{9, 3}, {10, 3}}, {{8, 100}, {10, 1}}));           // an instant
  EXPECT_FALSE(plain({{9, 2}, {36, 5}}, {{8, 100}, {10, 1}}));           // a flow
}

}  // namespace
}  // namespace fathom::perfetto
