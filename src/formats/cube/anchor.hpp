// What anchor.xml of a Cube 4 archive says, element by element. Nothing is interpreted beyond ids and references, and
// what is not known is kept as text, so that the document can be written again without loss.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/work.hpp"
#include "defs/attributes.hpp"
#include "io/blob.hpp"

namespace fathom::cube {

inline constexpr std::uint32_t kNoIndex = 0xFFFFFFFF;

// Attributes and child elements that this program does not know, the latter as XML text.
struct Unknown {
  Attributes attributes;
  std::string elements;
  [[nodiscard]] bool empty() const { return attributes.empty() && elements.empty(); }
};

// <cubeplaggr cubeplaggrtype=KIND>TEXT</cubeplaggr>
struct CubeplAggregation {
  std::string kind;
  std::string text;
};

struct AnchorMetric {
  std::uint32_t id = 0;
  std::uint32_t parent = kNoIndex;  // index into Anchor::metrics
  std::string type;                 // as written; empty = EXCLUSIVE
  std::string viztype;
  std::string convertible;  // "false" or empty
  std::string cacheable;
  std::string disp_name;
  std::string uniq_name;
  std::string dtype;
  std::string uom;
  std::string val;
  std::string url;
  std::string descr;
  std::optional<std::string> cubepl;
  std::string rowwise;  // attribute of cubepl
  std::vector<std::string> cubeplinit;
  std::vector<CubeplAggregation> cubeplaggr;
  Attributes attributes;
  Unknown unknown;

  [[nodiscard]] bool ghost() const;
  [[nodiscard]] bool derived() const;
  // INCLUSIVE and SIMPLE rows: stored values cover the subtree, and rows are numbered in sibling blocks.
  [[nodiscard]] bool inclusive() const;
};

struct AnchorRegion {
  std::uint32_t id = 0;
  std::string mod;
  std::int64_t begin = -1;
  std::int64_t end = -1;
  std::string name;
  std::optional<std::string> mangled_name;  // missing before 4.1
  std::string paradigm;
  std::string role;
  std::string url;
  std::string descr;
  Attributes attributes;
  Unknown unknown;
};

struct CnodeParameter {
  std::string partype;  // numeric, string
  std::string key;
  std::string value;
};

// What few cnodes have.
struct CnodeDetails {
  std::string mod;
  std::vector<CnodeParameter> parameters;
  Attributes attributes;
  Unknown unknown;
};

struct AnchorCnode {
  std::uint32_t id = 0;
  std::uint32_t parent = kNoIndex;
  std::uint32_t region = kNoIndex;   // index into Anchor::regions
  std::uint32_t details = kNoIndex;  // index into Anchor::cnode_details
  std::int64_t line = -1;
  bool has_line = false;
  bool has_mod = false;
};

struct AnchorSystemNode {
  enum class Kind : std::uint8_t { tree_node, group, location } kind = Kind::tree_node;
  std::uint32_t id = 0;
  std::uint32_t parent = kNoIndex;
  std::string name;
  std::string type;  // class of a tree node
  std::string rank;  // as written
  std::string descr;
  Attributes attributes;
  Unknown unknown;
};

struct AnchorDimension {
  std::string name;
  bool has_name = false;
  std::uint64_t size = 0;
  bool periodic = false;
};

struct AnchorTopology {
  struct Coordinate {
    std::uint32_t node = kNoIndex;  // index into Anchor::system
    std::vector<std::uint64_t> at;
  };
  std::string name;
  bool has_name = false;
  std::vector<AnchorDimension> dimensions;
  std::vector<Coordinate> coordinates;
  Unknown unknown;
};

// All tables are in document order; parents come before their children.
struct Anchor {
  std::string version;
  Attributes attributes;
  std::vector<std::string> mirrors;
  std::optional<std::string> metrics_title;
  std::optional<std::string> program_title;
  std::optional<std::string> system_title;
  std::vector<AnchorMetric> metrics;
  std::vector<AnchorRegion> regions;
  std::vector<AnchorCnode> cnodes;
  std::vector<CnodeDetails> cnode_details;
  std::vector<AnchorSystemNode> system;
  std::vector<AnchorTopology> topologies;
  std::uint32_t location_count = 0;  // location ids are 0 .. location_count-1
  Unknown unknown;                   // of <cube>
  Unknown unknown_doc;
  Unknown unknown_metrics;
  Unknown unknown_program;
  Unknown unknown_system;
  Unknown unknown_topologies;

  [[nodiscard]] const CnodeDetails& details(const AnchorCnode& cnode) const;
};

// Parses anchor.xml; gzip data are unpacked on the way, up to `limit` bytes.
inline constexpr std::uint64_t kAnchorLimit = std::uint64_t{1} << 30;
Result<Anchor> read_anchor(const Blob& blob, const Work& work, std::uint64_t limit = kAnchorLimit);

// A remapping spec: the doc and metrics sections of an anchor, with metrics that need no ids.
Result<Anchor> read_metrics_spec(const Blob& blob, const Work& work);

// The document as the official reader accepts it. Ids are written as they stand in the tables.
std::string write_anchor(const Anchor& anchor);

}  // namespace fathom::cube
