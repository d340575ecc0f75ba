#include "base/budget.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace fathom {

std::uint64_t Budget::default_limit() {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const auto page_size = static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  return pages * page_size / 4 * 3;
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
