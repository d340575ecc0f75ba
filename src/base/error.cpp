#include "base/error.hpp"

#include <fmt/format.h>

#include "base/shown_files.hpp"

namespace fathom {

std::string Place::text() const {
  const std::string shown = shown_file(file);
  if (offset) return fmt::format("{}:0x{:x}", shown, *offset);
  if (line) return fmt::format("{}:{}", shown, *line);
  return shown;
}

Error&& Error::with(std::string context) && {
  contexts_.push_back(std::move(context));
  return std::move(*this);
}

Error&& Error::hint(std::string text) && {
  if (hint_.empty()) hint_ = std::move(text);
  return std::move(*this);
}

Error&& Error::as(ErrorKind kind) && {
  if (kind_ != ErrorKind::cancelled) kind_ = kind;  // work that was stopped has judged nothing
  return std::move(*this);
}

Error&& Error::where(const Place& place) && {
  if (place_.file.empty()) place_.file = place.file;
  if (!place_.offset && !place_.line) {
    place_.offset = place.offset;
    place_.line = place.line;
  }
  return std::move(*this);
}

std::string Error::message() const {
  std::string out;
  for (auto it = contexts_.rbegin(); it != contexts_.rend(); ++it) out += *it + ": ";
  return out + what_;
}

std::string Error::text() const {
  const std::string place = place_.text();
  return place.empty() ? message() : place + ": " + message();
}

}  // namespace fathom
