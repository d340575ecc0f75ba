#include "io/xml.hpp"

#include <expat.h>

#include <algorithm>

namespace fathom {

struct XmlParser::State {
  XML_Parser parser = nullptr;
  ~State() {
    if (parser != nullptr) XML_ParserFree(parser);
  }
};

struct XmlParser::Hooks {
  template <class Call>
  static void guard(void* user, const Call& call) {
    auto& self = *static_cast<XmlParser*>(user);
    if (self.failure_) return;
    auto status = call(self.handler_);
    if (status.ok()) return;
    self.failure_ = std::move(status).error();
    XML_StopParser(self.state_->parser, XML_FALSE);
  }
  static void begin(void* user, const XML_Char* name, const XML_Char** attributes) {
    guard(user, [&](XmlHandler& handler) { return handler.element_begins(name, attributes); });
  }
  static void end(void* user, const XML_Char* name) {
    guard(user, [&](XmlHandler& handler) { return handler.element_ends(name); });
  }
  static void characters(void* user, const XML_Char* text, int length) {
    guard(user, [&](XmlHandler& handler) { return handler.characters({text, static_cast<std::size_t>(length)}); });
  }
  static void doctype(void* user, const XML_Char*, const XML_Char*, const XML_Char*, int) {
    auto& self = *static_cast<XmlParser*>(user);
    self.malformed_ = true;
    self.failure_ = Error("a document type, which no file of this kind has");
    XML_StopParser(self.state_->parser, XML_FALSE);
  }
};

XmlParser::XmlParser(XmlHandler& handler, Rules rules) : state_(std::make_unique<State>()), handler_(handler) {
  state_->parser = XML_ParserCreate(rules.encoding);
  if (state_->parser == nullptr) {
    failure_ = Error("no memory for an XML parser");
    return;
  }
  XML_SetUserData(state_->parser, this);
  XML_SetElementHandler(state_->parser, Hooks::begin, Hooks::end);
  if (rules.characters) XML_SetCharacterDataHandler(state_->parser, Hooks::characters);
  if (!rules.doctype) XML_SetStartDoctypeDeclHandler(state_->parser, Hooks::doctype);
}

XmlParser::~XmlParser() = default;

Result<void> XmlParser::parse(std::string_view piece, bool last) {
  // expat counts in int.
  constexpr std::size_t kMost = std::size_t{1} << 24;
  do {
    if (failure_) return *failure_;
    const std::string_view part = piece.substr(0, kMost);
    piece.remove_prefix(part.size());
    const bool end = last && piece.empty();
    const auto status = XML_Parse(state_->parser, part.data(), static_cast<int>(part.size()), end ? 1 : 0);
    if (failure_) return *failure_;
    if (status == XML_STATUS_OK) continue;
    const XML_Error code = XML_GetErrorCode(state_->parser);
    malformed_ = true;
    unknown_encoding_ = code == XML_ERROR_UNKNOWN_ENCODING;
    invalid_token_ = code == XML_ERROR_INVALID_TOKEN;
    failure_ = Error(XML_ErrorString(code));
    return *failure_;
  } while (!piece.empty());
  return {};
}

std::uint64_t XmlParser::line() const { return XML_GetCurrentLineNumber(state_->parser); }
std::uint64_t XmlParser::column() const { return XML_GetCurrentColumnNumber(state_->parser) + 1; }
std::uint64_t XmlParser::byte() const {
  return static_cast<std::uint64_t>(std::max<XML_Index>(XML_GetCurrentByteIndex(state_->parser), 0));
}
std::uint64_t XmlParser::byte_count() const {
  return static_cast<std::uint64_t>(XML_GetCurrentByteCount(state_->parser));
}
void XmlParser::skip_characters() { XML_SetCharacterDataHandler(state_->parser, nullptr); }

}  // namespace fathom
