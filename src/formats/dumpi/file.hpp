// One .bin file: every record of it as it stands there.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/work.hpp"
#include "formats/dumpi/decoder.hpp"
#include "io/file_on_demand.hpp"

namespace fathom::dumpi {

inline constexpr std::string_view kMagic =
    "\xFF\xAA\xDD"
    "DUMPI";
inline constexpr std::uint64_t kFooterMagic = 0xF007FEE7;
inline constexpr std::size_t kFooterSlots = 291;
inline constexpr std::size_t kPredefinedTypes = 28;  // datatype ids from here on are the program's own

// Sections in the order of the index, last one first in the file's own spelling.
enum class Section : std::uint8_t { header, footer, keyvals, counters, sizes, addresses };
inline constexpr std::size_t kSections = 6;
std::string_view to_string(Section section);

struct Header {
  std::array<std::uint8_t, 3> version = {13, 0, 0};
  std::uint64_t start_time = 0;  // Unix seconds
  std::string host;
  std::string user;
  std::vector<std::int32_t> mesh_position;
  std::vector<std::int32_t> mesh_size;
};

struct Footer {
  std::array<std::uint32_t, kFooterSlots> called{};
  std::array<std::uint32_t, kFooterSlots> ignored{};
};

struct FunctionAddress {
  std::uint64_t address = 0;
  std::string label;
};

// Everything around the stream.
struct Sections {
  Header header;
  Footer footer;
  std::vector<std::pair<std::string, std::string>> keyvals;
  std::vector<std::string> counters;  // labels
  std::vector<FunctionAddress> addresses;
  std::vector<std::int32_t> sizes;  // of datatypes by id
  std::array<bool, kSections> present{};

  [[nodiscard]] bool has(Section section) const { return present[static_cast<std::size_t>(section)]; }
  void set(Section section, bool is_there = true) { present[static_cast<std::size_t>(section)] = is_there; }
  // "label" of an address, or null.
  [[nodiscard]] const std::string* label(std::uint64_t address) const;
};

// How the file is laid out beyond the values, for writing it again as it was.
struct Layout {
  std::vector<Section> order = {Section::header,   Section::footer, Section::keyvals,
                                Section::counters, Section::sizes,  Section::addresses};
  std::vector<std::string> behind;  // bytes that nothing names, behind the sections of `order`; may be shorter
  int index_entries = 7;            // of 4 to 7; 0 = no index, the file was cut off
  bool keyvals_indexed = false;     // no known writer does, though it writes the (empty) record
  bool end_mark = true;             // the stream ends with id 293
};

// Everything but the bytes of the stream, which are there for those who hold them. MT: safe (const).
class File {
 public:
  static Result<File> open(Blob blob, const Work& work);
  static Result<File> open(FileOnDemand source, const Work& work);

  // The file that a process of the team opened and told about; see pack_fields.
  void set_source(FileOnDemand source) { source_ = std::move(source); }
  [[nodiscard]] const std::string& name() const { return source_.name(); }
  [[nodiscard]] std::uint64_t size() const { return source_.size(); }
  // Offsets count from its first byte. Calls point into it: who keeps a call holds the bytes.
  [[nodiscard]] std::shared_ptr<const Blob> hold() const { return source_.hold(); }
  [[nodiscard]] const Sections& sections() const { return sections_; }
  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const Decoder& decoder() const { return decoder_; }
  [[nodiscard]] std::int32_t cpu_bias() const { return cpu_bias_; }
  [[nodiscard]] std::int32_t wall_bias() const { return wall_bias_; }
  [[nodiscard]] std::int64_t cpu_zero_ns() const { return std::int64_t{cpu_bias_} * 1'000'000'000; }
  // Where the wall clock of the run's events begins: the bias, and what brings the clocks of several nodes together.
  [[nodiscard]] std::int64_t wall_zero_ns() const { return std::int64_t{wall_bias_} * 1'000'000'000 + clock_shift_ns_; }
  void shift_clock(std::int64_t ns) { clock_shift_ns_ = ns; }
  [[nodiscard]] bool has_shifted_clock() const { return clock_shift_ns_ != 0; }
  // True when the job was killed: no index, and so none of the other sections.
  [[nodiscard]] bool cut_off() const { return layout_.index_entries == 0; }
  // First byte of the first record, and the bound that no record may cross.
  [[nodiscard]] std::uint64_t stream_begin() const { return stream_begin_; }
  [[nodiscard]] std::uint64_t stream_limit() const { return stream_limit_; }
  [[nodiscard]] Place place(std::uint64_t offset) const { return source_.place(offset); }
  // Bytes of a datatype by the sizes record or by what every machine has; 0 = not known.
  [[nodiscard]] std::int64_t datatype_size(std::int64_t id) const;

 private:
  template <class Pack>
  friend void pack_fields(Pack& pack, File& file) {
    Rules rules = file.decoder_.rules();
    pack(file.sections_, file.layout_, rules, file.cpu_bias_, file.wall_bias_, file.stream_begin_, file.stream_limit_);
    file.decoder_ = Decoder(rules);
  }
  Result<void> read_index(const Blob& blob, const Work& work, std::array<std::uint64_t, kSections>& offsets);
  Result<std::uint64_t> read_section(const Blob& blob, Section section, std::uint64_t offset);

  FileOnDemand source_;
  Sections sections_;
  Layout layout_;
  Decoder decoder_;
  std::int32_t cpu_bias_ = 0;
  std::int32_t wall_bias_ = 0;
  std::int64_t clock_shift_ns_ = 0;
  std::uint64_t stream_begin_ = 16;
  std::uint64_t stream_limit_ = 0;
};

}  // namespace fathom::dumpi
