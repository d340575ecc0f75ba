// Sizes of derived datatypes, from the arguments of the calls that make them.
#include <algorithm>

#include "formats/dumpi/resolve.hpp"

namespace fathom::dumpi {

namespace {

// Wraps instead of overflowing: damaged files hold any number.
std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// Elements of one dimension of a distributed array that one process has.
std::int64_t local_part(std::int64_t elements, std::int64_t distribution, std::int64_t argument, std::int64_t processes,
                        std::int64_t at) {
  constexpr std::int64_t kBlock = 1;
  constexpr std::int64_t kCyclic = 2;
  if (processes <= 0 || elements <= 0) return 0;
  if (distribution == kBlock) {
    const std::int64_t block = argument > 0 ? argument : (elements + processes - 1) / processes;
    return std::clamp<std::int64_t>(elements - at * block, 0, block);
  }
  if (distribution == kCyclic) {
    const std::int64_t block = argument > 0 ? argument : 1;
    const std::int64_t round = times(block, processes);
    if (round <= 0) return 0;
    return elements / round * block + std::clamp<std::int64_t>(elements % round - at * block, 0, block);
  }
  return elements;
}

std::int64_t darray_elements(const Call& call) {
  // size rank ndims gsizes distribs dargs psizes
  const Values elements = call.values(3);
  const Values distributions = call.values(4);
  const Values arguments = call.values(5);
  const Values processes = call.values(6);
  const std::size_t dimensions = std::min({elements.size(), distributions.size(), arguments.size(), processes.size()});
  std::int64_t rank = call.integer(1);
  std::int64_t count = 1;
  // The process grid is row-major whatever the array's order: the last dimension runs fastest.
  for (std::size_t d = dimensions; d-- > 0;) {
    const std::int64_t width = processes[d];
    if (width <= 0 || rank < 0) return 0;
    count = times(count, local_part(elements[d], distributions[d], arguments[d], width, rank % width));
    rank /= width;
  }
  return count;
}

}  // namespace

std::optional<NewSize> created_size(const Call& call, const std::vector<std::int64_t>& sizes) {
  const auto size = [&](std::int64_t id) -> std::int64_t {
    return id >= 0 && static_cast<std::size_t>(id) < sizes.size() ? sizes[static_cast<std::size_t>(id)] : 0;
  };
  const auto sum = [](const Values& values) {
    std::int64_t total = 0;
    for (std::uint32_t i = 0; i < values.size(); ++i) total = plus(total, values[i]);
    return total;
  };
  switch (call.id) {
    case ids::kTypeContiguous:
      return NewSize{call.integer(2), times(call.integer(0), size(call.integer(1)))};
    case ids::kTypeVector:
    case ids::kTypeHvector:
    case ids::kTypeCreateHvector:
      return NewSize{call.integer(4), times(times(call.integer(0), call.integer(1)), size(call.integer(3)))};
    case ids::kTypeIndexed:
    case ids::kTypeHindexed:
    case ids::kTypeCreateHindexed:
      return NewSize{call.integer(4), times(sum(call.values(1)), size(call.integer(3)))};
    case ids::kTypeCreateIndexedBlock:
      return NewSize{call.integer(4), times(times(call.integer(0), call.integer(1)), size(call.integer(3)))};
    case ids::kTypeStruct:
    case ids::kTypeCreateStruct: {
      const Values lengths = call.values(1);
      const Values types = call.values(3);
      std::int64_t total = 0;
      for (std::uint32_t i = 0; i < std::min(lengths.size(), types.size()); ++i) {
        total = plus(total, times(lengths[i], size(types[i])));
      }
      return NewSize{call.integer(4), total};
    }
    case ids::kTypeDup:
      return NewSize{call.integer(1), size(call.integer(0))};
    case ids::kTypeCreateResized:
      return NewSize{call.integer(3), size(call.integer(0))};
    case ids::kTypeCreateSubarray: {
      const Values parts = call.values(2);
      std::int64_t count = 1;
      for (std::uint32_t i = 0; i < parts.size(); ++i) count = times(count, parts[i]);
      return NewSize{call.integer(6), times(count, size(call.integer(5)))};
    }
    case ids::kTypeCreateDarray:
      return NewSize{call.integer(9), times(darray_elements(call), size(call.integer(8)))};
    case ids::kTypeMatchSize:
      return NewSize{call.integer(2), call.integer(1)};
    case ids::kTypeSize:
      return NewSize{call.integer(0), call.integer(1)};
    default:
      return std::nullopt;
  }
}

std::vector<Change> size_changes(const File& file, const ScanResult& scan) {
  std::vector<std::int64_t> sizes(std::max(kPredefinedTypes, file.sections().sizes.size()));
  for (std::size_t id = 0; id < sizes.size(); ++id) sizes[id] = file.datatype_size(static_cast<std::int64_t>(id));
  std::vector<Change> changes;
  if (scan.notable.empty()) return changes;
  const auto held = file.hold();
  const std::byte* const base = held->bytes().data();
  Call call;
  for (std::size_t n = 0; n < scan.notable.size(); ++n) {
    if (file.decoder().decode(base + scan.notable[n], base + scan.end, call) != Decoder::Outcome::ok) continue;
    const auto created = created_size(call, sizes);
    // Ids are 16 bits wide; predefined types keep their sizes.
    if (!created || created->datatype < static_cast<std::int64_t>(kPredefinedTypes) || created->bytes < 0) continue;
    const auto index = static_cast<std::size_t>(created->datatype);
    if (index >= sizes.size()) sizes.resize(index + 1);
    if (sizes[index] == created->bytes) continue;
    sizes[index] = created->bytes;
    changes.push_back({scan.notable_number[n], static_cast<std::int32_t>(created->datatype), created->bytes});
  }
  return changes;
}

}  // namespace fathom::dumpi
