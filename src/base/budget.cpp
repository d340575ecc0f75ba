#include "base/budget.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>

namespace fathom {

namespace {

std::string first_line(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

// What the control groups of this process leave it, the tightest of them: batch jobs and containers live in them.
std::uint64_t cgroup_limit() {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  const auto look = [&](const std::string& path) {
    const std::string text = first_line(path);
    std::uint64_t bytes = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (end.ec == std::errc{} && bytes > 0) least = std::min(least, bytes);
  };
  // "0::/user.slice/job" (version 2), "7:memory:/job" (version 1).
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(",memory,") == std::string::npos) continue;
    const std::string root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const std::string file = unified ? "/memory.max" : "/memory.limit_in_bytes";
    for (std::string path = line.substr(second + 1);; path.resize(path.rfind('/'))) {
      if (path == "/") path.clear();
      look(root + path + file);
      if (path.empty() || path.front() != '/') break;
    }
  }
  return least;
}

}  // namespace

std::uint64_t Budget::default_limit() {
  static const std::uint64_t kLimit = [] {
    const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
    const auto page_size = static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
    std::uint64_t least = std::min(pages * page_size, cgroup_limit());
    rlimit space{};
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
      least = std::min<std::uint64_t>(least, space.rlim_cur);
    }
    return least / 4 * 3;
  }();
  return kLimit;
}

Result<Budget::Reservation> Budget::reserve(std::uint64_t bytes, std::string_view what) {
  std::uint64_t used = used_->load();
  do {
    if (bytes > limit_ || used > limit_ - bytes) {
      return Error(fmt::format("{} needs {} bytes of memory, {} of {} are in use", what, bytes, used, limit_))
          .hint("raise the limit with --max-memory, e.g. --max-memory 16G");
    }
  } while (!used_->compare_exchange_weak(used, used + bytes));
  return Reservation(used_, bytes);
}

}  // namespace fathom
