// profile.proto as the file has it: tables with ids and string numbers; samples stay where they are until they are
// asked for.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/work.hpp"
#include "io/blob.hpp"
#include "io/protobuf.hpp"

namespace fathom::pprof {

struct ValueType {
  std::uint64_t type = 0;  // these are numbers of strings
  std::uint64_t unit = 0;
};

struct Mapping {
  std::uint64_t id = 0, start = 0, limit = 0, offset = 0;
  std::uint64_t filename = 0, build_id = 0;
  bool has_functions = false, has_filenames = false, has_line_numbers = false, has_inline_frames = false;
};

struct Line {
  std::uint64_t function_id = 0;
  std::int64_t line = 0;
  std::int64_t column = 0;
};

struct Location {
  std::uint64_t id = 0, mapping_id = 0, address = 0;
  bool is_folded = false;
  std::vector<Line> lines;  // the innermost inlined function first
};

struct Function {
  std::uint64_t id = 0, name = 0, system_name = 0, filename = 0;
  std::int64_t start_line = 0;
};

struct Label {
  std::uint64_t key = 0, str = 0, num_unit = 0;
  std::int64_t num = 0;
  friend bool operator==(const Label&, const Label&) = default;
};

struct Sample {
  std::vector<std::uint64_t> locations;  // ids, leaf first
  std::string_view packed;               // as the file has them; empty = not in one piece
  std::vector<std::int64_t> values;
  std::vector<Label> labels;
};

// The messages of the samples, one after the other. A list of them would be a third of the file.
class SampleCursor {
 public:
  static constexpr std::uint32_t kSample = 2;

  explicit SampleCursor(std::string_view text) : reader_(text) {}
  bool next(std::string_view& message) {
    for (protobuf::Field field; reader_.next(field);) {
      message = field.bytes;
      if (field.number == kSample) return true;
    }
    return false;
  }

 private:
  protobuf::Reader reader_;
};

// MT: safe (const).
struct PprofFile {
  Blob blob;
  std::size_t sound = 0;  // bytes of it that could be read
  std::vector<ValueType> sample_types;
  std::uint64_t sample_count = 0;
  std::vector<Mapping> mappings;
  std::vector<Location> locations;
  std::vector<Function> functions;
  std::vector<std::string_view> strings;
  std::uint64_t drop_frames = 0, keep_frames = 0, default_sample_type = 0, doc_url = 0;
  std::int64_t time_nanos = 0, duration_nanos = 0, period = 0;
  ValueType period_type;
  std::vector<std::uint64_t> comments;
  std::unordered_map<std::uint64_t, std::uint32_t> location_index, function_index, mapping_index;  // by id

  [[nodiscard]] SampleCursor samples() const { return SampleCursor(blob.text().substr(0, sound)); }
  // "" for a number that no string has.
  [[nodiscard]] std::string_view string(std::uint64_t number) const {
    return number < strings.size() ? strings[number] : std::string_view();
  }
  // False when it is malformed; what could be read is there. Locations that come in one piece stay packed.
  static bool read_packed(std::string_view message, Sample& sample);
  // Adds the locations that are packed; false when they are malformed.
  static bool unpack(Sample& sample);
  static bool read(std::string_view message, Sample& sample) { return read_packed(message, sample) && unpack(sample); }
  [[nodiscard]] Place place(std::string_view part) const {
    return blob.place(static_cast<std::uint64_t>(part.data() - blob.text().data()));
  }
};

// What comes before damage is kept and the rest reported.
Result<std::shared_ptr<const PprofFile>> read(const Blob& blob, const Work& work);

}  // namespace fathom::pprof
