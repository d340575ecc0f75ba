// Native constants of the MPI library as values of the format.
#include "dumpi/recorder.hpp"

namespace fathom::capture::native {

std::uint8_t comparison(int value) {
  if (value == MPI_IDENT) return 1;
  if (value == MPI_CONGRUENT) return 2;
  if (value == MPI_SIMILAR) return 3;
  return value == MPI_UNEQUAL ? 4 : 0;
}
std::uint8_t topology(int value) {
  if (value == MPI_GRAPH) return 1;
  if (value == MPI_CART) return 2;
  return value == MPI_UNDEFINED ? 3 : 0;
}
std::uint8_t threadlevel(int value) {
  if (value == MPI_THREAD_SINGLE) return 1;
  if (value == MPI_THREAD_FUNNELED) return 2;
  if (value == MPI_THREAD_SERIALIZED) return 3;
  return value == MPI_THREAD_MULTIPLE ? 4 : 0;
}
std::uint8_t locktype(int value) {
  if (value == MPI_LOCK_SHARED) return 1;
  return value == MPI_LOCK_EXCLUSIVE ? 2 : 0;
}
std::uint8_t ordering(int value) {
  if (value == MPI_ORDER_C) return 1;
  return value == MPI_ORDER_FORTRAN ? 2 : 0;
}
std::uint8_t distribution(int value) {
  if (value == MPI_DISTRIBUTE_BLOCK) return 1;
  if (value == MPI_DISTRIBUTE_CYCLIC) return 2;
  if (value == MPI_DISTRIBUTE_NONE) return 3;
  return value == MPI_DISTRIBUTE_DFLT_DARG ? 4 : 0;
}
std::uint8_t typeclass(int value) {
  if (value == MPI_TYPECLASS_REAL) return 1;
  if (value == MPI_TYPECLASS_INTEGER) return 2;
  return value == MPI_TYPECLASS_COMPLEX ? 3 : 0;
}
std::uint8_t whence(int value) {
  if (value == MPI_SEEK_SET) return 1;
  if (value == MPI_SEEK_CUR) return 2;
  return value == MPI_SEEK_END ? 3 : 0;
}

// The format has one mode only: any combination is 0.
std::uint8_t filemode(int value) {
  constexpr int kModes[] = {MPI_MODE_RDONLY,      MPI_MODE_RDWR,       MPI_MODE_WRONLY,
                            MPI_MODE_CREATE,      MPI_MODE_EXCL,       MPI_MODE_DELETE_ON_CLOSE,
                            MPI_MODE_UNIQUE_OPEN, MPI_MODE_SEQUENTIAL, MPI_MODE_APPEND};
  for (std::uint8_t i = 0; i < 9; ++i) {
    if (value == kModes[i]) return static_cast<std::uint8_t>(i + 1);
  }
  return 0;
}

std::uint8_t winassert(int value) {
  constexpr int kFlags[] = {MPI_MODE_NOCHECK, MPI_MODE_NOSTORE, MPI_MODE_NOPUT, MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED};
  std::uint8_t bits = 0;
  for (unsigned i = 0; i < 5; ++i) {
    if ((value & kFlags[i]) != 0) bits = static_cast<std::uint8_t>(bits | (1U << i));
  }
  return bits;
}

std::uint8_t combiner(int value) {
  if (value == MPI_COMBINER_NAMED) return 1;
  if (value == MPI_COMBINER_DUP) return 2;
  if (value == MPI_COMBINER_CONTIGUOUS) return 3;
  if (value == MPI_COMBINER_VECTOR) return 4;
  if (value == MPI_COMBINER_HVECTOR) return 6;
  if (value == MPI_COMBINER_INDEXED) return 7;
  if (value == MPI_COMBINER_HINDEXED) return 9;
  if (value == MPI_COMBINER_INDEXED_BLOCK) return 10;
  if (value == MPI_COMBINER_STRUCT) return 12;
  if (value == MPI_COMBINER_SUBARRAY) return 13;
  if (value == MPI_COMBINER_DARRAY) return 14;
#ifdef MPICH_VERSION  // removed elsewhere
  if (value == MPI_COMBINER_HVECTOR_INTEGER) return 5;
  if (value == MPI_COMBINER_HINDEXED_INTEGER) return 8;
  if (value == MPI_COMBINER_STRUCT_INTEGER) return 11;
#endif
  if (value == MPI_COMBINER_F90_REAL) return 15;
  if (value == MPI_COMBINER_F90_COMPLEX) return 16;
  if (value == MPI_COMBINER_F90_INTEGER) return 17;
  return value == MPI_COMBINER_RESIZED ? 18 : 0;
}

}  // namespace fathom::capture::native
