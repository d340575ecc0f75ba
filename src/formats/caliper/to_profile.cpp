#include "formats/caliper/to_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "base/text.hpp"
#include "profile/build/profile_builder.hpp"

namespace fathom::caliper {

namespace {

enum class Use : std::uint8_t { nothing, path, rank, thread, counter, metric, global };

bool is_rank(std::string_view name) { return name == "mpi.rank" || name == "rank"; }
bool is_thread(std::string_view name) {
  return name == "omp.thread.id" || name == "pthread.id" || name == "thread.id" || name == "thread";
}
// What tells the records of a time series apart.
bool is_counter(std::string_view name) {
  return name == "block" || name == "loop.start_iteration" || name.starts_with("iteration#");
}

// What a snapshot was taken for.
bool is_of_event(std::string_view name) {
  return name.starts_with("cali.") || name.starts_with("event.begin#") || name.starts_with("event.set#") ||
         name.starts_with("event.end#");
}

// Points in time, which do not add up, and the number of a step of a time series.
bool is_moment(std::string_view name) {
  return name == "time.offset" || name == "time.offset.ns" || name == "time.timestamp" ||
         name == "timeseries.starttime" || name == "timeseries.snapshot";
}

// Queries make the first, timers of regions the second.
constexpr std::array<std::string_view, 2> kInclusive = {"inclusive#", "inclusive.duration"};

bool is_inclusive(std::string_view name) {
  return name.find(kInclusive[0]) != std::string_view::npos || name.find(kInclusive[1]) != std::string_view::npos;
}

std::string without_inclusive(std::string name) {
  for (const std::string_view word : kInclusive) {
    if (const std::size_t at = name.find(word); at != std::string::npos) {
      return name.erase(at, word.find_first_of("#.") + 1);
    }
  }
  return name;
}

constexpr std::string_view kSampledPath = "source.function#callpath.address";

// Before version 1.6 nothing is marked as nested: the path is all that the program set.
bool is_set_by_program(const Attribute& attribute) {
  return (attribute.properties & (kAsValue | kSkipEvents | kHidden | kGlobal)) == 0 &&
         !attribute.name.starts_with("cali.");
}

class Mapper {
 public:
  Mapper(const Records& records, const Work& work)
      : records_(records), work_(work), builder_(work, records.blob.name()), place_(records.blob.place()) {}

  Result<ProfilePtr> run() {
    uses();
    metrics();
    builder_.attributes = records_.globals;
    records_.each([&](std::uint32_t path, std::span<const Entry> own) {
      add(place_of(path), own);
      return true;
    });
    fill_unended();
    if (builder_.system.location_count() == 0) add_single_location(builder_.system);
    FATHOM_CHECK(report());
    return std::move(builder_).finish();
  }

 private:
  void uses() {
    std::vector<std::uint8_t> used(records_.attributes.size());
    for (const RecordPiece& piece : records_.pieces) {
      for (const Entry& entry : piece.entries) used[entry.attribute] = 1;
    }
    for (const PathStep& step : records_.steps) used[step.entry.attribute] = 1;
    bool nested = false, sampled = false;
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (used[i] == 0) continue;
      nested = nested || (records_.attributes[i].properties & kNested) != 0;
      sampled = sampled || records_.attributes[i].name == kSampledPath;
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      const Attribute& attribute = records_.attributes[i];
      Use use = Use::nothing;
      const bool number = attribute.type == Type::integer || attribute.type == Type::real;
      if (used[i] == 0) {
      } else if ((attribute.properties & kGlobal) != 0) {
        use = Use::global;
      } else if ((attribute.properties & kNested) != 0 || (!nested && attribute.name == kSampledPath)) {
        use = Use::path;
      } else if (is_rank(attribute.name)) {
        use = Use::rank;
      } else if (is_thread(attribute.name)) {
        use = Use::thread;
      } else if (number && is_counter(attribute.name)) {
        use = Use::counter;
      } else if (!nested && !sampled && is_set_by_program(attribute)) {
        use = Use::path;
      } else if (attribute.is_value() && number && (attribute.properties & kHidden) == 0 &&
                 !is_moment(attribute.name)) {
        use = Use::metric;
        if (has_twin(i)) {
          use = Use::nothing;
          twins_.push_back(attribute.name);
        }
      } else if ((attribute.properties & kHidden) == 0 && attribute.name != "spot.channel" &&
                 !is_of_event(attribute.name)) {
        others_.push_back(attribute.name);
      }
      use_.push_back(use);
    }
  }

  // An inclusive sum follows from the exclusive ones where every record that has it has those, too. Extremes and means
  // do not follow from anything.
  [[nodiscard]] bool has_twin(std::size_t index) const {
    const std::string& name = records_.attributes[index].name;
    const std::string twin = without_inclusive(name);
    if (twin == name || name.starts_with("min#") || name.starts_with("max#") || name.starts_with("avg#")) return false;
    std::vector<std::uint8_t> is_twin;  // by attribute
    for (const Attribute& one : records_.attributes) is_twin.push_back(one.name == twin ? 1 : 0);
    bool any = false;
    bool always = true;
    records_.each([&](std::uint32_t, std::span<const Entry> own) {
      bool inclusive = false;
      bool exclusive = false;
      for (const Entry& entry : own) {
        inclusive = inclusive || entry.attribute == index;
        exclusive = exclusive || is_twin[entry.attribute] != 0;
      }
      always = !inclusive || exclusive;
      any = any || inclusive;
      return always;
    });
    return any && always;
  }

  void metrics() {
    metric_.resize(records_.attributes.size());
    is_timer_.resize(records_.attributes.size());
    integer_.resize(records_.attributes.size());
    for (std::size_t i = 0; i < records_.attributes.size(); ++i) {
      if (use_[i] != Use::metric) continue;
      const Attribute& from = records_.attributes[i];
      is_timer_[i] = from.name.find(kInclusive[1]) != std::string::npos && !from.name.starts_with("avg#") &&
                     !from.name.starts_with("min#") && !from.name.starts_with("max#");
      if (const MetricId known = builder_.find_metric(from.name); known.valid()) {
        metric_[i] = known;
        continue;
      }
      Metric to;
      to.name = from.name;
      to.display_name = from.alias.empty() ? from.name : from.alias;
      to.unit = unit_of(from);
      const bool minimum = from.name.starts_with("min#");
      const bool maximum = from.name.starts_with("max#");
      to.type = {minimum                      ? ValueKind::min_f64
                 : maximum                    ? ValueKind::max_f64
                 : from.type == Type::integer ? ValueKind::i64
                                              : ValueKind::f64,
                 0};
      if (is_inclusive(from.name)) to.scopes = {{Scope::inclusive, {}}};
      metric_[i] = builder_.add_metric(std::move(to));
    }
    for (std::size_t i = 0; i < metric_.size(); ++i) {
      integer_[i] = metric_[i].valid() && builder_.metrics()[metric_[i].index()].type.kind == ValueKind::i64 ? 1 : 0;
    }
  }

  [[nodiscard]] std::string unit_of(const Attribute& attribute) const {
    if (!attribute.unit.empty()) return attribute.unit;
    const std::string_view name = attribute.name;
    if (name.find('/') != std::string_view::npos) return "";
    if (name.ends_with("duration.ns")) return "ns";
    if (name.find("duration") != std::string_view::npos) {
      // A sum is in the unit of what was summed, which alone says it in old files.
      const std::string_view summed = name.substr(name.rfind('#') + 1);
      for (const Attribute& other : records_.attributes) {
        if (other.name == summed && !other.unit.empty()) return other.unit;
      }
      return records_.old_times || attribute.type == Type::integer ? "usec" : "sec";
    }
    return name.find("bytes") != std::string_view::npos ? "bytes" : "occ";
  }

  // A number alone is no name.
  [[nodiscard]] std::string name_of(const Entry& entry) const {
    const Attribute& attribute = records_.attributes[entry.attribute];
    const bool number = attribute.type == Type::integer || attribute.type == Type::real;
    Entry::Room room;
    if (!number || (attribute.properties & kNested) != 0) return std::string(entry.text(room));
    return fmt::format("{}={}", attribute.name, entry.text(room));
  }

  RegionId region(std::uint32_t attribute, std::string_view name) {
    const auto [at, fresh] = regions_.try_emplace({attribute, std::string(name)});
    if (!fresh) return at->second;
    Region made;
    made.name = std::string(name);
    const std::string& kind = records_.attributes[attribute].name;
    made.role = kind == "mpi.function" ? "function" : kind == "path" ? "" : kind;
    if (kind == "mpi.function" || name.starts_with("MPI_")) made.paradigm = "mpi";
    at->second = builder_.add_region(std::move(made));
    return at->second;
  }

  // Where a record belongs, as far as its path and its own entries say.
  struct At {
    ProfileBuilder::Node node = ProfileBuilder::kRoot;
    ProfileBuilder::Node above = ProfileBuilder::kRoot;
    RegionId last;
    std::string_view rank, thread;
    std::vector<ContextParameter> counted;
    std::vector<Entry> values;
    bool known = false;
  };

  // Of a path, whose entries are texts.
  void learn(At& at, const Entry& entry) {
    Entry::Room room;
    switch (use_[entry.attribute]) {
      case Use::path:
        at.last = region(entry.attribute, name_of(entry));
        at.above = at.node;
        at.node = builder_.child(at.node, at.last);
        parents_[at.node] = at.above;
        break;
      case Use::rank:
        at.rank = entry.text(room);
        break;
      case Use::thread:
        at.thread = entry.text(room);
        break;
      case Use::counter:
        at.counted.push_back({records_.attributes[entry.attribute].name, number_of(entry).value_or(0)});
        break;
      case Use::metric:
        at.values.push_back(entry);
        break;
      default:
        break;
    }
  }

  // Paths are shared by many records: each is looked at once.
  const At& place_of(std::uint32_t path) {
    if (places_.empty()) {
      places_.resize(records_.steps.size() + 1);
      places_[0].known = true;
    }
    std::vector<std::uint32_t> way;
    for (std::uint32_t one = path; !places_[one].known; one = records_.step(one).above) way.push_back(one);
    for (auto one = way.rbegin(); one != way.rend(); ++one) {
      At& at = places_[*one];
      at = places_[records_.step(*one).above];
      learn(at, records_.step(*one).entry);
    }
    return places_[path];
  }

  void add(const At& shared, std::span<const Entry> own) {
    // What the record says itself mostly is where it was measured, and values.
    bool simple = shared.counted.empty();
    std::string_view rank = shared.rank;
    std::string_view thread = shared.thread;
    Entry::Room rank_room, thread_room;
    for (const Entry& entry : own) {
      const Use use = use_[entry.attribute];
      if (use == Use::rank) rank = entry.text(rank_room);
      if (use == Use::thread) thread = entry.text(thread_room);
      simple = simple && use != Use::path && use != Use::counter;
    }
    const auto node = !simple ? node_of(shared, own) : shared.node == ProfileBuilder::kRoot ? nowhere() : shared.node;
    const LocationId location = location_of(rank, thread);
    for (const Entry& entry : shared.values) value(location, node, entry);
    for (const Entry& entry : own) {
      if (use_[entry.attribute] == Use::metric) value(location, node, entry);
    }
  }

  ProfileBuilder::Node nowhere() {
    if (!unattributed_.valid()) {
      Region region;
      region.name = "(unattributed)";
      unattributed_ = builder_.add_region(std::move(region));
    }
    return builder_.child(ProfileBuilder::kRoot, unattributed_);
  }

  // Of a record that goes on from its path, or counts something.
  ProfileBuilder::Node node_of(const At& shared, std::span<const Entry> own) {
    At at = shared;
    for (const Entry& entry : own) {
      if (use_[entry.attribute] == Use::path || use_[entry.attribute] == Use::counter) learn(at, entry);
    }
    if (at.node == ProfileBuilder::kRoot) {
      at.node = nowhere();
      at.last = unattributed_;
    }
    if (at.counted.empty()) return at.node;
    std::string key;
    for (const ContextParameter& one : at.counted) key += fmt::format("{}={},", one.key, std::get<double>(one.value));
    const auto variant = static_cast<std::uint32_t>(variants_.try_emplace(key, variants_.size() + 1).first->second);
    const auto node = builder_.child(at.above, at.last, Edge::call, variant);
    builder_.details(node).parameters = at.counted;
    return node;
  }

  void value(LocationId location, ProfileBuilder::Node node, const Entry& entry) {
    const MetricId metric = metric_[entry.attribute];
    if (is_timer_[entry.attribute]) {
      Timed& timed = timed_[{location, metric}][node];
      timed.ended = true;
      timed.sum += number_of(entry).value_or(0);
    }
    if (integer_[entry.attribute] != 0) {
      Entry::Room room;
      const auto number = entry.is_integer() ? entry.integer : parse_integer<std::int64_t>(entry.text(room));
      if (!number) ++bad_values_;
      if (number) builder_.add(location, metric, node, *number);
    } else {
      const auto number = number_of(entry);
      if (!number) ++bad_values_;
      if (number) builder_.add(location, metric, node, *number);
    }
  }

  // Timers write what a region took when it ends. One that never did is known by what is inside of it.
  void fill_unended() {
    for (auto& [where, sums] : timed_) {
      const auto [location, metric] = where;
      // Children have larger numbers than parents.
      for (auto at = sums.rbegin(); at != sums.rend(); ++at) {
        const auto parent = parents_.find(at->first);
        if (parent == parents_.end() || parent->second == ProfileBuilder::kRoot) continue;
        Timed& above = sums[parent->second];
        if (!above.ended) above.sum += at->second.sum;
      }
      for (const auto& [node, timed] : sums) {
        if (timed.ended) continue;
        if (builder_.metrics()[metric.index()].type.kind == ValueKind::i64) {
          builder_.add(location, metric, node, static_cast<std::int64_t>(timed.sum));
        } else {
          builder_.add(location, metric, node, timed.sum);
        }
      }
    }
  }

  static std::optional<double> number_of(const Entry& entry) {
    if (entry.is_real()) return entry.real;
    if (entry.is_integer()) return static_cast<double>(entry.integer);
    Entry::Room unused;
    return parse_double(entry.text(unused));
  }

  // A text of a few characters as a number, which differs from that of any other; longer ones have none.
  static constexpr std::uint64_t kLong = ~std::uint64_t{0};
  static std::uint64_t short_key(std::string_view text) {
    if (text.size() >= sizeof(std::uint64_t)) return kLong;
    std::uint64_t key = text.size();
    for (const char c : text) key = key << 8 | static_cast<std::uint8_t>(c);
    return key;
  }

  // Most are asked for again and again.
  LocationId location_of(std::string_view rank, std::string_view thread) {
    const std::uint64_t rank_key = short_key(rank);
    const std::uint64_t thread_key = short_key(thread);
    if (rank_key == kLong || thread_key == kLong) return found_location(rank, thread);
    Met& met = met_[(rank_key * 0x9E3779B97F4A7C15U ^ thread_key * 0xC2B2AE3D27D4EB4FU) >> (64 - kMetBits)];
    if (!met.location.valid() || met.rank != rank_key || met.thread != thread_key) {
      met = {rank_key, thread_key, found_location(rank, thread)};
    }
    return met.location;
  }

  LocationId found_location(std::string_view rank, std::string_view thread) {
    ((key_ = rank) += '\0') += thread;
    const auto [at, fresh] = locations_.try_emplace(key_);
    if (!fresh) return at->second;
    SystemTree& system = builder_.system;
    if (system.nodes.empty()) {
      SystemNode machine;
      machine.type = "machine";
      machine.name = "machine";
      system.add(std::move(machine));
    }
    const auto [group, fresh_group] = groups_.try_emplace(std::string(rank));
    if (fresh_group) {
      SystemNode made;
      made.parent = SystemNodeId(std::size_t{0});
      made.kind = SystemKind::group;
      made.type = "process";
      made.rank = parse_integer<std::int64_t>(rank);
      made.name = rank.empty() ? "all processes" : fmt::format("MPI Rank {}", rank);
      group->second = system.add(std::move(made));
    }
    SystemNode made;
    made.parent = group->second;
    made.type = "thread";
    made.rank = parse_integer<std::int64_t>(thread.empty() ? "0" : thread);
    made.name = fmt::format("Thread {}", thread.empty() ? "0" : thread);
    made.file_id = system.location_count();
    if (!rank.empty()) made.label = thread.empty() ? std::string(rank) : fmt::format("{}.{}", rank, thread);
    at->second = system.add_location(std::move(made));
    return at->second;
  }

  Result<void> report() {
    if (!twins_.empty()) {
      work_->diagnostics.info(
          "caliper.inclusive", place_,
          fmt::format("inclusive values follow from the exclusive ones: {} left out", fmt::join(twins_, ", ")));
    }
    if (!others_.empty()) {
      work_->diagnostics.info("caliper.attributes", place_,
                              fmt::format("attributes of records that are neither path, place nor number are not kept "
                                          "apart: {}",
                                          fmt::join(others_, ", ")));
    }
    if (bad_values_ == 0) return {};
    return work_->diagnostics.add("caliper.value", Severity::warning, place_,
                                  "a value is no number though its attribute says so; left out", bad_values_);
  }

  const Records& records_;
  Work work_;
  ProfileBuilder builder_;
  Place place_;
  std::vector<Use> use_;               // by attribute
  std::vector<MetricId> metric_;       // by attribute
  std::vector<std::uint8_t> integer_;  // by attribute: its metric is one
  std::vector<std::string> twins_, others_;
  std::map<std::pair<std::uint32_t, std::string>, RegionId> regions_;
  std::vector<At> places_;  // by path
  struct Timed {
    double sum = 0;
    bool ended = false;
  };
  std::vector<bool> is_timer_;  // by attribute: stores what regions take that ended
  std::map<std::pair<LocationId, MetricId>, std::map<ProfileBuilder::Node, Timed>> timed_;
  std::unordered_map<ProfileBuilder::Node, ProfileBuilder::Node> parents_;
  RegionId unattributed_;
  std::map<std::string, std::size_t> variants_;
  std::unordered_map<std::string, LocationId> locations_;  // by rank and thread
  struct Met {
    std::uint64_t rank = 0, thread = 0;
    LocationId location;
  };
  static constexpr unsigned kMetBits = 10;
  std::array<Met, 1 << kMetBits> met_;  // some of them
  std::string key_;
  std::map<std::string, SystemNodeId> groups_;
  std::uint64_t bad_values_ = 0;
};

}  // namespace

Result<ProfilePtr> to_profile(const Records& records, const Work& work) { return Mapper(records, work).run(); }

}  // namespace fathom::caliper
