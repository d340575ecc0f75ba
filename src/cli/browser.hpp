// Opens an address in the user's browser without showing it to others: arguments of processes are visible to everybody
// on the machine, so that the browser gets a private file that leads there.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace fathom::cli {

// The file exists as long as this does.
class BrowserDoor {
 public:
  // $BROWSER, or else xdg-open.
  static Result<BrowserDoor> open(std::string_view address);
  BrowserDoor(BrowserDoor&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  BrowserDoor& operator=(BrowserDoor&&) = delete;
  ~BrowserDoor();

 private:
  explicit BrowserDoor(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

}  // namespace fathom::cli
