/* Derived datatypes, packing, one-sided communication, files, attributes, names, errors. */
#include "counted.h"

static double out[4096], in[4096];

static void send_type(MPI_Datatype type, long bytes) {
  int size;
  CALL(MPI_Type_size, (type, &size));
  expect(size == bytes, "size of a datatype");
  const int next = (own_rank + 1) % all_ranks, previous = (own_rank + all_ranks - 1) % all_ranks;
  CALL(MPI_Sendrecv, (out, 3, type, next, 1, in, 3, type, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  count_message(next, 3 * bytes);
}

static void datatypes(void) {
  MPI_Datatype type, other;
  int lengths[3] = {1, 2, 3}, places[3] = {0, 5, 10};
  MPI_Aint steps[3] = {0, 64, 160}, low, extent;
  MPI_Datatype types[3] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
#define USE(bytes)                 \
  do {                             \
    CALL(MPI_Type_commit, (&type)); \
    send_type(type, bytes);        \
    CALL(MPI_Type_free, (&type));  \
  } while (0)
  CALL(MPI_Type_contiguous, (7, MPI_DOUBLE, &type));
  USE(56);
  CALL(MPI_Type_vector, (3, 2, 5, MPI_DOUBLE, &type));
  USE(48);
  CALL(MPI_Type_create_hvector, (3, 1, 80, MPI_DOUBLE, &type));
  USE(24);
  CALL(MPI_Type_indexed, (3, lengths, places, MPI_DOUBLE, &type));
  USE(48);
  CALL(MPI_Type_create_hindexed, (3, lengths, steps, MPI_DOUBLE, &type));
  USE(48);
  CALL(MPI_Type_create_indexed_block, (3, 2, places, MPI_INT, &type));
  USE(24);
  CALL(MPI_Type_create_struct, (3, lengths, steps, types, &type));
  USE(8 + 8 + 3);
  int sizes[2] = {10, 10}, parts[2] = {3, 4}, starts[2] = {1, 2};
  CALL(MPI_Type_create_subarray, (2, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type));
  USE(96);
  CALL(MPI_Type_create_resized, (MPI_INT, 0, 16, &type));
  CALL(MPI_Type_get_extent, (type, &low, &extent));
  CALL(MPI_Type_get_true_extent, (type, &low, &extent));
  CALL(MPI_Type_dup, (type, &other));
  CALL(MPI_Type_set_name, (other, "every fourth"));
  int integers, addresses, datatypes, combiner;
  CALL(MPI_Type_get_envelope, (other, &integers, &addresses, &datatypes, &combiner));
  CALL(MPI_Type_free, (&other));
  USE(4);
  /* A predefined type that the format does not name. */
  send_type(MPI_INT64_T, 8);
}

static void packing(void) {
  char buffer[256];
  int position = 0, value = 3;
  CALL(MPI_Pack, (&value, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
  const int size = position;
  position = 0;
  CALL(MPI_Unpack, (buffer, size, &position, &value, 1, MPI_INT, MPI_COMM_WORLD));
  expect(value == 3, "unpacked value");
}

static void windows(void) {
  MPI_Win win;
  MPI_Group world, group;
  static double memory[64];
  const int next = (own_rank + 1) % all_ranks;
  CALL(MPI_Win_create, (memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  CALL(MPI_Win_fence, (0, win));
  CALL(MPI_Put, (out, 4, MPI_DOUBLE, next, 0, 4, MPI_DOUBLE, win));
  count_message(next, 4 * sizeof(double));
  CALL(MPI_Win_fence, (0, win));
  CALL(MPI_Get, (in, 4, MPI_DOUBLE, next, 4, 4, MPI_DOUBLE, win));
  count_fetched(next, 4 * sizeof(double));
  CALL(MPI_Accumulate, (out, 2, MPI_DOUBLE, next, 8, 2, MPI_DOUBLE, MPI_SUM, win));
  count_message(next, 2 * sizeof(double));
  CALL(MPI_Win_fence, (MPI_MODE_NOSUCCEED, win));
  CALL(MPI_Win_lock, (MPI_LOCK_SHARED, next, 0, win));
  CALL(MPI_Get, (in, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, win));
  count_fetched(next, sizeof(double));
  CALL(MPI_Win_unlock, (next, win));
  CALL(MPI_Win_get_group, (win, &group));
  CALL(MPI_Comm_group, (MPI_COMM_WORLD, &world));
  CALL(MPI_Win_post, (group, 0, win));
  CALL(MPI_Win_start, (group, 0, win));
  CALL(MPI_Put, (out, 1, MPI_DOUBLE, next, 20, 1, MPI_DOUBLE, win));
  count_message(next, sizeof(double));
  CALL(MPI_Win_complete, (win));
  CALL(MPI_Win_wait, (win));
  CALL(MPI_Group_free, (&group));
  CALL(MPI_Group_free, (&world));
  CALL(MPI_Win_set_name, (win, "window"));
  CALL(MPI_Win_free, (&win));
}

static void files(void) {
  MPI_File file;
  MPI_Status status;
  MPI_Request request;
  MPI_Info info;
  MPI_Offset offset, size;
  int count;
  CALL(MPI_Info_create, (&info));
  CALL(MPI_Info_set, (info, "access_style", "write_once"));
  CALL(MPI_File_open, (MPI_COMM_WORLD, "data.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
  CALL(MPI_Info_free, (&info));
  CALL(MPI_File_set_view, (file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
  CALL(MPI_File_write_at, (file, own_rank * 10, out, 10, MPI_DOUBLE, &status));
  CALL(MPI_Get_count, (&status, MPI_DOUBLE, &count));
  expect(count == 10, "doubles written");
  CALL(MPI_File_write_at_all, (file, (all_ranks + own_rank) * 10, out, 10, MPI_DOUBLE, MPI_STATUS_IGNORE));
  CALL(MPI_File_sync, (file));
  CALL(MPI_Barrier, (MPI_COMM_WORLD));
  CALL(MPI_File_iread_at, (file, own_rank * 10, in, 10, MPI_DOUBLE, &request));
  CALL(MPI_Wait, (&request, &status));
  CALL(MPI_File_seek, (file, own_rank * 10, MPI_SEEK_SET));
  CALL(MPI_File_read, (file, in, 5, MPI_DOUBLE, &status));
  CALL(MPI_File_read_all, (file, in, 5, MPI_DOUBLE, &status));
  CALL(MPI_File_get_position, (file, &offset));
  CALL(MPI_File_get_size, (file, &size));
  expect(size == (MPI_Offset)(20 * all_ranks * (int)sizeof(double)), "size of the file");
  CALL(MPI_File_close, (&file));
  CALL(MPI_Barrier, (MPI_COMM_WORLD));
  if (own_rank == 0) CALL(MPI_File_delete, ("data.tmp", MPI_INFO_NULL));
}

static void attributes(void) {
  int keyval, flag, value = 5, length;
  void *found;
  char text[MPI_MAX_PROCESSOR_NAME];
  CALL(MPI_Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
  CALL(MPI_Comm_set_attr, (MPI_COMM_WORLD, keyval, &value));
  CALL(MPI_Comm_get_attr, (MPI_COMM_WORLD, keyval, &found, &flag));
  expect(flag && found == &value, "attribute");
  CALL(MPI_Comm_get_attr, (MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag));
  CALL(MPI_Comm_delete_attr, (MPI_COMM_WORLD, keyval));
  CALL(MPI_Comm_free_keyval, (&keyval));
  CALL(MPI_Get_processor_name, (text, &length));
  CALL(MPI_Comm_get_name, (MPI_COMM_WORLD, text, &length));
  CALL(MPI_Initialized, (&flag));
  double t = CALL(MPI_Wtime, ());
  expect(t >= 0, "time");
  /* A call that fails, in a program that carries on. */
  CALL(MPI_Comm_set_errhandler, (MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  int code = CALL(MPI_Send, (out, 1, MPI_DOUBLE, all_ranks + 7, 0, MPI_COMM_WORLD));
  expect(code != MPI_SUCCESS, "a send to nowhere fails");
  int class;
  CALL(MPI_Error_class, (code, &class));
  char message[MPI_MAX_ERROR_STRING];
  CALL(MPI_Error_string, (code, message, &length));
  CALL(MPI_Comm_set_errhandler, (MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  for (int i = 0; i < 3; ++i) {
    datatypes();
    packing();
    windows();
    files();
    attributes();
  }
  end();
  return 0;
}
