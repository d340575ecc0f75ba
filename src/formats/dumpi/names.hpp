// Names of predefined handles and constants, as the community's text dump spells them.
#pragma once

#include "fathom/dumpi.hpp"

namespace fathom::dumpi {

// Of a value of a named type (comm, datatype, op, ...); combinations of winassert flags come as one name.
std::string_view value_name(Type type, std::int64_t value);
// Whether the text dump shows values of this type with a name.
bool has_names(Type type);
// "MPI_Comm", "int", ...: what stands in front of an argument in the text dump.
std::string_view c_type(Type type);

}  // namespace fathom::dumpi
