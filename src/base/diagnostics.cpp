#include "base/diagnostics.hpp"

#include <algorithm>

namespace fathom {

namespace {
// Past this many listed occurrences of one id, `check` goes back to counting.
constexpr std::ptrdiff_t kListedPerId = 1000;
}  // namespace

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::warning:
      return "warning";
    case Severity::data_loss:
      return "data-loss";
  }
  return "?";
}

Result<void> Diagnostics::add(std::string_view id, Severity severity, Place place, std::string text,
                              std::uint64_t count) {
  if (strict_ && severity != Severity::info) {
    return Error::refused(std::move(text), std::move(place)).hint("without --strict this is a warning");
  }
  const std::scoped_lock lock(mutex_);
  const auto same = [&](const Diagnostic& d) { return d.id == id && d.place.file == place.file; };
  auto found = std::find_if(list_.rbegin(), list_.rend(), same);
  const bool list_again = every_ && std::count_if(list_.begin(), list_.end(), same) < kListedPerId;
  if (found != list_.rend() && !list_again) {
    found->count += count;
    return {};
  }
  list_.push_back({std::string(id), severity, std::move(place), count, std::move(text)});
  return {};
}

std::vector<Diagnostic> Diagnostics::all() const {
  const std::scoped_lock lock(mutex_);
  return list_;
}

bool Diagnostics::defective() const {
  const std::scoped_lock lock(mutex_);
  return std::any_of(list_.begin(), list_.end(), [](const Diagnostic& d) { return d.severity != Severity::info; });
}

}  // namespace fathom
