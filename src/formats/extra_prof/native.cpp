// ["EXTRA PROF", version, root, [gpu metric names]?, [[name, int, ...], ...]?]
// node: [name, [children], type, flags, duration, visits, bytes, [gpu metric values]?, [additional values]?]
#include "formats/extra_prof/native.hpp"

#define MSGPACK_NO_BOOST
#include <fmt/format.h>

#include <msgpack.hpp>
#include <optional>

namespace fathom::extra_prof {
namespace {

constexpr std::string_view kMagic = "EXTRA PROF";
constexpr std::size_t kDeepest = 4000;
constexpr std::uint64_t kMemoryStep = 4 << 20;

// A MessagePack value; lists grow as their items arrive, whatever length they claim.
struct Value {
  enum class Kind : std::uint8_t { nothing, number, text, list } kind = Kind::nothing;
  double number = 0;
  std::string text;
  std::vector<Value> items;
};

// Puts values together as the parser meets them.
struct Builder : msgpack::v2::null_visitor {
  explicit Builder(const Work& its_work) : work(its_work) {}

  const Work& work;
  std::vector<Budget::Reservation> memory;
  std::uint64_t needed = 0;
  std::uint64_t reserved = 0;
  std::optional<Error> refused;
  Value root;
  std::vector<Value> open;
  bool done = false;
  bool too_deep = false;

  bool put(Value value) {
    // Lists have room for up to twice their items.
    needed += 2 * sizeof(Value) + value.text.size();
    while (needed > reserved) {
      auto more = work->budget.reserve(kMemoryStep, "items of an Extra-Prof profile");
      if (!more) {
        refused = std::move(more).error();
        return false;
      }
      memory.push_back(std::move(*more));
      reserved += kMemoryStep;
    }
    if (open.empty()) {
      root = std::move(value);
      done = true;
    } else {
      open.back().items.push_back(std::move(value));
    }
    return true;
  }
  bool put_number(double number) {
    Value value;
    value.kind = Value::Kind::number;
    value.number = number;
    return put(std::move(value));
  }
  bool begin() {
    if (open.size() >= kDeepest) {
      too_deep = true;
      return false;
    }
    Value value;
    value.kind = Value::Kind::list;
    open.push_back(std::move(value));
    return true;
  }
  bool end() {
    Value value = std::move(open.back());
    open.pop_back();
    return put(std::move(value));
  }

  bool visit_nil() { return put({}); }
  bool visit_boolean(bool yes) { return put_number(yes ? 1 : 0); }
  bool visit_positive_integer(std::uint64_t v) { return put_number(static_cast<double>(v)); }
  bool visit_negative_integer(std::int64_t v) { return put_number(static_cast<double>(v)); }
  bool visit_float32(float v) { return put_number(static_cast<double>(v)); }
  bool visit_float64(double v) { return put_number(v); }
  bool visit_str(const char* text, std::uint32_t size) {
    Value value;
    value.kind = Value::Kind::text;
    value.text.assign(text, size);
    return put(std::move(value));
  }
  bool visit_bin(const char*, std::uint32_t) { return put({}); }
  bool visit_ext(const char*, std::uint32_t) { return put({}); }
  bool start_array(std::uint32_t) { return begin(); }
  bool end_array() { return end(); }
  bool start_map(std::uint32_t) { return begin(); }
  bool end_map() { return end(); }
  void parse_error(std::size_t, std::size_t) {}
  void insufficient_bytes(std::size_t, std::size_t) {}
};

bool is_list(const Value& v) { return v.kind == Value::Kind::list; }

std::vector<double> numbers(const Value& value) {
  std::vector<double> out;
  if (value.kind == Value::Kind::number) out.push_back(value.number);
  for (const Value& item : value.items) out.push_back(item.kind == Value::Kind::number ? item.number : 0);
  return out;
}

std::vector<std::string> names(const Value& value) {
  std::vector<std::string> out;
  for (const Value& item : value.items) {
    if (item.kind == Value::Kind::text) out.push_back(item.text);
    if (is_list(item) && !item.items.empty() && item.items[0].kind == Value::Kind::text) {
      out.push_back(item.items[0].text);
    }
  }
  return out;
}

Result<void> add_nodes(const Value& root, File& file) {
  struct Todo {
    const Value* value;
    std::uint32_t number;
  };
  file.nodes.emplace_back();
  std::vector<Todo> todo = {{&root, 0}};
  while (!todo.empty()) {
    const auto [value, number] = todo.back();
    todo.pop_back();
    const auto& v = value->items;
    if (!is_list(*value) || v.size() < 7 || v[0].kind != Value::Kind::text || !is_list(v[1])) {
      return Error(fmt::format("node {} is no list of name, children, type, flags, duration, visits, bytes", number));
    }
    Node node;
    node.name = v[0].text;
    const double type = v[2].number;
    node.type = type >= 0 && type <= 8 ? static_cast<NodeType>(type) : NodeType::none;
    node.flags = v[3].number >= 0 && v[3].number < 1e15 ? static_cast<std::uint64_t>(v[3].number) : 0;
    node.duration = numbers(v[4]);
    node.visits = numbers(v[5]);
    node.bytes = numbers(v[6]);
    if (v.size() > 7) {
      for (const Value& item : v[7].items) node.gpu_metrics.push_back(numbers(item));
    }
    if (v.size() > 8) {
      for (const Value& item : v[8].items) node.additional.push_back(numbers(item));
    }
    for (const Value& child : v[1].items) {
      node.children.push_back(static_cast<std::uint32_t>(file.nodes.size()));
      todo.push_back({&child, node.children.back()});
      file.nodes.emplace_back();
    }
    file.nodes[number] = std::move(node);
  }
  return {};
}

}  // namespace

bool looks_like(const Blob& blob) {
  // A short array whose first item is the magic text.
  const std::string_view head = blob.text().substr(0, 16);
  return head.size() > 12 && (static_cast<unsigned char>(head[0]) & 0xF0) == 0x90 && head.substr(2).starts_with(kMagic);
}

Result<File> read_file(const Blob& blob, const Work& work) {
  Builder builder(work);
  std::size_t offset = 0;
  bool parsed = false;
  try {
    parsed = msgpack::v2::parse(reinterpret_cast<const char*>(blob.bytes().data()), blob.size(), offset, builder);
  } catch (const std::exception& error) {
    return Error(fmt::format("malformed MessagePack: {}", error.what()), blob.place(offset));
  }
  if (builder.refused) return std::move(*builder.refused).where(blob.place(offset));
  if (builder.too_deep) return Error("lists are nested too deeply", blob.place(offset));
  if (!parsed || !builder.done) {
    return Error("the MessagePack object is cut off or malformed", blob.place(offset));
  }
  const auto& top = builder.root.items;
  if (!is_list(builder.root) || top.size() < 3 || top[0].text != kMagic) {
    return Error("is no Extra-Prof file: it does not start with \"EXTRA PROF\"", blob.place(0));
  }
  File file;
  file.version = top[1].text;
  if (top.size() > 3) file.gpu_metrics = names(top[3]);
  if (top.size() > 4) file.additional = names(top[4]);
  auto status = add_nodes(top[2], file);
  if (!status) return std::move(status).error().where(blob.place(0));
  return file;
}

}  // namespace fathom::extra_prof
