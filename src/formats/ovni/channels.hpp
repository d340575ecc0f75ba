// Channels that follow others, and the records that come out. After an event has written its channels, changes run
// through the net: changed channels are worked through in the order in which they changed, their listeners in the
// order in which they were attached; then every changed channel with a place in a view gives a record.
#pragma once

#include "formats/ovni/machine.hpp"
#include "trace/views.hpp"

namespace fathom::ovni {

class ChannelNet {
 public:
  // The first `count` channels are those that events write.
  explicit ChannelNet(std::uint32_t count) : channels_(count) {}

  std::uint32_t add_channel() {
    channels_.emplace_back();
    return static_cast<std::uint32_t>(channels_.size() - 1);
  }
  // Where a channel's values are shown. `shift` is added to them.
  void show(std::uint32_t channel, std::uint16_t view, std::uint32_t row, int type, Repeat repeat,
            std::int64_t shift = 0);

  // Outputs that take their value from one of several inputs, chosen by the select channel:
  // from `input` while the selected thread state is running, or active;
  std::uint32_t follow_state(std::uint32_t select, std::uint32_t input, bool active_too);
  // from the channel base + select * stride: that of the thread which the select channel names;
  std::uint32_t follow_thread(std::uint32_t select, std::uint32_t base, std::uint32_t stride, Value otherwise);
  // from `type` while the subsystem is `in_body` and a type is known, else from the subsystem;
  std::uint32_t follow_body(std::uint32_t subsystem, std::uint32_t type, std::int64_t in_body, Value otherwise);
  // from `busy` while the idle channel says progressing, else from the idle channel;
  std::uint32_t follow_idle(std::uint32_t idle, std::uint32_t busy);
  // from the label while there is one, else from the subsystem.
  std::uint32_t follow_label(std::uint32_t label, std::uint32_t subsystem);

  // Outputs that hold the values of all inputs in ascending order.
  std::vector<std::uint32_t> sort_values(const std::vector<std::uint32_t>& inputs);

  // A value before the first event: known from the start, shown by nobody.
  void preset(std::uint32_t channel, Value value) { channels_[channel].value = value; }
  // What one event wrote, and everything that follows from it; records are added to `out`.
  void run(std::span<const Write> writes, std::int64_t time, std::vector<ViewRecord>& out);

 private:
  enum class Kind : std::uint8_t { running, active, thread, body, idle, label };
  enum class Role : std::uint8_t { select, input, sorter };

  struct Listener {
    std::uint32_t target;
    Role role;
    friend bool operator==(Listener, Listener) = default;
  };
  static constexpr std::uint16_t kNowhere = 0xffff;
  struct Channel {
    Value value;
    bool dirty = false;
    bool written = false;
    Repeat repeat = Repeat::skip;
    std::uint16_t view = kNowhere;
    std::uint16_t type = 0;
    std::uint32_t row = 0;
    std::int64_t shift = 0;
    Value last;  // written
    std::vector<Listener> listeners;
  };
  struct Mux {
    Kind kind;
    std::uint32_t select;
    std::uint32_t first;
    std::uint32_t second;
    std::uint32_t output;
    std::uint32_t attached = kNobody;
    std::int64_t parameter = 0;
    Value otherwise;
  };
  struct Sorter {
    std::vector<std::int64_t> values;
    std::vector<std::int64_t> sorted;
    std::vector<std::uint32_t> outputs;
  };

  std::uint32_t add_mux(Mux mux);
  void set(std::uint32_t channel, const Value& value) {
    Channel& found = channels_[channel];
    found.value = value;
    if (found.dirty) return;
    found.dirty = true;
    dirty_.push_back(channel);
  }
  [[nodiscard]] std::uint32_t choose(const Mux& mux) const;
  void select(std::uint32_t mux);
  void update_sorter(std::uint32_t input, const Value& value);
  void record(Channel& channel, std::int64_t time, std::vector<ViewRecord>& out) const;

  std::vector<Channel> channels_;
  std::vector<Mux> muxes_;
  std::vector<Sorter> sorters_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sorter_inputs_;  // sorter, position
  std::vector<std::uint32_t> dirty_;
};

}  // namespace fathom::ovni
