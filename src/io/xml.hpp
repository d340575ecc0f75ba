// XML documents, read in pieces through expat: the one place where it is set up.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace fathom {

// What a reader of a document does with its elements. An error of a handler ends the reading. Texts are valid during
// the call only.
class XmlHandler {
 public:
  // `attributes`: name, value, name, value, ..., null.
  virtual Result<void> element_begins(const char* name, const char** attributes) = 0;
  virtual Result<void> element_ends(const char* name) = 0;
  // A piece of the text between tags; one text may come in several.
  virtual Result<void> characters(std::string_view) { return {}; }

 protected:
  ~XmlHandler() = default;
};

class XmlParser {
 public:
  struct Rules {
    const char* encoding = nullptr;  // instead of the one that the document says it has
    bool doctype = false;            // whether it may have a document type; entities of its own are never looked up
    bool characters = true;          // whether the handler wants them
  };
  // The handler must outlive the parser.
  XmlParser(XmlHandler& handler, Rules rules);
  XmlParser(const XmlParser&) = delete;
  XmlParser& operator=(const XmlParser&) = delete;
  ~XmlParser();

  // The next piece of the document. An error of the handler is handed on as it is; where the document is at fault the
  // text says how, without a place, and malformed() is true from then on.
  Result<void> parse(std::string_view piece, bool last);
  [[nodiscard]] bool malformed() const { return malformed_; }
  // Of what kind the fault is, where that can be told.
  [[nodiscard]] bool unknown_encoding() const { return unknown_encoding_; }
  [[nodiscard]] bool invalid_token() const { return invalid_token_; }

  // Where the parser is: the element or text that is being handed over, or the fault.
  [[nodiscard]] std::uint64_t line() const;
  [[nodiscard]] std::uint64_t column() const;  // from 1 on
  [[nodiscard]] std::uint64_t byte() const;
  [[nodiscard]] std::uint64_t byte_count() const;
  // From now on the handler is not asked for texts.
  void skip_characters();

 private:
  struct Hooks;  // what expat calls
  struct State;
  std::unique_ptr<State> state_;
  XmlHandler& handler_;
  std::optional<Error> failure_;  // of the handler
  bool malformed_ = false;
  bool unknown_encoding_ = false;
  bool invalid_token_ = false;
};

}  // namespace fathom
