#include "formats/ovni/metadata.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/text.hpp"

namespace fathom::ovni {

namespace {

// Keeps the order of keys: marks and labels are listed as they appear.
using Json = nlohmann::ordered_json;

// The members of an object by name; the object itself looks through all of them for each.
class Members {
 public:
  explicit Members(Json& object) : list_(object.get_ref<Json::object_t&>()) {
    for (std::size_t i = 0; i < list_.size(); ++i)
      places_.emplace(list_.begin()[static_cast<std::ptrdiff_t>(i)].first, i);
  }
  Json& operator[](const std::string& key) {
    const auto [found, fresh] = places_.try_emplace(key, list_.size());
    if (fresh) list_.emplace_back(key, Json());
    return list_.begin()[static_cast<std::ptrdiff_t>(found->second)].second;
  }

 private:
  Json::object_t& list_;
  std::unordered_map<std::string, std::size_t> places_;
};

// Makes a document of what the parser tells, and says where it failed: the parser's own does so by exceptions only.
class Builder : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return begin(Json::object()); }
  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }
  bool end_object() override { return end(); }
  bool start_array(std::size_t) override { return begin(Json::array()); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    at_ = position;
    why_ = error.what();
    return false;
  }

  [[nodiscard]] Json& document() { return document_; }
  [[nodiscard]] bool too_deep() const { return too_deep_; }
  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] std::size_t at() const { return at_; }

  // Copies of a document and its text are made by functions that call themselves for every level.
  static constexpr std::size_t kDeepest = 500;

 private:
  struct Open {
    Json* value;
    std::optional<Members> members;  // of an object
  };

  Json& place(Json value) {
    if (open_.empty()) return document_ = std::move(value);
    Open& open = open_.back();
    if (open.members) return (*open.members)[key_] = std::move(value);
    open.value->push_back(std::move(value));
    return open.value->back();
  }
  bool put(Json value) {
    place(std::move(value));
    return true;
  }
  bool begin(Json empty) {
    if (open_.size() == kDeepest) {
      too_deep_ = true;
      return false;
    }
    Json& value = place(std::move(empty));
    open_.push_back({&value, std::nullopt});
    if (value.is_object()) open_.back().members.emplace(value);
    return true;
  }
  bool end() {
    open_.pop_back();
    return true;
  }

  Json document_;
  std::vector<Open> open_;
  std::string key_;
  bool too_deep_ = false;
  std::string why_;
  std::size_t at_ = 0;
};

Result<Json> parse(std::string_view text, const Blob& blob) {
  Builder builder;
  if (!Json::sax_parse(text.begin(), text.end(), &builder, nlohmann::detail::input_format_t::json, true, true)) {
    if (builder.too_deep()) return Error(fmt::format("is nested more than {} deep", Builder::kDeepest), blob.place());
    std::string why = builder.why();
    const auto colon = why.find("syntax error");
    if (colon != std::string::npos) why.erase(0, colon);
    return Error(fmt::format("is not valid JSON: {}", why.empty() ? "unreadable" : why),
                 blob.place(builder.at() > 0 ? builder.at() - 1 : 0));
  }
  if (!builder.document().is_object()) return Error("is not a JSON object", blob.place());
  return std::move(builder.document());
}
Result<Json> parse(const Blob& blob) { return parse(blob.text(), blob); }

// The members of `more`, where both have an object those of the two.
void merge(Json& into, const Json& more) {
  Members members(into);
  for (const auto& [key, value] : more.items()) {
    Json& member = members[key];
    if (member.is_object() && value.is_object()) {
      merge(member, value);
    } else {
      member = value;
    }
  }
}

const Json* find(const Json* object, std::string_view key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(std::string(key));
  return found == object->end() ? nullptr : &*found;
}

std::optional<std::int64_t> integer(const Json& value) {
  if (value.is_number_integer()) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) return {};
    return value.get<std::int64_t>();
  }
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::abs(number) < 9e18) return static_cast<std::int64_t>(number);
  }
  return {};
}

// Takes keys out of one object and notes those of the wrong kind.
class Taker {
 public:
  Taker(const Json* object, std::string prefix, std::vector<std::string>& defects)
      : object_(object), prefix_(std::move(prefix)), defects_(defects) {}

  void take(std::string_view key, std::optional<std::int64_t>& into) {
    if (const Json* value = find(object_, key)) {
      into = integer(*value);
      if (!into) wrong(key, "a number");
    }
  }
  void take(std::string_view key, std::optional<std::string>& into) {
    if (const Json* value = find(object_, key)) {
      if (value->is_string()) {
        into = value->get<std::string>();
      } else {
        wrong(key, "a text");
      }
    }
  }
  void take_cpus(std::string_view key, std::optional<std::vector<Cpu>>& into) {
    const Json* list = find(object_, key);
    if (list == nullptr) return;
    if (!list->is_array()) return wrong(key, "an array");
    into.emplace();
    for (const Json& item : *list) {
      const Json* index = find(&item, "index");
      const Json* phyid = find(&item, "phyid");
      const auto i = index != nullptr ? integer(*index) : std::nullopt;
      const auto p = phyid != nullptr ? integer(*phyid) : std::nullopt;
      if (!i || !p) return wrong(key, "an array of {index, phyid}");
      into->push_back({*i, *p});
    }
  }
  void wrong(std::string_view key, std::string_view wanted) {
    defects_.push_back(fmt::format("{}{} is not {}", prefix_, key, wanted));
  }

 private:
  const Json* object_;
  std::string prefix_;
  std::vector<std::string>& defects_;
};

void take_marks(const Json* marks, Metadata& metadata) {
  if (marks == nullptr) return;
  if (!marks->is_object()) {
    metadata.defects.emplace_back("ovni.mark is not an object");
    return;
  }
  for (const auto& [key, value] : marks->items()) {
    MarkType mark;
    const auto type = parse_integer<std::int64_t>(key);
    const Json* title = find(&value, "title");
    const Json* channel = find(&value, "chan_type");
    if (!type || *type < 0 || *type > 99 || title == nullptr || !title->is_string() || channel == nullptr ||
        !channel->is_string()) {
      metadata.defects.push_back(fmt::format("ovni.mark.{} needs a type 0..99, a title and a chan_type", key));
      continue;
    }
    mark.type = *type;
    mark.title = title->get<std::string>();
    mark.channel = channel->get<std::string>();
    if (mark.channel != "single" && mark.channel != "stack") {
      metadata.defects.push_back(fmt::format("ovni.mark.{}.chan_type is '{}', not single or stack", key, mark.channel));
      continue;
    }
    if (const Json* labels = find(&value, "labels")) {
      for (const auto& [number, label] : labels->items()) {
        const auto parsed = parse_integer<std::int64_t>(number);
        if (!parsed || !label.is_string()) {
          metadata.defects.push_back(fmt::format("ovni.mark.{}.labels.{} is not a number with a text", key, number));
          continue;
        }
        mark.labels.emplace_back(*parsed, label.get<std::string>());
      }
    }
    metadata.marks.push_back(std::move(mark));
  }
}

void take_counters(const Json* counters, Metadata& metadata) {
  if (counters == nullptr) return;
  metadata.counters.emplace();
  if (!counters->is_object()) {
    metadata.defects.emplace_back("nosv.hwc is not an object");
    return;
  }
  for (const auto& [key, value] : counters->items()) {
    const auto index = parse_integer<std::int64_t>(key);
    const Json* name = find(&value, "name");
    if (!index || name == nullptr || !name->is_string()) {
      metadata.defects.push_back(fmt::format("nosv.hwc.{} needs an index and a name", key));
      continue;
    }
    metadata.counters->emplace_back(*index, name->get<std::string>());
  }
}

// The keys of a thread's metadata that have a meaning here; all others are attributes.
constexpr std::string_view kKnown[] = {"version",       "ovni/lib/version", "ovni/lib/commit",    "ovni/part",
                                       "ovni/tid",      "ovni/pid",         "ovni/loom",          "ovni/app_id",
                                       "ovni/rank",     "ovni/nranks",      "ovni/loom_cpus",     "ovni/require",
                                       "ovni/finished", "ovni/mark",        "nosv/can_breakdown", "nosv/hwc"};

Json own_attributes(const Json& object, const std::string& prefix = {}) {
  Json own = Json::object();
  auto& members = own.get_ref<Json::object_t&>();
  for (const auto& [key, value] : object.items()) {
    const std::string path = prefix + key;
    const std::string inside = path + '/';
    bool known = false;
    bool holds_known = false;
    for (const std::string_view name : kKnown) {
      known = known || name == path;
      holds_known = holds_known || name.starts_with(inside);
    }
    if (known) continue;
    if (!holds_known || !value.is_object()) {
      members.emplace_back(key, value);
    } else if (Json inner = own_attributes(value, inside); !inner.empty()) {
      members.emplace_back(key, std::move(inner));
    }
  }
  return own;
}

// What `stream.json` and `thread.T.json` share.
void take_thread_keys(const Json& json, Metadata& metadata) {
  const Json* ovni = find(&json, "ovni");
  Taker taker(ovni, "ovni.", metadata.defects);
  Taker lib(find(ovni, "lib"), "ovni.lib.", metadata.defects);
  lib.take("version", metadata.lib_version);
  lib.take("commit", metadata.lib_commit);
  taker.take("finished", metadata.finished);
  if (const Json* require = find(ovni, "require")) {
    if (require->is_object()) {
      metadata.require.emplace();
      for (const auto& [model, version] : require->items()) {
        if (version.is_string()) {
          metadata.require->emplace_back(model, version.get<std::string>());
        } else {
          metadata.defects.push_back(fmt::format("ovni.require.{} is not a text", model));
        }
      }
    } else {
      taker.wrong("require", "an object");
    }
  }
  take_marks(find(ovni, "mark"), metadata);
  const Json* nosv = find(&json, "nosv");
  // Only breakdowns need it; of another kind it counts as missing there.
  if (const Json* can = find(nosv, "can_breakdown"); can != nullptr && can->is_boolean()) {
    metadata.can_breakdown = can->get<bool>();
  }
  take_counters(find(nosv, "hwc"), metadata);
  if (const Json own = own_attributes(json); !own.empty()) {
    metadata.attributes = own.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

Result<std::int64_t> version_of(const Json& json, const Blob& blob) {
  const Json* version = find(&json, "version");
  const auto number = version != nullptr ? integer(*version) : std::nullopt;
  if (!number) return Error("has no metadata version (the key 'version')", blob.place());
  return *number;
}

// The writer's spelling: nlohmann's, with '/' escaped inside texts as the runtime library does.
std::string spell(const Json& json) {
  const std::string plain = json.dump(4, ' ', false, Json::error_handler_t::replace);
  std::string text;
  text.reserve(plain.size());
  for (const char character : plain) {
    if (character == '/') text += '\\';
    text += character;
  }
  return text;
}

void put_thread_keys(Json& json, const Metadata& metadata) {
  Json& ovni = json["ovni"];
  if (metadata.require) {
    ovni["require"] = Json::object();
    Members require(ovni["require"]);
    for (const auto& [model, version] : *metadata.require) require[model] = version;
  }
  if (metadata.version == 3) {
    if (metadata.rank) ovni["rank"] = *metadata.rank;
    if (metadata.nranks) ovni["nranks"] = *metadata.nranks;
    if (metadata.cpus) {
      ovni["loom_cpus"] = Json::array();
      for (const Cpu& cpu : *metadata.cpus) ovni["loom_cpus"].push_back({{"index", cpu.index}, {"phyid", cpu.phyid}});
    }
  }
  for (const MarkType& mark : metadata.marks) {
    Json& entry = ovni["mark"][std::to_string(mark.type)];
    entry["title"] = mark.title;
    entry["chan_type"] = mark.channel;
    if (mark.labels.empty()) continue;
    entry["labels"] = Json::object();
    Members labels(entry["labels"]);
    for (const auto& [value, label] : mark.labels) labels[std::to_string(value)] = label;
  }
  if (metadata.finished) ovni["finished"] = *metadata.finished;
  if (metadata.can_breakdown) json["nosv"]["can_breakdown"] = *metadata.can_breakdown;
  if (metadata.counters) {
    json["nosv"]["hwc"] = Json::object();
    Members counters(json["nosv"]["hwc"]);
    for (const auto& [index, name] : *metadata.counters) counters[std::to_string(index)]["name"] = name;
  }
  if (!metadata.attributes.empty()) {
    if (const auto own = parse(metadata.attributes, Blob())) merge(json, *own);
  }
}

void put_library(Json& json, const Metadata& metadata) {
  json["ovni"] = Json::object();
  if (metadata.lib_version) json["ovni"]["lib"]["version"] = *metadata.lib_version;
  if (metadata.lib_commit) json["ovni"]["lib"]["commit"] = *metadata.lib_commit;
}

}  // namespace

Result<Metadata> read_stream_metadata(const Blob& blob) {
  FATHOM_TRY(const Json json, parse(blob));
  Metadata metadata;
  FATHOM_TRY(metadata.version, version_of(json, blob));
  if (metadata.version != 3) {
    return Error(fmt::format("metadata version mismatch: expected 3, found {}", metadata.version), blob.place());
  }
  const Json* ovni = find(&json, "ovni");
  Taker taker(ovni, "ovni.", metadata.defects);
  taker.take("part", metadata.part);
  taker.take("tid", metadata.tid);
  taker.take("pid", metadata.pid);
  taker.take("loom", metadata.loom);
  taker.take("app_id", metadata.app_id);
  taker.take("rank", metadata.rank);
  taker.take("nranks", metadata.nranks);
  taker.take_cpus("loom_cpus", metadata.cpus);
  take_thread_keys(json, metadata);
  return metadata;
}

Result<Metadata> read_process_metadata(const Blob& blob) {
  FATHOM_TRY(const Json json, parse(blob));
  Metadata metadata;
  FATHOM_TRY(metadata.version, version_of(json, blob));
  if (metadata.version != 1 && metadata.version != 2) {
    return Error(fmt::format("metadata version mismatch: expected 1 or 2, found {}", metadata.version), blob.place());
  }
  Taker taker(&json, "", metadata.defects);
  taker.take("app_id", metadata.app_id);
  taker.take("rank", metadata.rank);
  taker.take("nranks", metadata.nranks);
  taker.take_cpus("cpus", metadata.cpus);
  std::optional<std::string> models;
  taker.take("model_version", models);
  metadata.model_version = models.value_or("");
  return metadata;
}

Result<void> add_thread_metadata(Metadata& metadata, const Blob& blob) {
  FATHOM_TRY(const Json json, parse(blob));
  FATHOM_TRY(const std::int64_t version, version_of(json, blob));
  if (version != 2) {
    return Error(fmt::format("metadata version mismatch: expected 2, found {}", version), blob.place());
  }
  take_thread_keys(json, metadata);
  return {};
}

std::string to_stream_json(const Metadata& metadata) {
  Json json;
  json["version"] = 3;
  put_library(json, metadata);
  Json& ovni = json["ovni"];
  if (metadata.part) ovni["part"] = *metadata.part;
  if (metadata.tid) ovni["tid"] = *metadata.tid;
  if (metadata.pid) ovni["pid"] = *metadata.pid;
  if (metadata.loom) ovni["loom"] = *metadata.loom;
  if (metadata.app_id) ovni["app_id"] = *metadata.app_id;
  put_thread_keys(json, metadata);
  return spell(json);
}

std::string to_process_json(const Metadata& metadata) {
  Json json;
  json["version"] = metadata.version;
  if (!metadata.model_version.empty()) json["model_version"] = metadata.model_version;
  if (metadata.app_id) json["app_id"] = *metadata.app_id;
  if (metadata.rank) json["rank"] = *metadata.rank;
  if (metadata.nranks) json["nranks"] = *metadata.nranks;
  if (metadata.cpus) {
    json["cpus"] = Json::array();
    for (const Cpu& cpu : *metadata.cpus) json["cpus"].push_back({{"index", cpu.index}, {"phyid", cpu.phyid}});
  }
  return spell(json);
}

std::string to_thread_json(const Metadata& metadata) {
  Json json;
  json["version"] = 2;
  put_library(json, metadata);
  put_thread_keys(json, metadata);
  return spell(json);
}

}  // namespace fathom::ovni
