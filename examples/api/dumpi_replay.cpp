// Pulls every call of every rank out of a DUMPI trace, as a simulator does, and prints for each rank what it would have
// to simulate: computation between the calls, messages, collectives.
//
//   dumpi_replay run.meta
#include <cstdio>
#include <fathom/dumpi.hpp>

int main(int argc, char** argv) {
  namespace dumpi = fathom::dumpi;
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s METAFILE|FILE.bin|DIRECTORY\n", argv[0]);
    return 2;
  }
  dumpi::TraceSet trace = dumpi::TraceSet::open(argv[1]);
  // Communicators and datatypes are worked out first: handles mean something else on every rank.
  if (!trace.error().empty() || !trace.resolve()) {
    std::fprintf(stderr, "%s\n", trace.error().c_str());
    return 2;
  }

  // Positions of arguments are looked up once; per call they are array accesses.
  const dumpi::Function& send = *dumpi::function("MPI_Send");
  const dumpi::Function& isend = *dumpi::function("MPI_Isend");
  const dumpi::Function& waitall = *dumpi::function("MPI_Waitall");
  const auto count_at = static_cast<std::size_t>(send.find("count"));
  const auto type_at = static_cast<std::size_t>(send.find("datatype"));
  const auto dest_at = static_cast<std::size_t>(send.find("dest"));
  const auto comm_at = static_cast<std::size_t>(send.find("comm"));
  const auto requests_at = static_cast<std::size_t>(waitall.find("requests"));

  std::printf("rank calls compute_s mpi_s messages bytes last_receiver waited_requests\n");
  for (std::size_t rank = 0; rank < trace.ranks(); ++rank) {
    if (!trace.has(rank)) continue;
    dumpi::CallReader reader = trace.reader(rank);
    unsigned long long calls = 0;
    unsigned long long messages = 0;
    unsigned long long requests = 0;
    long long bytes = 0;
    int receiver = dumpi::kNobody;
    long long compute_ns = 0;
    long long mpi_ns = 0;
    long long last_stop_ns = -1;
    while (const dumpi::Call* call = reader.next()) {
      ++calls;
      if (call->has_wall()) {
        if (last_stop_ns >= 0) compute_ns += call->wall_start_ns - last_stop_ns;
        mpi_ns += call->wall_stop_ns - call->wall_start_ns;
        last_stop_ns = call->wall_stop_ns;
      }
      if (call->id == send.id || call->id == isend.id) {
        // Both have the same arguments in the same places.
        ++messages;
        bytes += call->integer(count_at) * reader.size_of(call->integer(type_at));
        receiver = reader.world_rank(call->integer(comm_at), call->integer(dest_at));
      } else if (call->id == waitall.id) {
        requests += call->values(requests_at).size();
      }
    }
    if (!reader.error().empty()) std::fprintf(stderr, "rank %zu: %s\n", rank, reader.error().c_str());
    std::printf("%zu %llu %.9f %.9f %llu %lld %d %llu\n", rank, calls, static_cast<double>(compute_ns) / 1e9,
                static_cast<double>(mpi_ns) / 1e9, messages, bytes, receiver, requests);
  }
  return 0;
}
