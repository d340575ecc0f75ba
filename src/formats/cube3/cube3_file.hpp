// A Cube 3 profile: one XML document with the trees first and then every value as text. Reading it keeps where each row
// of values stands; the numbers are read when they are asked for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/work.hpp"
#include "defs/definitions.hpp"
#include "io/blob.hpp"

namespace fathom::cube3 {

inline constexpr std::uint32_t kNoIndex = 0xFFFFFFFF;

struct FileMetric {
  std::uint32_t id = 0;
  std::uint32_t parent = kNoIndex;
  std::string disp_name, uniq_name, dtype, uom, val, url, descr;
};

struct FileCnode {
  std::uint32_t id = 0;
  std::uint32_t parent = kNoIndex;
  std::uint32_t callee = 0;  // id of a region
  std::int64_t line = -1;
  std::string mod;
};

struct FileSystemNode {
  enum class Kind : std::uint8_t { machine, node, process, thread } kind = Kind::machine;
  std::uint32_t id = 0;
  std::uint32_t parent = kNoIndex;
  std::string name, rank, descr;
};

struct FileTopology {
  struct Dimension {
    std::string name;
    std::uint64_t size = 0;
    bool periodic = false;
  };
  struct Coordinate {
    FileSystemNode::Kind kind = FileSystemNode::Kind::thread;
    std::uint32_t id = 0;
    std::string at;
  };
  std::string name;
  std::vector<Dimension> dimensions;
  std::vector<Coordinate> coordinates;
};

// The numbers of one metric and cnode: bytes [begin, end) of the document.
struct FileRow {
  std::uint32_t metric = 0;  // ids
  std::uint32_t cnode = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// MT: safe (const).
struct Cube3File {
  Blob document;
  std::string version;
  Attributes attributes;
  std::vector<std::string> mirrors;
  std::string metrics_title, program_title, system_title;
  std::vector<FileMetric> metrics;
  std::vector<Region> regions;
  std::vector<FileCnode> cnodes;
  std::vector<FileSystemNode> system;
  std::vector<FileTopology> topologies;
  std::vector<FileRow> rows;
};

// Damage after the trees costs the values behind it and is reported; before that it is an error.
Result<std::shared_ptr<const Cube3File>> read(const Blob& document, const Work& work);

}  // namespace fathom::cube3
