// The trace and the profile level behind their public handles.
#include "api/state.hpp"
#include "fathom/profile.hpp"
#include "fathom/trace.hpp"
#include "profile/compute.hpp"
#include "trace/trace.hpp"

namespace fathom::api {

// --- trace ---

struct Trace::State {
  std::shared_ptr<Dataset::State> dataset;
  std::shared_ptr<const fathom::Trace> trace;
};

struct EventReader::State {
  std::shared_ptr<const Trace::State> trace;
  std::unique_ptr<EventStream> stream;
  std::vector<fathom::Event> buffer;
};

namespace {

Event to_public(const fathom::Event& e) {
  Event out;
  out.time_ns = e.time_ns;
  out.record = e.record;
  out.origin = e.origin;
  out.value = e.value;
  // Of calls it is the trace's own.
  const bool call = e.kind == fathom::EventKind::enter || e.kind == fathom::EventKind::leave;
  out.bytes = call ? 0 : e.bytes;
  out.location = e.location.value;
  out.name = e.name;
  out.peer = e.peer;
  out.tag = e.tag;
  out.communicator = e.communicator.value;
  out.kind = static_cast<EventKind>(e.kind);
  out.has_time = e.has_time;
  out.has_value = e.has_value;
  out.carried = e.carried;
  return out;
}

fathom::Event to_internal(const Event& e) {
  fathom::Event out;
  out.time_ns = e.time_ns;
  out.record = e.record;
  out.origin = e.origin;
  out.value = e.value;
  out.bytes = e.bytes;
  out.location = LocationId(e.location);
  out.name = e.name;
  out.peer = e.peer;
  out.tag = e.tag;
  if (e.communicator != kNoName) out.communicator = CommunicatorId(e.communicator);
  out.kind = static_cast<fathom::EventKind>(e.kind);
  out.has_time = e.has_time;
  out.has_value = e.has_value;
  out.carried = e.carried;
  return out;
}

}  // namespace

EventReader::EventReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventReader::EventReader(EventReader&&) noexcept = default;
EventReader& EventReader::operator=(EventReader&&) noexcept = default;
EventReader::~EventReader() = default;

Result<std::size_t> EventReader::next(std::span<Event> out) {
  return guarded<std::size_t>(*state_->trace->dataset, [&]() -> fathom::Result<std::size_t> {
    constexpr std::size_t kMost = 4096;
    state_->buffer.resize(std::min(out.size(), kMost));
    FATHOM_TRY(const std::size_t count, state_->stream->next(state_->buffer));
    for (std::size_t i = 0; i < count; ++i) out[i] = to_public(state_->buffer[i]);
    return count;
  });
}

Trace::Trace(std::shared_ptr<const State> state) : state_(std::move(state)) {}
Trace::Trace(const Trace&) = default;
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(const Trace&) = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

std::size_t Trace::location_count() const { return state_->trace->location_count(); }

LocationInfo Trace::location(std::size_t position) const {
  const SystemTree& system = state_->trace->definitions().system;
  const LocationId id(position);
  const SystemNode& node = system.location(id);
  const SystemNodeId group = system.group_of(id);
  return {system.location_label(id), node.name,
          group.valid() ? system.nodes[group.index()].rank : std::optional<std::int64_t>(), node.rank};
}

std::optional<Window> Trace::span() const {
  const auto known = state_->trace->known_span();
  if (!known) return std::nullopt;
  return Window{known->from_ns, known->to_ns};
}

Result<EventReader> Trace::events(std::size_t location, Window window) const {
  return guarded<EventReader>(*state_->dataset, [&]() -> fathom::Result<EventReader> {
    if (location >= state_->trace->location_count()) return fathom::Error::usage("there is no such location");
    auto reader = std::make_unique<EventReader::State>();
    reader->trace = state_;
    FATHOM_TRY(reader->stream, state_->trace->open(LocationId(location), TimeWindow{window.from_ns, window.to_ns}));
    return EventReader(std::move(reader));
  });
}

std::string_view Trace::name(const Event& event) const { return state_->trace->name(to_internal(event)); }

Result<std::string> Trace::detail(const Event& event) const {
  return guarded<std::string>(*state_->dataset, [&]() -> fathom::Result<std::string> {
    std::string out;
    FATHOM_CHECK(state_->trace->detail(to_internal(event), out));
    return out;
  });
}

Result<Trace> Dataset::trace() const {
  return guarded<Trace>(*state_, [&]() -> fathom::Result<Trace> {
    const std::scoped_lock lock(state_->mutex);
    FATHOM_TRY(auto trace, state_->dataset->trace());
    return Trace(std::make_shared<const Trace::State>(Trace::State{state_, std::move(trace)}));
  });
}

// --- profile ---

struct Profile::State {
  std::shared_ptr<Dataset::State> dataset;
  ProfilePtr profile;

  [[nodiscard]] const Definitions& defs() const { return profile->defs(); }

  [[nodiscard]] Result<std::vector<double>> column(std::size_t metric, Flavour flavour, IndexRange locations,
                                                   bool aggregate) const {
    return guarded<std::vector<double>>(*dataset, [&]() -> fathom::Result<std::vector<double>> {
      if (metric >= defs().metrics.size()) return fathom::Error::usage("there is no such metric");
      if (locations.end > defs().system.location_count()) return fathom::Error::usage("there is no such location");
      Selection selection;
      selection.flavour.kind = static_cast<fathom::Flavour::Kind>(flavour);
      selection.locations = locations;
      selection.aggregate = aggregate;
      FATHOM_TRY(const Cells cells, compute(*profile, MetricId(metric), selection));
      std::vector<double> out(cells.rows());
      for (std::size_t row = 0; row < out.size(); ++row) out[row] = cells.scalar(row, 0);
      return out;
    });
  }
};

Profile::Profile(std::shared_ptr<const State> state) : state_(std::move(state)) {}
Profile::Profile(const Profile&) = default;
Profile::Profile(Profile&&) noexcept = default;
Profile& Profile::operator=(const Profile&) = default;
Profile& Profile::operator=(Profile&&) noexcept = default;
Profile::~Profile() = default;

std::size_t Profile::metric_count() const { return state_->defs().metrics.size(); }

MetricInfo Profile::metric(std::size_t position) const {
  const Metric& metric = state_->defs().metrics[position];
  return {metric.name, metric.display_name.empty() ? metric.name : metric.display_name, metric.unit,
          metric.parent.valid() ? std::optional<std::size_t>(metric.parent.index()) : std::nullopt};
}

std::optional<std::size_t> Profile::find_metric(std::string_view name) const {
  const MetricId id = state_->defs().find_metric(name);
  return id.valid() ? std::optional<std::size_t>(id.index()) : std::nullopt;
}

std::size_t Profile::context_count() const { return state_->defs().contexts.size(); }

ContextInfo Profile::context(std::size_t number) const {
  const Definitions& defs = state_->defs();
  const Context& context = defs.contexts[ContextId(number)];
  ContextInfo out;
  out.id = context.file_id;
  if (context.parent.valid()) out.parent = context.parent.index();
  out.end = context.end;
  out.depth = context.depth;
  if (context.region.valid()) {
    const Region& region = defs.region(context.region);
    out.region = region.name;
    out.file = region.file;
    if (region.begin_line >= 0) out.line = region.begin_line;
  }
  if (context.line >= 0) out.line = context.line;
  return out;
}

std::string Profile::path(std::size_t context) const { return state_->defs().path(ContextId(context)); }
std::size_t Profile::location_count() const { return state_->defs().system.location_count(); }
std::string Profile::location(std::size_t position) const {
  return state_->defs().system.location_label(LocationId(position));
}

Result<std::vector<double>> Profile::totals(std::size_t metric, Flavour flavour) const {
  return state_->column(metric, flavour, all_locations(state_->defs()), true);
}

Result<std::vector<double>> Profile::values(std::size_t metric, Flavour flavour, std::size_t location) const {
  const auto at = static_cast<std::uint32_t>(location);
  return state_->column(metric, flavour, {at, at + 1}, false);
}

Result<Profile> Dataset::profile() const {
  return guarded<Profile>(*state_, [&]() -> fathom::Result<Profile> {
    const std::scoped_lock lock(state_->mutex);
    FATHOM_TRY(auto profile, state_->dataset->profile());
    return Profile(std::make_shared<const Profile::State>(Profile::State{state_, std::move(profile)}));
  });
}

}  // namespace fathom::api
