#include "base/team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/pack.hpp"
#include "base/parallel.hpp"
#include "base/share_out.hpp"

namespace fathom {
namespace {

TEST(Team, DealsByWeight) {
  // One item as heavy as all others together: whoever has it gets nothing else.
  std::vector<std::uint64_t> weights(101, 10);
  weights[57] = 1000;
  const auto owner = deal(weights, 2);
  const unsigned busy = owner[57];
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (i != 57) {
      EXPECT_NE(owner[i], busy) << i;
    }
  }
  // No process has more than the average and one item.
  for (const unsigned processes : {1U, 3U, 7U, 200U}) {
    std::vector<std::uint64_t> load(processes, 0);
    std::vector<std::uint64_t> many(1000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = i * 7919 % 1000;
    const auto dealt = deal(many, processes);
    for (std::size_t i = 0; i < many.size(); ++i) load[dealt[i]] += many[i];
    const auto sum = std::accumulate(many.begin(), many.end(), std::uint64_t{0});
    for (const std::uint64_t one : load) EXPECT_LE(one, sum / processes + 1000);
  }
  // Items without weight are spread, too.
  std::vector<std::size_t> count(4, 0);
  for (const unsigned process : deal(std::vector<std::uint64_t>(100, 0), 4)) ++count[process];
  EXPECT_EQ(count, (std::vector<std::size_t>{25, 25, 25, 25}));
}

struct Named {
  std::string name;
  std::optional<std::vector<int>> list;
};
template <class Pack>
void pack_fields(Pack& pack, Named& named) {
  pack(named.name, named.list);
}

TEST(Team, WhatIsPackedComesBack) {
  std::map<std::pair<std::int32_t, std::string>, Named> all;
  all[{1, "a"}] = {"first", std::vector<int>{1, 2, 3}};
  all[{-2, ""}] = {"", std::nullopt};
  const Parcel parcel = packed(all);
  const auto back = unpacked<decltype(all)>(parcel);
  ASSERT_TRUE(back.ok());
  ASSERT_EQ(back->size(), 2U);
  EXPECT_EQ(back->at({1, "a"}).name, "first");
  EXPECT_EQ(back->at({1, "a"}).list, (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(back->at({-2, ""}).list.has_value());
  // Whatever is missing is an error, at every length.
  for (std::size_t size = 0; size < parcel.size(); ++size) {
    EXPECT_FALSE(unpacked<decltype(all)>(std::span(parcel).first(size)).ok()) << size;
  }
  Error error = Error("what", Place::at_offset("file", 16)).with("reading").hint("do").as(ErrorKind::refused);
  Packer packer;
  packer(error);
  const Parcel sent = std::move(packer).take();
  Error got;
  Unpacker unpacker(sent);
  unpacker(got);
  EXPECT_EQ(got.text(), error.text());
  EXPECT_EQ(got.hint(), error.hint());
  EXPECT_EQ(got.kind(), error.kind());
}

// A team of two without a second process: whoever asks is told who it is.
class Pretended : public Team {
 public:
  Pretended() { size_ = 2; }
};

TEST(Team, LoopsAreForOneProcess) {
  Pretended two;
  const TeamScope scope(&two);
  EXPECT_EQ(team().size(), 2U);
  const auto looked = parallel_for(8, [](std::size_t) -> Result<void> {
    if (team().size() != 1) return Error("a loop's body is in a team");
    return {};
  });
  EXPECT_TRUE(looked.ok());
  EXPECT_EQ(team().size(), 2U);
}

TEST(Team, OneProcessTakesItemsInOrder) {
  std::vector<std::size_t> order;
  const auto make = [](std::size_t i, std::size_t& item) -> Result<void> {
    item = i * i;
    return {};
  };
  const auto take = [&](std::size_t i, const std::size_t& item) {
    EXPECT_EQ(item, i * i);
    order.push_back(i);
  };
  ASSERT_TRUE((share_and_fold<std::size_t>("test", 1000, {}, make, take).ok()));
  ASSERT_EQ(order.size(), 1000U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  const auto all = share_out<std::size_t>("test", 10, {}, Holder::all, make);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ((*all)[9], 81U);
}

}  // namespace
}  // namespace fathom
