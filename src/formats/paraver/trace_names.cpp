#include "formats/paraver/trace_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/paraver/pcf_text.hpp"
#include "formats/paraver/state_cursor.hpp"

namespace fathom::paraver {

namespace {

ViewType view_type(std::int64_t type, std::string label) { return {static_cast<int>(type), std::move(label), {}}; }

}  // namespace

TraceNames::TraceNames(const Trace& trace) : trace_(trace) {
  for (const Region& region : trace.definitions().regions) {
    const auto found = std::find(paradigms_.begin(), paradigms_.end(), region.paradigm);
    paradigm_of_region_.push_back(static_cast<std::uint32_t>(found - paradigms_.begin()));
    if (found == paradigms_.end()) paradigms_.push_back(region.paradigm);
  }
  for (const Channel& channel : trace.channels()) {
    const std::int64_t lowest = channel.values.empty() ? 1 : channel.values.begin()->first;
    shifts_.push_back(lowest < 1 ? 1 - lowest : 0);
  }
  for (const Kind kind : {kRegion, kSampled, kCompleted, kCollective}) {
    used_[kind].assign(trace.definitions().regions.size(), false);
  }
  used_[kChannel].assign(trace.channels().size(), false);
  used_[kMetric].assign(trace.definitions().metrics.size(), false);
  used_[kMarker].assign(trace.markers().size(), false);
  used_[kValuedMarker] = used_[kMarker];
}

// Those that were used; with `type` of a paradigm, those that are of it.
void TraceNames::append_regions(std::string& text, Kind kind, std::int64_t type, std::string label) const {
  ViewType listed = view_type(type, std::move(label));
  for (std::uint32_t i = 0; i < used_[kind].size(); ++i) {
    if (!used_[kind][i] || (kind == kRegion && region_type(i) != type)) continue;
    listed.values.emplace_back(std::int64_t{i} + 1, one_line(trace_.definitions().regions[i].name));
  }
  if (listed.values.empty()) return;
  listed.values.insert(listed.values.begin(), {0, "(none)"});
  append_type(text, listed);
}

void TraceNames::append_collectives(std::string& text) const {
  const std::vector<bool>& used = used_[kCollective];
  if (std::find(used.begin(), used.end(), true) == used.end()) return;
  const auto label = [](Collective part) { return std::string(kCollectiveLabels[static_cast<std::size_t>(part)]); };
  append_regions(text, kCollective, kCollectiveTypes + kOperation, label(kOperation));
  append_type(text, view_type(kCollectiveTypes + kSent, label(kSent)));
  append_type(text, view_type(kCollectiveTypes + kReceived, label(kReceived)));
  ViewType communicators = view_type(kCollectiveTypes + kCommunicator, label(kCommunicator));
  for (std::size_t i = 0; i < trace_.communicators().size(); ++i) {
    const std::string& name = trace_.communicators()[i].name;
    communicators.values.emplace_back(i + 1, name.empty() ? fmt::format("communicator {}", i) : one_line(name));
  }
  append_type(text, communicators);
  append_type(text, view_type(kCollectiveTypes + kRoot, label(kRoot)));
}

void TraceNames::append_channels(std::string& text) const {
  for (std::size_t i = 0; i < used_[kChannel].size(); ++i) {
    if (!used_[kChannel][i]) continue;
    const Channel& channel = trace_.channels()[i];
    ViewType type = view_type(kChannelTypes + static_cast<std::int64_t>(i), one_line(channel.title));
    if (!channel.values.empty()) type.values.emplace_back(0, "(none)");
    for (const auto& [value, label] : channel.values) type.values.emplace_back(value + shifts_[i], one_line(label));
    append_type(text, type);
  }
}

void TraceNames::append_markers(std::string& text) const {
  ViewType markers = view_type(kMarkerType, std::string(kMarkerLabel));
  for (std::size_t i = 0; i < used_[kMarker].size(); ++i) {
    if (used_[kMarker][i]) markers.values.emplace_back(i + 1, one_line(trace_.markers()[i]));
  }
  if (!markers.values.empty()) append_type(text, markers);
  for (std::size_t i = 0; i < used_[kValuedMarker].size(); ++i) {
    if (!used_[kValuedMarker][i]) continue;
    append_type(text, view_type(kMarkerValueTypes + static_cast<std::int64_t>(i),
                                std::string(kMarkerValueLabel) + one_line(trace_.markers()[i])));
  }
}

std::string TraceNames::pcf_text() const {
  std::string text(pcf_options());
  text += "\n\nSTATES\n";
  for (const auto& [number, name] : state_names()) text += fmt::format("{:<4} {}\n", number, name);
  text += pcf_colours();
  for (std::size_t i = 0; i < paradigms_.size(); ++i) {
    append_regions(text, kRegion, kRegionTypes + static_cast<std::int64_t>(i),
                   paradigms_[i].empty() ? std::string("Region") : one_line(paradigms_[i]) + " region");
  }
  append_regions(text, kSampled, kSampleType, "Sampled function");
  append_regions(text, kCompleted, kCompletionType, std::string(kCompletionLabel));
  append_collectives(text);
  append_channels(text);
  for (std::size_t i = 0; i < used_[kMetric].size(); ++i) {
    if (!used_[kMetric][i]) continue;
    append_type(
        text, view_type(kCounterTypes + static_cast<std::int64_t>(i), one_line(trace_.definitions().metrics[i].name)));
  }
  append_markers(text);
  return text;
}

}  // namespace fathom::paraver
