// Reading the trace of an Nsight Systems database, made here, against SELECTs of the same columns through the same
// library which add up what they find: what is above that is ours. Usage: nsight_bench [thousands of calls]
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <string>

#include "base/execution.hpp"
#include "experiment/experiment.hpp"
#include "formats/registry.hpp"
#include "measure.hpp"
#include "trace/trace.hpp"

using namespace fathom;
using namespace fathom::bench;
namespace fs = std::filesystem;

namespace {

volatile std::int64_t g_sink;

void run(sqlite3* database, const std::string& sql) {
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    fail(Error(sqlite3_errmsg(database)));
}

// Every call launches a kernel, every fourth copies something as well; ranges lie around some of them. The same comes
// again and again, as in programs that learn.
void make(const fs::path& path, std::int64_t calls) {
  sqlite3* database = nullptr;
  if (sqlite3_open(path.c_str(), &database) != SQLITE_OK) fail(Error("cannot be made", Place::in(path.string())));
  run(database, R"(BEGIN;
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, eventClass INT, globalTid INT, correlationId INT, nameId INT,
                                              returnValue INT, callchainId INT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT,
        globalPid INT, demangledName INT, shortName INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT,
                                             globalPid INT, bytes INT, copyKind INT);
    CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid INT, domainId INT, textId INT);)");
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    run(database, fmt::format("INSERT INTO StringIds VALUES ({}, 'void some_kernel_{}<float>(float*, int)')", i, i));
  }
  std::int64_t time = 1'000'000;
  for (std::int64_t i = 0; i < calls; ++i) {
    time += 1000 + random() % 1000;
    const std::int64_t process = std::int64_t{4711} << 24;
    const std::int64_t thread = process + 4711 + random() % 4;
    run(database, fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({},{},0,{},{},{},0,NULL)", time,
                              time + 500, thread, i, i % 50));
    run(database, fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({},{},0,1,{},{},{},{},{},64,1,1,256,1,1)",
                              time + 600, time + 1500, 7 + random() % 4, i, process, i % 400, i % 400));
    if (i % 4 == 0) {
      run(database, fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES ({},{},0,1,20,{},{},{},{})", time + 600,
                                time + 900, i, process, random() % 1000000, 1 + random() % 2));
    }
    if (i % 8 == 0) {
      run(database, fmt::format("INSERT INTO NVTX_EVENTS VALUES ({},{},59,'step {}',{},0,NULL)", time - 10, time + 900,
                                i % 100, thread));
    }
  }
  run(database, "COMMIT");
  sqlite3_close(database);
}

// What the reader asks for: calls, kernels and copies once, names of ranges twice.
constexpr const char* kQueries[] = {
    "SELECT id, value FROM StringIds",
    "SELECT start, end, globalTid, nameId, eventClass, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME",
    "SELECT start, end, globalPid, deviceId, contextId, streamId, correlationId, demangledName, shortName FROM "
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "SELECT start, end, globalPid, deviceId, contextId, streamId, correlationId, copyKind, bytes FROM "
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "SELECT start, end, eventType, text, textId, globalTid, domainId FROM NVTX_EVENTS",
};

std::int64_t select_all(const fs::path& path) {
  sqlite3* database = nullptr;
  if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK)
    fail(Error("cannot be opened"));
  std::int64_t sum = 0;
  for (const char* query : kQueries) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, query, -1, &statement, nullptr) != SQLITE_OK)
      fail(Error(sqlite3_errmsg(database)));
    while (sqlite3_step(statement) == SQLITE_ROW) {
      for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        sum += sqlite3_column_type(statement, i) == SQLITE_TEXT ? sqlite3_column_text(statement, i)[0]
                                                                : sqlite3_column_int64(statement, i);
      }
    }
    sqlite3_finalize(statement);
  }
  sqlite3_close(database);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t calls = std::int64_t{1000} * (argc > 1 ? std::atoi(argv[1]) : 200);
  const fs::path path = fs::temp_directory_path() / fmt::format("nsight.{}.sqlite", getpid());
  fs::remove(path);
  make(path, calls);
  const double mb = static_cast<double>(fs::file_size(path)) / 1e6;
  const Cost bare = measure([&] { g_sink = select_all(path); }, 5);
  const Execution execution(1);
  const ExecutionScope scope(execution);
  const Cost trace = measure(
      [&] {
        const auto dataset = must(open_dataset(path, make_work()));
        g_sink = static_cast<std::int64_t>(must(dataset->trace())->location_count());
      },
      5);
  const Cost experiment = measure(
      [&] {
        const auto dataset = must(open_dataset(path, make_work()));
        g_sink = static_cast<std::int64_t>(must(dataset->experiment())->measurement_count());
      },
      5);
  std::printf(
      "nsight %4.0f MB, %.2f M rows, times SELECTs of the same columns (%.0f MB/s): trace %.2f, experiment %.2f; "
      "peak %.0f MiB\n",
      mb, static_cast<double>(calls) * 2.375e-6, mb / bare.cpu, trace.cpu / bare.cpu, experiment.cpu / bare.cpu,
      status_mib("VmHWM:"));
  fs::remove(path);
  return 0;
}
