#include "formats/chrome/chrome_trace.hpp"

#include "formats/chrome/event_text.hpp"
#include "formats/chrome/mapping.hpp"
#include "io/json_scanner.hpp"

namespace fathom::chrome {

Result<std::shared_ptr<const ChromeTrace>> ChromeTrace::read(const Blob& blob, const Work& work) {
  auto trace = std::make_shared<ChromeTrace>(blob, work);
  ChromeMapping mapping(*trace);
  FATHOM_TRY(const EventFile file, read_events(blob, work, [&](const Chunk& chunk) { return mapping.take(chunk); }));
  FATHOM_CHECK(mapping.finish(file));
  return std::shared_ptr<const ChromeTrace>(std::move(trace));
}

Result<void> ChromeTrace::detail(const Event& event, std::string& out) const {
  const std::size_t before = out.size();
  FATHOM_CHECK(Trace::detail(event, out));
  if (event.record >= blob_.size() || event.kind == EventKind::leave) return {};
  const std::string_view text = blob_.text().substr(event.record);
  const auto add = [&](std::string_view key, std::string_view value) {
    if (out.size() > before) out += ';';
    const auto plain_text = json_unescape(plain(value));
    ((out += key) += '=') += plain_text ? std::string_view(*plain_text) : plain(value);
  };
  const bool whole = event.kind == EventKind::enter || event.kind == EventKind::marker;
  if (!whole) return {};
  each_member(text, [&](std::string_view key, std::string_view value) {
    if (key == "args" && value.starts_with('{')) {
      each_member(value, add);
    } else if (key == "cat" || key == "id") {
      add(key, value);
    }
  });
  return {};
}

}  // namespace fathom::chrome
