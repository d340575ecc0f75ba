#include "base/json.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

void put_example(JsonWriter& json) {
  json.begin_object().member("a", 1).key("b").begin_array().value("x").value(2.5).value(nullptr).end_array();
  json.key("c").begin_object().member("d", true).end_object();
  json.key("e").begin_array().end_array().end_object();
}

TEST(JsonWriter, InLines) {
  Output out;
  JsonWriter json(out);
  put_example(json);
  EXPECT_EQ(out.text(), "{\n  \"a\": 1,\n  \"b\": [\"x\", 2.5, null],\n  \"c\": {\"d\": true},\n  \"e\": []\n}\n");
}

TEST(JsonWriter, Compact) {
  Output out;
  JsonWriter json(out, JsonLayout::compact);
  put_example(json);
  EXPECT_EQ(out.text(), R"({"a":1,"b":["x",2.5,null],"c":{"d":true},"e":[]})");
}

}  // namespace
}  // namespace fathom
