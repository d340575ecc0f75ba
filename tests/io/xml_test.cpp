#include "io/xml.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

struct Listener final : XmlHandler {
  std::string seen;
  std::string refused;
  Result<void> element_begins(const char* name, const char** attributes) override {
    if (refused == name) return Error("not this one", Place::in("x.xml"));
    seen += '<' + std::string(name);
    for (; *attributes != nullptr; attributes += 2) seen += ' ' + std::string(*attributes) + '=' + attributes[1];
    seen += '>';
    return {};
  }
  Result<void> element_ends(const char* name) override {
    seen += "</" + std::string(name) + '>';
    return {};
  }
  Result<void> characters(std::string_view text) override {
    seen += text;
    return {};
  }
};

TEST(Xml, PiecesMayEndAnywhere) {
  const std::string text = "<a x='1'>t&amp;u<b/></a>";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Listener listener;
    XmlParser parser(listener, {});
    ASSERT_TRUE(parser.parse(std::string_view(text).substr(0, cut), false).ok());
    ASSERT_TRUE(parser.parse(std::string_view(text).substr(cut), true).ok());
    EXPECT_EQ(listener.seen, "<a x=1>t&u<b></b></a>");
  }
}

TEST(Xml, AnErrorOfTheHandlerEndsItAndStays) {
  Listener listener;
  listener.refused = "b";
  XmlParser parser(listener, {});
  const auto first = parser.parse("<a><b/><c/>", false);
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(first.error().text(), "x.xml: not this one");
  EXPECT_FALSE(parser.malformed());
  EXPECT_EQ(listener.seen, "<a>");
  EXPECT_FALSE(parser.parse("</a>", true).ok());
}

TEST(Xml, FaultsOfTheDocumentAreToldWithTheirPlace) {
  Listener listener;
  XmlParser parser(listener, {});
  const auto status = parser.parse("<a>\n<b></c></a>", true);
  ASSERT_FALSE(status.ok());
  EXPECT_TRUE(parser.malformed());
  EXPECT_EQ(status.error().text(), "mismatched tag");
  EXPECT_EQ(parser.line(), 2U);
  EXPECT_EQ(parser.column(), 6U);
}

// Entities of a document's own making can grow without bound ("billion laughs"): no document type, no entities.
TEST(Xml, DocumentTypesAreRefusedUnlessAllowed) {
  const std::string text = "<!DOCTYPE a [<!ENTITY e \"x\">]><a/>";
  Listener listener;
  XmlParser strict(listener, {});
  EXPECT_FALSE(strict.parse(text, true).ok());
  EXPECT_TRUE(strict.malformed());
  XmlParser lenient(listener, {.doctype = true});
  EXPECT_TRUE(lenient.parse(text, true).ok());
}

TEST(Xml, BytesOfAnotherEncodingAreToldApart) {
  Listener listener;
  XmlParser parser(listener, {.encoding = "UTF-8"});
  EXPECT_FALSE(parser.parse("<a>\xe4</a>", true).ok());
  EXPECT_TRUE(parser.invalid_token());
  Listener latin;
  XmlParser other(latin, {.encoding = "ISO-8859-1"});
  EXPECT_TRUE(other.parse("<a>\xe4</a>", true).ok());
  EXPECT_EQ(latin.seen, "<a>\xc3\xa4</a>");
}

}  // namespace
}  // namespace fathom
