// What the name of an MPI function says about it: how OTF2 classifies it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom::otf2 {

// Role of a region by its number in OTF2: point-to-point, one of the collective ones, one-sided, file, or a plain
// function.
std::uint8_t mpi_role(std::string_view name);
// Number of a collective operation, also of the non-blocking form; nothing for other functions.
std::optional<std::uint8_t> collective_operation(std::string_view name);
// MPI_Isend and its like: a message that leaves now and completes later.
bool is_nonblocking_send(std::string_view name);
bool is_nonblocking_receive(std::string_view name);

}  // namespace fathom::otf2
