// Mapped files that may shrink or fail underneath us, as files on clusters do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

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
void reset_lost_input();

// Reads a byte of every page, so that what is gone is noticed here and not by the kernel.
void touch_pages(const void* begin, std::size_t size);

}  // namespace fathom
