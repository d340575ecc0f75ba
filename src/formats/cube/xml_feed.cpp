#include "formats/cube/xml_feed.hpp"

#include <array>

namespace fathom::cube {

namespace {

constexpr std::string_view kTag = "<cubepl";
constexpr std::array<std::string_view, 2> kUnquoted = {"rowwise=", "cubeplaggrtype="};
// A tag longer than this is none of ours; it goes on as it is.
constexpr std::size_t kLongestTag = 4096;

// How much of the end of `text` may be the beginning of kTag.
std::size_t partial_tag_at_end(std::string_view text) {
  for (std::size_t length = std::min(kTag.size() - 1, text.size()); length > 0; --length) {
    if (kTag.starts_with(text.substr(text.size() - length))) return length;
  }
  return 0;
}

}  // namespace

Result<void> QuotingFilter::pass_tag(std::string_view tag) {
  std::string out;
  std::size_t at = 0;
  while (at < tag.size()) {
    std::size_t best = std::string_view::npos;
    for (const std::string_view name : kUnquoted) {
      const std::size_t found = tag.find(name, at);
      if (found != std::string_view::npos) best = std::min(best, found + name.size());
    }
    if (best >= tag.size()) break;
    out.append(tag.substr(at, best - at));
    at = best;
    if (tag[at] == '"' || tag[at] == '\'') continue;
    const std::size_t end = std::min(tag.find_first_of(" \t\r\n/>", at), tag.size());
    out += '"';
    out.append(tag.substr(at, end - at));
    out += '"';
    at = end;
  }
  out.append(tag.substr(at));
  return sink_(out);
}

Result<void> QuotingFilter::feed(std::string_view text) {
  std::string joined;
  if (!held_.empty()) {
    joined = std::move(held_);
    joined.append(text);
    held_.clear();
    text = joined;
  }
  while (!text.empty()) {
    const std::size_t tag = text.find(kTag);
    if (tag == std::string_view::npos) {
      const std::size_t keep = partial_tag_at_end(text);
      held_ = text.substr(text.size() - keep);
      return text.size() == keep ? success() : sink_(text.substr(0, text.size() - keep));
    }
    if (tag > 0) FATHOM_CHECK(sink_(text.substr(0, tag)));
    text.remove_prefix(tag);
    const std::size_t end = text.substr(0, kLongestTag).find('>');
    if (end != std::string_view::npos) {
      FATHOM_CHECK(pass_tag(text.substr(0, end + 1)));
      text.remove_prefix(end + 1);
    } else if (text.size() >= kLongestTag) {
      FATHOM_CHECK(sink_(text.substr(0, kLongestTag)));
      text.remove_prefix(kLongestTag);
    } else {
      held_ = text;
      return {};
    }
  }
  return {};
}

Result<void> QuotingFilter::finish() {
  if (held_.empty()) return {};
  const std::string rest = std::move(held_);
  held_.clear();
  return sink_(rest);
}

}  // namespace fathom::cube
