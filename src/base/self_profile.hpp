// Where the program's own time goes: the phases that its threads are in, recorded when somebody asks (--profile-self).
// Costs nothing worth mentioning otherwise: one look at a variable of the thread for each phase.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/table.hpp"

namespace fathom {

// MT: safe.
class SelfProfile {
 public:
  // One stay in a phase, on the clock that begins with the profile.
  struct Span {
    std::string_view phase;  // a literal
    std::uint32_t thread = 0;
    std::uint32_t depth = 0;  // phases around it on its thread
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t own_wall_ns = 0;  // without the phases inside
    std::int64_t own_cpu_ns = 0;
  };

  SelfProfile();
  void add(Span span);
  [[nodiscard]] std::int64_t now_ns() const;
  // By thread, then time.
  [[nodiscard]] std::vector<Span> spans() const;
  // More than this are only counted in the sums.
  static constexpr std::size_t kMostSpans = 1'000'000;
  [[nodiscard]] std::uint64_t spans_left_out() const;

  // One row per phase, the longest first: phase, count, wall and cpu seconds of all threads, share of the wall time.
  [[nodiscard]] Table table() const;

 private:
  struct Sum {
    std::string_view phase;
    std::uint64_t count = 0;
    std::int64_t wall_ns = 0;
    std::int64_t cpu_ns = 0;
  };
  std::int64_t start_ns_;
  mutable std::mutex mutex_;
  std::vector<Span> spans_;
  std::vector<Sum> sums_;
  std::uint64_t left_out_ = 0;
};

// This thread is in the phase for the life time of the object; `name` is a literal.
class Phase {
 public:
  explicit Phase(std::string_view name);
  ~Phase();
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

 private:
  friend class PhaseHandover;
  SelfProfile* profile_;  // null = nobody asked
  std::string_view name_;
  Phase* outer_ = nullptr;
  std::uint32_t depth_ = 0;
  std::int64_t begin_ns_ = 0;
  std::int64_t begin_cpu_ns_ = 0;
  std::int64_t inside_wall_ns_ = 0;
  std::int64_t inside_cpu_ns_ = 0;
};

// The profile holds on this thread for the life time of the object; it must outlive it.
class SelfProfileScope {
 public:
  explicit SelfProfileScope(SelfProfile* profile);
  ~SelfProfileScope();
  SelfProfileScope(const SelfProfileScope&) = delete;
  SelfProfileScope& operator=(const SelfProfileScope&) = delete;

 private:
  SelfProfile* before_;
};

// What a parallel loop hands on: threads that help are in the phase of the thread that started it.
class PhaseHandover {
 public:
  PhaseHandover();

 private:
  friend class HandedPhase;
  SelfProfile* profile_;
  std::string_view name_;
  std::uint32_t thread_;
};

// On a thread that helps, for as long as it does. On the thread that started the loop it changes nothing.
class HandedPhase {
 public:
  explicit HandedPhase(const PhaseHandover& from);

 private:
  std::optional<SelfProfileScope> scope_;
  std::optional<Phase> phase_;
};

}  // namespace fathom
