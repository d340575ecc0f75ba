#include "formats/cube/cube_dataset.hpp"

#include <fmt/format.h>

#include <unordered_set>

#include "base/parallel.hpp"
#include "formats/cube/cube_dump.hpp"
#include "formats/cube/rewrite.hpp"
#include "formats/cube/to_profile.hpp"
#include "profile/compute.hpp"

namespace fathom::cube {

namespace {

// The longest that a location was busy: the largest inclusive time of the roots.
Result<std::optional<double>> wallclock(const Profile& profile) {
  const Definitions& defs = profile.defs();
  const MetricId time = defs.find_metric("time");
  if (!time.valid() || !why_unavailable(profile, time).empty()) return std::optional<double>();
  const Selection roots{{Flavour::Kind::inclusive, {}}, defs.contexts.roots(), all_locations(defs), false};
  FATHOM_TRY(const Cells cells, compute(profile, time, roots));
  std::optional<double> longest;
  for (std::size_t i = 0; i < cells.columns(); ++i) {
    double sum = 0;
    for (std::size_t row = 0; row < cells.rows(); ++row) sum += cells.scalar(row, i);
    longest = std::max(longest.value_or(sum), sum);
  }
  return longest;
}

}  // namespace

Result<std::vector<InfoEntry>> CubeDataset::describe(bool count) {
  const Anchor& anchor = file_->anchor();
  std::vector<InfoEntry> out;
  out.push_back({"metrics", std::uint64_t{anchor.metrics.size()}});
  out.push_back({"contexts", std::uint64_t{anchor.cnodes.size()}});
  out.push_back({"regions", std::uint64_t{anchor.regions.size()}});
  out.push_back({"locations", std::uint64_t{anchor.location_count}});
  std::unordered_set<std::uint32_t> nodes;
  std::uint64_t processes = 0;
  for (const AnchorSystemNode& node : anchor.system) {
    if (node.kind != AnchorSystemNode::Kind::group) continue;
    ++processes;
    if (anchor.system[node.parent].kind == AnchorSystemNode::Kind::tree_node) nodes.insert(node.parent);
  }
  out.push_back({"processes", processes});
  out.push_back({"nodes", std::uint64_t{nodes.size()}});
  if (count) {
    FATHOM_TRY(const ProfilePtr level, profile());
    FATHOM_TRY(const std::optional<double> seconds, wallclock(*level));
    if (seconds) out.push_back({"wallclock", *seconds});
  }
  out.push_back({"topologies", std::uint64_t{anchor.topologies.size()}});
  std::vector<std::string> attributes;
  for (const auto& [key, value] : anchor.attributes) attributes.push_back(key + "=" + value);
  out.push_back({"attributes", std::move(attributes)});
  std::vector<std::string> members;
  for (const TarMember& member : file_->members()) members.push_back(member.name);
  out.push_back({"members", std::move(members)});
  return out;
}

Result<std::shared_ptr<const Profile>> CubeDataset::profile() {
  if (!profile_) {
    FATHOM_TRY(profile_, to_profile(file_));
  }
  return profile_;
}

Result<void> CubeDataset::dump(const DumpOptions& options, const TextSink& sink) {
  return dump_cube(*file_, options, sink);
}

// The anchor was validated when it was opened; here every metric's index and every row.
Result<void> CubeDataset::check() {
  const Anchor& anchor = file_->anchor();
  Diagnostics& diagnostics = work()->diagnostics;
  const Place anchor_place = Place::in(fmt::format("{}({})", file_->name(), kAnchorName));
  std::unordered_set<std::string_view> names;
  for (const AnchorMetric& metric : anchor.metrics) {
    if (metric.uniq_name.empty() || !names.insert(metric.uniq_name).second) {
      FATHOM_CHECK(diagnostics.warn("cube.metric_name", anchor_place,
                                    fmt::format("metric {}: its unique name '{}' is {}", metric.id, metric.uniq_name,
                                                metric.uniq_name.empty() ? "empty" : "not unique")));
    }
  }
  for (std::size_t m = 0; m < anchor.metrics.size(); ++m) {
    const AnchorMetric& metric = anchor.metrics[m];
    if (metric.derived()) continue;
    if (!file_->type(m)) {
      FATHOM_CHECK(
          diagnostics.warn("cube.dtype", anchor_place,
                           fmt::format("metric '{}': data type '{}' is not known", metric.uniq_name, metric.dtype)));
      continue;
    }
    if ((file_->index_member(m) == nullptr) != (file_->data_member(m) == nullptr)) {
      FATHOM_CHECK(diagnostics.warn(
          "cube.member_missing", anchor_place,
          fmt::format("metric '{}' has only one of its two members and so no values", metric.uniq_name)));
      continue;
    }
    const auto note = [&](const Error& error) {
      return diagnostics.lost("cube.metric_unusable", error.place(),
                              fmt::format("metric '{}': {}", metric.uniq_name, error.what()));
    };
    auto values = file_->values(m);
    if (!values) {
      FATHOM_CHECK(note(values.error()));
      continue;
    }
    const MetricData& data = (*values)->data;
    if (!data.compressed()) continue;  // its bytes are all accounted for
    const auto try_rows = [&](std::size_t begin, std::size_t end) -> Result<void> {
      std::vector<std::byte> scratch;
      for (std::size_t row = begin; row < end; ++row) {
        if (auto at = data.row(row, scratch); !at) FATHOM_CHECK(note(at.error()));
      }
      return {};
    };
    FATHOM_CHECK(parallel_blocks(data.row_count(), 64, try_rows));
  }
  return {};
}

Result<bool> CubeDataset::rewrite(const std::filesystem::path& target, const WriteOptions& options) {
  FATHOM_TRY(const CubeWriteOptions chosen, parse_options(options));
  FATHOM_CHECK(rewrite_cube(*file_, target, chosen));
  return true;
}

}  // namespace fathom::cube
