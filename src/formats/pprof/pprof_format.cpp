#include "formats/pprof/pprof_format.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/visible.hpp"
#include "formats/pprof/pprof_file.hpp"
#include "formats/pprof/pprof_writer.hpp"
#include "formats/pprof/to_profile.hpp"
#include "formats/stack_file.hpp"
#include "profile/export/stack_export.hpp"

namespace fathom::pprof {

namespace {

// What gperftools and old Go programs wrote before there was profile.proto.
const char* legacy_name(const Blob& blob) {
  const std::string_view text = blob.text();
  for (const char* start : {"heap profile:", "heap_v2/", "--- heap", "--- contention", "--- mutex", "--- thread",
                            "--- threadz", "goroutine profile:"}) {
    if (text.starts_with(start)) return "a text profile in the old form of gperftools and Go";
  }
  // Words 0, 3, 0, period, 0; of 8 or 4 bytes, in either order.
  const auto words = [&](std::size_t size) {
    if (text.size() < 5 * size) return false;
    const auto is = [&](std::size_t word, std::uint8_t value) {
      std::size_t sum = 0;
      for (std::size_t i = 0; i < size; ++i) sum += static_cast<std::uint8_t>(text[word * size + i]);
      return sum == value && (value == 0 || text[word * size] == static_cast<char>(value) ||
                              text[word * size + size - 1] == static_cast<char>(value));
    };
    return is(0, 0) && is(1, 3) && is(2, 0) && is(4, 0);
  };
  if (words(8) || words(4)) return "a CPU profile in the old form of gperftools";
  return nullptr;
}

// Both of its texts may be the empty one, which is not written at all.
bool is_value_type(std::string_view message) {
  protobuf::Reader reader(message);
  bool any = message.empty();
  for (protobuf::Field field; reader.next(field);) {
    if (field.number > 2 || field.wire != protobuf::Wire::varint || field.value > (1U << 24)) return false;
    any = any || field.number == 1;
  }
  return any && reader.failed() == nullptr;
}

bool is_sample(std::string_view message) {
  protobuf::Reader reader(message);
  for (protobuf::Field field; reader.next(field);) {
    const bool bytes = field.wire == protobuf::Wire::bytes;
    if (field.number > 3 || (!bytes && field.wire != protobuf::Wire::varint) || (field.number == 3 && !bytes))
      return false;
  }
  return reader.failed() == nullptr;
}

Match recognise(const Source& source) {
  if (source.is_directory() || source.blob().size() == 0) return {};
  if (const char* legacy = legacy_name(source.blob()); legacy != nullptr) return {Confidence::maybe, legacy};
  protobuf::Reader reader(source.blob().text());
  constexpr int kLookedAt = 4096;  // fields
  int types = 0;
  int unnamed = 0;
  int others = 0;
  bool empty_string_first = false;
  bool strings = false;
  protobuf::Field field;
  for (int i = 0; i < kLookedAt && reader.next(field); ++i) {
    const bool bytes = field.wire == protobuf::Wire::bytes;
    const bool message = field.number <= 6 || field.number == 11;
    if (field.number > 15 || (message && !bytes) || (!message && field.number != 13 && bytes)) return {};
    if (field.number == 1) {
      if (!is_value_type(field.bytes)) return {};
      ++types;
      if (field.bytes.empty()) ++unnamed;
    } else if (field.number == 2) {
      if (!is_sample(field.bytes)) return {};
      ++others;
    } else if (field.number == 6 && !strings) {
      strings = true;
      empty_string_first = field.bytes.empty();
    }
  }
  if (types == 0 || (others == 0 && !empty_string_first)) return {};
  if (unnamed == types && (others == 0 || !empty_string_first)) return {};
  if (empty_string_first && reader.failed() == nullptr) {
    return {Confidence::certain, "protocol buffer with sample types, samples and a string table"};
  }
  return {Confidence::likely, "protocol buffer that begins with sample types and samples"};
}

class PprofDataset final : public StackFileDataset {
 public:
  PprofDataset(const Source& source, const Work& work, std::shared_ptr<const PprofFile> file)
      : StackFileDataset(pprof::format(), source, work), file_(std::move(file)) {}

  [[nodiscard]] std::vector<InfoEntry> more_info() const override {
    return {{"samples", file_->sample_count}, {"mappings", std::uint64_t{file_->mappings.size()}}};
  }
  Result<ProfilePtr> make_profile() override { return to_profile(*file_, work()); }

  Result<void> dump(const DumpOptions&, const TextSink& sink) override {
    const auto put = [&](std::string_view text) { return sink(visible(text) + "\n"); };
    for (const ValueType& type : file_->sample_types) {
      if (!put(fmt::format("sample_type {}/{}", file_->string(type.type), file_->string(type.unit)))) return {};
    }
    if (file_->period != 0) {
      put(fmt::format("period {} {}/{}", file_->period, file_->string(file_->period_type.type),
                      file_->string(file_->period_type.unit)));
    }
    Sample sample;
    SampleCursor samples = file_->samples();
    for (std::string_view message; samples.next(message);) {
      (void)PprofFile::read(message, sample);
      std::string labels;
      for (const Label& label : sample.labels) {
        labels += label.str != 0
                      ? fmt::format(" {}:{}", file_->string(label.key), file_->string(label.str))
                      : fmt::format(" {}:{}{}", file_->string(label.key), label.num, file_->string(label.num_unit));
      }
      if (!put(fmt::format("sample {}: {}{}", fmt::join(sample.values, " "), fmt::join(sample.locations, " "),
                           labels))) {
        return {};
      }
    }
    for (const Location& location : file_->locations) {
      std::string lines;
      for (const Line& line : location.lines) {
        const auto found = file_->function_index.find(line.function_id);
        const Function none;
        const Function& function = found == file_->function_index.end() ? none : file_->functions[found->second];
        lines += fmt::format(" {} {}:{}", file_->string(function.name), file_->string(function.filename), line.line);
      }
      if (!put(fmt::format("location {}: {:#x} M={}{}", location.id, location.address, location.mapping_id, lines)))
        return {};
    }
    for (const Mapping& mapping : file_->mappings) {
      if (!put(fmt::format("mapping {}: {:#x}/{:#x}/{:#x} {} {}", mapping.id, mapping.start, mapping.limit,
                           mapping.offset, file_->string(mapping.filename), file_->string(mapping.build_id)))) {
        return {};
      }
    }
    return {};
  }

 private:
  std::shared_ptr<const PprofFile> file_;
};

Result<DatasetPtr> open(const Source& source, const Work& work) {
  if (source.is_directory()) {
    return Error("is a directory; a pprof profile is one file", Place::in(source.path().string()));
  }
  if (const char* legacy = legacy_name(source.blob()); legacy != nullptr) {
    return Error(fmt::format("is {}, which is not read", legacy), source.blob().place())
        .hint("pprof -proto PROGRAM FILE > out.pb.gz makes one that is");
  }
  FATHOM_TRY(auto file, read(source.blob(), work));
  return DatasetPtr(std::make_unique<PprofDataset>(source, work, std::move(file)));
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "pprof",
                              .title = "pprof profile",
                              .extensions = ".pb.gz .pb .pprof .prof",
                              .can = {{Level::profile}, {Level::profile}},
                              .recognise = recognise,
                              .open = open,
                              .write = write,
                              .options = {.writing = {&kExportMetric}}};
  return kFormat;
}

}  // namespace fathom::pprof
