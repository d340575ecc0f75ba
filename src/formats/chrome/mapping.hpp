// Events of a Chrome trace into a store: (process, thread) are rows, complete events and pairs of begin and end slices.
#pragma once

#include <array>
#include <map>

#include "formats/chrome/chrome_trace.hpp"

namespace fathom::chrome {

class ChromeMapping {
 public:
  explicit ChromeMapping(ChromeTrace& trace) : trace_(trace), store_(trace.store_) {}

  Result<void> take(const Chunk& chunk);
  Result<void> finish(const EventFile& file);

 private:
  struct Process {
    std::string id;
    std::string name;
    std::string labels;
    double sort_index = 0;
    bool used = false;
  };
  struct Row {
    std::uint32_t process;
    std::string id;  // of the thread; empty = of the process
    std::string name;
    bool floating = false;  // things under way of one category
    double sort_index = 0;
    bool used = false;
  };

  // An event to which ends of arrows may belong that stand behind it.
  struct Before {
    std::uint32_t row = UINT32_MAX;  // = none
    std::int64_t time_ns = 0;
    std::uint64_t record = 0;
    bool is_point = false;  // the last one of the store; else a slice
  };

  std::uint32_t process(std::string_view id);
  std::uint32_t row(std::uint32_t process, std::string_view id, bool floating);
  void take(const ParsedEvent& event, const Chunk& chunk);
  void metadata(const ParsedEvent& event, std::string_view name, std::uint32_t row);
  void counters(const ParsedEvent& event, std::string_view name, std::uint32_t row);
  bool message(const ParsedEvent& event, std::string_view name, std::uint32_t row);
  bool collective(const ParsedEvent& event, std::uint32_t row);
  std::uint32_t call_region(std::string_view name);
  Event marked(const ParsedEvent& event, std::string_view name);
  void flow(const ParsedEvent& event, std::string_view name, std::string_view category, std::uint32_t row);
  bool own_arrow(const ParsedEvent& event, std::uint32_t row);
  void bound_flow(const ParsedEvent& event, std::uint32_t row);
  void floating(const ParsedEvent& event, std::string_view name, std::string_view category, std::uint32_t process,
                std::uint32_t region, bool begins);
  std::uint32_t region(std::uint32_t text, const Chunk& chunk, std::string_view category);
  Result<void> note_losses() const;
  Result<void> note_other_lists(const EventFile& file) const;
  void describe(const EventFile& file);
  [[nodiscard]] std::int64_t shift(const EventFile& file) const;

  ChromeTrace& trace_;
  SliceStore& store_;
  NameTable regions_, markers_, metrics_, process_ids_, communicators_;
  std::vector<std::string> paradigms_;  // by region
  std::vector<Process> processes_;
  std::vector<Row> rows_;
  std::map<std::tuple<std::uint32_t, bool, std::string>, std::uint32_t, std::less<>> row_numbers_;
  // Of the chunk at hand.
  std::vector<std::uint32_t> chunk_regions_, chunk_rows_, chunk_processes_;
  Before before_;
  std::array<std::uint64_t, 256> ignored_{};  // by phase
  std::uint64_t untimed_ = 0, negative_ = 0, lengthless_ = 0, nameless_counters_ = 0;
  std::int64_t latest_ns_ = INT64_MIN;
};

}  // namespace fathom::chrome
