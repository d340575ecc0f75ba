#include "io/byte_cursor.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(ByteCursor, KeepsTheFirstErrorAndItsOffset) {
  ByteCursor cursor(Blob::own("f", std::string("\x01\x00\x00\x00\x02", 5)));
  EXPECT_EQ(cursor.u32("first"), 1U);
  EXPECT_EQ(cursor.u32("second"), 0U);
  EXPECT_EQ(cursor.u8("third"), 0U);
  EXPECT_EQ(cursor.status().error().text(), "f:0x4: second needs 4 bytes, 1 left");
}

TEST(ByteCursor, ReadsBothByteOrders) {
  ByteCursor cursor(Blob::own("f", std::string("\x00\x01\x01\x00", 4)), Endian::big);
  EXPECT_EQ(cursor.u16("big"), 1U);
  cursor.set_order(Endian::little);
  EXPECT_EQ(cursor.u16("little"), 1U);
  EXPECT_TRUE(cursor.at_end());
}

TEST(ByteCursor, RefusesACountThatCannotFit) {
  ByteCursor cursor(Blob::own("f", std::string(16, '\0')));
  EXPECT_EQ(cursor.count_that_fits(2, 8, "rows"), 2U);
  EXPECT_EQ(cursor.count_that_fits(0xFFFFFFFFFFFFFFFF, 8, "rows"), 0U);
  EXPECT_FALSE(cursor.ok());
}

}  // namespace
}  // namespace fathom
