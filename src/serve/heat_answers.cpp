// Rows of the timeline as values: how long calls are, bytes, waiting, a counter.
#include <algorithm>
#include <optional>

#include "base/json.hpp"
#include "base/parallel.hpp"
#include "serve/window_answers.hpp"
#include "trace/analysis/analysis.hpp"

namespace fathom::serve {

namespace {

constexpr std::size_t kMostRows = 512;
constexpr std::int64_t kMostBins = 2048;
constexpr std::size_t kReadAhead = 100000;  // events behind the window, for the ends of calls that are open there

// One row: a window cut into bins.
class Bins {
 public:
  Bins(std::int64_t from_ns, std::int64_t to_ns, std::size_t count)
      : from_(from_ns), width_(static_cast<double>(to_ns - from_ns) / static_cast<double>(count)), values_(count) {}

  // Calls visit(bin, ns of the stretch that lie in it) for all bins that it touches.
  template <class Visit>
  void each(std::int64_t begin_ns, std::int64_t end_ns, Visit&& visit) const {
    const double first = std::max(0.0, static_cast<double>(begin_ns - from_) / width_);
    const double last = static_cast<double>(end_ns - from_) / width_;
    for (auto bin = static_cast<std::size_t>(first); bin < values_.size(); ++bin) {
      const auto left = static_cast<double>(bin);
      // Something without length lies in the bin where it begins.
      if (left >= last && left > first) break;
      if (last < 0) break;
      visit(bin, (std::min(last, left + 1) - std::max(first, left)) * width_);
    }
  }
  void add(std::size_t bin, double value) { values_[bin] = values_[bin].value_or(0) + value; }
  void raise(std::size_t bin, double value) { values_[bin] = std::max(values_[bin].value_or(value), value); }
  void set(std::size_t bin, double value) { values_[bin] = value; }
  void scale(double factor) {
    for (auto& value : values_) {
      if (value) *value *= factor;
    }
  }
  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] const std::vector<std::optional<double>>& values() const { return values_; }

 private:
  std::int64_t from_;
  double width_;
  std::vector<std::optional<double>> values_;
};

// Each bin has the length of the innermost call in it; of several that are equally deep the longest.
class Lengths {
 public:
  Lengths(Bins& bins, std::int64_t to_ns) : bins_(bins), to_(to_ns), depth_(bins.values().size(), -1) {}

  Result<void> read(const Trace& trace, LocationId location, std::int64_t from_ns, ChannelId channel) {
    FATHOM_TRY(auto stream, trace.open(location, {from_ns, TimeWindow{}.to_ns}));
    EventCursor cursor(std::move(stream));
    std::size_t behind = 0;
    std::size_t later = 0;  // calls that began behind the window
    while (const Event* event = cursor.next()) {
      if (!event->has_time) continue;
      last_ = event->time_ns;
      const bool inside = event->carried || event->time_ns < to_;
      if (!inside && (open_.empty() || ++behind > kReadAhead)) break;
      if (channel.valid()) {
        if (event->kind != EventKind::state || event->channel() != channel) continue;
        close();
        if (inside && event->has_value) open_.push_back({event->name, event->time_ns});
      } else if (event->kind == EventKind::enter) {
        if (inside) {
          open_.push_back({event->name, event->time_ns});
        } else {
          ++later;
        }
      } else if (event->kind == EventKind::leave && later > 0) {
        --later;
      } else if (event->kind == EventKind::leave) {
        // What is open inside of it is left with it.
        std::size_t at = open_.size();
        while (at > 0 && open_[at - 1].name != event->name) --at;
        while (at > 0 && open_.size() >= at) close();
      }
    }
    FATHOM_CHECK(cursor.status());
    while (!open_.empty()) close();
    return {};
  }

 private:
  struct Open {
    std::uint32_t name;
    std::int64_t begin;
  };
  void close() {
    if (open_.empty()) return;
    const auto depth = static_cast<std::int32_t>(open_.size());
    const Open call = open_.back();
    open_.pop_back();
    const double seconds = static_cast<double>(last_ - call.begin) / 1e9;
    bins_.each(call.begin, std::min(last_, to_), [&](std::size_t bin, double) {
      if (depth_[bin] > depth) return;  // something inside of it was there
      if (depth_[bin] < depth) {
        depth_[bin] = depth;
        bins_.set(bin, seconds);
      } else {
        bins_.raise(bin, seconds);
      }
    });
  }

  Bins& bins_;
  std::int64_t to_;
  std::int64_t last_ = 0;
  std::vector<std::int32_t> depth_;
  std::vector<Open> open_;
};

// Rows of the picture, each its locations, and their values.
struct Picture {
  std::vector<std::vector<std::uint32_t>> rows;
  std::vector<Bins> values;
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::string unit;
  std::string why;  // there is nothing to show

  [[nodiscard]] std::size_t bins() const { return values.empty() ? 0 : values.front().values().size(); }
  // Calls visit(bins of the row) for every row that a location is part of: its own, and that of a group around it.
  template <class Visit>
  void rows_of(std::size_t location, Visit&& visit) {
    if (places_.empty()) {
      for (std::size_t r = 0; r < rows.size(); ++r) {
        for (const std::uint32_t member : rows[r]) {
          if (places_.size() <= member) places_.resize(member + 1);
          places_[member].push_back(r);
        }
      }
    }
    if (location >= places_.size()) return;
    for (const std::size_t r : places_[location]) visit(values[r]);
  }

 private:
  std::vector<std::vector<std::size_t>> places_;  // by location
};

// A group has the longest of its members.
Result<void> by_duration(const Trace& trace, ChannelId channel, Picture& picture) {
  picture.unit = "s";
  return parallel_for(picture.rows.size(), [&](std::size_t r) -> Result<void> {
    for (const std::uint32_t location : picture.rows[r]) {
      Bins own(picture.from_ns, picture.to_ns, picture.bins());
      FATHOM_CHECK(Lengths(own, picture.to_ns).read(trace, LocationId(location), picture.from_ns, channel));
      for (std::size_t b = 0; b < picture.bins(); ++b) {
        if (own.values()[b]) picture.values[r].raise(b, *own.values()[b]);
      }
    }
    return {};
  });
}

// Sent and received, where and when that happens.
void by_bytes(const summary::MessageStore& store, Picture& picture) {
  picture.unit = "bytes";
  if (store.size() == 0) picture.why = "this trace tells of no messages";
  const auto put = [&](std::uint32_t location, std::int64_t when, std::int64_t bytes) {
    if (when < picture.from_ns || when >= picture.to_ns) return;
    picture.rows_of(location, [&](Bins& row) {
      row.each(when, when, [&](std::size_t bin, double) { row.add(bin, static_cast<double>(bytes)); });
    });
  };
  store.each(picture.from_ns, picture.to_ns, [&](const summary::StoredMessage& message) {
    put(message.from, message.sent_ns, message.bytes);
    put(message.to, message.received_ns, message.bytes);
  });
}

// The share of the time that goes into wait states.
void by_waiting(const analysis::Analysis& analysis, Picture& picture) {
  picture.unit = "share";
  for (std::size_t l = 0; l < analysis.waits.locations.size(); ++l) {
    for (const analysis::Wait& wait : analysis.waits.locations[l].waits) {
      picture.rows_of(l, [&](Bins& row) {
        row.each(wait.until - wait.length, wait.until,
                 [&](std::size_t bin, double ns) { row.add(bin, ns / row.width()); });
      });
    }
  }
  for (std::size_t r = 0; r < picture.rows.size(); ++r) {
    picture.values[r].scale(1 / static_cast<double>(std::max<std::size_t>(picture.rows[r].size(), 1)));
  }
}

// A group has the mean of those of its members that have readings.
void by_counter(const summary::CounterStore& store, std::uint32_t metric, Picture& picture) {
  for (std::size_t r = 0; r < picture.rows.size(); ++r) {
    Bins& row = picture.values[r];
    std::vector<std::size_t> having(picture.bins());
    for (const std::uint32_t location : picture.rows[r]) {
      if (!store.has(metric, location)) continue;
      const auto line = store.bins(metric, location, picture.from_ns, picture.to_ns, picture.bins());
      for (std::size_t b = 0; b < line.size(); ++b) {
        if (!line[b].any) continue;
        row.add(b, line[b].mean);
        ++having[b];
      }
    }
    for (std::size_t b = 0; b < having.size(); ++b) {
      if (having[b] > 1) row.set(b, *row.values()[b] / static_cast<double>(having[b]));
    }
  }
}

}  // namespace

Result<Answer> WindowAnswers::heat(const Request& request) {
  FATHOM_TRY(const auto made, timeline_.index(request));
  FATHOM_TRY(const Window window, window_of(request, *made));
  FATHOM_TRY(const std::int64_t bins, request.integer("bins", 512));
  FATHOM_TRY(const std::int64_t channel, request.integer("channel", -1));
  FATHOM_TRY(const std::int64_t metric, request.integer("metric", -1));
  Picture picture;
  FATHOM_TRY(picture.rows, timeline_.rows_of(request.get("rows")));
  if (bins < 1 || bins > kMostBins || picture.rows.size() > kMostRows || window.to_ns <= window.from_ns) {
    return Error::usage("there is no such picture");
  }
  picture.from_ns = window.from_ns;
  picture.to_ns = window.to_ns;
  picture.values.assign(picture.rows.size(), Bins(window.from_ns, window.to_ns, static_cast<std::size_t>(bins)));
  const std::string_view what = request.get("what");
  if (what == "duration") {
    const ChannelId id = channel >= 0 ? ChannelId(static_cast<std::size_t>(channel)) : ChannelId();
    FATHOM_CHECK(by_duration(timeline_.trace(), id, picture));
  } else if (what == "bytes") {
    FATHOM_TRY(const auto store, message_store());
    by_bytes(*store, picture);
  } else if (what == "waiting") {
    const auto found = analysis();
    if (found.ok()) {
      by_waiting(**found, picture);
    } else if (found.error().kind() == ErrorKind::usage) {
      picture.why = found.error().message();
    } else {
      return found.error();
    }
  } else if (what == "counter") {
    FATHOM_TRY(const auto store, counter_store());
    const auto& metrics = timeline_.trace().definitions().metrics;
    if (metric < 0 || static_cast<std::size_t>(metric) >= metrics.size()) {
      picture.why = "this trace has no readings of counters";
    } else {
      picture.unit = metrics[static_cast<std::size_t>(metric)].unit;
      by_counter(*store, static_cast<std::uint32_t>(metric), picture);
    }
  } else {
    return Error::usage("rows can be coloured by duration, bytes, waiting or counter");
  }
  std::optional<double> least;
  std::optional<double> most;
  Output out;
  JsonWriter json(out);
  json.begin_object().key("rows").begin_array();
  for (const Bins& row : picture.values) {
    json.begin_array();
    for (const auto& value : row.values()) {
      if (!value) {
        json.value(nullptr);
        continue;
      }
      json.value(*value);
      least = std::min(least.value_or(*value), *value);
      most = std::max(most.value_or(*value), *value);
    }
    json.end_array();
  }
  json.end_array().member("unit", std::string_view(picture.unit));
  if (picture.why.empty() && !most) picture.why = "nothing of that in this part of the trace";
  if (!picture.why.empty()) json.member("why", std::string_view(picture.why));
  json.member("least", least.value_or(0)).member("most", most.value_or(0));
  json.member("from_ns", window.from_ns - made->begin_ns()).member("to_ns", window.to_ns - made->begin_ns());
  json.end_object();
  return Answer::json(out.text());
}

}  // namespace fathom::serve
