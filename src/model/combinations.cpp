// Which sums of products of the parameters' terms are tried, in the order that decides ties.
#include <map>
#include <mutex>

#include "model/multi.hpp"

namespace fathom {

namespace {

constexpr std::uint32_t kX = 1;
constexpr std::uint32_t kY = 2;
constexpr std::uint32_t kZ = 4;

const std::vector<Summands> kTwo{{kX | kY}, {kX, kY}, {kX, kX | kY}, {kY, kX | kY}};

const std::vector<Summands> kThree{
    {kX | kY | kZ},
    {kX, kY, kZ},
    {kX | kY | kZ, kX},
    {kX | kY | kZ, kY},
    {kX | kY | kZ, kZ},
    {kX | kY | kZ, kX | kY},
    {kX | kY | kZ, kY | kZ},
    {kX | kY | kZ, kX | kZ},
    {kX | kY | kZ, kX | kY, kZ},
    {kX | kY | kZ, kY | kZ, kX},
    {kX | kY | kZ, kX | kZ, kY},
    {kX | kY | kZ, kX, kY},
    {kX | kY | kZ, kX, kZ},
    {kX | kY | kZ, kY, kZ},
    {kX | kY, kZ},
    {kX | kY, kZ, kY},
    {kX | kY, kZ, kX},
    {kX | kZ, kY},
    {kX | kZ, kY, kX},
    {kX | kZ, kY, kZ},
    {kY | kZ, kX},
    {kY | kZ, kX, kY},
    {kY | kZ, kX, kZ},
};

}  // namespace

std::span<const Summands> combinations(std::size_t active, bool all) {
  if (all && active == 2) return kTwo;
  if (all && active == 3) return kThree;
  static std::mutex mutex;
  static std::map<std::size_t, std::vector<Summands>> plain;
  const std::scoped_lock lock(mutex);
  auto& list = plain[active];
  if (list.empty()) {
    Summands product{0};
    Summands sum;
    for (std::size_t p = 0; p < active; ++p) {
      product[0] |= 1U << p;
      sum.push_back(1U << p);
    }
    list = {product, sum};
  }
  return list;
}

}  // namespace fathom
