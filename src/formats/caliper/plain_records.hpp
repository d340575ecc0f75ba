// Lines of a Caliper stream, many at once and before it is known what their numbers mean. Most are plain: values with
// the node that they belong to.
#pragma once

#include <string_view>
#include <vector>

#include "formats/caliper/records.hpp"
#include "io/line_cursor.hpp"

namespace fathom::caliper {

// Until the numbers are looked up, the path of a record is the number of its node and the attributes of its entries are
// those of the file.
struct PlainPiece {
  static constexpr std::uint32_t kNoNode = 0xFFFFFFFF;
  static constexpr std::uint32_t kOther = 0xFFFFFFFE;  // the path of a record that stands for another line

  struct Other {
    std::string_view line;
    std::uint64_t number = 0;  // of the line, from 1 in the piece
  };

  RecordPiece records;  // of another line: with room for all the entries that it can have
  std::vector<Other> others;
  std::uint64_t lines = 0;

  void read(LineCursor text);

 private:
  bool take(std::string_view line);
};

}  // namespace fathom::caliper
