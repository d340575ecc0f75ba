// Small profiles made in a test.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace fathom::test {

// Values by (metric, context, location), handed out as runs along the locations.
class MemorySource : public ValueSource {
 public:
  // Packed bytes of one row, all locations.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::byte>> rows;
  std::vector<std::size_t> value_size;  // by metric
  Axis axis = Axis::context;

  [[nodiscard]] Axis cheap_axis() const override { return axis; }
  Result<void> scan(const Box& box, const RunVisitor& visit) const override {
    for (const StoredMetric& metric : box.metrics) {
      for (std::uint32_t context = box.contexts.begin; context < box.contexts.end; ++context) {
        const auto found = rows.find({metric.metric.value, context});
        if (found == rows.end()) continue;
        Run run;
        run.metric = metric;
        run.context = ContextId(context);
        run.first = box.locations.begin;
        run.count = box.locations.size();
        run.values = found->second.data() + box.locations.begin * value_size[metric.metric.index()];
        FATHOM_CHECK(visit(run));
      }
    }
    return success();
  }
};

class MemoryProfile {
 public:
  explicit MemoryProfile(std::vector<std::string> locations = {"0", "1"}, std::string process = "rank 0") {
    SystemNode machine;
    machine.type = "machine";
    machine.name = "m";
    const SystemNodeId m = defs_.system.add(machine);
    SystemNode node;
    node.type = "node";
    node.name = "n";
    node.parent = m;
    const SystemNodeId n = defs_.system.add(node);
    SystemNode group;
    group.kind = SystemKind::group;
    group.type = "process";
    group.name = std::move(process);
    group.rank = 0;
    group.parent = n;
    const SystemNodeId g = defs_.system.add(group);
    for (std::size_t i = 0; i < locations.size(); ++i) {
      SystemNode location;
      location.kind = SystemKind::location;
      location.type = "thread";
      location.name = locations[i];
      location.rank = static_cast<std::int64_t>(i);
      location.file_id = i;
      location.parent = g;
      defs_.system.add_location(location);
    }
  }

  MetricId metric(const std::string& name, ValueKind kind = ValueKind::f64, Scope scope = Scope::exclusive,
                  MetricId parent = {}) {
    Metric metric;
    metric.name = metric.display_name = name;
    metric.type = {kind, 0};
    metric.scopes = {{scope, ""}};
    metric.parent = parent;
    metric.file_id = defs_.metrics.size();
    defs_.metrics.push_back(metric);
    source_->value_size.push_back(metric.type.size());
    return MetricId(defs_.metrics.size() - 1);
  }

  // "main", "main/foo": parents must have been named before. Returns the context in order of calls.
  void context(const std::string& path, const std::string& file = "") {
    const std::size_t cut = path.rfind('/');
    const std::string name = cut == std::string::npos ? path : path.substr(cut + 1);
    const auto parent = cut == std::string::npos ? ContextTreeBuilder::kRoot : handles_.at(path.substr(0, cut));
    RegionId region;
    for (std::size_t i = 0; i < defs_.regions.size(); ++i) {
      if (defs_.regions[i].name == name) region = RegionId(i);
    }
    if (!region.valid()) {
      Region fresh;
      fresh.name = name;
      fresh.file = file;
      fresh.file_id = defs_.regions.size();
      defs_.regions.push_back(fresh);
      region = RegionId(defs_.regions.size() - 1);
    }
    handles_[path] = builder_.add(parent, region, builder_.size());
    paths_.push_back(path);
  }

  template <class T>
  void values(MetricId metric, const std::string& path, std::vector<T> row) {
    std::vector<std::byte> bytes(row.size() * sizeof(T));
    std::memcpy(bytes.data(), row.data(), bytes.size());
    pending_.emplace_back(metric, path, std::move(bytes));
  }

  ProfilePtr build() {
    std::vector<ContextId> numbers;
    defs_.contexts = std::move(builder_).build(&numbers);
    for (auto& [metric, path, bytes] : pending_) {
      source_->rows[{metric.value, numbers[handles_.at(path)].value}] = std::move(bytes);
    }
    auto out = std::make_shared<Profile>();
    out->definitions = std::make_shared<Definitions>(std::move(defs_));
    out->values = source_;
    out->name = "test";
    out->work = make_work();
    return out;
  }

  Definitions& defs() { return defs_; }
  MemorySource& source() { return *source_; }

 private:
  Definitions defs_;
  ContextTreeBuilder builder_;
  std::map<std::string, ContextTreeBuilder::Handle> handles_;
  std::vector<std::string> paths_;
  std::vector<std::tuple<MetricId, std::string, std::vector<std::byte>>> pending_;
  std::shared_ptr<MemorySource> source_ = std::make_shared<MemorySource>();
};

}  // namespace fathom::test
