// Mapped files that may shrink or fail underneath us, as files on clusters do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace fathom {

// Bytes of an open file, mapped for reading. Where the file ends earlier than it did or a read fails, the system sends
// SIGBUS; here the bytes that are gone read as zeros instead, the damage is remembered, and all work stops at its next
// check (base/cancel.hpp), before anything made from the zeros is written or printed.
// The result owns the mapping; null when it could not be made (errno says why).
std::shared_ptr<const void> map_guarded(int descriptor, std::size_t size, const std::string& name, bool shared = false);

// The same for a file that cannot be opened any more, or has fewer bytes than it had: zeros for all of them, and the
// loss is remembered as one at `offset`.
std::shared_ptr<const void> lost_bytes(const std::string& name, std::uint64_t offset, std::size_t size);

// What was lost since the program began or the last reset: file and first offset of the first one.
// MT: safe.
std::optional<Error> lost_input();
// Work may begin again: on what is opened from now on.
void reset_lost_input();
// How often input was lost, and the latest time. MT: safe.
std::uint64_t input_losses();
Error latest_loss();
Error loss_of(const std::string& file, std::uint64_t size);

// Files that are mapped now and were written to since, of those wanted. Within the last page of a file that became
// shorter nothing but its size tells: there are zeros instead. One that was replaced as a whole, or removed, is as it
// was.
struct MappedChange {
  std::string file;
  std::uint64_t size = 0;
  bool shorter = false;
};
// MT: safe.
std::vector<MappedChange> changed_mappings(const std::function<bool(const std::string&)>& wanted);

// Reads a byte of every page, so that what is gone is noticed here and not by the kernel.
void touch_pages(const void* begin, std::size_t size);

}  // namespace fathom
