#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <unordered_map>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "formats/caliper/raw_record.hpp"
#include "formats/caliper/records.hpp"
#include "io/line_cursor.hpp"

namespace fathom::caliper {

namespace {

constexpr std::uint64_t kNone = RawRecord::kNone;
constexpr std::uint64_t kNameAttribute = 8;
constexpr std::uint64_t kTypeAttribute = 9;
constexpr std::uint64_t kPropertyAttribute = 10;
constexpr std::uint32_t kNoAttribute = 0xFFFFFFFF;
constexpr std::uint32_t kNoPath = 0xFFFFFFFF;

struct Node {
  std::uint64_t attribute = kNone;
  std::uint64_t parent = kNone;
  std::string_view data;
  std::uint32_t defines = kNoAttribute;  // the attribute that this node is
  std::uint32_t stream = 0;              // in which it was defined last
  std::uint32_t path = kNoPath;          // from the root to it, once a record names it
  std::uint32_t path_stream = 0;         // for which that holds
};

// Nodes by their number: small ones as a rule, anything in bad files.
class Nodes {
 public:
  Node* find(std::uint64_t id) {
    if (id < dense_.size()) return dense_[id].attribute == kNone ? nullptr : &dense_[id];
    const auto found = others_.find(id);
    return found == others_.end() ? nullptr : &found->second;
  }
  void put(std::uint64_t id, const Node& node) {
    if (id >= dense_.size() && id < 4 * count_ + 4096 && !others_.contains(id)) {
      dense_.resize(std::max<std::size_t>(id + 1, 2 * dense_.size()));
      for (auto it = others_.begin(); it != others_.end();) {
        if (it->first >= dense_.size()) {
          ++it;
          continue;
        }
        dense_[it->first] = it->second;
        it = others_.erase(it);
      }
    }
    ++count_;
    (id < dense_.size() ? dense_[id] : others_[id]) = node;
  }

 private:
  std::vector<Node> dense_;
  std::unordered_map<std::uint64_t, Node> others_;
  std::size_t count_ = 0;
};

Type type_of(std::string_view name) {
  if (name == "int" || name == "uint") return Type::integer;
  if (name == "double") return Type::real;
  return name == "string" ? Type::text : Type::other;
}

// Version 2.4 made seconds the unit of durations ("1.5.dev", "2.3.0-dev" are older).
bool is_before_seconds(std::string_view version) {
  const std::size_t dot = version.find('.');
  const auto major = parse_integer<int>(version.substr(0, dot));
  if (!major || dot == std::string_view::npos) return false;
  const std::string_view rest = version.substr(dot + 1);
  const auto minor = parse_integer<int>(rest.substr(0, rest.find_first_not_of("0123456789")));
  return *major < 2 || (*major == 2 && minor && *minor < 4);
}

// Timers that count microseconds count whole ones; only means have fractions. Seconds could be chosen from 2.2 on.
bool durations_are_whole(const Records& records) {
  std::vector<bool> counted;
  for (const Attribute& attribute : records.attributes) {
    counted.push_back(attribute.name.find("duration") != std::string::npos && !attribute.name.starts_with("avg#"));
  }
  return std::all_of(records.entries.begin(), records.entries.end(), [&](const Entry& entry) {
    if (!counted[entry.attribute]) return true;
    const double value = parse_double(entry.value).value_or(0);
    return value == std::floor(value);
  });
}

class Reader {
 public:
  Reader(const Blob& blob, const Work& work) : work_(work), lines_(blob), writer_(blob, work), records_(writer_.made) {
    begin();
  }

  Result<std::shared_ptr<const Records>> run() {
    // Lines are taken apart many at once and used in order.
    constexpr std::size_t kBlock = 256;
    std::vector<RawRecord> raw(thread_count() == 1 ? kBlock : 64 * kBlock);
    bool any = false;
    for (bool more = true; more;) {
      std::size_t count = 0;
      while (count < raw.size()) {
        const auto line = lines_.next();
        more = line.has_value();
        if (!more) break;
        raw[count].line = *line;
        raw[count++].number = lines_.number();
      }
      FATHOM_CHECK(parallel_blocks(count, kBlock, [&](std::size_t begin, std::size_t end) -> Result<void> {
        for (std::size_t i = begin; i < end; ++i) raw[i].read(nullptr);
        return {};
      }));
      for (RawRecord& one : std::span(raw).first(count)) {
        at_ = &one;
        if (!one.line.starts_with("__rec=")) {
          if (trim(one.line).empty()) continue;
          FATHOM_CHECK(refuse("a line does not begin with '__rec='"));
          continue;
        }
        any = true;
        if (one.escaped) one.read(&records_->texts);
        FATHOM_CHECK(record());
      }
    }
    if (!any) return Error("has no record '__rec=': it is no Caliper stream", records_->blob.place());
    if (unknown_ > 0) {
      FATHOM_CHECK(work_->diagnostics.add("caliper.reference", Severity::warning, records_->blob.place(),
                                          "a node or attribute is named that is not there; ignored", unknown_));
    }
    records_->old_times = old_ && durations_are_whole(*records_);
    return std::shared_ptr<const Records>(std::move(records_));
  }

 private:
  Result<void> refuse(std::string what) {
    return work_->diagnostics.warn("caliper.line", Place::at_line(records_->blob.name(), at_->number),
                                   what + "; left out");
  }

  // Every stream knows the types and what attributes are made of.
  void begin() {
    constexpr std::string_view kTypes[] = {"usr", "int", "uint", "string", "addr", "double", "bool", "type"};
    for (std::uint64_t i = 0; i < std::size(kTypes); ++i) nodes_.put(i, {kTypeAttribute, kNone, kTypes[i]});
    nodes_.put(kNameAttribute, {kNameAttribute, 3, "cali.attribute.name"});
    nodes_.put(kTypeAttribute, {kNameAttribute, 7, "cali.attribute.type"});
    nodes_.put(kPropertyAttribute, {kNameAttribute, 1, "cali.attribute.prop"});
    nodes_.put(11, {kTypeAttribute, kNone, "ptr"});
  }

  Result<void> record() {
    if (!at_->sound) return refuse("a record has something else where the number of a node is expected");
    if (at_->kind == "node") return node(at_->id, at_->parent);
    if (at_->kind == "ctx" || at_->kind == "globals") return snapshot(at_->kind == "globals");
    return refuse(fmt::format("a record of the unknown kind '{}'", at_->kind));
  }

  Result<void> node(std::uint64_t id, std::uint64_t parent) {
    if (id == kNone || at_->attributes.size() != 1) return refuse("a node without an id or attribute");
    Node made{at_->attributes[0], parent, at_->data.empty() ? std::string_view() : at_->data[0]};
    if (const Node* const known = nodes_.find(id)) {
      const bool same = known->attribute == made.attribute && known->parent == made.parent && known->data == made.data;
      if (same && known->stream == stream_) return {};
      // Numbers begin anew: another stream was appended. Nothing of it names a node before it is defined there, and
      // what was found along the way up from a node does not hold any more.
      if (!same && known->stream == stream_) {
        ++stream_;
        joined_.clear();
        waiting_.clear();
      }
    }
    made.stream = stream_;
    if (made.attribute == kNameAttribute) made.defines = define(made);
    if (made.data == kVersion) version_ = id;
    if (made.attribute == version_) old_ = old_ || is_before_seconds(made.data);
    nodes_.put(id, made);
    for (auto& [meta, attribute, value] : waiting_) {
      if (meta == id) describe(records_->attributes[attribute], made.data, value);
    }
    return {};
  }

  static void describe(Attribute& attribute, std::string_view key, std::string_view value) {
    if ((key == "attribute.unit" || key == "time.unit") && attribute.unit.empty()) attribute.unit = std::string(value);
    if (key == "attribute.alias" && attribute.alias.empty()) attribute.alias = std::string(value);
  }

  // The ancestors of the node that defines it say what an attribute is.
  std::uint32_t define(const Node& node) {
    Attribute made;
    made.name = std::string(node.data);
    bool typed = false;
    bool has_properties = false;
    std::vector<Waiting> unknown;
    std::uint64_t at = node.parent;
    for (std::size_t steps = 0; at != kNone && steps < kDeepest; ++steps) {
      const Node* const found = nodes_.find(at);
      if (found == nullptr) break;
      const Node& above = *found;
      if (above.attribute == kTypeAttribute && !typed) {
        made.type = type_of(above.data);
        typed = true;
      } else if (above.attribute == kPropertyAttribute && !has_properties) {
        made.properties = parse_integer<std::uint64_t>(above.data).value_or(0);
        has_properties = true;
      } else if (const Node* const meta = nodes_.find(above.attribute)) {
        describe(made, meta->data, above.data);
      } else if (unknown.size() < kMostWaiting) {
        unknown.push_back({above.attribute, 0, above.data});
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
    const auto number = static_cast<std::uint32_t>(list.size() - 1);
    for (const Waiting& one : unknown) {
      if (waiting_.size() < kMostWaiting) waiting_.push_back({one.meta, number, one.value});
    }
    return number;
  }

  [[nodiscard]] std::uint32_t attribute(std::uint64_t id) {
    const Node* const found = nodes_.find(id);
    return found == nullptr ? kNoAttribute : found->defines;
  }

  // What stands on the way from a node to the root, root first.
  void walk(std::uint64_t ref, std::vector<Entry>& path) {
    const std::size_t begin = path.size();
    std::uint64_t at = ref;
    for (std::size_t steps = 0; at != kNone; ++steps) {
      const Node* const found = nodes_.find(at);
      if (found == nullptr || steps == kDeepest) {
        ++unknown_;
        break;
      }
      if (const std::uint32_t attribute = this->attribute(found->attribute); attribute != kNoAttribute) {
        path.push_back({attribute, found->data});
      }
      at = found->parent;
    }
    std::reverse(path.begin() + static_cast<std::ptrdiff_t>(begin), path.end());
  }

  Result<std::uint32_t> path_of_record() {
    if (at_->refs.empty()) return std::uint32_t{0};
    path_.clear();
    if (at_->refs.size() == 1) {
      Node* const node = nodes_.find(at_->refs[0]);
      if (node == nullptr) {
        ++unknown_;
        return std::uint32_t{0};
      }
      if (node->path == kNoPath || node->path_stream != stream_) {
        walk(at_->refs[0], path_);
        FATHOM_TRY(node->path, writer_.path(path_));
        node->path_stream = stream_;
      }
      return node->path;
    }
    const auto [known, fresh] = joined_.try_emplace(at_->refs, 0);
    if (fresh) {
      for (const std::uint64_t ref : at_->refs) walk(ref, path_);
      FATHOM_TRY(known->second, writer_.path(path_));
    }
    return known->second;
  }

  Result<void> snapshot(bool globals) {
    FATHOM_TRY(const std::uint32_t path, path_of_record());
    const std::size_t begin = records_->entries.size();
    for (std::size_t i = 0; i < std::min(at_->attributes.size(), at_->data.size()); ++i) {
      const std::uint32_t attribute = this->attribute(at_->attributes[i]);
      if (attribute == kNoAttribute) {
        ++unknown_;
      } else {
        records_->entries.push_back({attribute, at_->data[i]});
      }
    }
    if (at_->attributes.size() != at_->data.size())
      FATHOM_CHECK(refuse("a record has other numbers of attributes and values"));
    if (!globals) return writer_.record(path);
    const auto add = [&](const Entry& entry) {
      records_->globals.emplace_back(records_->attributes[entry.attribute].name, std::string(entry.value));
    };
    for (const Entry& entry : records_->path(path)) add(entry);
    for (std::size_t i = begin; i < records_->entries.size(); ++i) add(records_->entries[i]);
    records_->entries.resize(begin);
    return {};
  }

  static constexpr std::size_t kDeepest = 10000;  // nodes on a path: a cycle is none
  static constexpr std::size_t kMostWaiting = 64;
  static constexpr std::string_view kVersion = "cali.caliper.version";

  // What is said of an attribute by one that is itself defined later, as versions 1.x write it.
  struct Waiting {
    std::uint64_t meta;  // the attribute that says it
    std::uint32_t attribute;
    std::string_view value;
  };

  Work work_;
  LineCursor lines_;
  RecordWriter writer_;
  std::shared_ptr<Records> records_;
  Nodes nodes_;
  std::uint32_t stream_ = 0;
  std::map<std::vector<std::uint64_t>, std::uint32_t> joined_;  // paths of several nodes
  const RawRecord* at_ = nullptr;                               // the line at hand
  std::vector<Entry> path_;
  std::vector<Waiting> waiting_;
  std::uint64_t version_ = kNone;  // the attribute that tells Caliper's own
  bool old_ = false;
  std::uint64_t unknown_ = 0;
};

}  // namespace

Result<std::shared_ptr<const Records>> read_cali(const Blob& blob, const Work& work) {
  return Reader(blob, work).run();
}

}  // namespace fathom::caliper
