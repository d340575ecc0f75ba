#include <fmt/format.h>

#include <algorithm>
#include <map>
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

// Decimal digits and nothing else.
bool number_of(std::string_view text, std::uint64_t& value) {
  constexpr std::size_t kAlwaysFit = 19;
  if (text.empty() || text.size() > kAlwaysFit) return false;
  value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return true;
}

Type type_of(std::string_view name) {
  if (name == "int" || name == "uint") return Type::integer;
  if (name == "double") return Type::real;
  return name == "string" ? Type::text : Type::other;
}

class Reader {
 public:
  Reader(const Blob& blob, const Work& work) : work_(work), lines_(blob), writer_(blob, work), records_(writer_.made) {
    begin();
  }

  Result<std::shared_ptr<const Records>> run() {
    bool any = false;
    while (const auto line = lines_.next()) {
      if (!line->starts_with("__rec=")) {
        if (trim(*line).empty()) continue;
        FATHOM_CHECK(refuse("a line does not begin with '__rec='"));
        continue;
      }
      any = true;
      FATHOM_CHECK(record(*line));
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
  void begin() {
    constexpr std::string_view kTypes[] = {"usr", "int", "uint", "string", "addr", "double", "bool", "type"};
    for (std::uint64_t i = 0; i < std::size(kTypes); ++i) nodes_.put(i, {kTypeAttribute, kNone, kTypes[i]});
    nodes_.put(kNameAttribute, {kNameAttribute, 3, "cali.attribute.name"});
    nodes_.put(kTypeAttribute, {kNameAttribute, 7, "cali.attribute.type"});
    nodes_.put(kPropertyAttribute, {kNameAttribute, 1, "cali.attribute.prop"});
    nodes_.put(11, {kTypeAttribute, kNone, "ptr"});
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
    bool sound = true;
    for (std::size_t at = 0; at < line.size();) {
      const std::string_view key = value(line, at);
      while (at < line.size() && line[at] == '=') {
        ++at;
        const std::string_view one = value(line, at);
        std::uint64_t number = 0;
        if (key == "data") {
          data_.push_back(one);
        } else if (key == "ref") {
          sound = number_of(one, number) && sound;
          refs_.push_back(number);
        } else if (key == "attr") {
          sound = number_of(one, number) && sound;
          attributes_.push_back(number);
        } else if (key == "__rec") {
          kind = one;
        } else if (key == "id") {
          sound = number_of(one, id) && sound;
        } else if (key == "parent") {
          sound = number_of(one, parent) && sound;
        }
      }
      if (at < line.size() && line[at] == ',') ++at;
    }
    if (!sound) return refuse("a record has something else where the number of a node is expected");
    if (kind == "node") return node(id, parent);
    if (kind == "ctx" || kind == "globals") return snapshot(kind == "globals");
    return refuse(fmt::format("a record of the unknown kind '{}'", kind));
  }

  Result<void> node(std::uint64_t id, std::uint64_t parent) {
    if (id == kNone || attributes_.size() != 1) return refuse("a node without an id or attribute");
    Node made{attributes_[0], parent, data_.empty() ? std::string_view() : data_[0]};
    if (const Node* const known = nodes_.find(id)) {
      const bool same = known->attribute == made.attribute && known->parent == made.parent && known->data == made.data;
      if (same && known->stream == stream_) return {};
      // Numbers begin anew: another stream was appended. Nothing of it names a node before it is defined there, and
      // what was found along the way up from a node does not hold any more.
      if (!same && known->stream == stream_) {
        ++stream_;
        joined_.clear();
      }
    }
    made.stream = stream_;
    if (made.attribute == kNameAttribute) made.defines = define(made);
    nodes_.put(id, made);
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
        if (meta->data == "attribute.unit" && made.unit.empty()) made.unit = std::string(above.data);
        if (meta->data == "attribute.alias" && made.alias.empty()) made.alias = std::string(above.data);
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
    if (refs_.empty()) return std::uint32_t{0};
    path_.clear();
    if (refs_.size() == 1) {
      Node* const node = nodes_.find(refs_[0]);
      if (node == nullptr) {
        ++unknown_;
        return std::uint32_t{0};
      }
      if (node->path == kNoPath || node->path_stream != stream_) {
        walk(refs_[0], path_);
        FATHOM_TRY(node->path, writer_.path(path_));
        node->path_stream = stream_;
      }
      return node->path;
    }
    const auto [known, fresh] = joined_.try_emplace(refs_, 0);
    if (fresh) {
      for (const std::uint64_t ref : refs_) walk(ref, path_);
      FATHOM_TRY(known->second, writer_.path(path_));
    }
    return known->second;
  }

  Result<void> snapshot(bool globals) {
    FATHOM_TRY(const std::uint32_t path, path_of_record());
    const std::size_t begin = records_->entries.size();
    for (std::size_t i = 0; i < std::min(attributes_.size(), data_.size()); ++i) {
      const std::uint32_t attribute = this->attribute(attributes_[i]);
      if (attribute == kNoAttribute) {
        ++unknown_;
      } else {
        records_->entries.push_back({attribute, data_[i]});
      }
    }
    if (attributes_.size() != data_.size()) FATHOM_CHECK(refuse("a record has other numbers of attributes and values"));
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

  Work work_;
  LineCursor lines_;
  RecordWriter writer_;
  std::shared_ptr<Records> records_;
  Nodes nodes_;
  std::uint32_t stream_ = 0;
  std::map<std::vector<std::uint64_t>, std::uint32_t> joined_;  // paths of several nodes
  std::vector<std::uint64_t> refs_, attributes_;
  std::vector<std::string_view> data_;
  std::vector<Entry> path_;
  std::uint64_t unknown_ = 0;
};

}  // namespace

Result<std::shared_ptr<const Records>> read_cali(const Blob& blob, const Work& work) {
  return Reader(blob, work).run();
}

}  // namespace fathom::caliper
