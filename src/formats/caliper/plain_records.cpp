#include "formats/caliper/plain_records.hpp"

#include <algorithm>

namespace fathom::caliper {

namespace {

bool pass(const char*& at, const char* end, std::string_view word) {
  if (static_cast<std::size_t>(end - at) < word.size() || std::string_view(at, word.size()) != word) return false;
  at += word.size();
  return true;
}

// Digits, few enough to be a number of 32 bits that is none of our marks.
bool pass_number(const char*& at, const char* end, std::uint32_t& number) {
  constexpr std::ptrdiff_t kMost = 9;
  const char* const begin = at;
  number = 0;
  for (; at < end && *at >= '0' && *at <= '9'; ++at) number = number * 10 + static_cast<std::uint32_t>(*at - '0');
  return at > begin && at - begin <= kMost;
}

}  // namespace

// "__rec=ctx,ref=12,attr=3=4,data=0.5=7": one node or none, as many values as attributes, nothing escaped.
bool PlainPiece::take(std::string_view line) {
  const char* at = line.data();
  const char* const end = at + line.size();
  if (!pass(at, end, "__rec=ctx,")) return false;
  std::uint32_t node = kNoNode;
  if (pass(at, end, "ref=") && (!pass_number(at, end, node) || !pass(at, end, ","))) return false;
  if (!pass(at, end, "attr=")) return false;
  const std::size_t first = records.entries.size();
  do {
    Entry entry;
    if (!pass_number(at, end, entry.attribute)) return false;
    records.entries.push_back(entry);
  } while (pass(at, end, "="));
  if (!pass(at, end, ",data")) return false;
  for (std::size_t i = first; i < records.entries.size(); ++i) {
    if (!pass(at, end, "=")) return false;
    const char* const begin = at;
    while (at < end && *at != '=' && *at != ',' && *at != '\\') ++at;
    records.entries[i].begin = begin;
    records.entries[i].size = static_cast<std::uint32_t>(at - begin);
  }
  if (at != end) return false;
  records.all.push_back({node, static_cast<std::uint32_t>(records.entries.size() - first)});
  return true;
}

void PlainPiece::read(LineCursor text) {
  constexpr std::size_t kUsual = 16;  // bytes of an entry, or less
  records.entries.reserve(text.rest().size() / kUsual);
  const std::uint64_t before = text.number();
  while (const auto line = text.next()) {
    const std::size_t entries = records.entries.size();
    if (line->size() <= kLongestLine && take(*line)) continue;
    const auto most = line->size() <= kLongestLine ? std::count(line->begin(), line->end(), '=') : 0;
    records.entries.resize(entries);
    records.entries.resize(entries + static_cast<std::size_t>(most));
    records.all.push_back({kOther, static_cast<std::uint32_t>(most)});
    others.push_back({*line, text.number() - before});
  }
  lines = text.number() - before;
}

}  // namespace fathom::caliper
