// One budget for all memory that a file's numbers ask for (--max-memory).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace fathom {

// MT: internally synchronised. Reservations are given back by their owners' destructors.
class Budget {
 public:
  explicit Budget(std::uint64_t bytes) : limit_(bytes) {}

  // The machine's physical memory, three quarters of it.
  static std::uint64_t default_limit();

  class Reservation {
   public:
    Reservation() = default;
    Reservation(Budget* budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes) {}
    Reservation(Reservation&& other) noexcept { *this = std::move(other); }
    Reservation& operator=(Reservation&& other) noexcept {
      release();
      budget_ = std::exchange(other.budget_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
      return *this;
    }
    ~Reservation() { release(); }

   private:
    void release() {
      if (budget_ != nullptr) budget_->used_.fetch_sub(bytes_);
      budget_ = nullptr;
    }
    Budget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  // Asks for bytes before they are allocated; `what` names them in the error ("row of metric 'time'").
  Result<Reservation> reserve(std::uint64_t bytes, std::string_view what);

  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  [[nodiscard]] std::uint64_t used() const { return used_.load(); }

 private:
  std::uint64_t limit_;
  std::atomic<std::uint64_t> used_{0};
};

}  // namespace fathom
