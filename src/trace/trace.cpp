#include "trace/trace.hpp"

#include <fmt/format.h>

#include <bit>

#include "base/number_text.hpp"
#include "trace/details.hpp"

namespace fathom {

std::string_view to_string(EventKind kind) {
  switch (kind) {
    case EventKind::enter:
      return "enter";
    case EventKind::leave:
      return "leave";
    case EventKind::sample:
      return "sample";
    case EventKind::send:
      return "send";
    case EventKind::recv:
      return "recv";
    case EventKind::collective:
      return "collective";
    case EventKind::complete:
      return "complete";
    case EventKind::state:
      return "state";
    case EventKind::counter:
      return "counter";
    case EventKind::marker:
      return "marker";
  }
  return "?";
}

std::string_view Trace::name(const Event& event) const {
  const auto of = [&](const auto& table) -> std::string_view {
    return event.name < table.size() ? std::string_view(table[event.name].name) : std::string_view{};
  };
  switch (event.kind) {
    case EventKind::sample: {
      if (event.name >= definitions_.contexts.size()) return {};
      const RegionId region = definitions_.contexts[event.context()].region;
      return region.valid() ? std::string_view(definitions_.region(region).name) : std::string_view{};
    }
    case EventKind::state:
      return of(channels_);
    case EventKind::counter:
      return of(definitions_.metrics);
    case EventKind::marker:
      return event.name < markers_.size() ? std::string_view(markers_[event.name]) : std::string_view{};
    default:
      return of(definitions_.regions);
  }
}

Result<void> Trace::detail(const Event& event, std::string& out) const {
  const auto number = [&](std::string_view key, std::int64_t value) {
    out += key;
    append_number(out, value);
  };
  switch (event.kind) {
    case EventKind::send:
    case EventKind::recv:
    case EventKind::collective:
    case EventKind::complete: {
      TextTail tail(out);
      put_own_detail(*this, event, tail);
      break;
    }
    case EventKind::state: {
      if (!event.has_value) {
        out += "value=";
        break;
      }
      number("value=", event.value);
      if (event.name < channels_.size()) {
        const auto& values = channels_[event.name].values;
        if (const auto found = values.find(event.value); found != values.end()) {
          (out += ";label=") += found->second;
        }
      }
      break;
    }
    case EventKind::counter: {
      const ValueType type =
          event.name < definitions_.metrics.size() ? definitions_.metrics[event.name].type : ValueType{ValueKind::i64};
      if (type.is_double()) {
        fmt::format_to(std::back_inserter(out), "value={}", std::bit_cast<double>(event.value));
      } else if (type.is_unsigned()) {
        fmt::format_to(std::back_inserter(out), "value={}", static_cast<std::uint64_t>(event.value));
      } else {
        number("value=", event.value);
      }
      break;
    }
    case EventKind::sample:
      if (event.name < definitions_.contexts.size()) {
        fmt::format_to(std::back_inserter(out), "context={};path={}", definitions_.contexts[event.context()].file_id,
                       definitions_.path(event.context()));
      }
      break;
    case EventKind::marker:
      marker_detail(event, out);
      break;
    default:
      break;
  }
  return {};
}

void Trace::marker_detail(const Event& event, std::string& out) const {
  auto to = std::back_inserter(out);
  switch (meaning(event)) {
    case MarkerMeaning::put:
    case MarkerMeaning::get:
    case MarkerMeaning::update:
      fmt::format_to(to, "peer={};bytes={}", event.peer, event.bytes);
      break;
    case MarkerMeaning::read:
    case MarkerMeaning::write:
      fmt::format_to(to, "bytes={}", event.bytes);
      [[fallthrough]];
    case MarkerMeaning::open:
    case MarkerMeaning::close: {
      const auto handle = static_cast<std::size_t>(event.tag);
      if (event.tag < 0 || handle >= handles_.size()) break;
      const std::string& name = handles_[handle].file.empty() ? handles_[handle].name : handles_[handle].file;
      fmt::format_to(to, "{}file={}", out.empty() ? "" : ";", name);
      break;
    }
    case MarkerMeaning::lock:
    case MarkerMeaning::unlock:
      fmt::format_to(to, "lock={}", event.value);
      break;
    case MarkerMeaning::task_create:
    case MarkerMeaning::task_switch:
    case MarkerMeaning::task_end:
      fmt::format_to(to, "task={}", event.value);
      break;
    case MarkerMeaning::fork:
    case MarkerMeaning::join:
      fmt::format_to(to, "threads={}", event.value);
      break;
    default:
      break;
  }
}

bool EventCursor::refill() {
  if (error_ || stream_ == nullptr) return false;
  if (end_ == buffer_.size()) buffer_.resize(std::min(batch_, 4 * buffer_.size()));
  auto count = stream_->next(buffer_);
  if (!count) {
    error_ = std::move(count).error();
    return false;
  }
  at_ = 0;
  end_ = *count;
  if (end_ == 0) stream_.reset();
  return end_ > 0;
}

}  // namespace fathom
