#include "formats/dumpi/names.hpp"

#include <vector>

namespace fathom::dumpi {

namespace {

using Names = std::vector<std::string_view>;

// Names from 0 on, what lies above them, and what lies below 0.
struct NameTable {
  Names names;
  std::string_view above;
  std::string_view below;
};

const NameTable& table(Type type) {
  static const std::array<NameTable, static_cast<std::size_t>(Type::status) + 1> tables = [] {
    std::array<NameTable, static_cast<std::size_t>(Type::status) + 1> t;
    const auto set = [&](Type which, Names names, std::string_view above, std::string_view below = {}) {
      t[static_cast<std::size_t>(which)] = {std::move(names), above, below.empty() ? above : below};
    };
    set(Type::comm, {"MPI_COMM_ERROR", "MPI_COMM_NULL", "MPI_COMM_WORLD", "MPI_COMM_SELF"}, "user-defined-comm");
    set(Type::datatype,
        {"MPI_DATATYPE_ERROR",
         "MPI_DATATYPE_NULL",
         "MPI_CHAR",
         "MPI_SIGNED_CHAR",
         "MPI_UNSIGNED_CHAR",
         "MPI_BYTE",
         "MPI_WCHAR",
         "MPI_SHORT",
         "MPI_UNSIGNED_SHORT",
         "MPI_INT",
         "MPI_UNSIGNED",
         "MPI_LONG",
         "MPI_UNSIGNED_LONG",
         "MPI_FLOAT",
         "MPI_DOUBLE",
         "MPI_LONG_DOUBLE",
         "MPI_LONG_LONG_INT",
         "MPI_UNSIGNED_LONG_LONG",
         "MPI_LONG_LONG",
         "MPI_PACKED",
         "MPI_LB",
         "MPI_UB",
         "MPI_FLOAT_INT",
         "MPI_DOUBLE_INT",
         "MPI_LONG_INT",
         "MPI_SHORT_INT",
         "MPI_2INT",
         "MPI_LONG_DOUBLE_INT"},
        "user-defined-datatype");
    set(Type::group, {"MPI_GROUP_ERROR", "MPI_GROUP_NULL", "MPI_GROUP_EMPTY"}, "user-defined-group");
    set(Type::op,
        {"MPI_OP_ERROR", "MPI_MAX", "MPI_MIN", "MPI_SUM", "MPI_PROD", "MPI_LAND", "MPI_BAND", "MPI_LOR", "MPI_BOR",
         "MPI_LXOR", "MPI_BXOR", "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_OP_NULL"},
        "user-defined-op");
    set(Type::file, {"DUMPI_FILE_NULL"}, "user-file");
    set(Type::info, {"MPI_INFO_NULL"}, "user-info", "MPI_INFO_NULL");
    set(Type::win, {"DUMPI_WIN_NULL"}, "user-defined-win");
    set(Type::errhandler, {"DUMPI_ERRHANDLER_ERROR", "MPI_ERRHANDLER_NULL"}, "user-defined-errhandler",
        "DUMPI_ERRHANDLER_ERROR");
    set(Type::keyval,
        {"MPI_TAG_UB", "MPI_HOST", "MPI_IO", "MPI_WTIME_IS_GLOBAL", "MPI_UNIVERSE_SIZE", "MPI_LASTUSEDCODE",
         "MPI_APPNUM", "MPI_WIN_BASE", "MPI_WIN_SIZE", "MPI_WIN_DISP_UNIT"},
        "user-defined-keyval");
    set(Type::comparison, {"MPI_COMPARISON_ERROR", "MPI_IDENT", "MPI_CONGRUENT", "MPI_SIMILAR", "MPI_UNEQUAL"},
        "undefined-comparison");
    set(Type::topology, {"DUMPI_TOPOLOGY_ERROR", "MPI_GRAPH", "MPI_CART", "MPI_UNDEFINED"}, "DUMPI_TOPOLOGY_ERROR");
    set(Type::combiner,
        {"MPI_COMBINER_ERROR", "MPI_COMBINER_NAMED", "MPI_COMBINER_DUP", "MPI_COMBINER_CONTIGUOUS",
         "MPI_COMBINER_VECTOR", "MPI_COMBINER_HVECTOR_INTEGER", "MPI_COMBINER_HVECTOR", "MPI_COMBINER_INDEXED",
         "MPI_COMBINER_HINDEXED_INTEGER", "MPI_COMBINER_HINDEXED", "MPI_COMBINER_INDEXED_BLOCK",
         "MPI_COMBINER_STRUCT_INTEGER", "MPI_COMBINER_STRUCT", "MPI_COMBINER_SUBARRAY", "MPI_COMBINER_DARRAY",
         "MPI_COMBINER_F90_REAL", "MPI_COMBINER_F90_COMPLEX", "MPI_COMBINER_F90_INTEGER", "MPI_COMBINER_RESIZED"},
        "DUMPI_COMBINER_ERROR");
    set(Type::locktype, {"DUMPI_LOCKTYPE_ERROR", "MPI_LOCK_SHARED", "MPI_LOCK_EXCLUSIVE"}, "DUMPI_LOCKTYPE_ERROR");
    set(Type::ordering, {"DUMPI_ORDERING_ERROR", "MPI_ORDER_C", "MPI_ORDER_FORTRAN"}, "DUMPI_ORDERING_ERROR");
    set(Type::threadlevel,
        {"DUMPI_THREADLEVEL_ERROR", "MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
         "MPI_THREAD_MULTIPLE"},
        "DUMPI_THREADLEVEL_ERROR");
    set(Type::typeclass,
        {"DUMPI_TYPECLASS_ERROR", "MPI_TYPECLASS_REAL", "MPI_TYPECLASS_INTEGER", "MPI_TYPECLASS_COMPLEX"},
        "DUMPI_TYPECLASS_ERROR");
    set(Type::whence, {"DUMPI_WHENCE_ERROR", "MPI_SEEK_SET", "MPI_SEEK_CUR", "MPI_SEEK_END"}, "DUMPI_WHENCE_ERROR");
    set(Type::filemode,
        {"DUMPI_FILEMODE_ERROR", "MPI_MODE_RDONLY", "MPI_MODE_RDWR", "MPI_MODE_WRONLY", "MPI_MODE_CREATE",
         "MPI_MODE_EXCL", "MPI_MODE_DELETE_ON_CLOSE", "MPI_MODE_UNIQUE_OPEN", "MPI_MODE_SEQUENTIAL", "MPI_MODE_APPEND"},
        "DUMPI_FILEMODE_ERROR");
    // Combinations of five flags, low bit first.
    static const std::vector<std::string> assertions = [] {
      constexpr std::string_view kFlags[] = {"MPI_MODE_NOCHECK", "MPI_MODE_NOSTORE", "MPI_MODE_NOPUT",
                                             "MPI_MODE_NOPRECEDE", "MPI_MODE_NOSUCCEED"};
      std::vector<std::string> all(32);
      all[0] = "DUMPI_MODE_NONE";
      for (unsigned value = 1; value < 32; ++value) {
        for (unsigned bit = 0; bit < 5; ++bit) {
          if ((value >> bit & 1U) == 0) continue;
          if (!all[value].empty()) all[value] += '|';
          all[value] += kFlags[bit];
        }
      }
      return all;
    }();
    set(Type::winassert, Names(assertions.begin(), assertions.end()), "DUMPI_MODE_ERROR");
    return t;
  }();
  return tables[static_cast<std::size_t>(type)];
}

}  // namespace

bool has_names(Type type) { return type != Type::distribution && !table(type).names.empty(); }

std::string_view value_name(Type type, std::int64_t value) {
  const NameTable& names = table(type);
  if (value < 0) return names.below;
  return static_cast<std::size_t>(value) < names.names.size() ? names.names[static_cast<std::size_t>(value)]
                                                              : names.above;
}

std::string_view c_type(Type type) {
  switch (type) {
    case Type::i64:
      return "int64_t";
    case Type::comm:
      return "MPI_Comm";
    case Type::datatype:
      return "MPI_Datatype";
    case Type::group:
      return "MPI_Group";
    case Type::op:
      return "MPI_Op";
    case Type::file:
      return "MPI_File";
    case Type::info:
      return "MPI_Info";
    case Type::request:
      return "MPI_Request";
    case Type::iorequest:
      return "MPIO_Request";
    case Type::status:
      return "MPI_Status";
    case Type::str:
      return "string";
    default:
      return "int";
  }
}

}  // namespace fathom::dumpi
