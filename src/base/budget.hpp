// One budget for all memory that a file's numbers ask for (--max-memory).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace fathom {

// MT: internally synchronised. Reservations are given back by their owners' destructors, which may run after the
// budget's.
class Budget {
 public:
  explicit Budget(std::uint64_t bytes) : limit_(bytes) {}

  // Three quarters of what this process can have: the machine's memory, or what its control group or limit leaves it.
  static std::uint64_t default_limit();

  class Reservation {
   public:
    Reservation() = default;
    Reservation(std::shared_ptr<std::atomic<std::uint64_t>> used, std::uint64_t bytes)
        : used_(std::move(used)), bytes_(bytes) {}
    Reservation(Reservation&& other) noexcept = default;
    Reservation& operator=(Reservation&& other) noexcept {
      release();
      used_ = std::move(other.used_);
      bytes_ = other.bytes_;
      return *this;
    }
    ~Reservation() { release(); }

   private:
    void release() {
      if (used_) used_->fetch_sub(bytes_);
      used_.reset();
    }
    std::shared_ptr<std::atomic<std::uint64_t>> used_;
    std::uint64_t bytes_ = 0;
  };

  // Asks for bytes before they are allocated; `what` names them in the error ("row of metric 'time'").
  Result<Reservation> reserve(std::uint64_t bytes, std::string_view what);

  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  [[nodiscard]] std::uint64_t used() const { return used_->load(); }

 private:
  std::uint64_t limit_;
  std::shared_ptr<std::atomic<std::uint64_t>> used_ = std::make_shared<std::atomic<std::uint64_t>>(0);
};

}  // namespace fathom
