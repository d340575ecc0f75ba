// One track event as its message says it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace fathom::perfetto {

// How old versions said what happened: phases as in Chrome's JSON.
struct LegacyEvent {
  char phase = 0;
  std::int64_t duration_us = 0;
  std::optional<std::uint64_t> id;
  std::string_view scope;
  std::uint64_t name_iid = 0;
  std::optional<std::uint64_t> bind_id;
  std::uint64_t flow_direction = 0;             // bits: 1 in, 2 out
  std::optional<std::int64_t> process, thread;  // instead of those of the sequence
};

struct TrackEvent {
  std::uint64_t type = 0;
  std::optional<std::uint64_t> track;
  std::string_view name;
  std::uint64_t name_iid = 0;
  bool has_name = false;
  std::string_view category;  // the first
  bool own_flows = false;     // flows are no events beside this one, as our own writer has them
  std::uint64_t category_iid = 0;
  std::string_view source;
  std::uint64_t source_iid = 0;
  std::vector<std::string_view> annotations;
  std::vector<std::uint64_t> counters, double_counters, flows, last_flows;
  std::vector<std::int64_t> values;
  std::vector<double> double_values;
  std::optional<std::int64_t> value;
  std::optional<double> double_value;
  std::optional<LegacyEvent> legacy;
  std::optional<std::int64_t> delta_us, absolute_us, thread_delta_us, thread_absolute_us, instructions_delta,
      instructions_absolute;

  // False = it is malformed. What it was before is gone; nothing is allocated that it had room for.
  bool parse(std::string_view message);

 private:
  void clear();
};

}  // namespace fathom::perfetto
