#include "formats/cube/text_repair.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace fathom::cube {

namespace {

constexpr std::size_t kLongestCharacter = 4;

bool plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x80 && (byte >= 0x20 || c == '\n' || c == '\t' || c == '\r' || c == '\0');
}

// Two that UTF-8 can write and XML has no room for: U+FFFE and U+FFFF.
bool no_character(std::string_view sequence) { return sequence == "\xEF\xBF\xBE" || sequence == "\xEF\xBF\xBF"; }

}  // namespace

void TextRepair::note(Repaired& repaired, std::string_view before) {
  if (repaired.count++ == 0) {
    repaired.line = lines_ + static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n'));
  }
}

Result<void> TextRepair::pass(std::string_view text, bool last) {
  std::size_t from = 0;
  std::size_t at = 0;
  const auto flush = [&]() -> Result<void> { return from == at ? success() : sink_(text.substr(from, at - from)); };
  while (true) {
    at = static_cast<std::size_t>(std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), plain) -
                                  text.begin());
    if (at == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t length = byte < 0x80 ? 0 : utf8_length(text, at);
    const bool nothing = length > 0 && no_character(text.substr(at, length));
    if (length > 0 && !nothing) {
      at += length;
      continue;
    }
    if (byte >= 0x80 && !last && text.size() - at < kLongestCharacter) break;
    FATHOM_CHECK(flush());
    if (byte < 0x80 || nothing) {
      note(control_, text.substr(0, at));
      FATHOM_CHECK(sink_("?"));
      if (nothing) at += length - 1;
    } else {
      note(latin1_, text.substr(0, at));
      const char two[] = {static_cast<char>(0xC0U | byte >> 6U), static_cast<char>(0x80U | (byte & 0x3FU))};
      FATHOM_CHECK(sink_({two, sizeof(two)}));
    }
    from = ++at;
  }
  FATHOM_CHECK(flush());
  lines_ += static_cast<std::uint64_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  held_ = text.substr(at);
  return success();
}

Result<void> TextRepair::feed(std::string_view text) {
  if (!begun_ && !text.empty()) {
    begun_ = true;
    const auto first = static_cast<unsigned char>(text[0]);
    as_it_is_ = first == 0xFE || first == 0xFF;
  }
  if (as_it_is_) return sink_(text);
  if (held_.empty()) return pass(text, false);
  const std::string joined = std::move(held_).append(text);
  held_.clear();
  return pass(joined, false);
}

Result<void> TextRepair::finish() {
  const std::string rest = std::move(held_);
  held_.clear();
  return pass(rest, true);
}

}  // namespace fathom::cube
