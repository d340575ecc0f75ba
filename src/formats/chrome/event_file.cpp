#include "formats/chrome/event_file.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "io/json_scanner.hpp"

namespace fathom::chrome {

namespace {

constexpr std::size_t kChunk = std::size_t{2} << 20;
constexpr std::size_t kLongestValue = 4096;  // of keys beside the events that are kept

bool is_white(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// The list of events, from its first element on.
class EventList {
 public:
  EventList(const Blob& blob, std::size_t begin, const Work& work,
            const std::function<Result<void>(const Chunk&)>& take)
      : blob_(blob), text_(blob.text()), at_(begin), work_(work), take_(take) {
    skip_white(at_);
    first_key_ = key_at(at_);
  }

  Result<void> read() {
    Progress progress("reading events", text_.size() - at_);
    std::vector<Chunk> chunks(std::max<std::size_t>(thread_count(), 1) * 2);
    std::vector<char> sound(chunks.size());
    while (!over_) {
      const std::size_t count = lay_out(chunks);
      FATHOM_CHECK(parallel_for(count, [&](std::size_t i) -> Result<void> {
        sound[i] = chunks[i].parse(text_);
        return {};
      }));
      for (std::size_t i = 0; i < count && !over_; ++i) {
        const std::size_t before = at_;
        bool as_laid_out = true;
        if (!sound[i]) as_laid_out = repair(chunks[i]);
        FATHOM_CHECK(use(chunks[i]));
        advance(chunks[i].end);
        progress.advance(at_ - before);
        // Nothing that could be passed over, or nothing behind the last whole event.
        const bool stuck = at_ == before || (as_laid_out && last_ && i + 1 == count);
        if (!over_ && stuck) over_ = cut_off_ = true;
        if (!as_laid_out) break;
      }
    }
    return {};
  }

  // Behind the closing bracket.
  [[nodiscard]] std::size_t end() const { return at_; }
  [[nodiscard]] bool cut_off() const { return cut_off_; }

 private:
  void skip_white(std::size_t& at) const {
    while (at < text_.size() && is_white(text_[at])) ++at;
  }
  // The first key of an event that begins here; empty when there is none.
  [[nodiscard]] std::string_view key_at(std::size_t at) const {
    if (at >= text_.size() || text_[at] != '{') return {};
    ++at;
    skip_white(at);
    if (at >= text_.size() || text_[at] != '"') return {};
    const std::size_t end = text_.find('"', at + 1);
    return end == std::string_view::npos || end - at > 64 ? std::string_view{} : text_.substr(at, end - at);
  }

  // The first place behind `from` that looks like "},{" between two events; the end of the text when there is none.
  // Whether it is one shows when what lies before it is parsed.
  struct Seam {
    std::size_t end;   // of the event before
    std::size_t next;  // begin of the one behind
  };
  [[nodiscard]] std::optional<Seam> find_seam(std::size_t from) const {
    for (std::size_t at = from; (at = text_.find('}', at)) != std::string_view::npos; ++at) {
      std::size_t next = at + 1;
      skip_white(next);
      if (next >= text_.size() || text_[next] != ',') continue;
      ++next;
      skip_white(next);
      const std::string_view key = key_at(next);
      if (!key.empty() && key == first_key_) return Seam{at + 1, next};
    }
    return std::nullopt;
  }

  // Chunks from here on, as far as seams are found; the last one of all is measured exactly.
  std::size_t lay_out(std::vector<Chunk>& chunks) {
    std::size_t begin = at_;
    std::size_t count = 0;
    last_ = false;
    while (count < chunks.size() && !last_) {
      Chunk& chunk = chunks[count++];
      chunk.begin = begin;
      const auto seam = text_.size() - begin > kChunk ? find_seam(begin + kChunk) : std::nullopt;
      if (seam) {
        chunk.end = seam->end;
        begin = seam->next;
      } else {
        chunk.end = measure(begin, text_.size());
        last_ = true;
      }
    }
    return count;
  }

  // The end of the last event that begins before `until`, by matching brackets from a place that is known to be between
  // events.
  [[nodiscard]] std::size_t measure(std::size_t begin, std::size_t until) const {
    JsonScanner scanner(blob_.part(begin, blob_.size() - begin));
    std::size_t end = begin;
    while (begin + scanner.offset() < until) {
      const char c = scanner.peek();
      if (c == 0 || c == ']') break;
      if (c == ',') {
        scanner.accept(',');
        continue;
      }
      scanner.skip_value();
      if (!scanner.ok()) break;
      end = begin + scanner.offset();
    }
    return end;
  }

  // A chunk that cannot be parsed as it was laid out: its end was none, or there is something wrong inside. False = the
  // chunks behind it begin in the wrong places.
  bool repair(Chunk& chunk) {
    const std::size_t end = measure(chunk.begin, chunk.end);
    const bool right = end == chunk.end;
    chunk.end = end;
    if (right || !chunk.parse(text_)) chunk.parse_slowly(text_);
    return right;
  }

  Result<void> use(const Chunk& chunk) {
    if (chunk.malformed > 0) {
      FATHOM_CHECK(work_->diagnostics.add("chrome.malformed_event", Severity::data_loss, blob_.place(chunk.bad_offset),
                                          "is no event: an object with \"ph\" is expected", chunk.malformed));
    }
    return take_(chunk);
  }

  // To the next event behind a chunk, or out of the list.
  void advance(std::size_t end) {
    at_ = end;
    for (;;) {
      skip_white(at_);
      if (at_ >= text_.size()) {
        over_ = cut_off_ = true;
        return;
      }
      if (text_[at_] == ']') {
        ++at_;
        over_ = true;
        return;
      }
      if (text_[at_] != ',') return;
      ++at_;
    }
  }

  const Blob& blob_;
  std::string_view text_;
  std::size_t at_;
  Work work_;
  const std::function<Result<void>(const Chunk&)>& take_;
  std::string_view first_key_;
  bool last_ = false;  // the chunks that are laid out reach the end of the list
  bool over_ = false;
  bool cut_off_ = false;
};

}  // namespace

Result<EventFile> read_events(const Blob& blob, const Work& work,
                              const std::function<Result<void>(const Chunk&)>& take) {
  EventFile file;
  std::size_t at = 0;
  const auto read_list = [&](std::size_t begin) -> Result<void> {
    EventList list(blob, begin, work, take);
    FATHOM_CHECK(list.read());
    at = list.end();
    file.cut_off = list.cut_off();
    return {};
  };
  JsonScanner start(blob);
  if (start.accept('[')) {
    FATHOM_CHECK(read_list(start.offset()));
    return file;
  }
  if (!start.expect('{')) return start.status().error();
  at = start.offset();
  bool found = false;
  bool first = true;
  while (at < blob.size() && !file.cut_off) {
    JsonScanner scanner(blob.part(at, blob.size() - at));
    const auto key = scanner.next_key(first);
    if (!key) {
      if (!scanner.ok()) {
        if (!found) return scanner.status().error();
        FATHOM_CHECK(
            work->diagnostics.warn("chrome.trailing_text", scanner.status().error().place(),
                                   "what stands behind the events cannot be read: " + scanner.status().error().what()));
      }
      break;
    }
    if (*key == "traceEvents" && scanner.accept('[')) {
      found = true;
      FATHOM_CHECK(read_list(at + scanner.offset()));
      continue;
    }
    const std::string_view value = scanner.skip_value();
    if (!scanner.ok()) {
      if (!found) return scanner.status().error();
      FATHOM_CHECK(
          work->diagnostics.warn("chrome.trailing_text", scanner.status().error().place(),
                                 "what stands behind the events cannot be read: " + scanner.status().error().what()));
      break;
    }
    file.others.emplace(std::string(*key), std::string(value.substr(0, kLongestValue)));
    at += scanner.offset();
  }
  if (!found) return Error("has no list \"traceEvents\"", blob.place());
  return file;
}

}  // namespace fathom::chrome
