/* Values that mean the same in every DUMPI trace. */
#ifndef FATHOM_UNDUMPI_CONSTANTS_H
#define FATHOM_UNDUMPI_CONSTANTS_H

#include <dumpi/common/types.h>

#define DUMPI_ROOT -2
#define DUMPI_ANY_SOURCE -1
#define DUMPI_ANY_TAG -1

enum { DUMPI_COMM_ERROR, DUMPI_COMM_NULL, DUMPI_COMM_WORLD, DUMPI_COMM_SELF, DUMPI_FIRST_USER_COMM };
enum { DUMPI_GROUP_ERROR, DUMPI_GROUP_NULL, DUMPI_GROUP_EMPTY, DUMPI_FIRST_USER_GROUP };
enum { DUMPI_REQUEST_ERROR, DUMPI_REQUEST_NULL, DUMPI_FIRST_USER_REQUEST };
enum { DUMPI_FILE_NULL, DUMPI_FIRST_USER_FILE };
enum { DUMPI_INFO_NULL, DUMPI_FIRST_USER_INFO };
enum { DUMPI_WIN_NULL, DUMPI_FIRST_USER_WIN };
enum { DUMPI_TOPOLOGY_ERROR, DUMPI_GRAPH, DUMPI_CART, DUMPI_UNDEFINED };
enum { DUMPI_COMPARISON_ERROR, DUMPI_IDENT, DUMPI_CONGRUENT, DUMPI_SIMILAR, DUMPI_UNEQUAL };
enum {
  DUMPI_DATATYPE_ERROR,
  DUMPI_DATATYPE_NULL,
  DUMPI_CHAR,
  DUMPI_SIGNED_CHAR,
  DUMPI_UNSIGNED_CHAR,
  DUMPI_BYTE,
  DUMPI_WCHAR,
  DUMPI_SHORT,
  DUMPI_UNSIGNED_SHORT,
  DUMPI_INT,
  DUMPI_UNSIGNED,
  DUMPI_LONG,
  DUMPI_UNSIGNED_LONG,
  DUMPI_FLOAT,
  DUMPI_DOUBLE,
  DUMPI_LONG_DOUBLE,
  DUMPI_LONG_LONG_INT,
  DUMPI_UNSIGNED_LONG_LONG,
  DUMPI_LONG_LONG,
  DUMPI_PACKED,
  DUMPI_LB,
  DUMPI_UB,
  DUMPI_FLOAT_INT,
  DUMPI_DOUBLE_INT,
  DUMPI_LONG_INT,
  DUMPI_SHORT_INT,
  DUMPI_2INT,
  DUMPI_LONG_DOUBLE_INT,
  DUMPI_FIRST_USER_DATATYPE
};
enum {
  DUMPI_OP_ERROR,
  DUMPI_MAX,
  DUMPI_MIN,
  DUMPI_SUM,
  DUMPI_PROD,
  DUMPI_LAND,
  DUMPI_BAND,
  DUMPI_LOR,
  DUMPI_BOR,
  DUMPI_LXOR,
  DUMPI_BXOR,
  DUMPI_MINLOC,
  DUMPI_MAXLOC,
  DUMPI_REPLACE,
  DUMPI_OP_NULL,
  DUMPI_FIRST_USER_OP
};
enum { DUMPI_ERRHANDLER_ERROR, DUMPI_ERRHANDLER_NULL, DUMPI_FIRST_USER_ERRHANDLER };
enum {
  DUMPI_DISTRIBUTION_ERROR,
  DUMPI_DISTRIBUTE_BLOCK,
  DUMPI_DISTRIBUTE_CYCLIC,
  DUMPI_DISTRIBUTE_NONE,
  DUMPI_DISTRIBUTE_DFLT_DARG
};
enum { DUMPI_LOCKTYPE_ERROR, DUMPI_LOCK_SHARED, DUMPI_LOCK_EXCLUSIVE };
enum { DUMPI_ORDERING_ERROR, DUMPI_ORDER_C, DUMPI_ORDER_FORTRAN };
enum {
  DUMPI_THREADLEVEL_ERROR,
  DUMPI_THREAD_SINGLE,
  DUMPI_THREAD_FUNNELED,
  DUMPI_THREAD_SERIALIZED,
  DUMPI_THREAD_MULTIPLE
};
enum { DUMPI_WHENCE_ERROR, DUMPI_SEEK_SET, DUMPI_SEEK_CUR, DUMPI_SEEK_END };

/* "MPI_COMM_WORLD": values by the names of MPI, as text dumps show them. */
#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
const char *dumpi_get_comm_name(dumpi_comm value);
const char *dumpi_get_datatype_name(dumpi_datatype value);
const char *dumpi_get_group_name(dumpi_group value);
const char *dumpi_get_op_name(dumpi_op value);
const char *dumpi_get_file_name(dumpi_file value);
const char *dumpi_get_info_name(dumpi_info value);
const char *dumpi_get_win_name(dumpi_win value);
const char *dumpi_get_errhandler_name(dumpi_errhandler value);
const char *dumpi_get_keyval_name(dumpi_keyval value);
const char *dumpi_get_comparison_name(dumpi_comparison value);
const char *dumpi_get_topology_name(dumpi_topology value);
const char *dumpi_get_combiner_name(dumpi_combiner value);
const char *dumpi_get_locktype_name(dumpi_locktype value);
const char *dumpi_get_ordering_name(dumpi_ordering value);
const char *dumpi_get_threadlevel_name(dumpi_threadlevel value);
const char *dumpi_get_typeclass_name(dumpi_typeclass value);
const char *dumpi_get_whence_name(dumpi_whence value);
const char *dumpi_get_filemode_name(dumpi_filemode value);
const char *dumpi_get_win_assert_name(dumpi_win_assert value);
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
