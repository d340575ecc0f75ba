// A thread beside the one that works, where the system has one to give.
#pragma once

#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace fathom {

// Nothing where no thread can be had: then whoever asked does the work itself.
template <class Body>
std::optional<std::thread> helper_thread(Body body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace fathom
