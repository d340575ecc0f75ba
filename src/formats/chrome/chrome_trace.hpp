// Chrome traces as traces of the level.
#pragma once

#include <array>
#include <map>
#include <unordered_map>

#include "base/name_table.hpp"
#include "formats/chrome/event_file.hpp"
#include "trace/stored_trace.hpp"

namespace fathom::chrome {

class ChromeTrace : public StoredTrace {
 public:
  static Result<std::shared_ptr<const ChromeTrace>> read(const Blob& blob, const Work& work);

  // Adds the arguments of the native event.
  Result<void> detail(const Event& event, std::string& out) const override;

  [[nodiscard]] std::uint64_t event_count() const { return events_; }

  explicit ChromeTrace(const Blob& blob, const Work& work) : StoredTrace(work), blob_(blob) {}

 private:
  friend class ChromeMapping;
  Blob blob_;
  std::uint64_t events_ = 0;
};

}  // namespace fathom::chrome
