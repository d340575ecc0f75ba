#include "formats/dumpi/resolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/parallel.hpp"

namespace fathom::dumpi {

namespace {

using Ranks = std::vector<std::int32_t>;
constexpr std::int64_t kCommNull = 1;
constexpr std::int64_t kCommWorld = 2;
constexpr std::int64_t kCommSelf = 3;

// A call that concerns groups or communicators, with the arguments that matter.
struct Operation {
  std::uint16_t id = 0;
  std::uint64_t number = 0;
  std::int64_t object = 0;  // communicator, group, window or file it works on
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
  std::int64_t result = 0;
  std::int64_t observed = -1;  // rank in the new communicator, where the program asked for it
  std::vector<std::int64_t> list;
};

struct Rank {
  std::deque<Operation> operations;
  std::size_t at = 0;
  std::unordered_map<std::int64_t, std::int64_t> communicators;  // local id -> global
  std::unordered_map<std::int64_t, std::optional<Ranks>> groups;
  std::unordered_map<std::int64_t, std::int64_t> windows, files;
  std::int64_t waits_for = -1;
};

std::vector<std::int64_t> list_of(const Values& values) {
  std::vector<std::int64_t> list(values.size());
  for (std::uint32_t i = 0; i < values.size(); ++i) list[i] = values[i];
  return list;
}

// Rows of (first, last, stride), as they stand in the file.
std::vector<std::int64_t> ranges_of(const Call& call, std::size_t argument) {
  std::vector<std::int64_t> list;
  const std::byte* p = call.raw(argument);
  if (p == nullptr) return list;
  const auto rows = detail::load<std::uint32_t>(p);
  p += 4;
  for (std::uint32_t row = 0; row < rows; ++row, p += 16) {
    for (std::size_t n = 0; n < 3; ++n) list.push_back(detail::load<std::int32_t>(p + 4 + 4 * n));
  }
  return list;
}

std::optional<Operation> operation_of(const Call& call) {
  Operation op;
  op.id = call.id;
  op.number = call.number;
  const auto set = [&](std::int64_t object, std::int64_t result) {
    op.object = object;
    op.result = result;
  };
  switch (call.id) {
    case ids::kCommRank:
    case ids::kCommGroup:
    case ids::kCommRemoteGroup:
    case ids::kCommDup:
    case ids::kWinGetGroup:
    case ids::kFileGetGroup:
      set(call.integer(0), call.integer(1));
      break;
    case ids::kGroupUnion:
    case ids::kGroupIntersection:
    case ids::kGroupDifference:
      set(call.integer(0), call.integer(2));
      op.a = call.integer(1);
      break;
    case ids::kGroupIncl:
    case ids::kGroupExcl:
      set(call.integer(0), call.integer(3));
      op.list = list_of(call.values(2));
      break;
    case ids::kGroupRangeIncl:
    case ids::kGroupRangeExcl:
      set(call.integer(0), call.integer(3));
      op.list = ranges_of(call, 2);
      break;
    case ids::kCommCreate:
      set(call.integer(0), call.integer(2));
      op.a = call.integer(1);
      break;
    case ids::kCommSplit:
      set(call.integer(0), call.integer(3));
      op.a = call.integer(1);
      op.b = call.integer(2);
      break;
    case ids::kIntercommCreate:
      set(call.integer(0), call.integer(5));
      op.a = call.integer(1);
      op.b = call.integer(2);
      op.c = call.integer(3);
      op.list = {call.integer(4)};
      break;
    case ids::kIntercommMerge:
      set(call.integer(0), call.integer(2));
      op.a = call.integer(1);
      break;
    case ids::kCartCreate:
      set(call.integer(0), call.integer(5));
      op.list = list_of(call.values(2));
      op.a = call.integer(4);
      break;
    case ids::kGraphCreate:
      set(call.integer(1), call.integer(6));
      op.a = call.integer(5);
      op.b = call.integer(2);
      break;
    case ids::kCartSub:
      set(call.integer(1), call.integer(3));
      op.list = list_of(call.values(2));
      break;
    case ids::kWinCreate:
      set(call.integer(3), call.integer(4));
      break;
    case ids::kFileOpen:
      set(call.integer(0), call.integer(4));
      break;
    // Communicators to processes outside of this run.
    case ids::kCommAccept:
    case ids::kCommConnect:
      set(-1, call.integer(4));
      break;
    case ids::kCommGetParent:
      set(-1, call.integer(0));
      break;
    case ids::kCommJoin:
      set(-1, call.integer(1));
      break;
    case ids::kCommSpawn:
      set(-1, call.integer(3));
      break;
    case ids::kCommSpawnMultiple:
      set(-1, call.integer(4));
      break;
    default:
      return std::nullopt;
  }
  return op;
}

class Player {
 public:
  Player(const RankSet& set, Resolution& out) : set_(set), out_(out), ranks_(set.files().size()) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) position_[static_cast<std::int32_t>(set.files()[i].rank)] = i;
  }

  // Collects the operations of one rank, and the sizes of its datatypes on the way. MT: ranks are independent.
  void collect(std::size_t i, const ScanResult& scan);
  Result<void> play();

 private:
  bool step(std::size_t i);  // true when the rank went on
  void local(std::size_t i, const Operation& op);
  bool arrive(std::size_t i, std::int64_t global);
  void complete(std::int64_t global);
  void make(const std::vector<std::size_t>& members, std::int64_t global);
  void make_inter(const std::vector<std::size_t>& members, std::int64_t global);
  void bind(std::size_t i, const Operation& op, std::int64_t global);
  std::int64_t add(Ranks ranks, Ranks remote, std::string name);
  [[nodiscard]] std::int64_t global_of(std::size_t i, std::int64_t local_id) const {
    const auto& map = ranks_[i].communicators;
    const auto it = map.find(local_id);
    return it == map.end() ? -1 : it->second;
  }
  [[nodiscard]] std::vector<std::size_t> members_of(std::int64_t global, bool both_sides) const;
  void reorder(Ranks& ranks, const std::vector<std::size_t>& members);

  const RankSet& set_;
  Resolution& out_;
  std::vector<Rank> ranks_;
  std::unordered_map<std::int32_t, std::size_t> position_;
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> dimensions_;  // of cartesian communicators
  std::unordered_map<std::int64_t, std::size_t> arrived_;
  std::unordered_map<std::int64_t, std::size_t> expected_;
  std::deque<std::size_t> ready_;
  // One side of an inter-communicator that waits for the other: (leader, remote leader, tag) -> its members.
  std::map<std::tuple<std::int32_t, std::int32_t, std::int64_t>, std::pair<std::int64_t, std::vector<std::size_t>>>
      sides_;
};

void Player::collect(std::size_t i, const ScanResult& scan) {
  const File& file = set_.files()[i].file;
  std::vector<std::int64_t> sizes(28);
  for (std::size_t id = 0; id < sizes.size(); ++id) sizes[id] = file.datatype_size(static_cast<std::int64_t>(id));
  for (std::size_t id = 28; id < file.sections().sizes.size(); ++id) {
    sizes.push_back(file.datatype_size(static_cast<std::int64_t>(id)));
  }
  std::unordered_map<std::int64_t, Operation*> newest;  // by local communicator
  Call call;
  for (std::size_t n = 0; n < scan.notable.size(); ++n) {
    if (file.decoder().decode(file.at(scan.notable[n]), file.at(scan.end), call) != Decoder::Outcome::ok) continue;
    call.number = scan.notable_number[n];
    if (const auto created = created_size(call, sizes)) {
      // Ids are 16 bits wide; predefined types keep their sizes.
      if (created->datatype < 28 || created->bytes < 0) continue;
      const auto index = static_cast<std::size_t>(created->datatype);
      if (index >= sizes.size()) sizes.resize(index + 1);
      if (sizes[index] == created->bytes) continue;
      sizes[index] = created->bytes;
      out_.ranks[i].sizes.push_back({call.number, static_cast<std::int32_t>(created->datatype), created->bytes});
      continue;
    }
    auto op = operation_of(call);
    if (!op) continue;
    if (op->id == ids::kCommRank) {
      const auto it = newest.find(op->object);
      if (it != newest.end() && it->second->observed < 0) it->second->observed = op->result;
      continue;
    }
    auto& operations = ranks_[i].operations;
    operations.push_back(*std::move(op));
    Operation& added = operations.back();  // a deque keeps its elements where they are
    const bool makes_communicator = added.id != ids::kCommGroup && added.id != ids::kCommRemoteGroup &&
                                    added.id != ids::kWinGetGroup && added.id != ids::kFileGetGroup &&
                                    added.id != ids::kWinCreate && added.id != ids::kFileOpen &&
                                    !(added.id >= ids::kGroupUnion && added.id <= ids::kGroupRangeExcl);
    if (makes_communicator) newest[added.result] = &added;
  }
}

std::int64_t Player::add(Ranks ranks, Ranks remote, std::string name) {
  Communicator communicator;
  communicator.name = std::move(name);
  communicator.ranks = std::move(ranks);
  communicator.remote_ranks = std::move(remote);
  out_.communicators.push_back(std::move(communicator));
  return static_cast<std::int64_t>(out_.communicators.size()) - 1;
}

void Player::bind(std::size_t i, const Operation& op, std::int64_t global) {
  if (op.result <= kCommNull) return;
  ranks_[i].communicators[op.result] = global;
  out_.ranks[i].communicators.push_back({op.number, static_cast<std::int32_t>(op.result), global});
}

// Operations that need no other rank.
void Player::local(std::size_t i, const Operation& op) {
  Rank& rank = ranks_[i];
  const auto group = [&](std::int64_t id) -> std::optional<Ranks> {
    if (id == 2) return Ranks{};  // MPI_GROUP_EMPTY
    const auto it = rank.groups.find(id);
    return it == rank.groups.end() ? std::nullopt : it->second;
  };
  const auto of_communicator = [&](std::int64_t global, bool remote) -> std::optional<Ranks> {
    if (global < 0) return std::nullopt;
    const auto self = static_cast<std::int32_t>(set_.files()[i].rank);
    if (global == Resolution::kSelf) return Ranks{self};
    const Communicator& communicator = out_.communicators[static_cast<std::size_t>(global)];
    const bool first =
        communicator.remote_ranks.empty() ||
        std::find(communicator.ranks.begin(), communicator.ranks.end(), self) != communicator.ranks.end();
    return first != remote ? communicator.ranks : communicator.remote_ranks;
  };
  switch (op.id) {
    case ids::kCommGroup:
      rank.groups[op.result] = of_communicator(global_of(i, op.object), false);
      return;
    case ids::kCommRemoteGroup:
      rank.groups[op.result] = of_communicator(global_of(i, op.object), true);
      return;
    case ids::kWinGetGroup:
    case ids::kFileGetGroup: {
      const auto& map = op.id == ids::kWinGetGroup ? rank.windows : rank.files;
      const auto it = map.find(op.object);
      rank.groups[op.result] = it == map.end() ? std::nullopt : of_communicator(it->second, false);
      return;
    }
    case ids::kWinCreate: {
      const std::int64_t global = global_of(i, op.object);
      rank.windows[op.result] = global;
      out_.ranks[i].windows.push_back({op.number, static_cast<std::int32_t>(op.result), global});
      return;
    }
    case ids::kFileOpen:
      rank.files[op.result] = global_of(i, op.object);
      return;
    default:
      break;
  }
  if (op.id < ids::kGroupUnion || op.id > ids::kGroupRangeExcl) {
    bind(i, op, -1);
    return;
  }
  const auto first = group(op.object);
  std::optional<Ranks> made;
  const auto contains = [](const Ranks& ranks, std::int32_t one) {
    return std::find(ranks.begin(), ranks.end(), one) != ranks.end();
  };
  if (op.id <= ids::kGroupDifference) {
    const auto second = group(op.a);
    if (first && second) {
      made.emplace();
      if (op.id == ids::kGroupUnion) {
        *made = *first;
        for (const std::int32_t one : *second) {
          if (!contains(*first, one)) made->push_back(one);
        }
      } else {
        for (const std::int32_t one : *first) {
          if (contains(*second, one) == (op.id == ids::kGroupIntersection)) made->push_back(one);
        }
      }
    }
  } else if (first) {
    std::vector<std::int64_t> chosen;
    if (op.id == ids::kGroupIncl || op.id == ids::kGroupExcl) {
      chosen = op.list;
    } else {
      for (std::size_t row = 0; row + 2 < op.list.size(); row += 3) {
        const std::int64_t from = op.list[row];
        const std::int64_t to = op.list[row + 1];
        const std::int64_t stride = op.list[row + 2];
        if (stride == 0) continue;
        for (std::int64_t at = from; stride > 0 ? at <= to : at >= to; at += stride) {
          if (chosen.size() > first->size()) break;  // more than a group can have: damaged
          chosen.push_back(at);
        }
      }
    }
    made.emplace();
    const auto valid = [&](std::int64_t at) { return at >= 0 && static_cast<std::size_t>(at) < first->size(); };
    if (op.id == ids::kGroupIncl || op.id == ids::kGroupRangeIncl) {
      for (const std::int64_t at : chosen) {
        if (valid(at)) made->push_back((*first)[static_cast<std::size_t>(at)]);
      }
    } else {
      std::vector<bool> out(first->size());
      for (const std::int64_t at : chosen) {
        if (valid(at)) out[static_cast<std::size_t>(at)] = true;
      }
      for (std::size_t at = 0; at < first->size(); ++at) {
        if (!out[at]) made->push_back((*first)[at]);
      }
    }
  }
  rank.groups[op.result] = std::move(made);
}

std::vector<std::size_t> Player::members_of(std::int64_t global, bool both_sides) const {
  std::vector<std::size_t> members;
  const auto add_all = [&](const Ranks& ranks) {
    for (const std::int32_t rank : ranks) {
      if (const auto it = position_.find(rank); it != position_.end()) members.push_back(it->second);
    }
  };
  const Communicator& communicator = out_.communicators[static_cast<std::size_t>(global)];
  add_all(communicator.ranks);
  if (both_sides) add_all(communicator.remote_ranks);
  return members;
}

bool Player::step(std::size_t i) {
  Rank& rank = ranks_[i];
  if (rank.waits_for >= 0 || rank.at >= rank.operations.size()) return false;
  const Operation& op = rank.operations[rank.at];
  switch (op.id) {
    case ids::kCommDup:
    case ids::kCommCreate:
    case ids::kCommSplit:
    case ids::kIntercommCreate:
    case ids::kIntercommMerge:
    case ids::kCartCreate:
    case ids::kGraphCreate:
    case ids::kCartSub: {
      const std::int64_t global = global_of(i, op.object);
      if (global < 0) {
        bind(i, op, -1);
        break;
      }
      if (global == Resolution::kSelf) {
        bind(i, op,
             op.id == ids::kIntercommCreate ? -1 : add({static_cast<std::int32_t>(set_.files()[i].rank)}, {}, {}));
        break;
      }
      return arrive(i, global);
    }
    default:
      local(i, op);
  }
  ++rank.at;
  return true;
}

// The rank stands before a call that all members of the communicator make.
bool Player::arrive(std::size_t i, std::int64_t global) {
  ranks_[i].waits_for = global;
  auto [it, is_new] = expected_.try_emplace(global, 0);
  if (is_new) it->second = members_of(global, true).size();
  if (++arrived_[global] < it->second) return false;
  complete(global);
  return true;
}

void Player::complete(std::int64_t global) {
  arrived_[global] = 0;
  std::vector<std::size_t> members;
  for (const std::size_t i : members_of(global, true)) {
    if (ranks_[i].waits_for == global) members.push_back(i);
  }
  if (members.empty()) return;
  const std::uint16_t id = ranks_[members.front()].operations[ranks_[members.front()].at].id;
  if (id == ids::kIntercommCreate) {
    make_inter(members, global);
    return;
  }
  make(members, global);
  for (const std::size_t i : members) {
    ranks_[i].waits_for = -1;
    ++ranks_[i].at;
    ready_.push_back(i);
  }
}

// Where the library was allowed to renumber, what the program was told counts.
void Player::reorder(Ranks& ranks, const std::vector<std::size_t>& members) {
  Ranks told(ranks.size(), -1);
  for (const std::size_t i : members) {
    const Operation& op = ranks_[i].operations[ranks_[i].at];
    if (op.result <= kCommNull) continue;
    if (op.observed < 0 || static_cast<std::size_t>(op.observed) >= told.size()) return;
    told[static_cast<std::size_t>(op.observed)] = static_cast<std::int32_t>(set_.files()[i].rank);
  }
  if (std::find(told.begin(), told.end(), -1) == told.end()) ranks = std::move(told);
}

void Player::make(const std::vector<std::size_t>& members, std::int64_t global) {
  const auto op_of = [&](std::size_t i) -> const Operation& { return ranks_[i].operations[ranks_[i].at]; };
  const Operation& first = op_of(members.front());
  // A copy: adding communicators moves the list.
  const Communicator parent = out_.communicators[static_cast<std::size_t>(global)];
  const auto bind_all = [&](std::int64_t made) {
    for (const std::size_t i : members) bind(i, op_of(i), made);
  };
  const auto same = std::all_of(members.begin(), members.end(), [&](std::size_t i) { return op_of(i).id == first.id; });
  if (!same) {
    bind_all(-1);
    return;
  }
  switch (first.id) {
    case ids::kCommDup:
      bind_all(add(parent.ranks, parent.remote_ranks, {}));
      if (const auto it = dimensions_.find(global); it != dimensions_.end()) {
        auto copy = it->second;
        dimensions_[static_cast<std::int64_t>(out_.communicators.size()) - 1] = std::move(copy);
      }
      return;
    case ids::kCommCreate: {
      if (!parent.remote_ranks.empty()) {
        bind_all(-1);
        return;
      }
      // Members of one new communicator name the same group; several disjoint ones may be made at once.
      std::map<Ranks, std::int64_t> made;
      for (const std::size_t i : members) {
        const Operation& op = op_of(i);
        if (op.result <= kCommNull) continue;
        const auto it = ranks_[i].groups.find(op.a);
        if (it == ranks_[i].groups.end() || !it->second) {
          bind(i, op, -1);
          continue;
        }
        auto [at, is_new] = made.try_emplace(*it->second, -1);
        if (is_new) at->second = add(*it->second, {}, {});
        bind(i, op, at->second);
      }
      return;
    }
    case ids::kCommSplit: {
      if (!parent.remote_ranks.empty()) {
        bind_all(-1);
        return;
      }
      // (colour, key, rank in the parent) orders the members of every part. Ranks without a file are not in them.
      std::vector<std::tuple<std::int64_t, std::int64_t, std::size_t, std::size_t>> order;
      std::unordered_map<std::int32_t, std::size_t> place;
      for (std::size_t n = 0; n < parent.ranks.size(); ++n) place[parent.ranks[n]] = n;
      for (const std::size_t i : members) {
        const Operation& op = op_of(i);
        if (op.result <= kCommNull) continue;
        order.emplace_back(op.a, op.b, place[static_cast<std::int32_t>(set_.files()[i].rank)], i);
      }
      std::sort(order.begin(), order.end());
      for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin;
        Ranks ranks;
        while (end < order.size() && std::get<0>(order[end]) == std::get<0>(order[begin])) {
          ranks.push_back(static_cast<std::int32_t>(set_.files()[std::get<3>(order[end])].rank));
          ++end;
        }
        const std::int64_t made = add(std::move(ranks), {}, {});
        for (std::size_t n = begin; n < end; ++n) bind(std::get<3>(order[n]), op_of(std::get<3>(order[n])), made);
        begin = end;
      }
      return;
    }
    case ids::kCartCreate:
    case ids::kGraphCreate: {
      std::uint64_t count = 1;
      if (first.id == ids::kCartCreate) {
        for (const std::int64_t width : first.list) {
          count = width <= 0 || count > parent.ranks.size() ? 0 : count * static_cast<std::uint64_t>(width);
        }
      } else {
        count = first.b < 0 ? 0 : static_cast<std::uint64_t>(first.b);
      }
      Ranks ranks = parent.ranks;
      if (count < ranks.size()) ranks.resize(count);
      if (first.a != 0) reorder(ranks, members);
      const std::int64_t made = add(std::move(ranks), {}, {});
      if (first.id == ids::kCartCreate) dimensions_[made] = first.list;
      bind_all(made);
      return;
    }
    case ids::kCartSub: {
      const auto it = dimensions_.find(global);
      if (it == dimensions_.end() || it->second.size() != first.list.size()) {
        bind_all(-1);
        return;
      }
      const std::vector<std::int64_t> widths = it->second;
      // Ranks that share the coordinates of all dropped dimensions stay together, in their old order.
      std::map<std::vector<std::int64_t>, Ranks> parts;
      std::unordered_map<std::int32_t, std::vector<std::int64_t>> key_of;
      std::vector<std::int64_t> kept;
      for (std::size_t d = 0; d < widths.size(); ++d) {
        if (first.list[d] != 0) kept.push_back(widths[d]);
      }
      for (std::size_t n = 0; n < parent.ranks.size(); ++n) {
        auto rest = static_cast<std::int64_t>(n);
        std::vector<std::int64_t> key;
        for (std::size_t d = widths.size(); d-- > 0;) {
          if (widths[d] <= 0) continue;
          if (first.list[d] == 0) key.push_back(rest % widths[d]);
          rest /= widths[d];
        }
        parts[key].push_back(parent.ranks[n]);
        key_of[parent.ranks[n]] = std::move(key);
      }
      std::map<std::vector<std::int64_t>, std::int64_t> made;
      for (auto& [key, ranks] : parts) {
        made[key] = add(std::move(ranks), {}, {});
        dimensions_[made[key]] = kept;
      }
      for (const std::size_t i : members) {
        bind(i, op_of(i), made[key_of[static_cast<std::int32_t>(set_.files()[i].rank)]]);
      }
      return;
    }
    case ids::kIntercommMerge: {
      // The side that says "low" comes first; where both say the same, what the program was told decides.
      const auto side_high = [&](const Ranks& side) {
        for (const std::int32_t rank : side) {
          if (const auto it = position_.find(rank); it != position_.end()) return op_of(it->second).a != 0;
        }
        return false;
      };
      const bool swap = side_high(parent.ranks) && !side_high(parent.remote_ranks);
      Ranks ranks = swap ? parent.remote_ranks : parent.ranks;
      const Ranks& rest = swap ? parent.ranks : parent.remote_ranks;
      ranks.insert(ranks.end(), rest.begin(), rest.end());
      if (side_high(parent.ranks) == side_high(parent.remote_ranks)) reorder(ranks, members);
      bind_all(add(std::move(ranks), {}, {}));
      return;
    }
    default:
      bind_all(-1);
  }
}

// One side of an inter-communicator is together; it goes on when the other one is, too.
void Player::make_inter(const std::vector<std::size_t>& members, std::int64_t global) {
  const auto op_of = [&](std::size_t i) -> const Operation& { return ranks_[i].operations[ranks_[i].at]; };
  const auto release = [&](const std::vector<std::size_t>& all, std::int64_t made) {
    for (const std::size_t i : all) {
      bind(i, op_of(i), made);
      ranks_[i].waits_for = -1;
      ++ranks_[i].at;
      ready_.push_back(i);
    }
  };
  const Ranks local = out_.communicators[static_cast<std::size_t>(global)].ranks;
  const Operation& any = op_of(members.front());
  const auto leader_at = static_cast<std::size_t>(any.a);
  const auto leader = any.a >= 0 && leader_at < local.size() ? position_.find(local[leader_at]) : position_.end();
  std::int64_t peer = -1;
  if (leader != position_.end() && ranks_[leader->second].waits_for == global) {
    peer = global_of(leader->second, op_of(leader->second).b);
  }
  if (peer < 0 || peer == Resolution::kSelf) {
    release(members, -1);
    return;
  }
  const Operation& lead = op_of(leader->second);
  const Ranks& bridge = out_.communicators[static_cast<std::size_t>(peer)].ranks;
  if (lead.c < 0 || static_cast<std::size_t>(lead.c) >= bridge.size()) {
    release(members, -1);
    return;
  }
  const std::int32_t own_leader = leader->first;
  const std::int32_t other_leader = bridge[static_cast<std::size_t>(lead.c)];
  const std::int64_t tag = lead.list.empty() ? 0 : lead.list[0];
  const auto other = sides_.find({other_leader, own_leader, tag});
  if (other == sides_.end()) {
    sides_[{own_leader, other_leader, tag}] = {global, members};
    return;
  }
  const auto [other_global, other_members] = other->second;
  sides_.erase(other);
  const std::int64_t made = add(out_.communicators[static_cast<std::size_t>(other_global)].ranks, local, {});
  release(other_members, made);
  release(members, made);
}

Result<void> Player::play() {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i].communicators = {{kCommWorld, Resolution::kWorld}, {kCommSelf, Resolution::kSelf}};
    ready_.push_back(i);
  }
  std::size_t given_up = 0;
  while (true) {
    while (!ready_.empty()) {
      const std::size_t i = ready_.front();
      ready_.pop_front();
      while (step(i)) {
      }
    }
    // Whoever still waits does so for a rank that never comes: its file is missing, cut or damaged, or several
    // threads make communicators at once.
    bool any = false;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      Rank& rank = ranks_[i];
      if (rank.waits_for < 0) continue;
      arrived_[rank.waits_for] = 0;
      rank.waits_for = -1;
      bind(i, rank.operations[rank.at], -1);
      ++rank.at;
      ++given_up;
      ready_.push_back(i);
      any = true;
    }
    sides_.clear();
    if (!any) break;
  }
  if (given_up > 0) {
    return set_.work()->diagnostics.warn(
        "dumpi.unresolved_communicators", set_.files().front().file.place(0),
        fmt::format("{} calls that make communicators are not made by all members; what they made is not known",
                    given_up));
  }
  return {};
}

}  // namespace

Result<Resolution> resolve(const RankSet& set, const std::vector<ScanResult>& scans) {
  Resolution out;
  out.ranks.resize(set.files().size());
  out.communicators.resize(2);
  out.communicators[0].name = "MPI_COMM_WORLD";
  out.communicators[1].name = "MPI_COMM_SELF";
  // A metafile may claim any size; what is listed is bounded by memory that was asked for.
  FATHOM_TRY(const auto reserved,
             set.work()->budget.reserve(std::uint64_t{set.world_size()} * sizeof(std::int32_t), "ranks of the world"));
  out.communicators[0].ranks.resize(set.world_size());
  std::iota(out.communicators[0].ranks.begin(), out.communicators[0].ranks.end(), 0);

  Player player(set, out);
  FATHOM_CHECK(parallel_for(set.files().size(), [&](std::size_t i) -> Result<void> {
    player.collect(i, scans[i]);
    return {};
  }));
  FATHOM_CHECK(player.play());
  return out;
}

Tables::Tables(const File& file, const Resolution& resolution, std::size_t file_index, std::uint32_t rank)
    : resolution_(&resolution), changes_(&resolution.ranks[file_index]), rank_(rank) {
  const std::size_t count = std::max<std::size_t>(28, file.sections().sizes.size());
  sizes_.resize(count);
  for (std::size_t id = 0; id < count; ++id) sizes_[id] = file.datatype_size(static_cast<std::int64_t>(id));
  communicators_.resize(4);
  communicators_[static_cast<std::size_t>(kCommWorld)] = view_of(Resolution::kWorld);
  communicators_[static_cast<std::size_t>(kCommSelf)] = view_of(Resolution::kSelf);
  find_next();
}

CommunicatorView Tables::view_of(std::int64_t global) const {
  CommunicatorView view;
  if (global < 0) return view;
  view.global = static_cast<std::int32_t>(global);
  if (global == Resolution::kSelf) {
    view.self = true;
    view.own = 0;
    view.size = 1;
    return view;
  }
  const Communicator& communicator = resolution_->communicators[static_cast<std::size_t>(global)];
  const auto self = static_cast<std::int32_t>(rank_);
  // In the world everyone stands at the own rank; elsewhere it has to be looked for.
  const auto place = [&](const std::vector<std::int32_t>& ranks) -> std::int32_t {
    if (rank_ < ranks.size() && ranks[rank_] == self) return self;
    const auto it = std::find(ranks.begin(), ranks.end(), self);
    return it == ranks.end() ? -1 : static_cast<std::int32_t>(it - ranks.begin());
  };
  view.inter = !communicator.remote_ranks.empty();
  view.own = place(communicator.ranks);
  const bool first = view.own >= 0;
  if (view.inter && !first) view.own = place(communicator.remote_ranks);
  const auto& own_group = view.inter && !first ? communicator.remote_ranks : communicator.ranks;
  view.size = static_cast<std::int32_t>(own_group.size());
  view.peers = view.inter && first ? &communicator.remote_ranks : &communicator.ranks;
  return view;
}

void Tables::find_next() {
  next_change_ = std::numeric_limits<std::uint64_t>::max();
  const auto look = [&](const std::vector<Change>& changes, std::size_t at) {
    if (at < changes.size()) next_change_ = std::min(next_change_, changes[at].number);
  };
  look(changes_->communicators, next_communicator_);
  look(changes_->sizes, next_size_);
  look(changes_->windows, next_window_);
}

void Tables::apply(std::uint64_t number) {
  const auto each = [&](const std::vector<Change>& changes, std::size_t& at, auto&& body) {
    for (; at < changes.size() && changes[at].number < number; ++at) {
      if (changes[at].id >= 0) body(changes[at], static_cast<std::size_t>(changes[at].id));
    }
  };
  // Ids are 16 bits wide: tables stay small whatever the file says.
  const auto set = [](auto& table, std::size_t index, auto value) {
    if (index >= table.size()) table.resize(index + 1);
    table[index] = value;
  };
  each(changes_->communicators, next_communicator_,
       [&](const Change& change, std::size_t id) { set(communicators_, id, view_of(change.value)); });
  each(changes_->sizes, next_size_, [&](const Change& change, std::size_t id) { set(sizes_, id, change.value); });
  each(changes_->windows, next_window_,
       [&](const Change& change, std::size_t id) { set(windows_, id, view_of(change.value)); });
  find_next();
}

}  // namespace fathom::dumpi
