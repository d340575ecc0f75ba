#include "trace/waiting_receives.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

struct Posted {
  int at;
  [[nodiscard]] int when() const { return at; }
};

TEST(WaitingReceives, TheFirstPostedOfThoseThatTakeAMessageGetsIt) {
  const Posted posted[] = {{1}, {2}, {3}, {4}};
  WaitingReceives<Posted> waiting;
  waiting.post(7, posted[0]);
  waiting.post(-1, posted[1]);
  waiting.post(7, posted[2]);
  waiting.post(9, posted[3]);
  EXPECT_EQ(waiting.take(5), &posted[1]);  // only the one of any tag takes it
  EXPECT_EQ(waiting.take(7), &posted[0]);
  EXPECT_EQ(waiting.take(5), nullptr);
  EXPECT_EQ(waiting.take(7), &posted[2]);
  EXPECT_EQ(waiting.size(), 1U);

  WaitingReceives<Posted> any_first;
  any_first.post(-1, posted[0]);
  any_first.post(7, posted[1]);
  EXPECT_EQ(any_first.take(7), &posted[0]);
  EXPECT_EQ(any_first.take(7), &posted[1]);
  EXPECT_EQ(any_first.take(7), nullptr);
}

}  // namespace
}  // namespace fathom
