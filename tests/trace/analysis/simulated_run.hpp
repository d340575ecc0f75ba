// A small simulator of message-passing programs: operations per rank in, a trace out. Times follow from a simple
// machine (latency, bandwidth, overhead per call) and nothing else, so that tests know what must come out.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace fathom::test {

struct Op {
  enum class Kind { compute, send, recv, collective, io };
  Kind kind = Kind::compute;
  std::int64_t ns = 0;     // compute, io
  std::int32_t peer = -1;  // send, recv; root of a collective
  std::int64_t bytes = 8;
  std::string name = {};  // region of a collective or file operation, or of the program that computes
  std::int32_t tag = 0;   // send, recv; of a recv -1: any, and the trace does not tell which came
};

struct Machine {
  std::int64_t overhead = 400;
  std::int64_t latency = 2000;
  double bytes_per_ns = 8;
  std::int64_t eager = 65536;
};

class SimulatedRun final : public Trace {
 public:
  // `order`: ranks in the order in which their locations come in the trace; empty = ascending.
  explicit SimulatedRun(std::vector<std::vector<Op>> program, Machine machine = {}, std::vector<std::size_t> order = {})
      : program_(std::move(program)), machine_(machine) {
    const std::size_t size = program_.size();
    Communicator world;
    world.name = "world";
    for (std::size_t r = 0; r < size; ++r) world.ranks.push_back(static_cast<std::int32_t>(r));
    communicators_.push_back(world);
    simulate();
    SystemNode machine_node;
    machine_node.type = "machine";
    const SystemNodeId root = definitions_.system.add(machine_node);
    SystemNode node;
    node.type = "node";
    node.name = "host";
    node.parent = root;
    const SystemNodeId host = definitions_.system.add(node);
    if (order.empty()) {
      for (std::size_t r = 0; r < size; ++r) order.push_back(r);
    }
    for (const std::size_t rank : order) {
      SystemNode process;
      process.parent = host;
      process.kind = SystemKind::group;
      process.rank = static_cast<std::int64_t>(rank);
      const SystemNodeId group = definitions_.system.add(process);
      SystemNode location;
      location.parent = group;
      location.label = std::to_string(rank);
      const LocationId id = definitions_.system.add_location(location);
      for (Event& event : events_[rank]) event.location = id;
      rank_of_.push_back(rank);
    }
  }

  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow) const override {
    return std::unique_ptr<EventStream>(std::make_unique<Stream>(events_[rank_of_[location.index()]]));
  }
  [[nodiscard]] std::int64_t runtime() const { return end_; }

 private:
  struct Stream final : EventStream {
    explicit Stream(const std::vector<Event>& list) : events(list) {}
    Result<std::size_t> next(std::span<Event> out) override {
      const std::size_t count = std::min(out.size(), events.size() - at);
      std::copy_n(events.begin() + static_cast<std::ptrdiff_t>(at), count, out.begin());
      at += count;
      return count;
    }
    const std::vector<Event>& events;
    std::size_t at = 0;
  };
  struct Message {
    std::int64_t sent = 0;
    std::int64_t bytes = 0;
    std::int64_t posted = -1;  // of a large one, by its receiver
  };
  struct Arrivals {
    std::map<std::size_t, std::int64_t> entries;
  };

  std::uint32_t region(const std::string& name, const std::string& paradigm = "mpi") {
    for (std::uint32_t i = 0; i < definitions_.regions.size(); ++i) {
      if (definitions_.regions[i].name == name) return i;
    }
    Region made;
    made.name = name;
    made.paradigm = paradigm;
    definitions_.regions.push_back(made);
    return static_cast<std::uint32_t>(definitions_.regions.size() - 1);
  }
  Event event(EventKind kind, std::int64_t time, std::uint32_t name, std::uint64_t record) {
    Event out;
    out.kind = kind;
    out.time_ns = time;
    out.name = name;
    out.record = record;
    return out;
  }
  [[nodiscard]] std::int64_t transfer(std::int64_t bytes) const {
    return machine_.latency + static_cast<std::int64_t>(static_cast<double>(bytes) / machine_.bytes_per_ns);
  }
  static bool is(const std::string& name, std::initializer_list<const char*> list) {
    return std::any_of(list.begin(), list.end(), [&](const char* one) { return name == one; });
  }

  // Ranks go on in turns until all have come to the end; programs that block for ever are not written.
  void simulate() {
    const std::size_t size = program_.size();
    events_.resize(size);
    std::vector<std::size_t> at(size);
    std::vector<std::int64_t> now(size);
    std::vector<std::size_t> collectives(size);
    std::vector<bool> entered(size);
    std::map<std::pair<std::size_t, std::size_t>, std::vector<Message>> sent;
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> taken, posted;
    std::map<std::size_t, Arrivals> arrivals;
    std::vector<std::size_t> my_send(size);
    for (bool more = true; more;) {
      more = false;
      for (std::size_t r = 0; r < size; ++r) {
        while (at[r] < program_[r].size()) {
          const Op& op = program_[r][at[r]];
          const auto record = static_cast<std::uint64_t>(at[r]);
          auto& out = events_[r];
          const std::int64_t entry = now[r];
          std::int64_t exit = entry;
          if (op.kind == Op::Kind::compute) {
            now[r] += op.ns;
            if (!op.name.empty()) {
              const std::uint32_t name = region(op.name, "user");
              out.push_back(event(EventKind::enter, entry, name, record));
              out.push_back(event(EventKind::leave, now[r], name, record));
            }
          } else if (op.kind == Op::Kind::io) {
            const std::uint32_t name = region(op.name);
            out.push_back(event(EventKind::enter, entry, name, record));
            out.push_back(event(EventKind::leave, entry + op.ns, name, record));
            now[r] += op.ns;
          } else if (op.kind == Op::Kind::send) {
            auto& queue = sent[{r, static_cast<std::size_t>(op.peer)}];
            if (!entered[r]) {
              my_send[r] = queue.size();
              queue.push_back({entry, op.bytes, -1});
              entered[r] = true;
              more = true;
            }
            exit = entry + machine_.overhead;
            if (op.bytes > machine_.eager) {
              if (queue[my_send[r]].posted < 0) break;
              exit = std::max(entry, queue[my_send[r]].posted) + transfer(op.bytes);
            }
            const std::uint32_t name = region("MPI_Send");
            out.push_back(event(EventKind::enter, entry, name, record));
            Event send = event(EventKind::send, entry, name, record);
            send.peer = op.peer;
            send.tag = op.tag;
            send.bytes = op.bytes;
            send.value = entry;
            send.communicator = CommunicatorId(0);
            send.origin = record;
            out.push_back(send);
            out.push_back(event(EventKind::leave, exit, name, record));
            now[r] = exit;
          } else if (op.kind == Op::Kind::recv) {
            const std::pair<std::size_t, std::size_t> channel{static_cast<std::size_t>(op.peer), r};
            auto& queue = sent[channel];
            const std::size_t number = taken[channel];
            if (number >= queue.size()) break;
            Message& message = queue[number];
            if (message.posted < 0) {
              message.posted = entry;
              more = true;
            }
            exit = std::max(entry + machine_.overhead,
                            (message.bytes > machine_.eager ? std::max(entry, message.sent) : message.sent) +
                                transfer(message.bytes));
            const std::uint32_t name = region("MPI_Recv");
            out.push_back(event(EventKind::enter, entry, name, record));
            Event receive = event(EventKind::recv, exit, name, record);
            receive.peer = op.peer;
            receive.tag = op.tag;
            receive.bytes = message.bytes;
            receive.value = entry;
            receive.origin = record;
            receive.communicator = CommunicatorId(0);
            out.push_back(receive);
            out.push_back(event(EventKind::leave, exit, name, record));
            ++taken[channel];
            now[r] = exit;
          } else {
            Arrivals& arrival = arrivals[collectives[r]];
            if (!entered[r]) {
              arrival.entries[r] = entry;
              entered[r] = true;
              more = true;
            }
            const std::int64_t cost =
                static_cast<std::int64_t>(std::ceil(std::log2(std::max<double>(2, static_cast<double>(size))))) *
                (transfer(op.bytes) + machine_.overhead);
            const auto root = static_cast<std::size_t>(std::max(op.peer, 0));
            const bool to_all = is(op.name, {"MPI_Bcast"});
            const bool to_root = is(op.name, {"MPI_Reduce"});
            const bool scan = is(op.name, {"MPI_Scan"});
            std::int64_t until = entry;
            bool there = true;
            for (std::size_t other = 0; other < size; ++other) {
              const bool needed = to_all ? other == root : to_root ? r == root : scan ? other < r : true;
              if (!needed) continue;
              const auto found = arrival.entries.find(other);
              there = there && found != arrival.entries.end();
              if (found != arrival.entries.end()) until = std::max(until, found->second);
            }
            if (!there) break;
            const bool waits = to_all ? r != root : to_root ? r == root : true;
            exit = (waits ? until + cost : entry + machine_.overhead);
            const std::uint32_t name = region(op.name);
            Event enter = event(EventKind::enter, entry, name, record);
            enter.communicator = CommunicatorId(0);
            out.push_back(enter);
            if (is(op.name, {"MPI_Bcast", "MPI_Reduce", "MPI_Scan", "MPI_Barrier", "MPI_Allreduce"})) {
              Event collective = event(EventKind::collective, exit, name, record);
              collective.communicator = CommunicatorId(0);
              collective.peer = op.peer;
              collective.bytes = op.bytes;
              out.push_back(collective);
            }
            out.push_back(event(EventKind::leave, exit, name, record));
            ++collectives[r];
            now[r] = exit;
          }
          entered[r] = false;
          ++at[r];
          more = true;
        }
      }
    }
    for (const std::int64_t time : now) end_ = std::max(end_, time);
  }

  std::vector<std::vector<Op>> program_;
  Machine machine_;
  std::vector<std::vector<Event>> events_;
  std::vector<std::size_t> rank_of_;
  std::int64_t end_ = 0;
};

inline Op compute(std::int64_t ns, std::string region = {}) {
  return {.kind = Op::Kind::compute, .ns = ns, .name = std::move(region)};
}
inline Op send(std::int32_t to, std::int64_t bytes = 8) { return {.kind = Op::Kind::send, .peer = to, .bytes = bytes}; }
inline Op recv(std::int32_t from) { return {.kind = Op::Kind::recv, .peer = from}; }
inline Op collective(std::string name, std::int32_t root = -1) {
  return {.kind = Op::Kind::collective, .peer = root, .name = std::move(name)};
}
inline Op io(std::string name, std::int64_t ns) { return {.kind = Op::Kind::io, .ns = ns, .name = std::move(name)}; }

}  // namespace fathom::test
