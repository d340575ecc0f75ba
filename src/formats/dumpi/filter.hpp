// Which records of a run a rewrite keeps.
#pragma once

#include "formats/dataset.hpp"
#include "formats/dumpi/scan.hpp"

namespace fathom::dumpi {

struct RankRange {
  std::uint32_t first;
  std::uint32_t last;  // is in it, too
};

struct Filter {
  std::array<bool, kIds> functions;  // by id
  TimeWindow window;                 // calls that begin in it; on the CPU's clock where there is no other
  bool keep_definitions = false;     // calls outside of the window that later ones need to be understood
  bool keep_clocks = false;          // with these: MPI_Init, by which the clocks of a run are aligned
  std::vector<RankRange> ranks;      // empty = all
  std::uint8_t keep_mask = 0xFF;     // bits of the mask that stay
  Filter() { functions.fill(true); }
  // Whether no record is changed or left out.
  [[nodiscard]] bool everything() const;
  [[nodiscard]] bool wants_rank(std::uint32_t rank) const;
  [[nodiscard]] bool wants(const Call& call, bool use_cpu) const;
  // From filter_options(), in the order in which they were given.
  static Result<Filter> from_options(const WriteOptions& options);
};

// What rewriting a run takes.
std::vector<const OptionDeclaration*> filter_options();

}  // namespace fathom::dumpi
