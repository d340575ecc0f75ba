#include "formats/ovni/count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/share_out.hpp"
#include "base/visible.hpp"
#include "formats/ovni/dump.hpp"

namespace fathom::ovni {

template <class Pack>
static void pack_fields(Pack& pack, StreamCounts& counts) {
  pack(counts.codes, counts.events, counts.first_clock, counts.last_clock);
}

namespace {

// Codes that the catalogue knows are counted in an array, all others in a table.
struct Counter {
  std::vector<std::uint64_t> known = std::vector<std::uint64_t>(all_events().size(), 0);
  std::unordered_map<Mcv, std::uint64_t> others;

  void add(Mcv mcv) {
    if (const int index = find_event(mcv); index >= 0) {
      ++known[static_cast<std::size_t>(index)];
    } else {
      ++others[mcv];
    }
  }
};

}  // namespace

Result<std::vector<StreamCounts>> count_events(const NativeTrace& trace, const Work& work) {
  const auto count = [&](std::size_t i, StreamCounts& counts) -> Result<void> {
    StreamCursor cursor(trace.streams[i]);
    Counter counter;
    Event event;
    while (cursor.next(event)) {
      if (counts.events++ == 0) counts.first_clock = static_cast<std::int64_t>(event.clock());
      counter.add(event.mcv());
    }
    if (counts.events > 0) counts.last_clock = static_cast<std::int64_t>(event.clock());
    for (std::size_t k = 0; k < counter.known.size(); ++k) {
      if (counter.known[k] > 0) counts.codes.push_back({pack_mcv(all_events()[k].mcv), counter.known[k]});
    }
    for (const auto& [mcv, times] : counter.others) counts.codes.push_back({mcv, times});
    return report_incomplete(trace, i, cursor, work);
  };
  const auto bytes = [&](std::size_t i) { return trace.streams[i].blob.size(); };
  return share_out<StreamCounts>("counting events", trace.streams.size(), bytes, Holder::first, count);
}

std::vector<CodeCount> sum_counts(const std::vector<StreamCounts>& counts) {
  std::unordered_map<Mcv, std::uint64_t> sums;
  for (const StreamCounts& stream : counts) {
    for (const CodeCount& code : stream.codes) sums[code.mcv] += code.count;
  }
  std::vector<CodeCount> list;
  for (const auto& [mcv, count] : sums) list.push_back({mcv, count});
  std::sort(list.begin(), list.end(), [](const CodeCount& a, const CodeCount& b) {
    // Codes compare as their three characters do.
    return a.count != b.count ? a.count > b.count : byte_swapped(a.mcv) < byte_swapped(b.mcv);
  });
  return list;
}

std::string counts_text(const std::vector<CodeCount>& counts) {
  std::string text;
  std::array<char, 3> code;
  for (const CodeCount& item : counts)
    text += fmt::format("{} {:>10}\n", visible(mcv_text(item.mcv, code)), item.count);
  return text;
}

}  // namespace fathom::ovni
