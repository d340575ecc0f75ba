// Clocks and identities of the ranks of a run.
#pragma once

#include "formats/dumpi/rank_set.hpp"

namespace fathom::dumpi {

// Wall times are times since the boot of a node, so that every host has a clock of its own. All ranks leave MPI_Init
// together: where hosts disagree about when that was by more than ranks can be apart, the shift that makes them meet is
// given for every file, in ns; 0 for those of the lowest rank's host, and everywhere when clocks agree.
Result<std::vector<std::int64_t>> clock_shifts(const std::vector<RankFile>& files, const std::vector<ScanResult>& scans,
                                               const Work& work);

// What a file itself says about who wrote it: the rank that MPI_Comm_rank gave, the size of the world, and when and by
// what the file was made. Reports what does not fit its name and its neighbours.
Result<void> check_identities(const std::vector<RankFile>& files, const std::vector<ScanResult>& scans,
                              std::optional<std::uint32_t> expected_size, const Work& work);

}  // namespace fathom::dumpi
