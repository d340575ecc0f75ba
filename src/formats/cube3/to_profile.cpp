#include "formats/cube3/to_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <unordered_map>

#include "base/text.hpp"

namespace fathom::cube3 {

namespace {

using Kind = FileSystemNode::Kind;

Error duplicate(const Cube3File& file, std::string_view what, std::uint64_t id) {
  return Error(fmt::format("two {} have the id {}", what, id), Place::in(file.document.name()));
}

Result<std::vector<Metric>> map_metrics(const Cube3File& file) {
  std::vector<Metric> out;
  std::unordered_map<std::uint32_t, std::size_t> ids;
  std::map<std::string, std::size_t> names;
  for (const FileMetric& from : file.metrics) {
    if (!ids.emplace(from.id, out.size()).second) return duplicate(file, "metrics", from.id);
    Metric to;
    to.name = from.uniq_name.empty() ? from.disp_name : from.uniq_name;
    // Early files give names for people only.
    if (!names.emplace(to.name, out.size()).second) to.name += fmt::format("#{}", from.id);
    to.display_name = from.disp_name;
    to.unit = from.uom;
    to.description = from.descr;
    to.url = from.url;
    to.file_id = from.id;
    if (from.parent != kNoIndex) to.parent = MetricId(from.parent);
    // VOID counts for the whole subtree.
    to.switched_off =
        equal_ignoring_case(trim(from.val), "VOID") || (to.parent.valid() && out[from.parent].switched_off);
    const std::string_view type = trim(from.dtype);
    const bool integer = equal_ignoring_case(type, "INTEGER") || equal_ignoring_case(type, "INT64");
    to.type = {integer ? ValueKind::i64 : ValueKind::f64, 0};
    to.scopes = {{Scope::exclusive, {}}};
    out.push_back(std::move(to));
  }
  return out;
}

Result<void> map_program(const Cube3File& file, Definitions& defs) {
  defs.regions = file.regions;
  std::unordered_map<std::uint64_t, std::size_t> ids;
  for (std::size_t i = 0; i < defs.regions.size(); ++i) {
    const std::uint64_t id = defs.regions[i].file_id;
    if (!ids.emplace(id, i).second) return duplicate(file, "regions", id);
  }
  ContextTreeBuilder builder;
  std::unordered_map<std::uint32_t, bool> cnodes;
  for (const FileCnode& from : file.cnodes) {
    if (!cnodes.emplace(from.id, true).second) return duplicate(file, "cnodes", from.id);
    const auto region = ids.find(from.callee);
    if (region == ids.end()) {
      return Error(fmt::format("cnode {} calls region {}, which is not there", from.id, from.callee),
                   Place::in(file.document.name()));
    }
    const auto parent = from.parent == kNoIndex ? ContextTreeBuilder::kRoot : from.parent;
    const auto handle = builder.add(parent, RegionId(region->second), from.id, from.line);
    if (!from.mod.empty()) builder.details(handle).file = from.mod;
  }
  defs.contexts = std::move(builder).build();
  return success();
}

Result<void> map_system(const Cube3File& file, SystemTree& tree, const Work& work) {
  std::map<std::pair<Kind, std::uint32_t>, std::size_t> ids;
  std::map<std::uint32_t, std::size_t> threads;  // by Id
  for (std::size_t i = 0; i < file.system.size(); ++i) {
    const FileSystemNode& from = file.system[i];
    if (from.kind == Kind::thread && !threads.emplace(from.id, i).second) return duplicate(file, "threads", from.id);
    ids.emplace(std::pair(from.kind, from.id), i);
    SystemNode to;
    to.kind = from.kind == Kind::thread    ? SystemKind::location
              : from.kind == Kind::process ? SystemKind::group
                                           : SystemKind::node;
    constexpr std::string_view kTypes[] = {"machine", "node", "process", "thread"};
    to.type = kTypes[static_cast<std::size_t>(from.kind)];
    to.rank = parse_integer<std::int64_t>(trim(from.rank));
    to.name = from.name;
    if (to.name.empty() && to.kind != SystemKind::node) {
      to.name = fmt::format("{} {}", from.kind == Kind::process ? "Process" : "Thread", to.rank.value_or(from.id));
    }
    to.description = from.descr;
    to.file_id = from.id;
    if (from.parent != kNoIndex) to.parent = SystemNodeId(from.parent);
    tree.add(std::move(to));
  }
  for (const auto& [id, node] : threads) {
    tree.nodes[node].location = LocationId(tree.locations.size());
    tree.locations.emplace_back(node);
  }
  for (const FileTopology& from : file.topologies) {
    Topology to;
    to.name = from.name;
    for (const auto& d : from.dimensions) to.dimensions.push_back({d.name, d.size, d.periodic});
    for (const auto& c : from.coordinates) {
      const auto node = ids.find({c.kind, c.id});
      if (node == ids.end()) {
        FATHOM_CHECK(work->diagnostics.lost(
            "cube3.coordinate", Place::in(file.document.name()),
            fmt::format("a coordinate of a topology is that of number {}, which is not there; left out", c.id)));
        continue;
      }
      Topology::Coordinate at{SystemNodeId(node->second), {}};
      for (const std::string_view word : split(c.at, ' ')) {
        if (const auto number = parse_integer<std::uint64_t>(trim(word))) at.at.push_back(*number);
      }
      to.coordinates.push_back(std::move(at));
    }
    tree.topologies.push_back(std::move(to));
  }
  return success();
}

std::int64_t whole(double real) {
  constexpr double kEnd = 0x1p63;
  if (std::isnan(real)) return 0;
  if (real >= kEnd) return std::numeric_limits<std::int64_t>::max();
  return real < -kEnd ? std::numeric_limits<std::int64_t>::min() : static_cast<std::int64_t>(real);
}

class Values : public ValueSource {
 public:
  struct Row {
    std::uint32_t metric = 0;
    std::uint32_t context = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  Values(std::shared_ptr<const Cube3File> file, std::vector<Row> rows, std::vector<bool> integer, std::size_t locations,
         Work work)
      : file_(std::move(file)),
        rows_(std::move(rows)),
        integer_(std::move(integer)),
        locations_(locations),
        told_(rows_.size()),
        work_(std::move(work)) {}

  [[nodiscard]] Axis cheap_axis() const override { return Axis::context; }
  // Rows stand sorted by metric.
  [[nodiscard]] bool reads_well_by(Axis axis) const override { return axis != Axis::location; }

  Result<void> scan(const Box& box, const RunVisitor& visit) const override {
    std::vector<std::byte> packed(locations_ * sizeof(double));
    for (const StoredMetric& stored : box.metrics) {
      const auto key = [](const Row& row) { return std::pair(row.metric, row.context); };
      auto row = std::lower_bound(rows_.begin(), rows_.end(), std::pair(stored.metric.value, box.contexts.begin),
                                  [&](const Row& a, const auto& b) { return key(a) < b; });
      for (; row != rows_.end() && row->metric == stored.metric.value && row->context < box.contexts.end; ++row) {
        // Of two rows for one place the later one counts.
        if (std::next(row) != rows_.end() && key(*std::next(row)) == key(*row)) continue;
        FATHOM_CHECK(parse(*row, packed));
        Run run;
        run.metric = stored;
        run.context = ContextId(row->context);
        run.first = box.locations.begin;
        run.count = box.locations.size();
        run.values = packed.data() + box.locations.begin * sizeof(double);
        FATHOM_CHECK(visit(run));
      }
    }
    return success();
  }

 private:
  // Both types have eight bytes. Missing numbers at the end are zero.
  Result<void> parse(const Row& row, std::vector<std::byte>& packed) const {
    std::fill(packed.begin(), packed.end(), std::byte{0});
    const std::string_view text = file_->document.text().substr(row.begin, row.end - row.begin);
    std::size_t at = 0;
    std::uint64_t cut = 0;
    for (std::size_t column = 0;; ++column) {
      while (at < text.size() && static_cast<unsigned char>(text[at]) <= ' ') ++at;
      if (at >= text.size()) return cut == 0 ? success() : tell_cut(row, cut);
      const Place place = file_->document.place(row.begin + at);
      if (column >= locations_) {
        return work_->diagnostics.warn("cube3.long_row", place,
                                       fmt::format("a row has more values than the {} threads", locations_));
      }
      if (text[at] == '+') ++at;
      const char* begin = text.data() + at;
      const char* end = text.data() + text.size();
      std::byte* target = packed.data() + column * sizeof(double);
      if (integer_[row.metric]) {
        std::int64_t value = 0;
        const auto [stop, status] = std::from_chars(begin, end, value);
        if (status == std::errc{} && (stop == end || static_cast<unsigned char>(*stop) <= ' ')) {
          std::memcpy(target, &value, sizeof(value));
          at = static_cast<std::size_t>(stop - text.data());
          continue;
        }
      }
      double real = 0;
      const auto [stop, status] = std::from_chars(begin, end, real);
      if (status == std::errc::invalid_argument || !(stop == end || static_cast<unsigned char>(*stop) <= ' ')) {
        const std::string_view word = text.substr(at, 20);
        return Error(fmt::format("expected a number, found '{}'", word.substr(0, word.find_first_of(" \n\t<"))), place);
      }
      at = static_cast<std::size_t>(stop - text.data());
      if (integer_[row.metric]) {
        const std::int64_t value = whole(real);
        cut += static_cast<double>(value) != real || status != std::errc{};
        std::memcpy(target, &value, sizeof(value));
      } else {
        std::memcpy(target, &real, sizeof(real));
      }
    }
  }

  // Rows are read as often as they are asked for.
  Result<void> tell_cut(const Row& row, std::uint64_t values) const {
    if (told_[static_cast<std::size_t>(&row - rows_.data())].exchange(true)) return success();
    return work_->diagnostics.add("cube3.integer", Severity::data_loss, file_->document.place(row.begin),
                                  "a value of an integer metric is no whole number of 64 bits; it is cut to one",
                                  values);
  }

  std::shared_ptr<const Cube3File> file_;
  std::vector<Row> rows_;
  std::vector<bool> integer_;
  std::size_t locations_;
  mutable std::vector<std::atomic<bool>> told_;  // by row
  Work work_;
};

}  // namespace

Result<ProfilePtr> to_profile(const std::shared_ptr<const Cube3File>& file, const Work& work) {
  auto defs = std::make_shared<Definitions>();
  FATHOM_TRY(defs->metrics, map_metrics(*file));
  FATHOM_CHECK(map_program(*file, *defs));
  FATHOM_CHECK(map_system(*file, defs->system, work));
  defs->attributes = file->attributes;
  defs->mirrors = file->mirrors;
  std::unordered_map<std::uint32_t, std::uint32_t> metrics;
  for (std::uint32_t i = 0; i < file->metrics.size(); ++i) metrics.emplace(file->metrics[i].id, i);
  std::vector<Values::Row> rows;
  for (const FileRow& from : file->rows) {
    const auto metric = metrics.find(from.metric);
    const ContextId context = defs->contexts.find(from.cnode);
    if (metric == metrics.end() || !context.valid()) {
      FATHOM_CHECK(work->diagnostics.lost(
          "cube3.row", file->document.place(from.begin),
          fmt::format("values of metric {} and cnode {}, which are not both there", from.metric, from.cnode)));
      continue;
    }
    rows.push_back({metric->second, context.value, from.begin, from.end});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Values::Row& a, const Values::Row& b) {
    return std::pair(a.metric, a.context) < std::pair(b.metric, b.context);
  });
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const Values::Row& row = rows[i - 1];
    if (std::pair(row.metric, row.context) != std::pair(rows[i].metric, rows[i].context)) continue;
    FATHOM_CHECK(work->diagnostics.lost("cube3.duplicate_row", file->document.place(row.begin),
                                        "a row of the same metric and call path comes later; that one counts"));
  }
  std::vector<bool> integer;
  for (const Metric& metric : defs->metrics) integer.push_back(metric.type.is_integer());
  auto profile = std::make_shared<Profile>();
  profile->values =
      std::make_shared<Values>(file, std::move(rows), std::move(integer), defs->system.location_count(), work);
  profile->definitions = std::move(defs);
  profile->name = file->document.name();
  profile->work = work;
  return ProfilePtr(std::move(profile));
}

}  // namespace fathom::cube3
