#include "trace/message_ends.hpp"

#include <algorithm>
#include <map>

#include "base/share_out.hpp"
#include "trace/extent.hpp"

namespace fathom::messages {

namespace {

std::optional<std::int32_t> rank_of(const Definitions& definitions, LocationId location) {
  const SystemNodeId group = definitions.system.group_of(location);
  if (!group.valid()) return std::nullopt;
  const auto& rank = definitions.system.nodes[group.index()].rank;
  if (!rank) return std::nullopt;
  return static_cast<std::int32_t>(*rank);
}

// Reads the ends of messages of one location, as many at a time as are wanted.
class HalfReader {
 public:
  static Result<HalfReader> open(const Trace& trace, LocationId location, std::int32_t rank) {
    FATHOM_TRY(auto stream, trace.open(location, {}));
    return HalfReader(std::move(stream), location, rank);
  }

  // Until `most` of either kind are there; false = that was all.
  Result<bool> read(std::vector<Half>& sends, std::vector<Half>& receives, std::size_t most) {
    while (const Event* event = cursor_.next()) {
      if (event->kind != EventKind::send && event->kind != EventKind::recv) continue;
      const bool is_send = event->kind == EventKind::send;
      const bool unknown = event->peer == kUnknownPeer;
      unknown_ += unknown ? 1 : 0;
      // Receives from somebody unknown are kept: what they took is missing for those that were posted after them.
      if (event->peer < 0 && (is_send || !unknown)) continue;
      auto& list = is_send ? sends : receives;
      list.push_back({.to = is_send ? event->peer : rank_,
                      .from = is_send ? rank_ : event->peer,
                      .communicator = event->communicator.value,
                      .tag = event->tag,
                      .posted = event->has_value ? event->value : 0,
                      .order = is_send || event->origin == Event::kNoRecord ? event->record : event->origin,
                      .serial = serial_++,
                      .record = event->record,
                      .bytes = event->bytes,
                      .time_ns = event->time_ns,
                      .location = location_,
                      .has_time = event->has_time});
      if (list.size() >= most) return true;
    }
    FATHOM_CHECK(cursor_.status());
    return false;
  }
  [[nodiscard]] std::uint64_t unknown() const { return unknown_; }

 private:
  HalfReader(std::unique_ptr<EventStream> stream, LocationId location, std::int32_t rank)
      : cursor_(std::move(stream), 1024), location_(location), rank_(rank) {}

  EventCursor cursor_;
  LocationId location_;
  std::int32_t rank_;
  std::uint64_t serial_ = 0;
  std::uint64_t unknown_ = 0;
};

// Which process of a team puts the messages to a rank together: neighbours go to the same one, so that the processes'
// messages one after the other are in the order of receivers.
class Receivers {
 public:
  Receivers(const Trace& trace, unsigned processes) : processes_(processes) {
    std::map<std::int32_t, std::uint64_t> weights;
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < trace.location_count(); ++i) {
      const auto rank = rank_of(trace.definitions(), LocationId(i));
      if (!rank) continue;
      const std::uint64_t weight = std::max<std::uint64_t>(extent(trace, LocationId(i)), 1);
      weights[*rank] += weight;
      all += weight;
    }
    std::uint64_t before = 0;
    for (const auto& [rank, weight] : weights) {
      const auto part = static_cast<unsigned>(static_cast<double>(before) / static_cast<double>(all) * processes_);
      if (begins_.empty() || part > begins_.back().second) begins_.emplace_back(rank, std::min(part, processes_ - 1));
      before += weight;
    }
  }
  [[nodiscard]] unsigned process(std::int32_t rank) const {
    const auto behind = std::upper_bound(begins_.begin(), begins_.end(), rank,
                                         [](std::int32_t wanted, const auto& one) { return wanted < one.first; });
    return behind == begins_.begin() ? 0 : (behind - 1)->second;
  }

 private:
  unsigned processes_;
  std::vector<std::pair<std::int32_t, unsigned>> begins_;  // first rank, process
};

// Every process reads its locations and hands each end to the one that puts it together, in rounds.
class TeamReading {
 public:
  TeamReading(const Trace& trace, Halves& sends, Halves& receives, std::size_t run, Unmatched& unmatched)
      : trace_(trace),
        sends_(sends),
        receives_(receives),
        run_(run),
        unmatched_(unmatched),
        receivers_(trace, team().size()) {}

  Result<void> read() {
    FATHOM_TRY(Share share, Share::of("reading messages", trace_.location_count(),
                                      [&](std::size_t i) { return extent(trace_, LocationId(i)); }));
    const std::vector<std::size_t>& mine = share.mine();
    std::size_t next = 0;
    std::vector<HalfReader> open;
    Progress progress("reading messages", mine.size());
    while (true) {
      while (open.size() < thread_count() && next < mine.size()) {
        const LocationId location(mine[next++]);
        const auto rank = rank_of(trace_.definitions(), location);
        if (!rank) continue;
        FATHOM_TRY(HalfReader reader, HalfReader::open(trace_, location, *rank));
        open.push_back(std::move(reader));
      }
      FATHOM_TRY(const auto busy, team().sum({open.empty() ? 0 : 1}));
      if (busy[0] == 0) return share.join_diagnostics(Holder::first);
      FATHOM_CHECK(round(open, progress));
    }
  }

 private:
  Result<void> round(std::vector<HalfReader>& open, Progress& progress) {
    struct Got {
      std::vector<Half> sends, receives;
      bool more = false;
    };
    std::vector<Got> got(open.size());
    FATHOM_CHECK(parallel_for(open.size(), [&](std::size_t i) -> Result<void> {
      FATHOM_TRY(got[i].more, open[i].read(got[i].sends, got[i].receives, run_));
      return {};
    }));
    std::vector<HalfReader> still;
    std::vector<std::vector<Half>> to(std::size_t{2} * team().size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      for (const Half& half : got[i].sends) to[2 * receivers_.process(half.to)].push_back(half);
      for (const Half& half : got[i].receives) to[2 * receivers_.process(half.to) + 1].push_back(half);
      if (got[i].more) {
        still.push_back(std::move(open[i]));
      } else {
        unmatched_.unknown += open[i].unknown();
        progress.advance();
      }
      got[i] = {};
    }
    open = std::move(still);
    std::vector<Parcel> parcels(team().size());
    for (std::size_t process = 0; process < parcels.size(); ++process) {
      Packer packer;
      packer(to[2 * process], to[2 * process + 1]);
      parcels[process] = std::move(packer).take();
      to[2 * process] = {};
      to[2 * process + 1] = {};
    }
    FATHOM_TRY(const std::vector<Parcel> arrived, team().exchange(std::move(parcels)));
    for (const Parcel& parcel : arrived) {
      std::vector<Half> some_sends;
      std::vector<Half> some_receives;
      Unpacker unpacker(parcel);
      unpacker(some_sends, some_receives);
      FATHOM_CHECK(unpacker.status());
      FATHOM_CHECK(sends_.add(some_sends));
      FATHOM_CHECK(receives_.add(some_receives));
    }
    return {};
  }

  const Trace& trace_;
  Halves& sends_;
  Halves& receives_;
  std::size_t run_;
  Unmatched& unmatched_;
  Receivers receivers_;
};

Result<void> read_alone(const Trace& trace, Halves& sends, Halves& receives, std::size_t run, Unmatched& unmatched) {
  const std::size_t count = trace.location_count();
  const std::size_t groups = std::min(count, std::size_t{8} * thread_count());
  Progress progress("reading messages", count);
  return parallel_for(groups, [&](std::size_t group) -> Result<void> {
    std::vector<Half> own_sends;
    std::vector<Half> own_receives;
    for (std::size_t i = group; i < count; i += groups) {
      if (const auto rank = rank_of(trace.definitions(), LocationId(i))) {
        FATHOM_TRY(HalfReader reader, HalfReader::open(trace, LocationId(i), *rank));
        for (bool more = true; more;) {
          FATHOM_TRY(more, reader.read(own_sends, own_receives, run));
          if (own_sends.size() >= run) FATHOM_CHECK(sends.add(own_sends));
          if (own_receives.size() >= run) FATHOM_CHECK(receives.add(own_receives));
        }
        unmatched.unknown += reader.unknown();
      }
      progress.advance();
    }
    FATHOM_CHECK(sends.add(own_sends));
    return receives.add(own_receives);
  });
}

}  // namespace

Result<void> read_ends(const Trace& trace, Halves& sends, Halves& receives, std::size_t run, Unmatched& unmatched) {
  if (team().alone()) return read_alone(trace, sends, receives, run, unmatched);
  return TeamReading(trace, sends, receives, run / 4 + 1, unmatched).read();
}

}  // namespace fathom::messages
