// Which values of a metric can be had.
#include <gtest/gtest.h>

#include "profile/memory_profile.hpp"
#include "profile/stored_flavour.hpp"

namespace fathom {
namespace {

using Kind = Flavour::Kind;

// HPCToolkit's metrics may be stored in some scopes only; a table of all metrics leaves out those that lack one.
TEST(Flavours, SayWhatAMetricLacks) {
  test::MemoryProfile made;
  const MetricId whole = made.metric("whole");
  made.defs().metrics[whole.index()].scopes = {{Scope::exclusive, "function"}, {Scope::inclusive, "execution"}};
  const MetricId part = made.metric("part");
  made.defs().metrics[part.index()].scopes = {{Scope::named, "lex_aware"}};
  const MetricId none = made.metric("none");
  made.defs().metrics[none.index()].scopes = {};
  made.context("main");
  const ProfilePtr profile = made.build();
  const auto why = [&](MetricId metric, const Flavour& flavour) { return why_unavailable(*profile, metric, flavour); };
  for (const Flavour& flavour : {Flavour{}, Flavour{Kind::inclusive, ""}, Flavour{Kind::named, "function"}}) {
    EXPECT_EQ(why(whole, flavour), "");
    EXPECT_EQ(why(none, flavour), "");  // zero everywhere, whatever is asked for
  }
  EXPECT_EQ(why(part, {}), "");
  EXPECT_EQ(why(part, {Kind::named, "lex_aware"}), "");
  EXPECT_EQ(why(part, {Kind::named, "function"}), "has no scope 'function'; it has: lex_aware");
  EXPECT_NE(why(part, {Kind::inclusive, ""}), "");
  EXPECT_EQ(why(whole, {Kind::named, "point"}), "has no scope 'point'; it has: function, execution");
}

}  // namespace
}  // namespace fathom
