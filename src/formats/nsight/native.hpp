// What an Nsight Systems database holds of a CUDA program: API calls, GPU activities, ranges, call chains.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "formats/nsight/database.hpp"

namespace fathom::nsight {

// Nanoseconds on the clock of the session.
struct Interval {
  std::int64_t start = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t length() const { return end - start; }
};

// Ties what the GPU did to the API call that asked for it. 0 stands for none.
using Correlation = std::int64_t;

struct ApiCall : Interval {
  std::int64_t thread = 0;  // globalTid
  Correlation correlation = 0;
  std::string_view name;  // into Report::strings
  std::optional<std::int64_t> chain;
};

struct Kernel : Interval {
  Correlation correlation = 0;
  std::string_view name;
  std::int64_t threads = 0;  // of the whole grid, at most those that the GPU can hold
};

struct Copy : Interval {
  Correlation correlation = 0;
  std::string name;  // of its kind
  bool pageable = false;
  std::int64_t bytes = 0;
};

struct Memset : Interval {
  Correlation correlation = 0;
  std::string name;  // "MEMSET 0"
  bool pageable = false;
  std::int64_t bytes = 0;
};

struct Synchronization : Interval {
  Correlation correlation = 0;
  std::string name;  // of its kind
};

// A range that Extra-Prof marked: a call path and where it was on some thread.
struct Range : Interval {
  std::int64_t thread = 0;
  std::string path;
  std::int64_t depth = 0;
};

// Where an API call was made: the names on its stack, outermost first, as a call path.
struct Chain {
  std::string path;
  std::int64_t depth = 0;
};

// A call path with what was spent in it; rows without a correlation are ranges of the CPU.
struct ResolvedPath {
  std::optional<Correlation> correlation;
  std::string path;
  std::int64_t depth = 0;
  std::optional<double> duration;  // exclusive, ns
};

struct IdlePath {
  std::string path;
  double duration = 0;  // ns
};

struct Report {
  std::unordered_map<std::int64_t, std::string> strings;
  std::unordered_set<std::string> names;                 // that are no numbered strings
  std::unordered_map<std::string, std::string> symbols;  // of Extra-Prof: pointer to name
  std::vector<ApiCall> calls;
  std::vector<Kernel> kernels;
  std::vector<Copy> copies;
  std::vector<Memset> memsets;
  std::vector<Synchronization> synchronizations;
  bool marked = false;  // Extra-Prof was at work
  std::vector<Range> ranges;
  std::unordered_map<std::int64_t, Chain> chains;  // by id
  // What Extra-P left in the database when it read it before; used as it is.
  std::optional<std::vector<ResolvedPath>> resolved;
  std::vector<IdlePath> idle;
};

// True when the database has a table of Nsight Systems that is read here.
bool is_report(const Database& database);
// The error that it is none.
Result<void> must_be_report(const Database& database);
Result<Report> read_report(const Database& database, const Work& work);

}  // namespace fathom::nsight
