#include "formats/cube/metrics_spec.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace fathom::cube {

namespace {

// Specs have CubePL as people write it: '<' and '&' between <cubepl...> and its end stand for themselves unless they
// are escaped already.
std::string escape_cubepl(std::string_view text) {
  constexpr std::string_view kOpen = "<cubepl";
  constexpr std::string_view kClose = "</cubepl";
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  for (;;) {
    const std::size_t open = text.find(kOpen);
    const std::size_t begin = open == std::string_view::npos ? open : text.find('>', open);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(text.find(kClose, begin), text.size());
    out += text.substr(0, begin + 1);
    std::string_view body = text.substr(begin + 1, end - begin - 1);
    text.remove_prefix(end);
    if (trim(body).starts_with("<![CDATA[")) {
      out += body;
      continue;
    }
    for (; !body.empty(); body.remove_prefix(1)) {
      const auto escaped = [&](std::string_view entity) { return body.starts_with(entity); };
      if (body[0] == '<') {
        out += "&lt;";
      } else if (body[0] == '&' && !escaped("&lt;") && !escaped("&gt;") && !escaped("&amp;") && !escaped("&quot;") &&
                 !escaped("&apos;")) {
        out += "&amp;";
      } else {
        out += body[0];
      }
    }
  }
  out += text;
  return out;
}

}  // namespace

std::string anchor_of_metrics_spec(std::string_view text) {
  if (trim(text).starts_with("<?xml")) text.remove_prefix(std::min(text.size(), text.find("?>") + 2));
  // The sections stand there without the element that is around them in an anchor.
  const bool whole = trim(text).starts_with("<cube");
  std::string body = escape_cubepl(text);
  return whole ? body : "<cube version=\"4.4\">" + body + "</cube>";
}

}  // namespace fathom::cube
