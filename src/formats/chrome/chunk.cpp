#include "formats/chrome/chunk.hpp"

#include <simdjson.h>

#include <cstring>

#include "formats/chrome/event_text.hpp"
#include "io/json_scanner.hpp"

namespace fathom::chrome {

namespace od = simdjson::ondemand;

namespace {

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size() * 0x9E3779B97F4A7C15u;
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * 0xFF51AFD7ED558CCDu;
    hash ^= hash >> 32;
  }
  std::uint64_t word = 0;
  std::memcpy(&word, at, left);
  hash = (hash ^ word) * 0xC4CEB9FE1A85EC53u;
  return hash ^ hash >> 29;
}

}  // namespace

std::uint32_t ChunkTexts::add(std::string_view text) {
  const std::uint64_t hash = hash_of(text);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const std::uint32_t found = slots_[at];
    if (found == 0) {
      const auto number = static_cast<std::uint32_t>(texts_.size());
      slots_[at] = number + 1;
      hashes_.push_back(hash);
      texts_.push_back(text);
      if (texts_.size() * 2 > slots_.size()) grow();
      return number;
    }
    if (hashes_[found - 1] == hash && texts_[found - 1] == text) return found - 1;
  }
}

void ChunkTexts::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    std::size_t at = hashes_[i] & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = static_cast<std::uint32_t>(i + 1);
  }
}

void ChunkTexts::clear() {
  slots_.assign(256, 0);
  hashes_.clear();
  texts_.clear();
}

// The values of an event that matter, as tokens.
struct Chunk::Fields {
  std::string_view phase, name, category, process, thread, time, duration, id, id2, scope, args, bind_id, flow_in,
      flow_out;
  bool local_id = false;

  // {"local": "0x1"} or {"global": "0x1"}
  void resolve_id2() {
    std::string_view found;
    each_member(id2, [&](std::string_view key, std::string_view inner) {
      local_id = key == "local";
      found = inner;
    });
    id2 = found;
  }

  // Where the value of a key goes; `key` ends in a quote.
  std::string_view* of(const char* key) {
    switch (key[0]) {
      case 'p':
        if (key[1] == 'h' && key[2] == '"') return &phase;
        if (key[1] == 'i' && key[2] == 'd' && key[3] == '"') return &process;
        break;
      case 't':
        if (key[1] == 's' && key[2] == '"') return &time;
        if (key[1] == 'i' && key[2] == 'd' && key[3] == '"') return &thread;
        break;
      case 'd':
        if (key[1] == 'u' && key[2] == 'r' && key[3] == '"') return &duration;
        break;
      case 'n':
        if (key[1] == 'a' && key[2] == 'm' && key[3] == 'e' && key[4] == '"') return &name;
        break;
      case 'c':
        if (key[1] == 'a' && key[2] == 't' && key[3] == '"') return &category;
        break;
      case 'i':
        if (key[1] == 'd' && key[2] == '"') return &id;
        if (key[1] == 'd' && key[2] == '2' && key[3] == '"') return &id2;
        break;
      case 's':
        if (std::strncmp(key, "scope\"", 6) == 0) return &scope;
        break;
      case 'b':
        if (std::strncmp(key, "bind_id\"", 8) == 0) return &bind_id;
        break;
      case 'f':
        if (std::strncmp(key, "flow_in\"", 8) == 0) return &flow_in;
        if (std::strncmp(key, "flow_out\"", 9) == 0) return &flow_out;
        break;
      case 'a':
        if (key[1] == 'r' && key[2] == 'g' && key[3] == 's' && key[4] == '"') return &args;
        break;
      default:
        break;
    }
    return nullptr;
  }
};

void Chunk::clear() {
  events.clear();
  texts.clear();
  threads.clear();
  thread_numbers_.clear();
  last_number_ = ParsedEvent::kNone;
  malformed = 0;
}

std::uint32_t Chunk::thread_number(std::string_view process, std::string_view thread) {
  if (last_number_ != ParsedEvent::kNone && process == last_process_ && thread == last_thread_) return last_number_;
  last_process_ = process;
  last_thread_ = thread;
  ChunkThread one;
  if (!process.empty()) one.process = texts.add(process);
  if (!thread.empty()) one.thread = texts.add(thread);
  const auto [found, fresh] = thread_numbers_.emplace(std::uint64_t{one.process} << 32 | one.thread,
                                                      static_cast<std::uint32_t>(threads.size()));
  if (fresh) threads.push_back(one);
  return last_number_ = found->second;
}

void Chunk::take(const Fields& fields, std::uint64_t offset) {
  ParsedEvent event;
  const std::string_view phase = plain(fields.phase);
  if (phase.size() == 1) event.phase = phase.front();
  event.offset = offset;
  if (!fields.name.empty()) event.name = texts.add(plain(fields.name));
  if (!fields.category.empty()) event.category = texts.add(plain(fields.category));
  event.thread = thread_number(plain(fields.process), plain(fields.thread));
  if (const auto time = nanoseconds(fields.time)) {
    event.time_ns = *time;
    event.has_time = true;
  }
  if (!fields.duration.empty()) {
    if (const auto duration = nanoseconds(fields.duration)) {
      event.duration_ns = *duration;
      event.has_duration = true;
    }
  }
  event.id = plain(fields.id.empty() ? fields.id2 : fields.id);
  event.local_id = fields.id.empty() && fields.local_id;
  event.scope = plain(fields.scope);
  event.args = fields.args;
  event.bind_id = plain(fields.bind_id);
  event.flow_in = fields.flow_in.starts_with("true");
  event.flow_out = fields.flow_out.starts_with("true");
  events.push_back(event);
}

bool Chunk::parse(std::string_view text) {
  clear();
  const std::size_t size = end - begin;
  buffer_.resize(size + 2 + simdjson::SIMDJSON_PADDING);
  buffer_[0] = '[';
  std::memcpy(buffer_.data() + 1, text.data() + begin, size);
  buffer_[size + 1] = ']';
  std::memset(buffer_.data() + size + 2, ' ', simdjson::SIMDJSON_PADDING);
  thread_local od::parser parser;
  od::document document;
  if (parser.iterate(simdjson::padded_string_view(buffer_.data(), size + 2, buffer_.size())).get(document))
    return false;
  od::array list;
  if (document.get_array().get(list)) return false;
  const char* const last = buffer_.data() + size + 2;
  for (auto item : list) {
    od::value value;
    if (item.get(value)) return false;
    const char* const start = value.raw_json_token().data();
    od::object object;
    if (value.get_object().get(object)) return false;
    Fields fields;
    for (auto&& member : object) {
      od::field field;
      if (std::move(member).get(field)) return false;
      if (std::string_view* wanted = fields.of(field.key().raw())) {
        const std::string_view token = field.value().raw_json_token();
        *wanted = wanted == &fields.args || wanted == &fields.id2
                      ? std::string_view(token.data(), static_cast<std::size_t>(last - token.data()))
                      : token;
      }
    }
    if (!fields.id2.empty()) fields.resolve_id2();
    take(fields, begin + static_cast<std::size_t>(start - buffer_.data()) - 1);
  }
  const char* rest = nullptr;
  return document.current_location().get(rest) != simdjson::SUCCESS;
}

void Chunk::parse_slowly(std::string_view text) {
  clear();
  JsonScanner scanner(Blob({}, as_bytes(text.substr(begin, end - begin)), nullptr));
  while (!scanner.at_end()) {
    // Commas may be missing, as in what several programs append to one file, or too many.
    if (scanner.accept(',')) continue;
    const std::string_view piece = scanner.skip_value();
    if (!scanner.ok()) return;
    JsonScanner event(Blob({}, as_bytes(piece), nullptr));
    Fields fields;
    bool first_key = true;
    if (event.expect('{')) {
      while (const auto key = event.next_key(first_key)) {
        const std::string_view value = event.skip_value();
        if (!event.ok()) break;
        // The quote behind the key is in the text as well.
        if (std::string_view* wanted = fields.of(key->data())) *wanted = value;
      }
    }
    if (!fields.id2.empty()) fields.resolve_id2();
    const std::uint64_t offset = begin + scanner.offset_of(piece);
    if (!event.ok() || fields.phase.empty()) {
      if (malformed++ == 0) bad_offset = offset;
      continue;
    }
    take(fields, offset);
  }
}

}  // namespace fathom::chrome
