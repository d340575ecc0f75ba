// What is said about a thread besides its events: attributes, requirements, marks.
#include <cstring>

#include "ovni/runtime.hpp"

namespace fathom::ovni_runtime {

namespace {

// "a.b.c" in the metadata; nothing when it is not there.
Json* find(Json& root, const char* path) {
  Json* at = &root;
  for (const char* begin = path;;) {
    const char* end = std::strchr(begin, '.');
    const std::string name = end == nullptr ? std::string(begin) : std::string(begin, end);
    if (!at->is_object() || !at->contains(name)) return nullptr;
    at = &(*at)[name];
    if (end == nullptr) return at;
    begin = end + 1;
  }
}

void set(Json& root, const char* path, Json value) {
  if (path == nullptr || *path == 0) die("ovni_attr_set: the key is empty");
  Json* at = &root;
  for (const char* begin = path;;) {
    const char* end = std::strchr(begin, '.');
    const std::string name = end == nullptr ? std::string(begin) : std::string(begin, end);
    if (name.empty()) die("ovni_attr_set: the key '%s' has an empty part", path);
    Json& next = (*at)[name];
    if (end == nullptr) {
      next = std::move(value);
      return;
    }
    if (next.is_null()) next = Json::object();
    if (!next.is_object()) die("ovni_attr_set: '%s': '%s' holds a value already", path, name.c_str());
    at = &next;
    begin = end + 1;
  }
}

const Json& wanted(const char* function, const char* path) {
  const Json* found = find(details(function).metadata, path);
  if (found == nullptr) die("%s: there is no '%s'", function, path);
  return *found;
}

// Whole numbers are written as such.
Json number(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  if (value > -9e15 && value < 9e15 && static_cast<double>(whole) == value) return whole;
  return value;
}

std::string type_path(std::int32_t type) { return "ovni.mark." + std::to_string(type); }

void check_type(std::int32_t type) {
  if (type < 0 || type > 99) die("ovni_mark: the type %d is not within 0 and 99", type);
}

}  // namespace

void store_metadata(Details& mine) {
  if (process.layout == Layout::v1) return;
  write_text(join(mine.folder, "stream.json"), mine.metadata.dump(4));
}

}  // namespace fathom::ovni_runtime

using namespace fathom::ovni_runtime;

#pragma GCC visibility push(default)
extern "C" {

void ovni_thread_require(const char* model, const char* version) {
  Details& mine = details("ovni_thread_require");
  if (model == nullptr || std::strlen(model) < 2) die("ovni_thread_require: the model's name is too short");
  if (std::strpbrk(model, " .") != nullptr) die("ovni_thread_require: bad name of a model: '%s'", model);
  Version parsed;
  if (!parse_version(version, parsed)) die("ovni_thread_require: bad version: '%s'", version == nullptr ? "" : version);
  mine.metadata["ovni"]["require"][model] = version;
}

int ovni_attr_has(const char* key) { return find(details("ovni_attr_has").metadata, key) != nullptr ? 1 : 0; }
void ovni_attr_set_double(const char* key, double num) {
  set(details("ovni_attr_set_double").metadata, key, number(num));
}
void ovni_attr_set_boolean(const char* key, int value) {
  set(details("ovni_attr_set_boolean").metadata, key, value != 0);
}
void ovni_attr_set_str(const char* key, const char* value) {
  set(details("ovni_attr_set_str").metadata, key, std::string(value == nullptr ? "" : value));
}
void ovni_attr_set_json(const char* key, const char* json) {
  Json parsed = Json::parse(json == nullptr ? "" : json, nullptr, false, true);
  if (parsed.is_discarded()) die("ovni_attr_set_json: '%s' is no JSON", json == nullptr ? "" : json);
  set(details("ovni_attr_set_json").metadata, key, std::move(parsed));
}
double ovni_attr_get_double(const char* key) {
  const Json& value = wanted("ovni_attr_get_double", key);
  if (!value.is_number()) die("ovni_attr_get_double: '%s' is no number", key);
  return value.get<double>();
}
int ovni_attr_get_boolean(const char* key) {
  const Json& value = wanted("ovni_attr_get_boolean", key);
  if (!value.is_boolean()) die("ovni_attr_get_boolean: '%s' is neither true nor false", key);
  return value.get<bool>() ? 1 : 0;
}
const char* ovni_attr_get_str(const char* key) {
  const Json& value = wanted("ovni_attr_get_str", key);
  if (!value.is_string()) die("ovni_attr_get_str: '%s' is no text", key);
  return value.get_ref<const std::string&>().c_str();
}
char* ovni_attr_get_json(const char* key) { return strdup(wanted("ovni_attr_get_json", key).dump().c_str()); }
void ovni_attr_flush(void) { store_metadata(details("ovni_attr_flush")); }

void ovni_mark_type(int32_t type, long flags, const char* title) {
  Details& mine = details("ovni_mark_type");
  check_type(type);
  if (title == nullptr || *title == 0) die("ovni_mark_type: type %d has no title", type);
  const std::string path = type_path(type);
  if (find(mine.metadata, path.c_str()) != nullptr) die("ovni_mark_type: type %d is defined already", type);
  Json entry = Json::object();
  entry["title"] = title;
  entry["chan_type"] = (flags & OVNI_MARK_STACK) != 0 ? "stack" : "single";
  set(mine.metadata, path.c_str(), std::move(entry));
}

void ovni_mark_label(int32_t type, int64_t value, const char* label) {
  Details& mine = details("ovni_mark_label");
  check_type(type);
  if (value <= 0) die("ovni_mark_label: values begin at 1, not %lld", static_cast<long long>(value));
  if (label == nullptr || *label == 0) die("ovni_mark_label: the label is empty");
  const std::string path = type_path(type);
  if (find(mine.metadata, path.c_str()) == nullptr) die("ovni_mark_label: type %d is not defined", type);
  const std::string at = path + ".labels." + std::to_string(value);
  if (find(mine.metadata, at.c_str()) != nullptr) {
    die("ovni_mark_label: value %lld of type %d has a label already", static_cast<long long>(value), type);
  }
  set(mine.metadata, at.c_str(), std::string(label));
}
}
#pragma GCC visibility pop
