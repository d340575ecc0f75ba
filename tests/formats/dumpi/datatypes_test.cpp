// Sizes of types of every making; a type's size is the number of bytes it selects, whatever its extent.
#include <gtest/gtest.h>

#include "formats/dumpi/resolve.hpp"
#include "formats/dumpi/trace_maker.hpp"

namespace fathom::dumpi {
namespace {

constexpr int kChar = 2;
constexpr int kShort = 7;
constexpr int kInt = 9;
constexpr int kDouble = 14;

class DumpiDatatypes : public DumpiRun {
 protected:
  // Bytes of an id after all calls, or before record `number`.
  std::int64_t size(const TraceMaker& made, int id, std::uint64_t number = 1'000'000) {
    const auto set = run({made});
    auto scans = set->scans();
    EXPECT_TRUE(scans.ok());
    auto resolution = resolve(*set, **scans);
    EXPECT_TRUE(resolution.ok());
    Tables tables(set->files()[0].file, *resolution, 0, 0);
    tables.advance(number);
    return tables.size_of(id);
  }
};

TEST_F(DumpiDatatypes, EveryConstructor) {
  TraceMaker made;
  made.call("MPI_Type_contiguous", {{"count", 5}, {"oldtype", kInt}, {"newtype", 28}});
  made.call("MPI_Type_vector",
            {{"count", 3}, {"blocklength", 2}, {"stride", 100}, {"oldtype", kDouble}, {"newtype", 29}});
  made.call("MPI_Type_hvector",
            {{"count", 3}, {"blocklength", 2}, {"stride", 999}, {"oldtype", kShort}, {"newtype", 30}});
  made.call("MPI_Type_create_hvector",
            {{"count", 4}, {"blocklength", 1}, {"stride", 64}, {"oldtype", 28}, {"newtype", 31}});
  made.call("MPI_Type_indexed",
            {{"lengths", list({1, 0, 4})}, {"indices", list({0, 5, 9})}, {"oldtype", kInt}, {"newtype", 32}});
  made.call("MPI_Type_hindexed",
            {{"lengths", list({2, 2})}, {"indices", list({0, 50})}, {"oldtype", kChar}, {"newtype", 33}});
  made.call("MPI_Type_create_hindexed",
            {{"blocklengths", list({2, 3})}, {"displacements", list({0, 50})}, {"oldtype", 29}, {"newtype", 34}});
  made.call("MPI_Type_create_indexed_block",
            {{"count", 3}, {"blocklength", 2}, {"displacments", list({0, 9, 90})}, {"oldtype", kInt}, {"newtype", 35}});
  made.call("MPI_Type_struct", {{"lengths", list({1, 2, 3})},
                                {"indices", list({0, 0, 8})},
                                {"oldtypes", list({kDouble, kInt, kChar})},
                                {"newtype", 36}});
  made.call(
      "MPI_Type_create_struct",
      {{"blocklengths", list({1, 1})}, {"displacements", list({0, 0})}, {"oldtypes", list({36, 28})}, {"newtype", 37}});
  made.call("MPI_Type_dup", {{"oldtype", 37}, {"newtype", 38}});
  made.call("MPI_Type_create_resized", {{"oldtype", 32}, {"lb", 0}, {"extent", 4096}, {"newtype", 39}});
  made.call("MPI_Type_create_subarray", {{"sizes", list({10, 20, 30})},
                                         {"subsizes", list({2, 3, 4})},
                                         {"starts", list({0, 0, 0})},
                                         {"order", 1},
                                         {"oldtype", kDouble},
                                         {"newtype", 40}});
  const std::vector<std::pair<int, std::int64_t>> expected = {{28, 20}, {29, 48},  {30, 12}, {31, 80}, {32, 20},
                                                              {33, 4},  {34, 240}, {35, 24}, {36, 19}, {37, 39},
                                                              {38, 39}, {39, 20},  {40, 192}};
  for (const auto& [id, bytes] : expected) EXPECT_EQ(size(made, id), bytes) << id;
}

// 7 x 10 elements over a 2 x 3 grid of processes; every element belongs to exactly one of them.
TEST_F(DumpiDatatypes, DistributedArrays) {
  constexpr int kBlock = 1;
  constexpr int kCyclic = 2;
  constexpr int kNone = 3;
  constexpr int kDefault = -49767;
  const auto bytes = [&](int rank, std::vector<std::int64_t> distribution, std::vector<std::int64_t> arguments,
                         std::vector<std::int64_t> grid) {
    TraceMaker made;
    made.call("MPI_Type_create_darray", {{"size", 6},
                                         {"rank", rank},
                                         {"gsizes", list({7, 10})},
                                         {"distribs", list(std::move(distribution))},
                                         {"dargs", list(std::move(arguments))},
                                         {"psizes", list(std::move(grid))},
                                         {"order", 1},
                                         {"oldtype", kChar},
                                         {"newtype", 28}});
    return size(made, 28);
  };
  // Blocks of 4 and 4: the first row of processes has 4 rows of elements, the second 3; columns are 4, 4, 2.
  EXPECT_EQ(bytes(0, {kBlock, kBlock}, {kDefault, kDefault}, {2, 3}), 16);
  EXPECT_EQ(bytes(2, {kBlock, kBlock}, {kDefault, kDefault}, {2, 3}), 8);
  EXPECT_EQ(bytes(5, {kBlock, kBlock}, {kDefault, kDefault}, {2, 3}), 6);
  // Cyclic by 2 over three: columns 0 1 6 7, 2 3 8 9, 4 5.
  EXPECT_EQ(bytes(1, {kBlock, kCyclic}, {kDefault, 2}, {2, 3}), 16);
  EXPECT_EQ(bytes(5, {kBlock, kCyclic}, {kDefault, 2}, {2, 3}), 6);
  for (const auto& distribution : {std::vector<std::int64_t>{kBlock, kCyclic}, {kCyclic, kCyclic}, {kCyclic, kBlock}}) {
    std::int64_t all = 0;
    for (int rank = 0; rank < 6; ++rank) all += bytes(rank, distribution, {kDefault, kDefault}, {2, 3});
    EXPECT_EQ(all, 70);
  }
  EXPECT_EQ(bytes(3, {kNone, kCyclic}, {kDefault, 1}, {1, 6}), 7 * 2);
}

TEST_F(DumpiDatatypes, IdsComeBackAndTheFileSizesServeTheRest) {
  TraceMaker made;
  made.sections.sizes.assign(31, 0);
  made.sections.sizes[28] = 24;  // the first one that had the id
  made.sections.sizes[30] = 16;  // a type whose making is not traced
  made.call("MPI_Type_contiguous", {{"count", 6}, {"oldtype", kInt}, {"newtype", 28}});  // 0
  made.call("MPI_Type_free", {{"datatype", 28}});                                        // 1
  made.call("MPI_Type_contiguous", {{"count", 2}, {"oldtype", 30}, {"newtype", 28}});    // 2
  made.call("MPI_Type_size", {{"datatype", 29}, {"size", 7}});                           // 3
  EXPECT_EQ(size(made, 28, 1), 24);
  EXPECT_EQ(size(made, 28, 3), 32);
  EXPECT_EQ(size(made, 30, 1), 16);
  EXPECT_EQ(size(made, 29, 4), 7);
  // Predefined types have the sizes of every machine where the record has none.
  EXPECT_EQ(size(made, kDouble, 0), 8);
  EXPECT_EQ(size(made, 27, 0), 20);
  EXPECT_EQ(size(made, -5, 0), 0);
  EXPECT_EQ(size(made, 30'000, 0), 0);
}

}  // namespace
}  // namespace fathom::dumpi
