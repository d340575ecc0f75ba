#include "formats/otf2/event_text.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace fathom::otf2 {

namespace {

struct KindName {
  std::string_view name;
  IdKind kind;
};
constexpr KindName kKinds[] = {{"string", IdKind::string},
                               {"attribute", IdKind::attribute},
                               {"location", IdKind::location},
                               {"region", IdKind::region},
                               {"group", IdKind::group},
                               {"metric", IdKind::metric},
                               {"comm", IdKind::comm},
                               {"parameter", IdKind::parameter},
                               {"rma_win", IdKind::rma_win},
                               {"calling_context", IdKind::calling_context},
                               {"interrupt_generator", IdKind::interrupt_generator},
                               {"io_file", IdKind::io_file},
                               {"io_handle", IdKind::io_handle}};

struct Field {
  std::string_view name;
  std::string_view encoding;
  std::string_view kind;   // of ids
  std::string_view count;  // name of the field that counts an array
};

Field parse_field(std::string_view text) {
  Field field;
  const auto colon = text.find(':');
  field.name = text.substr(0, colon);
  field.encoding = text.substr(colon + 1);
  if (const auto bracket = field.name.find('['); bracket != std::string_view::npos) {
    field.count = field.name.substr(bracket + 1, field.name.size() - bracket - 2);
    field.name = field.name.substr(0, bracket);
  }
  if (const auto at = field.encoding.find('@'); at != std::string_view::npos) {
    field.kind = field.encoding.substr(at + 1);
    field.encoding = field.encoding.substr(0, at);
  }
  return field;
}

std::uint64_t read(Fields& in, std::string_view encoding) {
  if (encoding == "u8") return in.u8();
  if (encoding == "u64") return in.u64();
  if (encoding == "c32") return in.c32();
  return in.c64();
}

void separate(std::string& out) {
  if (!out.empty()) out += ';';
}

}  // namespace

void EventText::append_id(std::string_view kind, std::uint64_t id, std::string& out) const {
  auto to = std::back_inserter(out);
  if (id == kUndefined32 || id == kUndefined64) {
    out += "UNDEFINED";
    return;
  }
  for (const KindName& known : kKinds) {
    if (known.name == kind) id = global(known.kind, id);
  }
  const auto named = [&](const auto* definition) {
    if (definition == nullptr) {
      fmt::format_to(to, "<{}>", id);
    } else {
      fmt::format_to(to, "{}", definitions_.text(definition->name));
    }
  };
  if (kind == "string") {
    out += definitions_.text(static_cast<std::uint32_t>(id));
  } else if (kind == "region") {
    named(definitions_.regions.find(id));
  } else if (kind == "comm") {
    const CommDef* const comm = definitions_.comms.find(id);
    if (comm == nullptr || definitions_.text(comm->name).empty()) {
      fmt::format_to(to, "<{}>", id);
    } else {
      named(comm);
    }
  } else if (kind == "parameter") {
    named(definitions_.parameters.find(id));
  } else if (kind == "rma_win") {
    named(definitions_.windows.find(id));
  } else if (kind == "io_handle") {
    named(definitions_.handles.find(id));
  } else if (kind == "io_file") {
    named(definitions_.files.find(id));
  } else if (kind == "interrupt_generator") {
    named(definitions_.generators.find(id));
  } else {
    fmt::format_to(to, "{}", id);
  }
}

void EventText::append_value(std::uint8_t type, std::uint64_t bits, std::string& out) const {
  auto to = std::back_inserter(out);
  switch (type) {
    case kTypeInt8:
      fmt::format_to(to, "{}", static_cast<std::int8_t>(bits));
      return;
    case kTypeInt16:
      fmt::format_to(to, "{}", static_cast<std::int16_t>(bits));
      return;
    case kTypeInt32:
      fmt::format_to(to, "{}", static_cast<std::int32_t>(bits));
      return;
    case kTypeInt64:
      fmt::format_to(to, "{}", static_cast<std::int64_t>(bits));
      return;
    case kTypeFloat:
      fmt::format_to(to, "{}", std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      return;
    case kTypeDouble:
      fmt::format_to(to, "{}", std::bit_cast<double>(bits));
      return;
    case kTypeString:
      append_id("string", bits, out);
      return;
    default:
      fmt::format_to(to, "{}", bits);
  }
}

void EventText::append_fields(const EventRecord& record, std::string& out) const {
  separate(out);
  const RecordKind* const kind = find_event_kind(record.type);
  if (kind == nullptr) {
    fmt::format_to(std::back_inserter(out), "type={};bytes={}", record.type, record.end - record.begin);
    return;
  }
  fmt::format_to(std::back_inserter(out), "record={}", kind->name);
  if (kind->fields.empty()) return;
  Fields in = record.fields();
  std::uint64_t last = 0;
  std::vector<Field> arrays;
  for (const std::string_view text : split(kind->fields, ' ')) {
    const Field field = parse_field(text);
    if (!field.count.empty()) {
      arrays.push_back(field);
      continue;
    }
    if (!in.more()) break;
    last = read(in, field.encoding);
    fmt::format_to(std::back_inserter(out), ";{}=", field.name);
    if (!field.kind.empty()) {
      append_id(field.kind, last, out);
    } else if (field.encoding == "s64") {
      fmt::format_to(std::back_inserter(out), "{}", static_cast<std::int64_t>(last));
    } else if ((field.encoding == "c32" && last == kUndefined32) || (field.encoding == "c64" && last == kUndefined64)) {
      out += "UNDEFINED";
    } else {
      fmt::format_to(std::back_inserter(out), "{}", last);
    }
  }
  // The count is the field before; arrays of the same count are interleaved.
  for (std::uint64_t i = 0; !arrays.empty() && i < last && in.more(); ++i) {
    std::uint64_t before = 0;
    for (const Field& field : arrays) {
      const std::uint64_t value = read(in, field.encoding);
      fmt::format_to(std::back_inserter(out), ";{}=", field.name);
      if (!field.kind.empty()) {
        append_id(field.kind, value, out);
      } else if (field.name == "metric_values") {
        append_value(static_cast<std::uint8_t>(before), value, out);
      } else {
        fmt::format_to(std::back_inserter(out), "{}", value);
      }
      before = value;
    }
  }
}

void EventText::append_attributes(const EventRecord& record, std::string& out) const {
  if (record.attributes == nullptr) return;
  Fields in(record.attributes, record.attributes_end, record.little);
  for (std::uint32_t count = in.c32(); count > 0 && in.more() && !in.bad(); --count) {
    const std::uint64_t id = global(IdKind::attribute, in.c32());
    const std::uint8_t type = in.u8();
    const std::uint64_t bits = in.value(type);
    separate(out);
    const NamedDef* const attribute = definitions_.attributes.find(id);
    const std::string_view name = attribute != nullptr ? definitions_.text(attribute->name) : std::string_view{};
    if (name.empty()) {
      fmt::format_to(std::back_inserter(out), "attribute.{}=", id);
    } else {
      fmt::format_to(std::back_inserter(out), "attribute.{}=", name);
    }
    append_value(type, bits, out);
  }
}

}  // namespace fathom::otf2
