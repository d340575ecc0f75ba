// Any bytes as each file of a database: the first byte says which, the rest is its content; the other files are absent
// or empty. Nothing may crash, hang or take memory beyond the budget.
#include <cstdint>

#include "formats/hpctoolkit/cct_db.hpp"
#include "formats/hpctoolkit/classic_files.hpp"
#include "formats/hpctoolkit/experiment_xml.hpp"
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
  if (size == 0) return 0;
  const auto work = make_work(false, std::uint64_t{256} << 20);
  const Blob blob("input", Bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1), nullptr);
  switch (data[0] % 7) {
    case 0:
      if (const auto meta = MetaDb::read(blob, work)) (void)map_meta(*meta, work);
      break;
    case 1:
      if (const auto xml = ExperimentXml::read(blob, work)) (void)map_xml(*xml, work);
      break;
    case 2:
      read_profiles(blob, work);
      break;
    case 3:
      read_contexts(blob, work);
      break;
    case 4:
      read_trace(blob, work);
      break;
    case 5:
      (void)MetricDbFile::read(blob, work);
      (void)TraceFile::read(blob, 0, work);
      break;
    default:
      (void)merged_files(blob, work);
  }
  return 0;
}
