// The names that programs written for libundumpi ask for.
#include <dumpi/common/debugflags.h>
#include <dumpi/libundumpi/libundumpi.h>

#include <array>

#include "formats/dumpi/function_table.hpp"
#include "formats/dumpi/names.hpp"

using fathom::dumpi::Type;
using fathom::dumpi::value_name;

extern "C" {

uint64_t dumpi_debug = 0;

#define FATHOM_NAME(kind, type) \
  const char* dumpi_get_##kind##_name(dumpi_##kind value) { return value_name(Type::type, value).data(); }
FATHOM_NAME(comm, comm)
FATHOM_NAME(datatype, datatype)
FATHOM_NAME(group, group)
FATHOM_NAME(op, op)
FATHOM_NAME(file, file)
FATHOM_NAME(info, info)
FATHOM_NAME(win, win)
FATHOM_NAME(errhandler, errhandler)
FATHOM_NAME(keyval, keyval)
FATHOM_NAME(comparison, comparison)
FATHOM_NAME(topology, topology)
FATHOM_NAME(combiner, combiner)
FATHOM_NAME(locktype, locktype)
FATHOM_NAME(ordering, ordering)
FATHOM_NAME(threadlevel, threadlevel)
FATHOM_NAME(typeclass, typeclass)
FATHOM_NAME(whence, whence)
FATHOM_NAME(filemode, filemode)
FATHOM_NAME(win_assert, winassert)
#undef FATHOM_NAME

const char* const* dumpi_function_labels(void) {
  // Texts of the table of calls end with a null.
  static const auto names = [] {
    std::array<const char*, DUMPI_END_OF_STREAM + 1> all = {};
    all.fill("");
    for (const fathom::dumpi::FunctionRow& row : fathom::dumpi::kFunctionRows) all[row.id] = row.name.data();
    all[DUMPI_END_OF_STREAM] = "END_OF_STREAM";
    return all;
  }();
  return names.data();
}
}
