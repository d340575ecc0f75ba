#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <unordered_map>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "formats/caliper/plain_records.hpp"
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
  bool lost = false;                     // it is on a circle or below one: it has no path
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
  // Not less than how many there are.
  [[nodiscard]] std::size_t count() const { return count_; }

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

// Timers that count microseconds count whole ones; only means have fractions. Seconds could be chosen from 2.2 on.
bool durations_are_whole(const Records& records) {
  std::vector<bool> counted;
  for (const Attribute& attribute : records.attributes) {
    counted.push_back(attribute.name.find("duration") != std::string::npos && !attribute.name.starts_with("avg#"));
  }
  Entry::Room room;
  const auto is_whole = [&](const Entry& entry) {
    if (!counted[entry.attribute]) return true;
    const double value = parse_double(entry.text(room)).value_or(0);
    return value == std::floor(value);
  };
  return std::all_of(records.pieces.begin(), records.pieces.end(), [&](const RecordPiece& piece) {
    return std::all_of(piece.entries.begin(), piece.entries.end(), is_whole);
  });
}

class Reader {
 public:
  Reader(const Blob& blob, const Work& work) : work_(work), lines_(blob), writer_(blob, work), records_(writer_.made) {
    begin();
  }

  Result<std::shared_ptr<const Records>> run() {
    // Lines are taken apart many at once and used in order.
    constexpr std::size_t kPieceBytes = 1 << 18;
    const std::size_t at_once = thread_count() == 1 ? 1 : std::size_t{4} * thread_count();
    while (!lines_.at_end()) {
      std::vector<LineCursor> texts;
      while (texts.size() < at_once && !lines_.at_end()) texts.push_back(lines_.cut(kPieceBytes));
      std::vector<PlainPiece> pieces(texts.size());
      FATHOM_CHECK(parallel_for(texts.size(), [&](std::size_t i) -> Result<void> {
        pieces[i].read(std::move(texts[i]));
        return {};
      }));
      for (PlainPiece& piece : pieces) {
        FATHOM_CHECK(take(piece));
        FATHOM_CHECK(writer_.add(std::move(piece.records)));
      }
    }
    if (!any_) return Error("has no record '__rec=': it is no Caliper stream", records_->blob.place());
    if (unknown_ > 0) {
      FATHOM_CHECK(work_->diagnostics.add(
          "caliper.reference", Severity::warning, records_->blob.place(),
          "a node or attribute is named that is not there, or a node that is above itself; ignored", unknown_));
    }
    records_->old_times = old_ && durations_are_whole(*records_);
    return std::shared_ptr<const Records>(std::move(records_));
  }

 private:
  Result<void> refuse(std::string what) {
    return work_->diagnostics.warn("caliper.line", Place::at_line(records_->blob.name(), number_), what + "; left out");
  }

  // Numbers of nodes become paths and attributes; what is kept is written over what was read, which is never less.
  Result<void> take(PlainPiece& piece) {
    std::vector<Record>& all = piece.records.all;
    Entry* to = piece.records.entries.data();
    const Entry* from = to;
    std::size_t kept = 0;
    std::size_t other = 0;
    for (const Record record : all) {
      if (record.path == PlainPiece::kOther) {
        FATHOM_TRY(const auto path, other_line(piece.others[other++]));
        from += record.count;
        if (!path) continue;
        to = std::copy(own_.begin(), own_.end(), to);
        all[kept++] = {*path, static_cast<std::uint32_t>(own_.size())};
        continue;
      }
      any_ = true;
      FATHOM_TRY(const std::uint32_t path, path_of(record.path == PlainPiece::kNoNode ? kNone : record.path));
      Entry* const first = to;
      for (const Entry* const end = from + record.count; from != end; ++from) {
        const std::uint32_t attribute = this->attribute(from->attribute);
        unknown_ += attribute == kNoAttribute ? 1 : 0;
        Entry entry = *from;
        entry.attribute = attribute;
        if (attribute != kNoAttribute) *to++ = entry;
      }
      all[kept++] = {path, static_cast<std::uint32_t>(to - first)};
    }
    piece.records.entries.resize(static_cast<std::size_t>(to - piece.records.entries.data()));
    all.resize(kept);
    lines_.skip(piece.lines);
    return {};
  }

  // The path of a record of values, whose entries are then in own_; nothing when it is anything else.
  Result<std::optional<std::uint32_t>> other_line(const PlainPiece::Other& other) {
    raw_.line = other.line;
    number_ = lines_.number() + other.number;
    if (!raw_.line.starts_with("__rec=")) {
      if (!trim(raw_.line).empty()) FATHOM_CHECK(refuse("a line does not begin with '__rec='"));
      return std::optional<std::uint32_t>();
    }
    any_ = true;
    if (raw_.line.size() > kLongestLine) {
      FATHOM_CHECK(refuse("a line is longer than 4 GiB"));
      return std::optional<std::uint32_t>();
    }
    raw_.read(records_->texts);
    return record();
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

  Result<std::optional<std::uint32_t>> record() {
    const bool values = raw_.kind == "ctx" || raw_.kind == "globals";
    if (raw_.sound && values) return snapshot(raw_.kind == "globals");
    FATHOM_CHECK(!raw_.sound           ? refuse("a record has something else where the number of a node is expected")
                 : raw_.kind == "node" ? node(raw_.id, raw_.parent)
                                       : refuse(fmt::format("a record of the unknown kind '{}'", raw_.kind)));
    return std::optional<std::uint32_t>();
  }

  Result<void> node(std::uint64_t id, std::uint64_t parent) {
    if (id == kNone || raw_.attributes.size() != 1) return refuse("a node without an id or attribute");
    Node made{raw_.attributes[0], parent, raw_.data.empty() ? std::string_view() : raw_.data[0]};
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

  // From the root to a node; kNone has none.
  Result<std::uint32_t> path_of(std::uint64_t id) {
    if (id == kNone) return std::uint32_t{0};
    if (nodes_.find(id) == nullptr) {
      ++unknown_;
      return std::uint32_t{0};
    }
    // Up to a node whose path is known, and down from there.
    way_.clear();
    std::uint32_t path = 0;
    bool lost = false;
    for (std::uint64_t at = id; at != kNone;) {
      Node* const found = nodes_.find(at);
      const bool known = found != nullptr && found->path != kNoPath && found->path_stream == stream_;
      lost = known ? found->lost : found != nullptr && way_.size() == nodes_.count();
      if (known) path = found->path;
      if (known || lost) break;
      if (found == nullptr) {
        ++unknown_;
        break;
      }
      way_.push_back(found);
      at = found->parent;
    }
    if (lost && !way_.empty()) ++unknown_;
    for (auto node = way_.rbegin(); node != way_.rend(); ++node) {
      Node& at = **node;
      const std::uint32_t attribute = lost ? kNoAttribute : this->attribute(at.attribute);
      if (attribute != kNoAttribute) {
        FATHOM_TRY(path, writer_.path(path, {attribute, at.data}));
      }
      at.path = path;
      at.path_stream = stream_;
      at.lost = lost;
    }
    return path;
  }

  Result<std::uint32_t> path_of_record() {
    if (raw_.refs.size() < 2) return path_of(raw_.refs.empty() ? kNone : raw_.refs[0]);
    const auto [known, fresh] = joined_.try_emplace(raw_.refs, 0);
    if (fresh) {
      for (const std::uint64_t ref : raw_.refs) {
        FATHOM_TRY(const std::uint32_t path, path_of(ref));
        FATHOM_TRY(known->second, writer_.joined(known->second, path));
      }
    }
    return known->second;
  }

  Result<std::optional<std::uint32_t>> snapshot(bool globals) {
    FATHOM_TRY(const std::uint32_t path, path_of_record());
    own_.clear();
    for (std::size_t i = 0; i < std::min(raw_.attributes.size(), raw_.data.size()); ++i) {
      const std::uint32_t attribute = this->attribute(raw_.attributes[i]);
      if (attribute == kNoAttribute) {
        ++unknown_;
      } else {
        own_.emplace_back(attribute, raw_.data[i]);
      }
    }
    if (raw_.attributes.size() != raw_.data.size())
      FATHOM_CHECK(refuse("a record has other numbers of attributes and values"));
    if (!globals) return std::optional(path);
    Entry::Room room;
    const auto add = [&](const Entry& entry) {
      records_->globals.emplace_back(records_->attributes[entry.attribute].name, std::string(entry.text(room)));
    };
    records_->each_entry(path, add);
    for (const Entry& entry : own_) add(entry);
    return std::optional<std::uint32_t>();
  }

  static constexpr std::size_t kDeepest = 10000;  // nodes above an attribute: a cycle is none
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
  RawRecord raw_;                                               // the line at hand, where it is no plain one
  std::uint64_t number_ = 0;                                    // of it
  std::vector<Entry> own_;                                      // of the record at hand
  std::vector<Node*> way_;
  std::vector<Waiting> waiting_;
  std::uint64_t version_ = kNone;  // the attribute that tells Caliper's own
  bool old_ = false;
  bool any_ = false;
  std::uint64_t unknown_ = 0;
};

}  // namespace

bool is_before_seconds(std::string_view version) {
  const std::size_t dot = version.find('.');
  const auto major = parse_integer<int>(version.substr(0, dot));
  if (!major || dot == std::string_view::npos) return false;
  const std::string_view rest = version.substr(dot + 1);
  const auto minor = parse_integer<int>(rest.substr(0, rest.find_first_not_of("0123456789")));
  return *major < 2 || (*major == 2 && minor && *minor < 4);
}

Result<std::shared_ptr<const Records>> read_cali(const Blob& blob, const Work& work) {
  return Reader(blob, work).run();
}

}  // namespace fathom::caliper
