// A piece of the list of events, parsed: events with numbers in place of texts, which point into the piece.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fathom::chrome {

struct ParsedEvent {
  std::int64_t time_ns = 0;
  std::int64_t duration_ns = 0;
  std::uint64_t offset = 0;  // in the file
  std::string_view id;       // as it stands
  std::string_view scope;
  std::string_view bind_id;
  std::string_view args;       // from its bracket on, its end is not known
  std::uint32_t name = kNone;  // of the chunk's texts
  std::uint32_t category = kNone;
  std::uint32_t thread = kNone;  // of the chunk's threads
  char phase = 0;
  bool has_time = false;
  bool has_duration = false;
  bool flow_in = false;
  bool flow_out = false;
  bool local_id = false;  // the id is one of its process

  static constexpr std::uint32_t kNone = UINT32_MAX;
};

// Texts of a chunk to numbers; the texts are not copied.
class ChunkTexts {
 public:
  ChunkTexts() : slots_(256) {}
  std::uint32_t add(std::string_view text);
  void clear();
  [[nodiscard]] const std::vector<std::string_view>& texts() const { return texts_; }

 private:
  void grow();
  std::vector<std::uint32_t> slots_;  // 0 = free, else number + 1
  std::vector<std::uint64_t> hashes_;
  std::vector<std::string_view> texts_;
};

struct ChunkThread {
  std::uint32_t process = ParsedEvent::kNone;  // of the texts; none = not said
  std::uint32_t thread = ParsedEvent::kNone;
};

class Chunk {
 public:
  std::size_t begin = 0;  // in the file: first event
  std::size_t end = 0;    // behind the last one
  std::vector<ParsedEvent> events;
  ChunkTexts texts;
  std::vector<ChunkThread> threads;
  std::uint64_t malformed = 0;   // events that are none
  std::uint64_t bad_offset = 0;  // of the first of them

  // Parses text[begin, end) as events with commas between; false = it is not that.
  bool parse(std::string_view text);
  // The same event by event, leaving out what is malformed.
  void parse_slowly(std::string_view text);

 private:
  struct Fields;
  void clear();
  void take(const Fields& fields, std::uint64_t offset);
  std::uint32_t thread_number(std::string_view process, std::string_view thread);

  std::vector<char> buffer_;
  std::unordered_map<std::uint64_t, std::uint32_t> thread_numbers_;
  std::string_view last_process_, last_thread_;
  std::uint32_t last_number_ = ParsedEvent::kNone;
};

}  // namespace fathom::chrome
