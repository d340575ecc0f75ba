#include "formats/pprof/pprof_file.hpp"

#include <fmt/format.h>

namespace fathom::pprof {

namespace {

using protobuf::Field;
using protobuf::Reader;
using protobuf::Wire;

ValueType value_type(std::string_view message) {
  ValueType out;
  Reader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == 1) out.type = field.value;
    if (field.number == 2) out.unit = field.value;
  }
  return out;
}

const char* read_mapping(std::string_view message, Mapping& out) {
  Reader reader(message);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case 1:
        out.id = field.value;
        break;
      case 2:
        out.start = field.value;
        break;
      case 3:
        out.limit = field.value;
        break;
      case 4:
        out.offset = field.value;
        break;
      case 5:
        out.filename = field.value;
        break;
      case 6:
        out.build_id = field.value;
        break;
      case 7:
        out.has_functions = field.value != 0;
        break;
      case 8:
        out.has_filenames = field.value != 0;
        break;
      case 9:
        out.has_line_numbers = field.value != 0;
        break;
      case 10:
        out.has_inline_frames = field.value != 0;
        break;
      default:
        break;
    }
  }
  return reader.failed();
}

const char* read_line(std::string_view message, Line& out) {
  Reader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == 1) out.function_id = field.value;
    if (field.number == 2) out.line = field.integer();
    if (field.number == 3) out.column = field.integer();
  }
  return reader.failed();
}

const char* read_location(std::string_view message, Location& out) {
  Reader reader(message);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case 1:
        out.id = field.value;
        break;
      case 2:
        out.mapping_id = field.value;
        break;
      case 3:
        out.address = field.value;
        break;
      case 4:
        if (const char* failed = read_line(field.bytes, out.lines.emplace_back()); failed != nullptr) return failed;
        break;
      case 5:
        out.is_folded = field.value != 0;
        break;
      default:
        break;
    }
  }
  return reader.failed();
}

const char* read_function(std::string_view message, Function& out) {
  Reader reader(message);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case 1:
        out.id = field.value;
        break;
      case 2:
        out.name = field.value;
        break;
      case 3:
        out.system_name = field.value;
        break;
      case 4:
        out.filename = field.value;
        break;
      case 5:
        out.start_line = field.integer();
        break;
      default:
        break;
    }
  }
  return reader.failed();
}

// Fields that are messages or texts must come as bytes.
bool wants_bytes(std::uint32_t number) { return number <= 6 || number == 11; }

class FileReader {
 public:
  FileReader(const Blob& blob, const Work& work) : work_(work) { file_.blob = blob; }

  Result<std::shared_ptr<const PprofFile>> run() {
    Reader reader(file_.blob.text());
    const char* damage = nullptr;
    for (Field field; damage == nullptr && reader.next(field);) {
      damage = wants_bytes(field.number) && field.wire != Wire::bytes ? "a message is not stored as one" : take(field);
    }
    if (damage == nullptr) damage = reader.failed();
    file_.sound = damage == nullptr ? file_.blob.size() : reader.at();
    if (damage != nullptr) {
      const Place place = file_.blob.place(reader.at());
      if (file_.sample_types.empty() || file_.sample_count == 0) {
        return Error(fmt::format("not a sound pprof profile: {}", damage), place);
      }
      FATHOM_CHECK(
          work_->diagnostics.lost("pprof.damaged", place, fmt::format("{}; what comes before is used", damage)));
    }
    if (file_.sample_types.empty()) {
      return Error("has no sample types: it is no pprof profile", file_.blob.place());
    }
    FATHOM_CHECK(index());
    return std::shared_ptr<const PprofFile>(std::make_shared<PprofFile>(std::move(file_)));
  }

 private:
  const char* take(const Field& field) {
    switch (field.number) {
      case 1:
        file_.sample_types.push_back(value_type(field.bytes));
        return nullptr;
      case SampleCursor::kSample:
        ++file_.sample_count;
        return nullptr;
      case 3:
        return read_mapping(field.bytes, file_.mappings.emplace_back());
      case 4:
        return read_location(field.bytes, file_.locations.emplace_back());
      case 5:
        return read_function(field.bytes, file_.functions.emplace_back());
      case 6:
        file_.strings.push_back(field.bytes);
        return nullptr;
      case 7:
        file_.drop_frames = field.value;
        return nullptr;
      case 8:
        file_.keep_frames = field.value;
        return nullptr;
      case 9:
        file_.time_nanos = field.integer();
        return nullptr;
      case 10:
        file_.duration_nanos = field.integer();
        return nullptr;
      case 11:
        file_.period_type = value_type(field.bytes);
        return nullptr;
      case 12:
        file_.period = field.integer();
        return nullptr;
      case 13:
        return protobuf::integers(field, [&](std::uint64_t value) { file_.comments.push_back(value); })
                   ? nullptr
                   : "a varint does not end";
      case 14:
        file_.default_sample_type = field.value;
        return nullptr;
      case 15:
        file_.doc_url = field.value;
        return nullptr;
      default:
        return nullptr;  // of a newer version
    }
  }

  Result<void> index() {
    if (file_.strings.empty() || !file_.strings.front().empty()) {
      FATHOM_CHECK(work_->diagnostics.warn("pprof.strings", file_.blob.place(),
                                           "the first text of the string table is not the empty one"));
    }
    std::uint64_t repeated = 0;
    const auto add = [&](auto& map, const auto& list) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (!map.emplace(list[i].id, static_cast<std::uint32_t>(i)).second) ++repeated;
      }
    };
    add(file_.mapping_index, file_.mappings);
    add(file_.location_index, file_.locations);
    add(file_.function_index, file_.functions);
    FATHOM_CHECK(judge_strings());
    if (repeated == 0) return {};
    return work_->diagnostics.add("pprof.repeated_id", Severity::warning, file_.blob.place(),
                                  "an id of a mapping, location or function is used twice; the first one counts",
                                  repeated);
  }

  // What has no text is shown without one.
  Result<void> judge_strings() {
    std::uint64_t unknown = 0;
    const auto judge = [&](std::initializer_list<std::uint64_t> numbers) {
      for (const std::uint64_t number : numbers) unknown += number != 0 && number >= file_.strings.size() ? 1 : 0;
    };
    for (const ValueType& one : file_.sample_types) judge({one.type, one.unit});
    for (const Mapping& one : file_.mappings) judge({one.filename, one.build_id});
    for (const Function& one : file_.functions) judge({one.name, one.system_name, one.filename});
    if (unknown == 0) return {};
    return work_->diagnostics.add("pprof.string_number", Severity::warning, file_.blob.place(),
                                  "a text is named by a number that the string table does not have; it is empty",
                                  unknown);
  }

  PprofFile file_;
  Work work_;
};

}  // namespace

bool PprofFile::unpack(Sample& sample) {
  const Field field{1, Wire::bytes, 0, sample.packed};
  return protobuf::integers(field, [&](std::uint64_t id) { sample.locations.push_back(id); });
}

namespace {

// Locations in one piece and values in another, each of less than 128 bytes, and nothing else: what most samples are.
// False = it may be anything else; nothing but values was changed.
bool read_plain(std::string_view message, Sample& sample) {
  constexpr std::uint8_t kLocations = 1 << 3 | static_cast<std::uint8_t>(Wire::bytes);
  constexpr std::uint8_t kValues = 2 << 3 | static_cast<std::uint8_t>(Wire::bytes);
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(message[at]); };
  if (message.size() < 4 || byte(0) != kLocations || byte(1) == 0 || byte(1) >= 0x80) return false;
  const std::size_t locations = byte(1);
  if (message.size() < locations + 4 || byte(locations + 2) != kValues) return false;
  const std::string_view values = message.substr(locations + 4);
  if (byte(locations + 3) >= 0x80 || byte(locations + 3) != values.size()) return false;
  const Field field{2, Wire::bytes, 0, values};
  const auto take = [&](std::uint64_t value) { sample.values.push_back(static_cast<std::int64_t>(value)); };
  if (!protobuf::integers(field, take)) return false;
  sample.packed = message.substr(2, locations);
  return true;
}

}  // namespace

bool PprofFile::read_packed(std::string_view message, Sample& sample) {
  sample.locations.clear();
  sample.values.clear();
  sample.labels.clear();
  sample.packed = {};
  if (read_plain(message, sample)) return true;
  sample.values.clear();
  Reader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == 1) {
      const bool first = sample.packed.empty() && sample.locations.empty();
      if (first && field.wire == Wire::bytes) {
        sample.packed = field.bytes;
        continue;
      }
      if (!unpack(sample)) return false;
      sample.packed = {};
      if (!protobuf::integers(field, [&](std::uint64_t id) { sample.locations.push_back(id); })) return false;
    } else if (field.number == 2) {
      if (!protobuf::integers(
              field, [&](std::uint64_t value) { sample.values.push_back(static_cast<std::int64_t>(value)); })) {
        return false;
      }
    } else if (field.number == 3) {
      Label& label = sample.labels.emplace_back();
      Reader inner(field.bytes);
      for (Field part; inner.next(part);) {
        if (part.number == 1) label.key = part.value;
        if (part.number == 2) label.str = part.value;
        if (part.number == 3) label.num = part.integer();
        if (part.number == 4) label.num_unit = part.value;
      }
      if (inner.failed() != nullptr) return false;
    }
  }
  return reader.failed() == nullptr;
}

Result<std::shared_ptr<const PprofFile>> read(const Blob& blob, const Work& work) {
  return FileReader(blob, work).run();
}

}  // namespace fathom::pprof
