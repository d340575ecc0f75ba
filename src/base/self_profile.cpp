#include "base/self_profile.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>

namespace fathom {

namespace {

thread_local SelfProfile* t_profile = nullptr;
thread_local Phase* t_phase = nullptr;

std::int64_t read_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Small numbers in the order in which threads first come by.
std::uint32_t this_thread() {
  static std::atomic<std::uint32_t> next{0};
  thread_local const std::uint32_t number = next++;
  return number;
}

}  // namespace

SelfProfile::SelfProfile() : start_ns_(read_clock(CLOCK_MONOTONIC)) {}

std::int64_t SelfProfile::now_ns() const { return read_clock(CLOCK_MONOTONIC) - start_ns_; }

void SelfProfile::add(Span span) {
  const std::scoped_lock lock(mutex_);
  auto sum = std::find_if(sums_.begin(), sums_.end(), [&](const Sum& one) { return one.phase == span.phase; });
  if (sum == sums_.end()) sum = sums_.insert(sums_.end(), Sum{.phase = span.phase});
  ++sum->count;
  sum->wall_ns += span.own_wall_ns;
  sum->cpu_ns += span.own_cpu_ns;
  if (spans_.size() < kMostSpans) {
    spans_.push_back(span);
  } else {
    ++left_out_;
  }
}

std::vector<SelfProfile::Span> SelfProfile::spans() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Span> out = spans_;
  std::sort(out.begin(), out.end(), [](const Span& a, const Span& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.depth < b.depth;
  });
  return out;
}

std::uint64_t SelfProfile::spans_left_out() const {
  const std::scoped_lock lock(mutex_);
  return left_out_;
}

Table SelfProfile::table() const {
  std::vector<Sum> sums;
  {
    const std::scoped_lock lock(mutex_);
    sums = sums_;
  }
  std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return a.wall_ns > b.wall_ns; });
  std::int64_t all = 0;
  for (const Sum& sum : sums) all += sum.wall_ns;
  TableBuilder builder({"self_profile",
                        {{"phase", ColumnType::text},
                         {"count", ColumnType::uint64},
                         {"wall", ColumnType::seconds, "s"},
                         {"cpu", ColumnType::seconds, "s"},
                         {"share", ColumnType::float64}}});
  for (const Sum& sum : sums) {
    builder.row(sum.phase, sum.count, sum.wall_ns, sum.cpu_ns,
                all > 0 ? static_cast<double>(sum.wall_ns) / static_cast<double>(all) : 0.0);
  }
  return std::move(builder).finish();
}

Phase::Phase(std::string_view name) : profile_(t_profile), name_(name) {
  if (profile_ == nullptr) return;
  outer_ = t_phase;
  depth_ = outer_ != nullptr ? outer_->depth_ + 1 : 0;
  t_phase = this;
  begin_cpu_ns_ = read_clock(CLOCK_THREAD_CPUTIME_ID);
  begin_ns_ = profile_->now_ns();
}

Phase::~Phase() {
  if (profile_ == nullptr) return;
  const std::int64_t end_ns = profile_->now_ns();
  const std::int64_t cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID) - begin_cpu_ns_;
  const std::int64_t wall_ns = end_ns - begin_ns_;
  t_phase = outer_;
  if (outer_ != nullptr) {
    outer_->inside_wall_ns_ += wall_ns;
    outer_->inside_cpu_ns_ += cpu_ns;
  }
  profile_->add({name_, this_thread(), depth_, begin_ns_, end_ns, wall_ns - inside_wall_ns_, cpu_ns - inside_cpu_ns_});
}

SelfProfileScope::SelfProfileScope(SelfProfile* profile) : before_(t_profile) { t_profile = profile; }
SelfProfileScope::~SelfProfileScope() { t_profile = before_; }

PhaseHandover::PhaseHandover()
    : profile_(t_profile),
      name_(t_phase != nullptr ? t_phase->name_ : std::string_view("work")),
      thread_(this_thread()) {}

HandedPhase::HandedPhase(const PhaseHandover& from) {
  if (from.profile_ == nullptr || this_thread() == from.thread_) return;
  scope_.emplace(from.profile_);
  phase_.emplace(from.name_);
}

}  // namespace fathom
