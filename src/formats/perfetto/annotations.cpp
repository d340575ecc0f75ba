#include "formats/perfetto/annotations.hpp"

#include <fmt/format.h>

#include "base/number.hpp"
#include "formats/perfetto/proto.hpp"

namespace fathom::perfetto {

namespace {

constexpr int kDeepest = 32;

namespace annotation_field {
enum : std::uint32_t {
  name_iid = 1,
  truth = 2,
  whole = 3,
  integer = 4,
  real = 5,
  text = 6,
  pointer = 7,
  nested = 8,  // the old form of dictionaries and lists
  json = 9,
  name = 10,
  dictionary = 11,
  list = 12,
  text_iid = 17,
};
}
namespace nested_field {
enum : std::uint32_t { keys = 2, values = 3, list = 4, integer = 5, real = 6, truth = 7, text = 8 };
}

using Take = std::function<void(std::string_view, const std::string&)>;

void append(std::string& out, std::string_view name, std::string_view value) {
  if (!out.empty()) out += ',';
  out += name;
  if (!name.empty()) out += ':';
  out += value;
}

std::string nested_text(std::string_view message, int depth) {
  std::string out;
  if (depth > kDeepest) return out;
  std::vector<std::string_view> keys;
  std::size_t used = 0;
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    const bool bytes = field.wire == Wire::bytes;
    switch (field.number) {
      case nested_field::keys:
        if (bytes) keys.push_back(field.bytes);
        break;
      case nested_field::values:
      case nested_field::list:
        if (bytes) append(out, used < keys.size() ? keys[used++] : "", nested_text(field.bytes, depth + 1));
        break;
      case nested_field::integer:
        append(out, "", fmt::format("{}", field.integer()));
        break;
      case nested_field::real:
        append(out, "", exact_text(real_of(field)));
        break;
      case nested_field::truth:
        append(out, "", field.value != 0 ? "true" : "false");
        break;
      case nested_field::text:
        if (bytes) append(out, "", field.bytes);
        break;
      default:
        break;
    }
  }
  return out;
}

void each(std::string_view message, const Sequence* sequence, const Take& take, int depth) {
  if (depth > kDeepest) return;
  std::string name;
  std::string value;
  bool simple = false;
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    const bool bytes = field.wire == Wire::bytes;
    switch (field.number) {
      case annotation_field::name:
        name = field.bytes;
        continue;
      case annotation_field::name_iid:
        if (sequence != nullptr) name = Sequence::text(sequence->annotation_names, field.value);
        continue;
      case annotation_field::truth:
        value = field.value != 0 ? "true" : "false";
        break;
      case annotation_field::whole:
        value = fmt::format("{}", field.value);
        break;
      case annotation_field::integer:
        value = fmt::format("{}", field.integer());
        break;
      case annotation_field::real:
        value = exact_text(real_of(field));
        break;
      case annotation_field::text:
      case annotation_field::json:
        if (!bytes) continue;
        value = field.bytes;
        break;
      case annotation_field::text_iid:
        if (sequence != nullptr) value = Sequence::text(sequence->strings, field.value);
        break;
      case annotation_field::pointer:
        value = fmt::format("0x{:x}", field.value);
        break;
      case annotation_field::nested:
        if (!bytes) continue;
        value = nested_text(field.bytes, depth + 1);
        break;
      case annotation_field::dictionary:
      case annotation_field::list:
        if (!bytes) continue;
        // Nested ones are shown with their own names.
        each(
            field.bytes, sequence,
            [&](std::string_view inner, const std::string& shown) { append(value, inner, shown); }, depth + 1);
        break;
      default:
        continue;
    }
    simple = true;
  }
  if (simple) take(name, value);
}

}  // namespace

void each_annotation(std::string_view message, const Sequence* sequence, const Take& take) {
  each(message, sequence, take, 0);
}

}  // namespace fathom::perfetto
