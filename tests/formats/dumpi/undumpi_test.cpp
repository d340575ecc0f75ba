// The C interface against the C++ reader, over every trace that there is.
#include <dumpi/libundumpi/libundumpi.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <map>

#include "fathom/dumpi.hpp"

namespace fathom::dumpi {
namespace {

namespace fs = std::filesystem;

// What a program counts that wants to know about a trace: calls, and a sum over their arguments.
struct Seen {
  std::map<std::string, std::uint64_t> calls;
  std::map<std::string, std::int64_t> sums;
  std::vector<std::string> words;
  std::int64_t wall_ns = 0;
};

#define HANDLER(name)                                                                                           \
  int name(const dumpi_##name* prm, uint16_t, const dumpi_time*, const dumpi_time* wall, const dumpi_perfinfo*, \
           void* to)
Seen& enter(const char* name, const dumpi_time* wall, void* to) {
  auto& seen = *static_cast<Seen*>(to);
  ++seen.calls[name];
  seen.wall_ns += (wall->stop.sec - wall->start.sec) * std::int64_t{1'000'000'000} + wall->stop.nsec - wall->start.nsec;
  return seen;
}

HANDLER(send) {
  enter("MPI_Send", wall, to).sums["send"] +=
      prm->count + 3 * prm->datatype + 5 * prm->dest + 7 * prm->tag + 11 * prm->comm;
  return 1;
}
HANDLER(isend) {
  enter("MPI_Isend", wall, to).sums["isend"] +=
      prm->count + 3 * prm->datatype + 5 * prm->dest + 7 * prm->tag + 11 * prm->comm + 13 * prm->request;
  return 1;
}
HANDLER(recv) {
  Seen& seen = enter("MPI_Recv", wall, to);
  seen.sums["recv"] += prm->count + 3 * prm->source;
  if (prm->status != nullptr) seen.sums["recv"] += prm->status->bytes + 5 * prm->status->source + 7 * prm->status->tag;
  return 1;
}
HANDLER(waitall) {
  Seen& seen = enter("MPI_Waitall", wall, to);
  seen.sums["waitall"] += prm->count;
  for (int i = 0; i < prm->count; ++i) seen.sums["waitall"] += (i + 1) * prm->requests[i];
  return 1;
}
HANDLER(gatherv) {
  Seen& seen = enter("MPI_Gatherv", wall, to);
  seen.sums["gatherv"] +=
      prm->commrank + 3 * prm->commsize + 5 * prm->sendcount + 7 * prm->recvtype + 11 * prm->root + 13 * prm->comm;
  for (int i = 0; prm->recvcounts != nullptr && i < prm->commsize; ++i) {
    seen.sums["gatherv"] += prm->recvcounts[i] + 2 * prm->displs[i];
  }
  return 1;
}
HANDLER(init) {
  Seen& seen = enter("MPI_Init", wall, to);
  for (int i = 0; i < prm->argc; ++i) seen.words.emplace_back(prm->argv[i]);
  return 1;
}
HANDLER(allreduce) {
  enter("MPI_Allreduce", wall, to).sums["allreduce"] += prm->count + 3 * prm->datatype + 5 * prm->op + 7 * prm->comm;
  return 1;
}
HANDLER(dims_create) {
  Seen& seen = enter("MPI_Dims_create", wall, to);
  for (int i = 0; i < prm->ndim; ++i) seen.sums["dims"] += prm->dims.in[i] + 3 * prm->dims.out[i];
  return 1;
}
HANDLER(file_write_at) {
  enter("MPI_File_write_at", wall, to).sums["write_at"] += prm->file + 3 * prm->offset + 5 * prm->count;
  return 1;
}

Seen through_callbacks(dumpi_profile* profile) {
  Seen seen;
  libundumpi_callbacks callbacks;
  libundumpi_clear_callbacks(&callbacks);
  callbacks.on_send = send;
  callbacks.on_isend = isend;
  callbacks.on_recv = recv;
  callbacks.on_waitall = waitall;
  callbacks.on_gatherv = gatherv;
  callbacks.on_init = init;
  callbacks.on_allreduce = allreduce;
  callbacks.on_dims_create = dims_create;
  callbacks.on_file_write_at = file_write_at;
  EXPECT_EQ(1, undumpi_read_stream(profile, &callbacks, &seen, false));
  return seen;
}

Seen through_reader(const TraceSet& set, std::size_t rank, std::uint64_t& all) {
  Seen seen;
  CallReader reader = set.reader(rank);
  while (const Call* call = reader.next()) {
    ++all;
    const std::string name(call->name());
    const auto at = [&](const char* argument) {
      return call->integer(static_cast<std::size_t>(call->function().find(argument)));
    };
    const auto list = [&](const char* argument) {
      return call->values(static_cast<std::size_t>(call->function().find(argument)));
    };
    if (name == "MPI_Send" || name == "MPI_Isend") {
      auto& sum = seen.sums[name == "MPI_Send" ? "send" : "isend"];
      sum += at("count") + 3 * at("datatype") + 5 * at("dest") + 7 * at("tag") + 11 * at("comm");
      if (name == "MPI_Isend") sum += 13 * at("request");
    } else if (name == "MPI_Recv") {
      seen.sums["recv"] += at("count") + 3 * at("source");
      const Statuses statuses = call->statuses(5);
      if (!statuses.empty()) seen.sums["recv"] += statuses[0].bytes + 5 * statuses[0].source + 7 * statuses[0].tag;
    } else if (name == "MPI_Waitall") {
      const Values requests = list("requests");
      seen.sums["waitall"] += requests.size();
      for (std::uint32_t i = 0; i < requests.size(); ++i) seen.sums["waitall"] += (i + 1) * requests[i];
    } else if (name == "MPI_Gatherv") {
      seen.sums["gatherv"] += at("commrank") + 3 * at("commsize") + 5 * at("sendcount") + 7 * at("recvtype") +
                              11 * at("root") + 13 * at("comm");
      for (std::uint32_t i = 0; i < list("recvcounts").size(); ++i) {
        seen.sums["gatherv"] += list("recvcounts")[i] + 2 * list("displs")[i];
      }
    } else if (name == "MPI_Init") {
      const Strings words = call->strings(1);
      auto word = words.begin();
      for (std::uint32_t i = 0; i < words.size(); ++i, word.advance()) seen.words.emplace_back(*word);
    } else if (name == "MPI_Allreduce") {
      seen.sums["allreduce"] += at("count") + 3 * at("datatype") + 5 * at("op") + 7 * at("comm");
    } else if (name == "MPI_Dims_create") {
      for (std::uint32_t i = 0; i < list("dims.in").size(); ++i) {
        seen.sums["dims"] += list("dims.in")[i] + 3 * list("dims.out")[i];
      }
    } else if (name == "MPI_File_write_at") {
      seen.sums["write_at"] += at("file") + 3 * at("offset") + 5 * at("count");
    } else {
      continue;
    }
    ++seen.calls[name];
    if (call->has_wall()) seen.wall_ns += call->wall_stop_ns - call->wall_start_ns;
  }
  return seen;
}

int count_all(const void*, uint16_t, const dumpi_time*, const dumpi_time*, const dumpi_perfinfo*, void* to) {
  ++*static_cast<std::uint64_t*>(to);
  return 1;
}

TEST(Undumpi, NamesOfMpi) {
  EXPECT_STREQ("MPI_COMM_SELF", dumpi_get_comm_name(DUMPI_COMM_SELF));
  EXPECT_STREQ("user-defined-datatype", dumpi_get_datatype_name(DUMPI_FIRST_USER_DATATYPE));
  EXPECT_STREQ("MPI_MAXLOC", dumpi_get_op_name(DUMPI_MAXLOC));
  EXPECT_STREQ("MPI_MODE_NOCHECK|MPI_MODE_NOPUT", dumpi_get_win_assert_name(5));
  EXPECT_STREQ("MPI_Waitall", dumpi_function_names[DUMPI_Waitall]);
  EXPECT_STREQ("MPIO_Testsome", dumpi_function_names[DUMPIO_Testsome]);
  const dumpi_clock clock = dumpi_clock_init_scale(3500, 1000);
  EXPECT_EQ(3, clock.sec);
  EXPECT_EQ(500, clock.nsec);
}

TEST(Undumpi, SeesWhatTheReaderSees) {
  const fs::path data = fs::path(FATHOM_SHARED_DATA) / "dumpi";
  std::error_code status;
  std::vector<fs::path> files = {fs::path(FATHOM_SOURCE_DIR) / "examples" / "ring" / "ring-0000.bin"};
  for (const auto& entry : fs::recursive_directory_iterator(data, status)) {
    if (entry.path().extension() == ".bin") files.push_back(entry.path());
  }
  std::uint64_t checked = 0;
  for (const fs::path& file : files) {
    const TraceSet set = TraceSet::open(file.string());
    if (!set.error().empty()) continue;
    std::size_t rank = 0;
    while (rank < set.ranks() && !set.has(rank)) ++rank;
    if (rank == set.ranks()) continue;
    dumpi_profile* profile = undumpi_open(file.c_str());
    ASSERT_NE(nullptr, profile) << file;
    std::uint64_t all = 0;
    const Seen expected = through_reader(set, rank, all);
    const Seen found = through_callbacks(profile);
    EXPECT_EQ(expected.calls, found.calls) << file;
    EXPECT_EQ(expected.sums, found.sums) << file;
    EXPECT_EQ(expected.words, found.words) << file;
    EXPECT_EQ(expected.wall_ns, found.wall_ns) << file;
    libundumpi_callbacks callbacks;
    libundumpi_set_callbacks(&callbacks, count_all);
    std::uint64_t counted = 0;
    EXPECT_EQ(1, undumpi_read_stream(profile, &callbacks, &counted, false));
    EXPECT_EQ(all, counted) << file;
    dumpi_footer* footer = undumpi_read_footer(profile);
    dumpi_header* header = undumpi_read_header(profile);
    ASSERT_TRUE(footer != nullptr && header != nullptr) << file;
    // What a killed job leaves has neither: both are empty.
    const bool whole = header->starttime != 0;
    EXPECT_EQ(!whole, file.filename().string().starts_with("killed")) << file;
    EXPECT_EQ(!whole, std::string_view(header->hostname).empty()) << file;
    for (const auto& [name, count] : found.calls) {
      const auto id = id_of(name);
      EXPECT_EQ(whole ? count : 0, footer->call_count[id] - footer->ignored_count[id]) << file << " " << name;
    }
    dumpi_free_footer(footer);
    dumpi_free_header(header);
    dumpi_free_keyval_record(undumpi_read_keyval_record(profile));
    const dumpi_sizeof sizes = undumpi_read_datatype_sizes(profile);
    for (int i = 0; i < sizes.count; ++i) {
      if (sizes.size[i] != 0) {
        EXPECT_EQ(set.datatype_size(rank, i), sizes.size[i]) << file;
      }
    }
    std::free(sizes.size);
    undumpi_close(profile);
    ++checked;
  }
  EXPECT_GE(checked, 1U);
}

TEST(Undumpi, SaysNoToWhatIsNoTrace) {
  EXPECT_EQ(nullptr, undumpi_open("/nowhere/at-all.bin"));
  EXPECT_STREQ("MPI_Send", dumpi_function_label(DUMPI_Send));
  EXPECT_STREQ("", dumpi_function_label(DUMPI_ALL_FUNCTIONS));
}

}  // namespace
}  // namespace fathom::dumpi
