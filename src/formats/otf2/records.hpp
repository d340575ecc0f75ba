// The kinds of records that OTF2 files hold: numbers, names and layouts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace fathom::otf2 {

struct RecordKind {
  std::uint8_t type = 0;
  std::string_view name;    // "MpiSend"
  bool has_length = true;   // without: one compact integer and nothing else
  std::string_view fields;  // "receiver:c32 communicator:c32@comm …"
};

std::span<const RecordKind> event_kinds();
std::span<const RecordKind> definition_kinds();  // of the global definitions
// Null = unknown.
const RecordKind* find_event_kind(std::uint8_t type);
const RecordKind* find_definition_kind(std::uint8_t type);

// Bytes that stand where a record begins and are none.
enum Control : std::uint8_t {
  kEndOfChunk = 0,
  kEndOfBuffer = 1,
  kEndOfFile = 2,
  kChunkHeader = 3,
  kTimestamp = 5,      // event files only
  kAttributeList = 6,  // event files only
};
inline constexpr std::size_t kChunkHeaderSize = 18;
inline constexpr std::uint8_t kLittle = 0x42;
inline constexpr std::uint8_t kBig = 0x23;

// Types of events, as far as the mapping tells them apart.
namespace event {
enum : std::uint8_t {
  buffer_flush = 10,
  measurement_on_off,
  enter,
  leave,
  mpi_send,
  mpi_isend,
  mpi_isend_complete,
  mpi_irecv_request,
  mpi_recv,
  mpi_irecv,
  mpi_request_test,
  mpi_request_cancelled,
  mpi_collective_begin,
  mpi_collective_end,
  omp_fork,
  omp_join,
  omp_acquire_lock,
  omp_release_lock,
  omp_task_create,
  omp_task_switch,
  omp_task_complete,
  metric,
  parameter_string,
  parameter_int,
  parameter_unsigned_int,
  rma_win_create,
  rma_win_destroy,
  rma_collective_begin,
  rma_collective_end,
  rma_group_sync,
  rma_request_lock,
  rma_acquire_lock,
  rma_try_lock,
  rma_release_lock,
  rma_sync,
  rma_wait_change,
  rma_put,
  rma_get,
  rma_atomic,
  rma_op_complete_blocking,
  rma_op_complete_non_blocking,
  rma_op_test,
  rma_op_complete_remote,
  thread_fork,
  thread_join,
  thread_team_begin,
  thread_team_end,
  thread_acquire_lock,
  thread_release_lock,
  thread_task_create,
  thread_task_switch,
  thread_task_complete,
  thread_create,
  thread_begin,
  thread_wait,
  thread_end,
  calling_context_enter,
  calling_context_leave,
  calling_context_sample,
  io_create_handle,
  io_destroy_handle,
  io_duplicate_handle,
  io_seek,
  io_change_status_flags,
  io_delete_file,
  io_operation_begin,
  io_operation_test,
  io_operation_issued,
  io_operation_complete,
  io_operation_cancelled,
  io_acquire_lock,
  io_release_lock,
  io_try_lock,
  program_begin,
  program_end,
  non_blocking_collective_request,
  non_blocking_collective_complete,
  comm_create,
  comm_destroy,
};
}  // namespace event

// Kinds of ids that a location may map to global ones.
enum class IdKind : std::uint8_t {
  string,
  attribute,
  location,
  region,
  group,
  metric,
  comm,
  parameter,
  rma_win,
  source_code_location,
  calling_context,
  interrupt_generator,
  io_file,
  io_handle,
  location_group,
};
inline constexpr std::size_t kIdKinds = 15;

}  // namespace fathom::otf2
