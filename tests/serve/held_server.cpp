// Serves a trace whose second half of every location but the first comes only when somebody says so: a line on stdin
// lets one location go on. So a page can be looked at while the index is made, however fast the machine is.
// Prints its address as `fathom view --json` does; ends with stdin.
#include <condition_variable>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <thread>

#include "base/cancel.hpp"
#include "formats/registry.hpp"
#include "serve/guard.hpp"
#include "serve/server.hpp"
#include "trace/trace.hpp"

using namespace fathom;

namespace {

constexpr std::size_t kLocations = 3;
constexpr std::int64_t kCalls = 4000;
constexpr std::int64_t kCallNs = 1000;

// How many locations may go on: the first always.
class Gate {
 public:
  void open_next() {
    const std::lock_guard lock(mutex_);
    ++open_;
    opened_.notify_all();
  }
  bool wait(std::size_t location) {
    std::unique_lock lock(mutex_);
    while (location >= open_) {
      if (cancelled()) return false;
      opened_.wait_for(lock, std::chrono::milliseconds(20));
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  std::size_t open_ = 1;
};

class HeldStream final : public EventStream {
 public:
  HeldStream(LocationId location, Gate& gate) : location_(location), gate_(gate) {}
  Result<std::size_t> next(std::span<Event> out) override {
    std::size_t made = 0;
    for (; made < out.size() && at_ < 2 * kCalls; ++made, ++at_) {
      if (at_ == kCalls) {
        if (made > 0) return made;  // what comes before is there
        if (!gate_.wait(location_.index())) return cancelled_error();
      }
      Event& event = out[made];
      event = Event{};
      event.kind = at_ % 2 == 0 ? EventKind::enter : EventKind::leave;
      event.name = static_cast<std::uint32_t>(at_ / 2 % 2);
      event.time_ns = at_ / 2 * kCallNs + (at_ % 2) * (kCallNs / 2);
      event.location = location_;
      event.record = static_cast<std::uint64_t>(at_);
    }
    return made;
  }

 private:
  LocationId location_;
  Gate& gate_;
  std::int64_t at_ = 0;
};

class HeldTrace final : public Trace {
 public:
  explicit HeldTrace(Gate& gate) : gate_(gate) {
    for (const char* name : {"solve", "exchange"}) {
      Region region;
      region.name = name;
      definitions_.regions.push_back(region);
    }
    for (std::size_t i = 0; i < kLocations; ++i) {
      SystemNode location;
      location.type = "thread";
      location.name = "row " + std::to_string(i);
      definitions_.system.add_location(location);
    }
  }
  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow) const override {
    return std::unique_ptr<EventStream>(std::make_unique<HeldStream>(location, gate_));
  }
  [[nodiscard]] std::optional<TimeWindow> known_span() const override { return TimeWindow{0, kCalls * kCallNs}; }
  Result<void> messages(TimeWindow, const MessageSink&) const override { return {}; }

 private:
  Gate& gate_;
};

class HeldDataset final : public Dataset {
 public:
  HeldDataset(const Format& format, Gate& gate)
      : Dataset(format, "held", make_work()), trace_(std::make_shared<HeldTrace>(gate)) {}
  [[nodiscard]] std::vector<Level> levels() const override { return {Level::trace}; }
  Result<std::vector<InfoEntry>> describe(bool) override { return std::vector<InfoEntry>{}; }
  Result<std::shared_ptr<const Trace>> trace() override { return std::shared_ptr<const Trace>(trace_); }

 private:
  std::shared_ptr<HeldTrace> trace_;
};

Result<void> run() {
  Gate gate;
  FATHOM_TRY(const Format* format, find_format("chrome"));
  std::vector<DatasetPtr> datasets;
  datasets.push_back(std::make_unique<HeldDataset>(*format, gate));
  serve::Viewer viewer(std::move(datasets));
  serve::ServerOptions options;
  FATHOM_TRY(options.key, serve::make_key());
  FATHOM_TRY(const auto server, serve::Server::listen(viewer, options));
  std::printf("{\"address\": \"%s\"}\n", server->address().c_str());
  std::fflush(stdout);
  std::thread commands([&] {
    for (std::string line; std::getline(std::cin, line);) gate.open_next();
    for (std::size_t i = 0; i < kLocations; ++i) gate.open_next();  // nobody waits any more
    server->stop();
  });
  const auto ended = server->run();
  commands.join();
  return ended;
}

}  // namespace

int main() {
  const auto done = run();
  if (!done.ok()) std::fprintf(stderr, "%s\n", done.error().text().c_str());
  return done.ok() ? 0 : 1;
}
