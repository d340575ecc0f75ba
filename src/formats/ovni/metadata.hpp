// What the JSON beside a stream (and, before version 3, the one of its process) says. Every key may be missing:
// who needs one says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "io/blob.hpp"

namespace fathom::ovni {

struct Cpu {
  std::int64_t index = 0;
  std::int64_t phyid = 0;
};

struct MarkType {
  std::int64_t type = 0;
  std::string title;
  std::string channel;  // "single" or "stack"
  std::vector<std::pair<std::int64_t, std::string>> labels;
};

struct Metadata {
  std::int64_t version = 0;
  std::optional<std::string> part;
  std::optional<std::string> loom;
  std::optional<std::int64_t> tid, pid, app_id, rank, nranks;
  std::optional<std::vector<Cpu>> cpus;
  std::optional<std::vector<std::pair<std::string, std::string>>> require;  // model, version
  std::optional<std::string> lib_version, lib_commit;
  std::optional<std::int64_t> finished;
  std::vector<MarkType> marks;
  std::optional<bool> can_breakdown;
  std::optional<std::vector<std::pair<std::int64_t, std::string>>> counters;  // index, name
  std::string model_version;                                                  // version 1 only: "O1 V1 T1"
  std::string attributes;  // what programs say of their own: a JSON object of the keys that are none of these, or empty
  // Keys that are there but of the wrong kind, in words.
  std::vector<std::string> defects;
};

// Version 3 `stream.json`. An error when it is not a JSON object with the version that is expected.
Result<Metadata> read_stream_metadata(const Blob& json);
// Versions 1 and 2: `metadata.json` of the process, then `thread.T.json` of the thread added to it.
Result<Metadata> read_process_metadata(const Blob& json);
Result<void> add_thread_metadata(Metadata& metadata, const Blob& json);

// As the runtime library writes it: 4 blanks of indentation, '/' escaped, no newline at the end.
std::string to_stream_json(const Metadata& metadata);
// Version 1 or 2 of `metadata.json`, and version 2 of `thread.T.json`.
std::string to_process_json(const Metadata& metadata);
std::string to_thread_json(const Metadata& metadata);

}  // namespace fathom::ovni
