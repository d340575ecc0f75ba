#include "io/blob.hpp"

namespace fathom {

Blob Blob::own(std::string name, std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {std::move(name), Bytes(*owner), owner};
}

Blob Blob::own(std::string name, std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  return {std::move(name), as_bytes(*owner), owner};
}

}  // namespace fathom
