// Numbers of the fields that are read, as the public definitions have them, one list per message.
#pragma once

#include <cstdint>
#include <string_view>

namespace fathom::perfetto {

// Of events whose flows are arrows of their own, as our writer has them.
inline constexpr std::string_view kArrowCategory = "arrow";

namespace trace_field {
enum : std::uint32_t { packet = 1 };
}
namespace packet_field {
enum : std::uint32_t {
  ftrace_events = 1,
  process_tree = 2,
  trusted_uid = 3,
  clock_snapshot = 6,
  timestamp = 8,
  sequence_id = 10,
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  trace_config = 33,
  state_cleared = 41,  // the old form of a flag
  packets_dropped = 42,
  process_descriptor = 43,
  thread_descriptor = 44,
  compressed_packets = 50,
  clock_id = 58,
  defaults = 59,
  track_descriptor = 60,
  trusted_pid = 79,
  first_on_sequence = 87,
  machine_id = 98,
  zstd_packets = 133,
};
}  // namespace packet_field
namespace sequence_flag {
enum : std::uint64_t { cleared = 1, needs_state = 2 };
}
namespace ftrace_field {
enum : std::uint32_t {
  event = 2,  // of a bundle
  timestamp = 1,
  thread = 2,
  print = 3,
  print_text = 2,
};
}  // namespace ftrace_field
namespace event_field {
enum : std::uint32_t {
  time_delta_us = 1,
  thread_time_delta_us = 2,
  category_iids = 3,
  annotations = 4,
  legacy_event = 6,
  instructions_delta = 8,
  type = 9,
  name_iid = 10,
  track_uuid = 11,
  extra_values = 12,
  time_absolute_us = 16,
  thread_time_absolute_us = 17,
  instructions_absolute = 20,
  categories = 22,
  name = 23,
  counter_value = 30,
  extra_counters = 31,
  source_location = 33,
  source_location_iid = 34,
  flow_ids_old = 36,
  terminating_flow_ids_old = 42,
  double_counter_value = 44,
  extra_double_counters = 45,
  extra_double_values = 46,
  flow_ids = 47,
  terminating_flow_ids = 48,
};
}  // namespace event_field
namespace event_type {
enum : std::uint64_t { slice_begin = 1, slice_end = 2, instant = 3, counter = 4, state = 5 };
}
namespace legacy_field {
enum : std::uint32_t {
  name_iid = 1,
  phase = 2,
  duration_us = 3,
  unscoped_id = 6,
  id_scope = 7,
  bind_id = 8,
  local_id = 10,
  global_id = 11,
  flow_direction = 13,
  pid_override = 18,
  tid_override = 19,
};
}
namespace interned_field {
enum : std::uint32_t {
  event_categories = 1,
  event_names = 2,
  annotation_names = 3,
  source_locations = 4,
  annotation_strings = 29,
};
}
// Entries of interned data: a number and a text; source locations have more.
namespace entry_field {
enum : std::uint32_t { iid = 1, text = 2, file = 2, line = 4 };
}
namespace thread_field {
enum : std::uint32_t { reference_time_us = 6, reference_thread_time_us = 7, reference_instructions = 8 };
}

// What packets are that nothing of a trace is made of; "" = not known here.
std::string_view packet_kind(std::uint32_t field);

}  // namespace fathom::perfetto
