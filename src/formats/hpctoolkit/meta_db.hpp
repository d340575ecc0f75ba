// meta.db: what a database of the 4.x generation describes, exactly as the file says it. Both the released layout and
// the pre-release one of 2022 are read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/work.hpp"
#include "io/blob.hpp"

namespace fathom::hpctoolkit {

inline constexpr std::uint32_t kNoIndex = 0xFFFFFFFF;

enum class ScopeType : std::uint8_t { custom, point, execution, transitive };
enum class Combine : std::uint8_t { sum, min, max };
enum class Relation : std::uint8_t { lexical, call, inlined_call };
enum class Lexical : std::uint8_t { function, loop, line, instruction };

struct MetaScope {
  std::string name;
  std::uint8_t type = 0;
  std::uint8_t propagation_index = 0xFF;
};

struct MetaScopeInstance {
  std::uint32_t scope = 0;  // index into MetaDb::scopes
  std::uint16_t id = 0;     // in ordinary profiles and cct.db
};

struct MetaSummary {
  std::uint32_t scope = 0;
  std::string formula;
  std::uint8_t combine = 0;
  std::uint16_t id = 0;  // in summary profiles
};

struct MetaMetric {
  std::string name;
  std::vector<MetaScopeInstance> scopes;
  std::vector<MetaSummary> summaries;
};

struct MetaFile {
  std::string path;
  bool copied = false;  // into the database, below which the path counts
};

struct MetaFunction {
  std::string name;
  std::uint32_t module = kNoIndex;
  std::uint64_t offset = 0;
  std::uint32_t file = kNoIndex;
  std::uint32_t line = 0;
};

struct MetaContext {
  std::uint32_t id = 0;
  std::uint32_t parent = kNoIndex;  // index into MetaDb::contexts
  std::uint32_t function = kNoIndex;
  std::uint32_t file = kNoIndex;
  std::uint32_t line = 0;
  std::uint32_t module = kNoIndex;
  std::uint64_t offset = 0;
  std::uint16_t propagation = 0;
  std::uint8_t relation = 0;
  std::uint8_t lexical = 0;
  bool has_function = false;
  bool has_line = false;
  bool has_point = false;  // module and offset
  std::int8_t entry = -1;  // kind of an entry point; -1 = an ordinary context
};

struct MetaDb {
  std::string version;
  bool prerelease = false;
  std::string title;
  std::string description;
  std::vector<std::string> id_names;  // by kind
  std::vector<MetaScope> scopes;
  std::vector<MetaMetric> metrics;
  std::vector<std::string> modules;
  std::vector<MetaFile> files;
  std::vector<MetaFunction> functions;
  std::vector<MetaContext> contexts;     // entry points included; parents before children, siblings in file order
  std::vector<std::string> entry_names;  // of the entry points, which come first in contexts

  static bool looks_like(Bytes bytes);
  static Result<MetaDb> read(const Blob& blob, const Work& work);
};

}  // namespace fathom::hpctoolkit
