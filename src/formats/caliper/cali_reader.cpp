#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
#include "formats/caliper/records.hpp"
#include "io/line_cursor.hpp"

namespace fathom::caliper {

namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};
constexpr std::uint64_t kNameAttribute = 8;
constexpr std::uint64_t kTypeAttribute = 9;
constexpr std::uint64_t kPropertyAttribute = 10;
constexpr std::uint32_t kNoAttribute = 0xFFFFFFFF;

struct Node {
  std::uint64_t attribute = kNone;
  std::uint64_t parent = kNone;
  std::string_view data;
  std::uint32_t defines = kNoAttribute;  // the attribute that this node is
};

Type type_of(std::string_view name) {
  if (name == "int" || name == "uint") return Type::integer;
  if (name == "double") return Type::real;
  return name == "string" ? Type::text : Type::other;
}

class Reader {
 public:
  Reader(const Blob& blob, const Work& work) : work_(work), lines_(blob), records_(std::make_shared<Records>()) {
    records_->blob = blob;
    begin_stream();
  }

  Result<std::shared_ptr<const Records>> run() {
    bool any = false;
    while (const auto line = lines_.next()) {
      if (trim(*line).empty()) continue;
      if (!line->starts_with("__rec=")) {
        FATHOM_CHECK(refuse("a line does not begin with '__rec='"));
        continue;
      }
      any = true;
      FATHOM_CHECK(record(*line));
      if (records_->entries.size() > reserved_) {
        FATHOM_TRY(auto more, work_->budget.reserve(kStep * sizeof(Entry), "the records of a Caliper file"));
        memory_.push_back(std::move(more));
        reserved_ += kStep;
      }
    }
    if (!any) return Error("has no record '__rec=': it is no Caliper stream", records_->blob.place());
    if (unknown_ > 0) {
      FATHOM_CHECK(work_->diagnostics.add("caliper.reference", Severity::warning, records_->blob.place(),
                                          "a node or attribute is named that is not there; ignored", unknown_));
    }
    return std::shared_ptr<const Records>(std::move(records_));
  }

 private:
  Result<void> refuse(std::string what) {
    return work_->diagnostics.warn("caliper.line", lines_.place(), what + "; left out");
  }

  // Every stream knows the types and what attributes are made of.
  void begin_stream() {
    nodes_.clear();
    constexpr std::string_view kTypes[] = {"usr", "int", "uint", "string", "addr", "double", "bool", "type"};
    for (std::uint64_t i = 0; i < std::size(kTypes); ++i) nodes_[i] = {kTypeAttribute, kNone, kTypes[i]};
    nodes_[kNameAttribute] = {kNameAttribute, 3, "cali.attribute.name"};
    nodes_[kTypeAttribute] = {kNameAttribute, 7, "cali.attribute.type"};
    nodes_[kPropertyAttribute] = {kNameAttribute, 1, "cali.attribute.prop"};
    nodes_[11] = {kTypeAttribute, kNone, "ptr"};
  }

  // One value of a field: up to '=', ',' or the end; backslashes escape.
  std::string_view value(std::string_view line, std::size_t& at) {
    const std::size_t begin = at;
    bool escaped = false;
    while (at < line.size() && line[at] != '=' && line[at] != ',') {
      if (line[at] == '\\') {
        escaped = true;
        ++at;
      }
      ++at;
    }
    at = std::min(at, line.size());
    const std::string_view raw = line.substr(begin, at - begin);
    if (!escaped) return raw;
    std::string out;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] == '\\' && i + 1 < raw.size()) {
        ++i;
        out.push_back(raw[i] == 'n' ? '\n' : raw[i]);
      } else {
        out.push_back(raw[i]);
      }
    }
    return records_->texts.emplace_back(std::move(out));
  }

  Result<void> record(std::string_view line) {
    std::string_view kind;
    refs_.clear();
    attributes_.clear();
    data_.clear();
    std::uint64_t id = kNone;
    std::uint64_t parent = kNone;
    for (std::size_t at = 0; at < line.size();) {
      const std::string_view key = value(line, at);
      while (at < line.size() && line[at] == '=') {
        ++at;
        const std::string_view one = value(line, at);
        if (key == "__rec") {
          kind = one;
        } else if (key == "data") {
          data_.push_back(one);
        } else {
          const auto number = parse_integer<std::uint64_t>(one);
          if (!number) continue;
          if (key == "id") id = *number;
          if (key == "parent") parent = *number;
          if (key == "ref") refs_.push_back(*number);
          if (key == "attr") attributes_.push_back(*number);
        }
      }
      if (at < line.size() && line[at] == ',') ++at;
    }
    if (kind == "node") return node(id, parent);
    if (kind == "ctx" || kind == "globals") return snapshot(kind == "globals");
    return refuse(fmt::format("a record of the unknown kind '{}'", kind));
  }

  Result<void> node(std::uint64_t id, std::uint64_t parent) {
    if (id == kNone || attributes_.size() != 1) return refuse("a node without an id or attribute");
    Node made{attributes_[0], parent, data_.empty() ? std::string_view() : data_[0]};
    if (const auto found = nodes_.find(id); found != nodes_.end()) {
      const Node& known = found->second;
      if (known.attribute == made.attribute && known.parent == made.parent && known.data == made.data) return {};
      // Numbers begin anew: another stream was appended. Nothing of it names a node before it is defined there.
      known_paths_.clear();
    }
    if (made.attribute == kNameAttribute) made.defines = define(made);
    nodes_[id] = made;
    return {};
  }

  // The ancestors of the node that defines it say what an attribute is.
  std::uint32_t define(const Node& node) {
    Attribute made;
    made.name = std::string(node.data);
    bool typed = false;
    bool has_properties = false;
    std::uint64_t at = node.parent;
    for (std::size_t steps = 0; at != kNone && steps < kDeepest; ++steps) {
      const auto found = nodes_.find(at);
      if (found == nodes_.end()) break;
      const Node& above = found->second;
      if (above.attribute == kTypeAttribute && !typed) {
        made.type = type_of(above.data);
        typed = true;
      } else if (above.attribute == kPropertyAttribute && !has_properties) {
        made.properties = parse_integer<std::uint64_t>(above.data).value_or(0);
        has_properties = true;
      } else if (const auto meta = nodes_.find(above.attribute); meta != nodes_.end()) {
        if (meta->second.data == "attribute.unit" && made.unit.empty()) made.unit = std::string(above.data);
        if (meta->second.data == "attribute.alias" && made.alias.empty()) made.alias = std::string(above.data);
      }
      at = above.parent;
    }
    auto& list = records_->attributes;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].name == made.name && list[i].type == made.type && list[i].properties == made.properties) {
        return static_cast<std::uint32_t>(i);
      }
    }
    list.push_back(std::move(made));
    return static_cast<std::uint32_t>(list.size() - 1);
  }

  [[nodiscard]] std::uint32_t attribute(std::uint64_t id) const {
    const auto found = nodes_.find(id);
    return found == nodes_.end() ? kNoAttribute : found->second.defines;
  }

  Result<void> snapshot(bool globals) {
    path_.clear();
    for (const std::uint64_t ref : refs_) {
      // Records name the same nodes again and again.
      if (const auto known = known_paths_.find(ref); known != known_paths_.end()) {
        path_.insert(path_.end(), known->second.begin(), known->second.end());
        continue;
      }
      const std::size_t begin = path_.size();
      std::uint64_t at = ref;
      for (std::size_t steps = 0; at != kNone && steps < kDeepest; ++steps) {
        const auto found = nodes_.find(at);
        if (found == nodes_.end()) {
          ++unknown_;
          break;
        }
        if (const std::uint32_t attribute = this->attribute(found->second.attribute); attribute != kNoAttribute) {
          path_.push_back({attribute, found->second.data});
        }
        at = found->second.parent;
      }
      std::reverse(path_.begin() + static_cast<std::ptrdiff_t>(begin), path_.end());
      if (known_entries_ < kStep * 16) {
        known_entries_ += path_.size() - begin;
        known_paths_.emplace(ref, std::vector<Entry>(path_.begin() + static_cast<std::ptrdiff_t>(begin), path_.end()));
      }
    }
    for (std::size_t i = 0; i < std::min(attributes_.size(), data_.size()); ++i) {
      const std::uint32_t attribute = this->attribute(attributes_[i]);
      if (attribute == kNoAttribute) {
        ++unknown_;
      } else {
        path_.push_back({attribute, data_[i]});
      }
    }
    if (attributes_.size() != data_.size()) FATHOM_CHECK(refuse("a record has other numbers of attributes and values"));
    if (globals) {
      for (const Entry& entry : path_) {
        records_->globals.emplace_back(records_->attributes[entry.attribute].name, std::string(entry.value));
      }
      return {};
    }
    records_->entries.insert(records_->entries.end(), path_.begin(), path_.end());
    records_->record_end.push_back(records_->entries.size());
    records_->line.push_back(lines_.number());
    return {};
  }

  static constexpr std::size_t kDeepest = 10000;  // nodes on a path: a cycle is none
  static constexpr std::size_t kStep = 1 << 16;

  Work work_;
  LineCursor lines_;
  std::shared_ptr<Records> records_;
  std::unordered_map<std::uint64_t, Node> nodes_;
  std::unordered_map<std::uint64_t, std::vector<Entry>> known_paths_;
  std::size_t known_entries_ = 0;
  std::vector<std::uint64_t> refs_, attributes_;
  std::vector<std::string_view> data_;
  std::vector<Entry> path_;
  std::size_t reserved_ = 0;
  std::vector<Budget::Reservation> memory_;
  std::uint64_t unknown_ = 0;
};

}  // namespace

Result<std::shared_ptr<const Records>> read_cali(const Blob& blob, const Work& work) {
  return Reader(blob, work).run();
}

}  // namespace fathom::caliper
