#include "trace/analysis/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace fathom::analysis {

namespace {

struct Flow {
  std::uint64_t messages = 0;
  double bytes = 0;
};

struct Matrix {
  std::size_t processes = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Flow> flows;  // from, to
  std::uint64_t messages = 0;
  double bytes = 0;
};

Matrix matrix_of(const RunCalls& run) {
  Matrix out;
  out.processes = run.processes.size();
  for (const LocationCalls& here : run.locations) {
    std::unordered_map<std::uint32_t, Flow> to;
    for (const Send& half : here.sends) {
      if (!half.matched()) continue;
      Flow& flow = to[run.locations[half.receiver].process];
      ++flow.messages;
      flow.bytes += static_cast<double>(half.bytes);
    }
    for (const auto& [process, flow] : to) {
      Flow& all = out.flows[{here.process, process}];
      all.messages += flow.messages;
      all.bytes += flow.bytes;
      out.messages += flow.messages;
      out.bytes += flow.bytes;
    }
  }
  return out;
}

std::uint32_t hub_of(const Matrix& matrix) {
  if (matrix.processes < 4) return kNone;
  std::vector<std::uint64_t> ends(matrix.processes);
  std::vector<std::size_t> sends_to(matrix.processes);
  std::vector<std::size_t> receives_from(matrix.processes);
  for (const auto& [pair, flow] : matrix.flows) {
    ends[pair.first] += flow.messages;
    if (pair.second != pair.first) ends[pair.second] += flow.messages;
    ++sends_to[pair.first];
    ++receives_from[pair.second];
  }
  const double others = static_cast<double>(matrix.processes) - 1;
  for (std::uint32_t p = 0; p < matrix.processes; ++p) {
    if (static_cast<double>(ends[p]) >= 0.9 * static_cast<double>(matrix.messages) &&
        static_cast<double>(sends_to[p]) >= 0.8 * others && static_cast<double>(receives_from[p]) >= 0.8 * others) {
      return p;
    }
  }
  return kNone;
}

struct Offset {
  std::int64_t offset = 0;
  std::uint64_t messages = 0;
  std::size_t senders = 0;
};

std::vector<Offset> offsets_of(const RunCalls& run, const Matrix& matrix) {
  std::map<std::int64_t, Offset> by_offset;
  const auto size = static_cast<std::int64_t>(matrix.processes);
  for (const auto& [pair, flow] : matrix.flows) {
    std::int64_t offset = (std::int64_t{run.ranks[pair.second]} - run.ranks[pair.first]) % size;
    if (offset > size / 2) offset -= size;
    if (offset <= -(size + 1) / 2) offset += size;
    Offset& entry = by_offset[offset];
    entry.offset = offset;
    entry.messages += flow.messages;
    ++entry.senders;
  }
  std::vector<Offset> out;
  for (const auto& [offset, entry] : by_offset) out.push_back(entry);
  std::stable_sort(out.begin(), out.end(), [](const Offset& a, const Offset& b) { return a.messages > b.messages; });
  return out;
}

// Nine tenths of the messages at a few distances, in both directions, from most ranks.
bool is_stencil(const Matrix& matrix, const std::vector<Offset>& offsets, std::size_t most) {
  std::uint64_t covered = 0;
  std::size_t used = 0;
  while (used < offsets.size() && used < most &&
         static_cast<double>(covered) < 0.9 * static_cast<double>(matrix.messages)) {
    covered += offsets[used++].messages;
  }
  if (static_cast<double>(covered) < 0.9 * static_cast<double>(matrix.messages)) return false;
  const auto size = static_cast<std::int64_t>(matrix.processes);
  for (std::size_t i = 0; i < used; ++i) {
    const bool both = std::any_of(offsets.begin(), offsets.end(),
                                  [&](const Offset& other) { return (other.offset + offsets[i].offset) % size == 0; });
    if (!both || 2 * offsets[i].senders < matrix.processes) return false;
  }
  return true;
}

bool is_butterfly(const RunCalls& run, const Matrix& matrix) {
  std::uint64_t powers = 0;
  for (const auto& [pair, flow] : matrix.flows) {
    const auto difference = static_cast<std::uint32_t>(run.ranks[pair.first] ^ run.ranks[pair.second]);
    if (difference != 0 && (difference & (difference - 1)) == 0) powers += flow.messages;
  }
  return static_cast<double>(powers) >= 0.9 * static_cast<double>(matrix.messages);
}

bool is_all_to_all(const Matrix& matrix) {
  const double pairs = static_cast<double>(matrix.processes) * (static_cast<double>(matrix.processes) - 1);
  if (static_cast<double>(matrix.flows.size()) < 0.8 * pairs) return false;
  const double mean = static_cast<double>(matrix.messages) / static_cast<double>(matrix.flows.size());
  double squares = 0;
  for (const auto& [pair, flow] : matrix.flows) {
    const double difference = static_cast<double>(flow.messages) - mean;
    squares += difference * difference;
  }
  return std::sqrt(squares / static_cast<double>(matrix.flows.size())) < 0.5 * mean;
}

}  // namespace

Pattern find_pattern(const RunCalls& run) {
  const Matrix matrix = matrix_of(run);
  Pattern out;
  out.messages = matrix.messages;
  out.bytes = matrix.bytes;
  if (matrix.messages == 0) return out;
  const std::vector<Offset> offsets = offsets_of(run, matrix);
  constexpr std::size_t kShown = 26;
  for (std::size_t i = 0; i < offsets.size() && i < kShown; ++i) out.offsets.push_back(offsets[i].offset);
  std::uint64_t neighbours = 0;
  for (const Offset& offset : offsets) neighbours += std::abs(offset.offset) == 1 ? offset.messages : 0;
  out.hub = hub_of(matrix);
  constexpr std::size_t kStraight = 6;
  constexpr std::size_t kDiagonal = 26;
  if (out.hub != kNone) {
    out.name = "hub";
  } else if (static_cast<double>(neighbours) >= 0.9 * static_cast<double>(matrix.messages)) {
    out.name = "ring";
  } else if (is_stencil(matrix, offsets, kStraight) ||
             (matrix.processes > kDiagonal + 1 && is_stencil(matrix, offsets, kDiagonal))) {
    out.name = "stencil";
  } else if (is_butterfly(run, matrix)) {
    out.name = "butterfly";
  } else if (is_all_to_all(matrix)) {
    out.name = "all-to-all";
  } else {
    out.name = "irregular";
  }
  std::vector<Flow> received(matrix.processes);
  for (const auto& [pair, flow] : matrix.flows) {
    received[pair.second].messages += flow.messages;
    received[pair.second].bytes += flow.bytes;
  }
  const double mean_messages = static_cast<double>(matrix.messages) / static_cast<double>(matrix.processes);
  const double mean_bytes = matrix.bytes / static_cast<double>(matrix.processes);
  for (std::uint32_t p = 0; p < matrix.processes; ++p) {
    if (static_cast<double>(received[p].messages) > 3 * mean_messages || received[p].bytes > 3 * mean_bytes) {
      out.hot_receivers.push_back(p);
    }
  }
  return out;
}

}  // namespace fathom::analysis
