// The anchor file of an archive: what the user names, and what says how the other files are to be read.
#pragma once

#include <string>
#include <vector>

#include "base/work.hpp"
#include "defs/attributes.hpp"
#include "io/blob.hpp"

namespace fathom::otf2 {

struct Anchor {
  std::uint8_t anchor_format = 0;
  std::uint8_t trace_format = 0;
  std::string version;  // "3.0.2"
  std::uint64_t event_chunk = 0;
  std::uint64_t definition_chunk = 0;
  std::uint64_t locations = 0;
  std::uint64_t global_definitions = 0;
  std::string machine;
  std::string creator;
  std::string description;
  Attributes properties;
  std::uint64_t trace_id = 0;
  std::uint32_t snapshots = 0;
  std::uint32_t thumbnails = 0;
};

bool is_anchor(std::string_view head);
Result<Anchor> read_anchor(const Blob& blob, const Work& work);

}  // namespace fathom::otf2
