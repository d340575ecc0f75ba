// Values of one location in the scopes that a database stores, worked out from whatever the profile stores.
#pragma once

#include <vector>

#include "profile/profile.hpp"

namespace fathom::hpctoolkit {

// Scopes in the order in which the writers of meta.db number them.
enum WrittenScope : std::uint8_t { kPoint, kFunction, kLexAware, kExecution, kWrittenScopes };

// A metric that can be written, and which of its stored scopes are read for that; -1 = not stored.
struct MetricPlan {
  MetricId metric;
  int own = -1;
  int exclusive = -1;
  int inclusive = -1;
};

// Metrics with plain numbers in some scope; the others are reported and left out.
Result<std::vector<MetricPlan>> plan_metrics(const Profile& profile);

// A stored value as it is read: of plan `plan`, in the role that `slot` says.
struct RawValue {
  std::uint32_t context = 0;
  std::uint16_t plan = 0;
  std::uint8_t role = 0;  // 0 own, 1 exclusive, 2 inclusive
  double value = 0;
};

struct ScopedValue {
  std::uint32_t context = 0;  // id in the database: 0 is the root above all, others are numbered from 1
  std::uint16_t plan = 0;
  std::uint8_t scope = 0;
  double value = 0;
};

// Scratch memory of one thread, in proportion to the number of contexts.
class ScopeWorker {
 public:
  ScopeWorker(const Definitions& defs, const std::vector<MetricPlan>& plans);

  // All values that are not zero, ordered by context, plan and scope. `raw` is put in order on the way.
  void work_out(std::vector<RawValue>& raw, std::vector<ScopedValue>& out);
  static std::uint64_t bytes_needed(const Definitions& defs) { return defs.contexts.size() * (5 * sizeof(double) + 1); }

 private:
  void work_out_metric(std::span<const RawValue> raw, std::uint16_t plan, std::vector<ScopedValue>& out);
  void touch(std::uint32_t context);

  const Definitions& defs_;
  const std::vector<MetricPlan>& plans_;
  std::vector<double> own_;
  std::vector<double> exclusive_;
  std::vector<double> inclusive_;
  std::vector<double> lex_;
  std::vector<std::uint8_t> marked_;
  std::vector<std::uint8_t> loop_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace fathom::hpctoolkit
