#include "base/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/shown_files.hpp"

namespace fathom {

namespace {
// Past this many listed occurrences of one id, `check` goes back to counting.
constexpr std::size_t kListedPerId = 1000;
// As many files may say the same before they are put together.
constexpr std::size_t kAlike = 3;
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
  place.file = shown_file(std::move(place.file));
  const std::scoped_lock lock(mutex_);
  std::string key(id);
  key += '\0';
  key += place.file;
  const auto [found, is_new] = listed_.try_emplace(std::move(key));
  Listed& listed = found->second;
  const auto again = [&] {
    const Diagnostic& last = list_[listed.last];
    return last.text == text && last.place.offset == place.offset && last.place.line == place.line;
  };
  if (!is_new && (!every_ || listed.times >= kListedPerId || again())) {
    list_[listed.last].count += count;
    return {};
  }
  listed.last = list_.size();
  ++listed.times;
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

std::size_t Diagnostics::size() const {
  const std::scoped_lock lock(mutex_);
  return list_.size();
}

std::vector<Diagnostic> summarised(std::vector<Diagnostic> list) {
  // Files are read in parallel, so that what is noticed comes in any order: here it does not.
  std::stable_sort(list.begin(), list.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.place.file, a.id) < std::tie(b.place.file, b.id);
  });
  std::unordered_map<std::string, std::vector<std::size_t>> alike;  // by id
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto& group = alike[list[i].id];
    if (group.empty() || list[group.back()].place.file != list[i].place.file) group.push_back(i);
  }
  std::vector<Diagnostic> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto& group = alike[list[i].id];
    if (group.size() <= kAlike) {
      out.push_back(std::move(list[i]));
      continue;
    }
    if (group.front() != i) continue;
    Diagnostic one = std::move(list[i]);
    for (std::size_t k = 1; k < group.size(); ++k) one.count += list[group[k]].count;
    one.text += fmt::format("; {} other files have the like", group.size() - 1);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace fathom
