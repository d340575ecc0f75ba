#include "base/error.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

// Exit status 1 says that data were judged and refused: Ctrl-C during `sort` or `emulate` is no judgement.
TEST(Error, WhatWasCancelledIsNotRefused) {
  EXPECT_EQ(Error("interrupted").as(ErrorKind::cancelled).as(ErrorKind::refused).kind(), ErrorKind::cancelled);
  EXPECT_EQ(Error("unsorted").as(ErrorKind::refused).kind(), ErrorKind::refused);
}

}  // namespace
}  // namespace fathom
