#include "formats/ovni/channels.hpp"

#include <algorithm>

namespace fathom::ovni {

void ChannelNet::show(std::uint32_t channel, std::uint16_t view, std::uint32_t row, int type, Repeat repeat,
                      std::int64_t shift) {
  Channel& found = channels_[channel];
  found.view = view;
  found.row = row;
  found.type = static_cast<std::uint16_t>(type);
  found.repeat = repeat;
  found.shift = shift;
}

std::uint32_t ChannelNet::add_mux(Mux mux) {
  mux.output = add_channel();
  channels_[mux.select].listeners.push_back({static_cast<std::uint32_t>(muxes_.size()), Role::select});
  muxes_.push_back(mux);
  return mux.output;
}

std::uint32_t ChannelNet::follow_state(std::uint32_t select, std::uint32_t input, bool active_too) {
  return add_mux({active_too ? Kind::active : Kind::running, select, input, kNobody, kNobody, kNobody, 0, {}});
}

std::uint32_t ChannelNet::follow_thread(std::uint32_t select, std::uint32_t base, std::uint32_t stride,
                                        Value otherwise) {
  return add_mux({Kind::thread, select, base, kNobody, kNobody, kNobody, std::int64_t{stride}, otherwise});
}

std::uint32_t ChannelNet::follow_body(std::uint32_t subsystem, std::uint32_t type, std::int64_t in_body,
                                      Value otherwise) {
  return add_mux({Kind::body, subsystem, subsystem, type, kNobody, kNobody, in_body, otherwise});
}

std::uint32_t ChannelNet::follow_idle(std::uint32_t idle, std::uint32_t busy) {
  return add_mux({Kind::idle, idle, busy, idle, kNobody, kNobody, 0, {}});
}

std::uint32_t ChannelNet::follow_label(std::uint32_t label, std::uint32_t subsystem) {
  return add_mux({Kind::label, label, label, subsystem, kNobody, kNobody, 0, {}});
}

std::vector<std::uint32_t> ChannelNet::sort_values(const std::vector<std::uint32_t>& inputs) {
  const auto number = static_cast<std::uint32_t>(sorters_.size());
  Sorter sorter;
  sorter.values.assign(inputs.size(), 0);
  sorter.sorted = sorter.values;
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    channels_[inputs[i]].listeners.push_back({static_cast<std::uint32_t>(sorter_inputs_.size()), Role::sorter});
    sorter_inputs_.emplace_back(number, i);
    sorter.outputs.push_back(add_channel());
  }
  sorters_.push_back(std::move(sorter));
  return sorters_.back().outputs;
}

std::uint32_t ChannelNet::choose(const Mux& mux) const {
  const Value& value = channels_[mux.select].value;
  switch (mux.kind) {
    case Kind::running:
    case Kind::active: {
      if (!value.present) return kNobody;
      const auto state = static_cast<ThreadState>(value.number);
      return state == ThreadState::running || (mux.kind == Kind::active && is_active(state)) ? mux.first : kNobody;
    }
    case Kind::thread:
      return value.present ? mux.first + static_cast<std::uint32_t>(value.number * mux.parameter) : kNobody;
    case Kind::body:
      if (value == Value(mux.parameter) && channels_[mux.second].value.present) return mux.second;
      return value.present ? mux.first : kNobody;
    case Kind::idle:
      return value == Value(kIdleProgressing) ? mux.first : mux.second;
    case Kind::label:
      return value.present ? mux.first : mux.second;
  }
  return kNobody;
}

void ChannelNet::select(std::uint32_t number) {
  Mux& mux = muxes_[number];
  const Listener listener{number, Role::input};
  if (mux.attached != kNobody) {
    auto& listeners = channels_[mux.attached].listeners;
    listeners.erase(std::find(listeners.begin(), listeners.end(), listener));
  }
  mux.attached = choose(mux);
  if (mux.attached == kNobody) return set(mux.output, mux.otherwise);
  channels_[mux.attached].listeners.push_back(listener);
  set(mux.output, channels_[mux.attached].value);
}

void ChannelNet::update_sorter(std::uint32_t input, const Value& value) {
  const auto [number, position] = sorter_inputs_[input];
  Sorter& sorter = sorters_[number];
  const std::int64_t now = value.present ? value.number : 0;
  const std::int64_t before = sorter.values[position];
  if (now == before) return;
  sorter.values[position] = now;
  auto& sorted = sorter.sorted;
  sorted.erase(std::lower_bound(sorted.begin(), sorted.end(), before));
  sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), now), now);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (!(channels_[sorter.outputs[i]].value == Value(sorted[i]))) set(sorter.outputs[i], sorted[i]);
  }
}

void ChannelNet::record(Channel& channel, std::int64_t time, std::vector<ViewRecord>& out) const {
  if (channel.written && channel.last == channel.value) {
    if (channel.repeat == Repeat::skip || channel.repeat == Repeat::error) return;
    if (channel.repeat == Repeat::skip_null && !channel.value.present) return;
  }
  channel.written = true;
  channel.last = channel.value;
  out.push_back({time, channel.value.present ? channel.value.number + channel.shift : 0, channel.row, channel.type,
                 channel.view});
}

void ChannelNet::run(std::span<const Write> writes, std::int64_t time, std::vector<ViewRecord>& out) {
  for (const Write& write : writes) set(write.channel, write.value);
  for (std::size_t i = 0; i < dirty_.size(); ++i) {
    const std::uint32_t channel = dirty_[i];
    // Listeners may be added to this very channel while it is worked on: they are called too.
    for (std::size_t k = 0; k < channels_[channel].listeners.size(); ++k) {
      const Listener listener = channels_[channel].listeners[k];
      switch (listener.role) {
        case Role::select:
          select(listener.target);
          break;
        case Role::input:
          set(muxes_[listener.target].output, channels_[channel].value);
          break;
        case Role::sorter:
          update_sorter(listener.target, channels_[channel].value);
          break;
      }
    }
  }
  for (const std::uint32_t number : dirty_) {
    Channel& channel = channels_[number];
    channel.dirty = false;
    if (channel.view != kNowhere) record(channel, time, out);
  }
  dirty_.clear();
}

}  // namespace fathom::ovni
