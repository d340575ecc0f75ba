#include "formats/otf2/records.hpp"

#include <array>

namespace fathom::otf2 {

namespace {

constexpr RecordKind kEvents[] = {
#include "formats/otf2/event_records.inc"
};
constexpr RecordKind kDefinitions[] = {
#include "formats/otf2/definition_records.inc"
};

template <std::size_t N>
constexpr std::array<const RecordKind*, 256> by_type(const RecordKind (&kinds)[N]) {
  std::array<const RecordKind*, 256> table{};
  for (const RecordKind& kind : kinds) table[kind.type] = &kind;
  return table;
}
constexpr auto kEventByType = by_type(kEvents);
constexpr auto kDefinitionByType = by_type(kDefinitions);
static_assert(kEventByType[event::comm_destroy] != nullptr && kEventByType[event::comm_destroy]->name == "CommDestroy");

}  // namespace

std::span<const RecordKind> event_kinds() { return kEvents; }
std::span<const RecordKind> definition_kinds() { return kDefinitions; }
const RecordKind* find_event_kind(std::uint8_t type) { return kEventByType[type]; }
const RecordKind* find_definition_kind(std::uint8_t type) { return kDefinitionByType[type]; }

}  // namespace fathom::otf2
