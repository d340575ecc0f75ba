#include "formats/pprof/pprof_writer.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <unordered_map>

#include "base/text.hpp"
#include "io/inflate.hpp"
#include "io/output_file.hpp"
#include "io/protobuf.hpp"
#include "profile/export/stack_export.hpp"

namespace fathom::pprof {

namespace {

constexpr int kGzipLevel = 6;

class Writer {
 public:
  Writer(const Profile& profile, const StackExport& values, OutputFile& out)
      : defs_(profile.defs()), values_(values), out_(out) {
    (void)string("");
  }

  Result<void> write() {
    for (const ExportedMetric& metric : values_.metrics()) {
      std::string type;
      protobuf::put_integer(type, 1, string(metric.name));
      protobuf::put_integer(type, 2, string(metric.unit == "occ" || metric.unit.empty() ? "count" : metric.unit));
      field(1, type);
    }
    label_locations();
    FATHOM_CHECK(values_.visit([&](ContextId context, LocationId location, std::span<const std::int64_t> values) {
      sample(context, location, values);
      return Result<void>();
    }));
    for (const auto& [name, id] : mappings_) {
      std::string mapping;
      protobuf::put_integer(mapping, 1, id);
      protobuf::put_integer(mapping, 5, string(name));
      // Everything is known already: no tool has to look for symbols.
      for (std::uint32_t known = 7; known <= 10; ++known) protobuf::put_integer(mapping, known, 1);
      field(3, mapping);
    }
    for (const std::string& text : pending_) field(4, text);
    functions();
    attributes();
    protobuf::put_integer(message_, 14, string(shown_first()));
    out_.write(message_);
    message_.clear();
    for (const std::string* text : strings_) field(6, *text);
    return {};
  }

 private:
  // What a viewer shows unasked.
  [[nodiscard]] std::string_view shown_first() const {
    return values_.metrics().empty() ? std::string_view() : values_.metrics().front().name;
  }

  std::uint64_t string(std::string_view text) {
    const auto [at, fresh] = string_index_.try_emplace(std::string(text), string_index_.size());
    if (fresh) strings_.push_back(&at->first);
    return at->second;
  }

  void field(std::uint32_t number, std::string_view bytes) {
    message_.clear();
    protobuf::put_bytes(message_, number, bytes);
    out_.write(message_);
    message_.clear();
  }

  // Texts, also of numbers: a reader may take a number 0 for no label at all. Devices are numbered like ranks: of
  // locations with equal numbers the later ones are told by their names.
  void label_locations() {
    const SystemTree& system = defs_.system;
    labels_.resize(system.location_count());
    if (system.location_count() < 2) return;
    std::set<std::pair<std::int64_t, std::string>> numbered;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      const LocationId id(i);
      const SystemNodeId group = system.group_of(id);
      const auto add = [&](std::string_view key, const std::string& value) {
        std::string label;
        protobuf::put_integer(label, 1, string(key));
        protobuf::put_integer(label, 2, string(value));
        protobuf::put_bytes(labels_[i], 3, label);
      };
      const SystemNode& node = system.location(id);
      const std::string thread = node.rank ? std::to_string(*node.rank) : node.name;
      const auto rank = group.valid() ? system.nodes[group.index()].rank : std::nullopt;
      if (rank && numbered.emplace(*rank, thread).second) {
        add("rank", std::to_string(*rank));
        add("thread", thread);
      } else {
        if (group.valid()) add("process", system.nodes[group.index()].name);
        add("thread", system.location_label(id));
      }
    }
  }

  void sample(ContextId context, LocationId location, std::span<const std::int64_t> values) {
    stack_of(defs_.contexts, context, frames_);
    ids_.clear();
    for (std::size_t i = 0; i < frames_.size();) {
      // Functions that are inlined into one another share a place in the code.
      std::size_t end = i + 1;
      while (end < frames_.size() && defs_.contexts[frames_[end - 1].function].edge == Edge::inlined_call) ++end;
      protobuf::put_varint(ids_, place(i, end));
      i = end;
    }
    packed_.clear();
    for (const std::int64_t value : values) protobuf::put_varint(packed_, static_cast<std::uint64_t>(value));
    sample_.clear();
    protobuf::put_bytes(sample_, 1, ids_);
    protobuf::put_bytes(sample_, 2, packed_);
    sample_ += labels_[location.index()];
    field(2, sample_);
  }

  // The Location of the frames [begin, end): id of one that is there, or a new one.
  std::uint64_t place(std::size_t begin, std::size_t end) {
    lines_.clear();
    for (std::size_t i = begin; i < end; ++i) {
      std::string line;
      protobuf::put_integer(line, 1, function(frames_[i].function));
      if (frames_[i].line > 0) protobuf::put_integer(line, 2, static_cast<std::uint64_t>(frames_[i].line));
      protobuf::put_bytes(lines_, 4, line);
    }
    const RegionId region = defs_.contexts[frames_[end - 1].function].region;
    const std::uint64_t mapping = mapping_of(region.valid() ? defs_.region(region).module : std::string());
    std::string body;
    protobuf::put_integer(body, 2, mapping);
    body += lines_;
    const auto [at, fresh] = place_index_.try_emplace(std::move(body), place_index_.size() + 1);
    if (fresh) {
      std::string location;
      protobuf::put_integer(location, 1, at->second);
      pending_.push_back(location + at->first);
    }
    return at->second;
  }

  std::uint64_t mapping_of(const std::string& module) {
    return mappings_.try_emplace(module, mappings_.size() + 1).first->second;
  }

  // By region; contexts that were called with parameters have names of their own.
  std::uint64_t function(ContextId context) {
    const RegionId region = defs_.contexts[context].region;
    std::string key = frame_name(defs_, context);
    key.push_back('\0');
    key += region.valid() ? std::to_string(region.value) : "";
    const auto [at, fresh] = function_index_.try_emplace(std::move(key), functions_.size() + 1);
    if (fresh) functions_.push_back(context);
    return at->second;
  }

  void functions() {
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      const RegionId id = defs_.contexts[functions_[i]].region;
      static const Region kNone;
      const Region& region = id.valid() ? defs_.region(id) : kNone;
      const std::string name = frame_name(defs_, functions_[i]);
      std::string function;
      protobuf::put_integer(function, 1, i + 1);
      protobuf::put_integer(function, 2, string(name));
      protobuf::put_integer(function, 3, string(region.mangled_name.empty() ? name : region.mangled_name));
      protobuf::put_integer(function, 4, string(region.file));
      if (region.begin_line > 0) protobuf::put_integer(function, 5, static_cast<std::uint64_t>(region.begin_line));
      field(5, function);
    }
  }

  // What the format has a place for, and the rest as comments.
  void attributes() {
    for (const auto& [key, value] : defs_.attributes) {
      const auto number = parse_integer<std::int64_t>(value);
      const auto integer = [&](std::uint32_t at) {
        protobuf::put_integer(message_, at, static_cast<std::uint64_t>(*number));
      };
      if (key == "time_nanos" && number) {
        integer(9);
      } else if (key == "duration_nanos" && number) {
        integer(10);
      } else if (key == "period" && number) {
        integer(12);
      } else if (key == "doc_url") {
        protobuf::put_integer(message_, 15, string(value));
      } else if (key == "period_type") {
        const std::size_t slash = value.find('/');
        std::string type;
        protobuf::put_integer(type, 1, string(value.substr(0, slash)));
        if (slash != std::string::npos) protobuf::put_integer(type, 2, string(value.substr(slash + 1)));
        protobuf::put_bytes(message_, 11, type);
      } else if (key != "default_sample_type" && key != "drop_frames" && key != "keep_frames") {
        protobuf::put_integer(message_, 13, string(key == "comment" ? value : fmt::format("{}={}", key, value)));
      }
    }
  }

  const Definitions& defs_;
  const StackExport& values_;
  OutputFile& out_;
  std::unordered_map<std::string, std::uint64_t> string_index_;
  std::vector<const std::string*> strings_;
  std::vector<std::string> labels_;   // by location
  std::vector<std::string> pending_;  // locations that are not written yet
  std::unordered_map<std::string, std::uint64_t> place_index_;
  std::map<std::string, std::uint64_t> mappings_;  // by module
  std::unordered_map<std::string, std::uint64_t> function_index_;
  std::vector<ContextId> functions_;
  std::vector<StackFrame> frames_;
  std::string message_, sample_, ids_, packed_, lines_;
};

// What tells functions apart.
std::string function_text(const Definitions& defs, ContextId context) {
  const RegionId region = defs.contexts[context].region;
  std::string out = frame_name(defs, context);
  if (region.valid()) out += '\0' + defs.region(region).file + '\0' + defs.region(region).module;
  return out;
}

}  // namespace

Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options) {
  ExportOptions how{.format = "pprof", .frame = function_text};
  for (const auto& [key, value] : options.options) how.metrics.push_back(value);
  FATHOM_TRY(const auto profile, dataset.profile());
  FATHOM_TRY(const StackExport values, StackExport::plan(*profile, how));
  FATHOM_TRY(OutputFile out, OutputFile::create(target));
  FATHOM_CHECK(Writer(*profile, values, out).write());
  if (!options.compress && target.extension() == ".pb") return out.commit();
  FATHOM_TRY(const Blob plain, out.written());
  FATHOM_TRY(OutputFile packed, OutputFile::create(target));
  packed.write(Bytes(gzip(plain.bytes(), kGzipLevel)));
  return packed.commit();
}

}  // namespace fathom::pprof
