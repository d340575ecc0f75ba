// Any bytes as each binary file of a database, by what they begin with. Nothing may crash, hang or take memory beyond
// the budget.
#include <cstdint>

#include "formats/hpctoolkit/cct_db.hpp"
#include "formats/hpctoolkit/classic_files.hpp"
#include "formats/hpctoolkit/mapping.hpp"
#include "formats/hpctoolkit/meta_db.hpp"
#include "formats/hpctoolkit/profile_db.hpp"
#include "formats/hpctoolkit/trace_db.hpp"

using namespace fathom;
using namespace fathom::hpctoolkit;

namespace {

void read_profiles(const Blob& blob, const Work& work) {
  const auto db = ProfileDb::read(blob, work);
  if (!db) return;
  for (std::size_t i = 0; i < db->profiles().size(); ++i) {
    (void)db->check(i, work);
    const ProfileBlock block = db->block(i);
    for (std::uint64_t slot = 0; slot < block.index_count(); ++slot) {
      if (block.begin(slot) < block.end(slot)) (void)block.number(block.begin(slot));
    }
  }
}

void read_contexts(const Blob& blob, const Work& work) {
  const auto db = CctDb::read(blob, work);
  if (!db) return;
  for (std::uint64_t id = 0; id < db->size(); ++id) (void)db->check(id, work);
}

void read_trace(const Blob& blob, const Work& work) {
  const auto db = TraceDb::read(blob, work);
  if (!db) return;
  for (const TraceLine& line : db->lines()) {
    if (line.count > 0) (void)db->sample(line, line.count - 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto work = make_work(false, std::uint64_t{256} << 20);
  const Blob blob("input", Bytes(reinterpret_cast<const std::byte*>(data), size), nullptr);
  if (MetaDb::looks_like(blob.bytes())) {
    if (const auto meta = MetaDb::read(blob, work)) (void)map_meta(*meta, work);
  } else if (ProfileDb::looks_like(blob.bytes())) {
    read_profiles(blob, work);
  } else if (CctDb::looks_like(blob.bytes())) {
    read_contexts(blob, work);
  } else if (TraceDb::looks_like(blob.bytes())) {
    read_trace(blob, work);
  } else {
    (void)MetricDbFile::read(blob, work);
    (void)TraceFile::read(blob, 0, work);
    (void)merged_files(blob, work);
  }
  return 0;
}
