#include "trace/open_names.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(OpenNames, CountsWhatIsOpen) {
  OpenNames open;
  for (const std::uint32_t name : {0U, 7U, 5000U, 0xFFFFFFFFU}) {
    EXPECT_FALSE(open.has(name));
    open.add(name);
    open.add(name);
    open.remove(name);
    EXPECT_TRUE(open.has(name));
    EXPECT_FALSE(open.has(name - 1));
    open.remove(name);
    EXPECT_FALSE(open.has(name));
    open.add(name);
  }
  open.clear();
  for (const std::uint32_t name : {0U, 7U, 5000U, 0xFFFFFFFFU}) EXPECT_FALSE(open.has(name));
}

}  // namespace
}  // namespace fathom
