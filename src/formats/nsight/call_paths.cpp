#include "formats/nsight/call_paths.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "base/text.hpp"

namespace fathom::nsight {
namespace {

constexpr char kUnit = '\x1f';

// SQL's LIKE with `prefix` and anything behind it: letters in any case, '_' for one character, '%' for any number.
bool starts_like(std::string_view text, std::string_view prefix) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (prefix.find('%') == std::string_view::npos) {
    if (text.size() < prefix.size()) return false;
    for (std::size_t i = 0; i < prefix.size(); ++i) {
      if (prefix[i] != '_' && lower(text[i]) != lower(prefix[i])) return false;
    }
    return true;
  }
  // With '%' inside: the usual search that goes back to the last '%'.
  std::size_t t = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t mark = 0;
  while (p < prefix.size()) {
    if (prefix[p] == '%') {
      star = p++;
      mark = t;
    } else if (t < text.size() && (prefix[p] == '_' || lower(prefix[p]) == lower(text[t]))) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos && mark < text.size()) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  return true;
}

// One level below; depths of a damaged database may be the largest number there is.
std::int64_t below(std::int64_t depth) { return depth == std::numeric_limits<std::int64_t>::max() ? depth : depth + 1; }

// What the rows of one depth add up to, by path.
struct PathSum {
  double duration = 0;
  bool ranges = false;  // some row of it is a range of the CPU
};

// From inclusive to exclusive durations: a path that has ranges one level below loses all that lies there.
void make_exclusive(std::vector<ResolvedPath>& rows) {
  std::map<std::int64_t, std::map<std::string_view, PathSum>> levels;
  for (const ResolvedPath& row : rows) {
    PathSum& sum = levels[row.depth][row.path];
    sum.duration += row.duration.value_or(0);
    sum.ranges |= !row.correlation.has_value();
  }
  std::map<std::pair<std::int64_t, std::string_view>, double> loss;
  for (const auto& [depth, paths] : levels) {
    const auto next = levels.find(below(depth));
    if (next == levels.end() || next->first == depth) continue;
    std::vector<std::pair<std::string, const std::pair<const std::string_view, PathSum>*>> children;
    for (const auto& child : next->second) children.emplace_back(to_lower(child.first), &child);
    std::sort(children.begin(), children.end());
    for (const auto& [path, own] : paths) {
      // What stands before the first wild card is the same in all that match.
      const std::string head = to_lower(path.substr(0, path.find_first_of("_%")));
      PathSum sum;
      for (auto it = std::lower_bound(children.begin(), children.end(), head,
                                      [](const auto& child, const std::string& h) { return child.first < h; });
           it != children.end() && it->first.starts_with(head); ++it) {
        if (!starts_like(it->second->first, path)) continue;
        sum.duration += it->second->second.duration;
        sum.ranges |= it->second->second.ranges;
      }
      if (sum.ranges) loss[{depth, path}] = sum.duration;
    }
  }
  for (ResolvedPath& row : rows) {
    const auto found = loss.find({row.depth, row.path});
    if (found != loss.end() && row.duration) *row.duration -= found->second;
  }
}

// For each call the range of its thread that encloses it and started last.
std::vector<const Range*> enclosing_ranges(const Report& report) {
  std::unordered_map<std::int64_t, std::vector<const Range*>> by_thread;
  for (const Range& range : report.ranges) by_thread[range.thread].push_back(&range);
  for (auto& [thread, ranges] : by_thread) {
    std::stable_sort(ranges.begin(), ranges.end(), [](const Range* a, const Range* b) { return a->start < b->start; });
  }
  std::vector<std::size_t> order(report.calls.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return report.calls[a].start < report.calls[b].start; });
  struct Open {
    std::size_t next = 0;
    std::vector<const Range*> stack;
  };
  std::unordered_map<std::int64_t, Open> open;
  std::vector<const Range*> found(report.calls.size(), nullptr);
  for (const std::size_t i : order) {
    const ApiCall& call = report.calls[i];
    const auto ranges = by_thread.find(call.thread);
    if (ranges == by_thread.end()) continue;
    Open& now = open[call.thread];
    while (now.next < ranges->second.size() && ranges->second[now.next]->start < call.start) {
      // Those that ended before this one began are of no use any more.
      const Range* range = ranges->second[now.next++];
      while (!now.stack.empty() && now.stack.back()->end <= range->start) now.stack.pop_back();
      now.stack.push_back(range);
    }
    while (!now.stack.empty() && now.stack.back()->end <= call.start) now.stack.pop_back();
    for (auto it = now.stack.rbegin(); it != now.stack.rend(); ++it) {
      if ((*it)->end > call.end) {
        found[i] = *it;
        break;
      }
    }
  }
  return found;
}

std::vector<ResolvedPath> from_markers(const Report& report) {
  std::vector<ResolvedPath> rows;
  std::map<std::string_view, ResolvedPath> ranges;
  for (const Range& range : report.ranges) {
    ResolvedPath& row = ranges.try_emplace(range.path, ResolvedPath{{}, range.path, range.depth, 0.0}).first->second;
    *row.duration += static_cast<double>(range.length());
  }
  for (auto& [path, row] : ranges) rows.push_back(std::move(row));
  const auto enclosing = enclosing_ranges(report);
  for (std::size_t i = 0; i < report.calls.size(); ++i) {
    if (enclosing[i] == nullptr) continue;
    const ApiCall& call = report.calls[i];
    std::string path = enclosing[i]->path;
    if (path.starts_with(kUnit)) path += kUnit;
    path.append("->").append(call.name);
    rows.push_back({call.correlation, std::move(path), below(enclosing[i]->depth), static_cast<double>(call.length())});
  }
  rows.push_back({0, std::string(kUncorrelated), 0, {}});
  make_exclusive(rows);
  return rows;
}

// The id of a chain: numbers of a damaged database may be the largest there are.
std::int64_t chain_id(std::int64_t told, std::int64_t offset) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(told) + static_cast<std::uint64_t>(offset));
}

// How far the ids of chains lie above what calls say. Some exports count calls' chains from 0 and the chains themselves
// from 1, others mean the id itself; right is what leads to chains.
std::int64_t chain_offset(const Report& report) {
  std::size_t missing[2] = {0, 0};
  for (const ApiCall& call : report.calls) {
    if (!call.chain) continue;
    for (const std::int64_t offset : {0, 1})
      missing[offset] += report.chains.contains(chain_id(*call.chain, offset)) ? 0 : 1;
  }
  return missing[0] < missing[1] ? 0 : 1;
}

// Every call counts, also where threads or processes use the same correlation id: times add up to what is recorded.
std::vector<ResolvedPath> from_chains(const Report& report) {
  std::vector<ResolvedPath> rows;
  const std::int64_t offset = chain_offset(report);
  const std::vector<bool> repeated = repeated_calls(report);
  for (std::size_t i = 0; i < report.calls.size(); ++i) {
    if (repeated[i]) continue;
    const ApiCall& call = report.calls[i];
    ResolvedPath row{call.correlation, std::string(call.name), 0, static_cast<double>(call.length())};
    const auto chain = call.chain ? report.chains.find(chain_id(*call.chain, offset)) : report.chains.end();
    if (chain != report.chains.end() && chain->second.depth > 0) {
      row.path = chain->second.path + "->" + row.path;
      row.depth = chain->second.depth;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Kernels that ran while the CPU was in a path, against the path's own time.
std::vector<IdlePath> idle_paths(const Report& report, const std::vector<ResolvedPath>& rows) {
  struct Change {
    std::int64_t time;
    int kernels;  // +1, -1 or 0
    const Range* range;
    bool begins;
  };
  std::vector<Change> changes;
  for (const Kernel& k : report.kernels) {
    changes.push_back({k.start, 1, nullptr, false});
    changes.push_back({k.end, -1, nullptr, false});
  }
  for (const Range& r : report.ranges) {
    changes.push_back({r.start, 0, &r, true});
    changes.push_back({r.end, 0, &r, false});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.time < b.time; });
  const auto earlier = [](const Range* a, const Range* b) {
    return a->start != b->start ? a->start < b->start : a < b;
  };
  std::set<const Range*, decltype(earlier)> active(earlier);
  std::map<std::string_view, double> busy;
  std::int64_t running = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change& change = changes[i];
    running += change.kernels;
    if (change.range != nullptr && change.begins) active.insert(change.range);
    if (change.range != nullptr && !change.begins) active.erase(change.range);
    if (i + 1 == changes.size() || running <= 0 || active.empty()) continue;
    const auto length = changes[i + 1].time - change.time;
    if (length > 0) busy[(*active.rbegin())->path] += static_cast<double>(length) * static_cast<double>(running);
  }
  std::vector<IdlePath> idle;
  for (const ResolvedPath& row : rows) {
    if (row.correlation || !row.duration) continue;
    const auto found = busy.find(row.path);
    if (found != busy.end() && found->second < *row.duration) idle.push_back({row.path, *row.duration - found->second});
  }
  return idle;
}

}  // namespace

std::vector<bool> repeated_calls(const Report& report) {
  std::vector<std::size_t> order(report.calls.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [&](std::size_t i) {
    const ApiCall& call = report.calls[i];
    // The longer one first, and the one with a chain.
    return std::tuple(call.thread, call.correlation, call.start, ~call.end, !call.chain.has_value());
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<bool> repeated(report.calls.size(), false);
  const ApiCall* outer = nullptr;
  for (const std::size_t i : order) {
    const ApiCall& call = report.calls[i];
    const bool same = outer != nullptr && outer->thread == call.thread && outer->correlation == call.correlation;
    if (same && call.correlation != 0 && call.end <= outer->end) {
      repeated[i] = true;
    } else {
      outer = &call;
    }
  }
  return repeated;
}

std::string decode_path(std::string_view path, const std::unordered_map<std::string, std::string>& symbols) {
  if (!path.starts_with(kUnit)) {
    std::string out(path);
    std::erase(out, kUnit);
    return out;
  }
  std::string out;
  for (const std::string_view piece : split(path.substr(1), kUnit)) {
    if (piece.starts_with("->")) {
      out += piece;
      continue;
    }
    if (!out.empty()) out += "->";
    const auto found = symbols.find(std::string(piece));
    out += found == symbols.end() ? std::string(piece) : found->second;
  }
  return out;
}

CallPaths resolve_call_paths(const Report& report) {
  CallPaths result;
  if (report.resolved) {
    result.rows = *report.resolved;
    result.idle = report.idle;
  } else if (report.marked) {
    result.rows = from_markers(report);
    result.idle = idle_paths(report, result.rows);
  } else {
    result.rows = from_chains(report);
  }
  for (ResolvedPath& row : result.rows) row.path = decode_path(row.path, report.symbols);
  for (IdlePath& idle : result.idle) idle.path = decode_path(idle.path, report.symbols);
  return result;
}

}  // namespace fathom::nsight
