#include "formats/perfetto/tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "formats/perfetto/proto.hpp"
#include "trace/rank_names.hpp"

namespace fathom::perfetto {

namespace {

constexpr int kDeepest = 64;  // of parents; a ring of them ends there

struct Named {
  std::optional<std::int64_t> pid, tid;
  std::string name;
};

Named process_fields(std::string_view message) {
  Named out;
  std::string command;
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number == 1 && field.wire == Wire::varint) out.pid = static_cast<std::int32_t>(field.value);
    if (field.number == 2 && field.wire == Wire::bytes && command.empty()) command = field.bytes;
    if (field.number == 6 && field.wire == Wire::bytes) out.name = field.bytes;
  }
  if (out.name.empty()) out.name = command;
  return out;
}

Named thread_fields(std::string_view message) {
  Named out;
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number == 1 && field.wire == Wire::varint) out.pid = static_cast<std::int32_t>(field.value);
    if (field.number == 2 && field.wire == Wire::varint) out.tid = field.integer();
    if (field.number == 5 && field.wire == Wire::bytes) out.name = field.bytes;
  }
  return out;
}

CounterTrack counter_fields(std::string_view message, std::string& name) {
  CounterTrack out;
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number == 1 && name.empty())
      name = field.value == 1 ? "thread_time" : field.value == 2 ? "thread_instruction_count" : "";
    if (field.number == 3 && out.unit.empty())
      out.unit = field.value == 1 ? "ns" : field.value == 2 ? "count" : field.value == 3 ? "bytes" : "";
    if (field.number == 4 && field.value != 0) out.multiplier = field.integer();
    if (field.number == 5) out.incremental = field.value != 0;
    if (field.number == 6 && field.wire == Wire::bytes) out.unit = field.bytes;
  }
  return out;
}

}  // namespace

Track& Tracks::track(std::uint64_t uuid) {
  Track& found = tracks_[uuid];
  found.uuid = uuid;
  return found;
}

std::uint64_t Tracks::of_thread(std::int64_t process, std::int64_t thread) {
  constexpr std::uint64_t kMadeTracks = 0xE000'0000'0000'0000u;
  const auto [found, fresh] = thread_tracks_.try_emplace({process, thread}, kMadeTracks + thread_tracks_.size());
  if (fresh) {
    Track& made = track(found->second);
    made.is_thread = true;
    made.pid = process;
    made.tid = thread;
  }
  return found->second;
}

bool Tracks::describe(std::string_view message) {
  Track made;
  bool has_uuid = false;
  std::string name;
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    switch (field.number) {
      case 1:
        made.uuid = field.value;
        has_uuid = true;
        break;
      case 5:
        made.parent = field.value;
        break;
      case 2:
      case 10:
      case 13:
        if (field.wire == Wire::bytes && !field.bytes.empty()) name = field.bytes;
        break;
      case 3: {
        if (field.wire != Wire::bytes) break;
        Named named = process_fields(field.bytes);
        made.is_process = true;
        made.pid = named.pid;
        if (named.pid && !named.name.empty()) process_names_[*named.pid] = named.name;
        if (made.name.empty()) made.name = std::move(named.name);
        break;
      }
      case 4: {
        if (field.wire != Wire::bytes) break;
        Named named = thread_fields(field.bytes);
        made.is_thread = true;
        made.pid = named.pid;
        made.tid = named.tid;
        if (named.tid && !named.name.empty()) thread_names_[*named.tid] = named.name;
        made.name = std::move(named.name);
        break;
      }
      case 8:
        if (field.wire != Wire::bytes) break;
        made.is_counter = true;
        made.counter = counter_fields(field.bytes, made.name);
        break;
      case 12:
        made.rank = static_cast<std::int32_t>(field.value);
        break;
      default:
        break;
    }
  }
  if (!has_uuid) return false;
  if (!name.empty() && (made.name.empty() || !(made.is_thread || made.is_process))) made.name = std::move(name);
  Track& known = track(made.uuid);
  made.row = known.row;
  // A descriptor that comes again may say less.
  if (made.name.empty()) made.name = known.name;
  if (made.parent == 0) made.parent = known.parent;
  if (!made.is_thread && !made.is_process && !made.is_counter) {
    made.is_thread = known.is_thread;
    made.is_process = known.is_process;
    made.is_counter = known.is_counter;
    made.pid = known.pid;
    made.tid = known.tid;
    made.counter = known.counter;
  }
  if (made.is_thread && made.pid && made.tid) thread_tracks_.try_emplace({*made.pid, *made.tid}, made.uuid);
  known = std::move(made);
  return true;
}

void Tracks::describe_process(std::string_view message) {
  Named named = process_fields(message);
  if (named.pid && !named.name.empty()) process_names_[*named.pid] = std::move(named.name);
}

void Tracks::describe_thread(std::string_view message, std::uint64_t sequence_track) {
  Named named = thread_fields(message);
  Track& one = track(sequence_track);
  one.is_thread = true;
  one.pid = named.pid;
  one.tid = named.tid;
  if (named.pid && named.tid) thread_tracks_.try_emplace({*named.pid, *named.tid}, sequence_track);
  if (named.tid && !named.name.empty()) thread_names_[*named.tid] = named.name;
  if (!named.name.empty()) one.name = std::move(named.name);
}

void Tracks::describe_tree(std::string_view message) {
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.wire != Wire::bytes || (field.number != 1 && field.number != 2)) continue;
    std::optional<std::int64_t> id;
    std::string name;
    FieldCursor inner(field.bytes);
    for (Field part; inner.next(part);) {
      if (part.number == 1 && part.wire == Wire::varint) id = static_cast<std::int32_t>(part.value);
      if (part.number == (field.number == 1 ? 3U : 2U) && part.wire == Wire::bytes && name.empty()) name = part.bytes;
    }
    if (!id || name.empty()) continue;
    (field.number == 1 ? process_names_ : thread_names_)[*id] = std::move(name);
  }
}

std::uint32_t Tracks::row(std::uint64_t uuid) {
  Track& one = track(uuid);
  if (one.row == UINT32_MAX) {
    one.row = static_cast<std::uint32_t>(row_tracks_.size());
    row_tracks_.push_back(uuid);
  }
  return one.row;
}

std::uint32_t Tracks::row_beside(std::uint64_t uuid) {
  const Track& one = track(uuid);
  return one.parent != 0 && tracks_.count(one.parent) > 0 ? row(one.parent) : row(uuid);
}

const Track* Tracks::process_of(const Track& track) const {
  const Track* at = &track;
  for (int i = 0; i < kDeepest && at != nullptr; ++i) {
    if (at->is_process) return at;
    if (at->parent == 0) break;
    at = find(at->parent);
  }
  return nullptr;
}

std::vector<std::pair<std::uint32_t, SystemNode>> Tracks::places(SystemTree& tree) const {
  // Of every row: the process it belongs to (track or pid), or the track around it.
  struct Placed {
    std::uint32_t row;
    const Track* track;
    std::tuple<int, std::int64_t, std::uint64_t> group;  // kind of place, pid or order, uuid
    std::string group_name;
  };
  std::map<std::int64_t, const Track*> by_pid;  // the first of several processes with a number
  for (const auto& [uuid, track] : tracks_) {
    if (!track.is_process || !track.pid) continue;
    const Track*& known = by_pid[*track.pid];
    if (known == nullptr || uuid < known->uuid) known = &track;
  }
  std::vector<Placed> placed;
  for (std::uint32_t i = 0; i < row_tracks_.size(); ++i) {
    const Track& track = tracks_.at(row_tracks_[i]);
    Placed one{i, &track, {}, {}};
    const Track* process = process_of(track);
    // A process may be described without being named as the parent.
    if (process == nullptr && track.is_thread && track.pid) {
      if (const auto known = by_pid.find(*track.pid); known != by_pid.end()) process = known->second;
    }
    if (process != nullptr) {
      one.group = {0, process->pid.value_or(0), process->uuid};
      one.group_name = process->name;
      if (one.group_name.empty() && process->pid) {
        const auto known = process_names_.find(*process->pid);
        one.group_name = known != process_names_.end() ? known->second : fmt::format("process {}", *process->pid);
      }
    } else if (track.is_thread && track.pid) {
      one.group = {0, *track.pid, 0};
      const auto known = process_names_.find(*track.pid);
      one.group_name = known != process_names_.end() ? known->second : fmt::format("process {}", *track.pid);
    } else if (const Track* parent = track.parent != 0 ? find(track.parent) : nullptr) {
      one.group = {1, parent->rank, parent->uuid};
      one.group_name = parent->name;
    } else {
      one.group = {2, 0, 0};
      one.group_name = "tracks";
    }
    placed.push_back(std::move(one));
  }
  std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    const auto key = [](const Placed& one) {
      return std::tuple(one.group, !one.track->is_process, !one.track->is_thread, one.track->rank,
                        one.track->tid.value_or(0), one.row);
    };
    return key(a) < key(b);
  });
  std::vector<std::pair<std::uint32_t, SystemNode>> out;
  SystemNodeId group;
  std::int64_t order = 0;
  std::int64_t thread = 0;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const Placed& one = placed[i];
    if (i == 0 || placed[i - 1].group != one.group) {
      // Tracks above the one around it are places too.
      SystemNodeId above;
      std::vector<const Track*> chain;
      const Track* at =
          std::get<0>(one.group) == 2 || std::get<2>(one.group) == 0 ? nullptr : find(std::get<2>(one.group));
      for (int depth = 0; at != nullptr && at->parent != 0 && depth < kDeepest; ++depth) {
        at = find(at->parent);
        if (at != nullptr) chain.push_back(at);
      }
      for (auto outer = chain.rbegin(); outer != chain.rend(); ++outer) {
        SystemNode node;
        node.parent = above;
        node.kind = SystemKind::node;
        node.type = "track";
        node.name = (*outer)->name;
        above = tree.add(std::move(node));
      }
      SystemNode node;
      node.parent = above;
      node.kind = SystemKind::group;
      node.type = std::get<0>(one.group) == 0 ? "process" : "track";
      node.name = one.group_name;
      node.rank = rank_in_name(node.name).value_or(order);
      ++order;
      group = tree.add(std::move(node));
      thread = 0;
    }
    SystemNode node;
    node.parent = group;
    node.kind = SystemKind::location;
    node.type = one.track->is_thread ? "thread" : "track";
    node.name = one.track->name;
    if (node.name.empty() && one.track->tid) {
      const auto known = thread_names_.find(*one.track->tid);
      node.name = known != thread_names_.end() ? known->second : fmt::format("thread {}", *one.track->tid);
    }
    if (node.name.empty()) node.name = one.track->is_process ? "process" : fmt::format("track {}", one.track->uuid);
    node.rank = thread++;
    node.file_id = one.track->uuid;
    out.emplace_back(one.row, std::move(node));
  }
  return out;
}

}  // namespace fathom::perfetto
