#include "serve/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/base64.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "io/inflate.hpp"
#include "serve/anonymous.hpp"
#include "serve/assets.hpp"
#include "serve/report_questions.hpp"

namespace fathom::serve {

namespace {

constexpr int kPacking = 9;

Result<std::string> unpacked(std::string_view path, std::string_view& hash) {
  const auto all = assets();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Asset& a) { return a.path == path; });
  if (found == all.end()) {
    return Error("this fathom was built without the viewer's page (FATHOM_WEB=OFF): it can write no HTML report")
        .hint("report as text, --markdown or --json needs no page");
  }
  hash = found->sha256;
  std::string out;
  FATHOM_CHECK(gunzip_pieces(Blob(std::string(path), as_bytes(found->content), nullptr), 64U << 20,
                             [&](Bytes piece) -> Result<void> {
                               out.append(reinterpret_cast<const char*>(piece.data()), piece.size());
                               return {};
                             }));
  return out;
}

// 'sha256-…' as a policy names what may run.
std::string policy_hash(std::string_view hex) {
  std::vector<std::byte> bytes;
  const auto digit = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  }
  return fmt::format("'sha256-{}'", base64(bytes));
}

std::string block_of(std::string_view address, std::string_view answer) {
  return fmt::format("<script type=\"application/octet-stream\" data-question=\"{}\">{}</script>\n",
                     xml_escape(address), base64(gzip(as_bytes(answer), kPacking)));
}

// The page around the blocks, up to them and behind them.
Result<std::pair<std::string, std::string>> frame() {
  std::string_view script_hash;
  std::string_view style_hash;
  FATHOM_TRY(const std::string script, unpacked("app.js", script_hash));
  FATHOM_TRY(const std::string style, unpacked("app.css", style_hash));
  if (script.find("</script") != std::string::npos || script.find("<!--") != std::string::npos ||
      style.find("</style") != std::string::npos) {
    return Error("the page's script cannot stand inside of HTML");
  }
  std::string head = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; style-src {}; "
      "img-src data: blob:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>Fathom report</title>\n<style>{}</style>\n</head>\n"
      "<body>\n<div id=\"app\"></div>\n<noscript>This report needs a browser that runs its script; fathom report "
      "PATH prints the same findings as text.</noscript>\n",
      policy_hash(script_hash), policy_hash(style_hash), style);
  std::string tail = fmt::format("<script type=\"module\">{}</script>\n</body>\n</html>\n", script);
  return std::pair(std::move(head), std::move(tail));
}

}  // namespace

Result<ReportPage> make_report_page(Viewer& viewer, const ReportPageOptions& options) {
  FATHOM_TRY(auto around, frame());
  Anonymiser anonymiser;
  for (std::size_t i = 0; options.anonymous && i < viewer.size(); ++i) anonymiser.forget_names(viewer.dataset(i));

  ReportPage page;
  page.html = std::move(around.first);
  const std::size_t reserve = around.second.size() + 20000;  // for the list of what was left out
  std::map<std::string, std::size_t> too_much;               // questions of a kind that did not fit
  FATHOM_CHECK(each_report_question(viewer, [&](const ReportQuestion& question) -> Result<void> {
    Answer answer = question.answer ? *question.answer : viewer.answer(question.request);
    if (answer.status != 200) {
      page.left_out.push_back(fmt::format("{}: {}", question.title, answer.failure));
      return {};
    }
    std::string address = question.address;
    if (options.anonymous) {
      if (answer.type == "application/json") answer.body = anonymiser.json(answer.body);
      address = anonymiser.text(address);
    }
    const std::string block = block_of(address, answer.body);
    if (page.html.size() + block.size() + reserve > options.most_bytes) {
      if (question.needed) return Error(fmt::format("{} alone is larger than a report may be", question.title));
      ++too_much[question.title];
    } else {
      page.html += block;
    }
    return {};
  }));
  for (const auto& [title, count] : too_much) {
    page.left_out.push_back(count == 1 ? fmt::format("{}: too large", title)
                                       : fmt::format("{}: {} of them, too large", title, count));
  }
  constexpr std::size_t kMostRemarks = 50;
  if (page.left_out.size() > kMostRemarks) page.left_out.resize(kMostRemarks);
  Output out;
  JsonWriter json(out);
  json.begin_object().key("left_out").begin_array();
  for (std::string& text : page.left_out) {
    if (options.anonymous) text = anonymiser.text(text);
    json.value(std::string_view(text.substr(0, 300)));
  }
  json.end_array().end_object();
  page.html += block_of("left-out", out.text());
  page.html += around.second;
  return page;
}

}  // namespace fathom::serve
