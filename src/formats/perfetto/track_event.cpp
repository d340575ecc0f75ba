#include "formats/perfetto/track_event.hpp"

#include <bit>

#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/proto.hpp"

namespace fathom::perfetto {

namespace {

LegacyEvent parse_legacy(std::string_view message) {
  LegacyEvent out;
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    switch (field.number) {
      case legacy_field::name_iid:
        out.name_iid = field.value;
        break;
      case legacy_field::phase:
        out.phase = static_cast<char>(field.value);
        break;
      case legacy_field::duration_us:
        out.duration_us = field.integer();
        break;
      case legacy_field::unscoped_id:
      case legacy_field::local_id:
      case legacy_field::global_id:
        out.id = field.value;
        break;
      case legacy_field::id_scope:
        if (field.wire == Wire::bytes) out.scope = field.bytes;
        break;
      case legacy_field::bind_id:
        out.bind_id = field.value;
        break;
      case legacy_field::flow_direction:
        out.flow_direction = field.value;
        break;
      case legacy_field::pid_override:
        out.process = static_cast<std::int32_t>(field.value);
        break;
      case legacy_field::tid_override:
        out.thread = static_cast<std::int32_t>(field.value);
        break;
      default:
        break;
    }
  }
  return out;
}

}  // namespace

void TrackEvent::clear() {
  type = name_iid = category_iid = source_iid = 0;
  track.reset();
  name = category = source = {};
  has_name = own_flows = false;
  annotations.clear();
  counters.clear();
  double_counters.clear();
  flows.clear();
  last_flows.clear();
  values.clear();
  double_values.clear();
  value.reset();
  double_value.reset();
  legacy.reset();
  delta_us.reset();
  absolute_us.reset();
  thread_delta_us.reset();
  thread_absolute_us.reset();
  instructions_delta.reset();
  instructions_absolute.reset();
}

bool TrackEvent::parse(std::string_view message) {
  clear();
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    switch (field.number) {
      case event_field::type:
        type = field.value;
        break;
      case event_field::track_uuid:
        track = field.value;
        break;
      case event_field::name:
        name = field.bytes;
        has_name = true;
        break;
      case event_field::name_iid:
        name_iid = field.value;
        has_name = true;
        break;
      case event_field::categories:
        if (field.bytes == kArrowCategory) {
          own_flows = true;
        } else if (category.empty()) {
          category = field.bytes;
        }
        break;
      case event_field::category_iids:
        each_number(field, [&](std::uint64_t iid) { category_iid = category_iid == 0 ? iid : category_iid; });
        break;
      case event_field::annotations:
        if (field.wire == Wire::bytes) annotations.push_back(field.bytes);
        break;
      case event_field::source_location:
        source = field.bytes;
        break;
      case event_field::source_location_iid:
        source_iid = field.value;
        break;
      case event_field::counter_value:
        value = field.integer();
        break;
      case event_field::double_counter_value:
        double_value = real_of(field);
        break;
      case event_field::extra_counters:
        each_number(field, [&](std::uint64_t uuid) { counters.push_back(uuid); });
        break;
      case event_field::extra_values:
        each_number(field, [&](std::uint64_t number) { values.push_back(static_cast<std::int64_t>(number)); });
        break;
      case event_field::extra_double_counters:
        each_number(field, [&](std::uint64_t uuid) { double_counters.push_back(uuid); });
        break;
      case event_field::extra_double_values:
        each_fixed64(field, [&](std::uint64_t bits) { double_values.push_back(std::bit_cast<double>(bits)); });
        break;
      case event_field::flow_ids:
        each_fixed64(field, [&](std::uint64_t id) { flows.push_back(id); });
        break;
      case event_field::terminating_flow_ids:
        each_fixed64(field, [&](std::uint64_t id) { last_flows.push_back(id); });
        break;
      case event_field::flow_ids_old:
        each_number(field, [&](std::uint64_t id) { flows.push_back(id); });
        break;
      case event_field::terminating_flow_ids_old:
        each_number(field, [&](std::uint64_t id) { last_flows.push_back(id); });
        break;
      case event_field::legacy_event:
        if (field.wire == Wire::bytes) legacy = parse_legacy(field.bytes);
        break;
      case event_field::time_delta_us:
        delta_us = field.integer();
        break;
      case event_field::time_absolute_us:
        absolute_us = field.integer();
        break;
      case event_field::thread_time_delta_us:
        thread_delta_us = field.integer();
        break;
      case event_field::thread_time_absolute_us:
        thread_absolute_us = field.integer();
        break;
      case event_field::instructions_delta:
        instructions_delta = field.integer();
        break;
      case event_field::instructions_absolute:
        instructions_absolute = field.integer();
        break;
      default:
        break;
    }
  }
  return cursor.failed() == nullptr;
}

}  // namespace fathom::perfetto
