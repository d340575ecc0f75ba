#include "formats/caliper/caliper_format.hpp"

#include <algorithm>
#include <array>

#include "base/visible.hpp"
#include "formats/caliper/records.hpp"
#include "formats/caliper/to_profile.hpp"
#include "formats/stack_file.hpp"
#include "io/json_scanner.hpp"

namespace fathom::caliper {

namespace {

class CaliperDataset final : public StackFileDataset {
 public:
  CaliperDataset(const Format& format, const Source& source, const Work& work, std::shared_ptr<const Records> records)
      : StackFileDataset(format, source, work), records_(std::move(records)) {}

  [[nodiscard]] std::string version() const override {
    const std::string* version = find_attribute(records_->globals, "cali.caliper.version");
    return version == nullptr ? "" : *version;
  }
  [[nodiscard]] std::vector<InfoEntry> more_info() const override { return {{"records", records_->count}}; }
  Result<ProfilePtr> make_profile() override { return to_profile(*records_, work()); }

  Result<void> dump(const DumpOptions&, const TextSink& sink) override {
    std::string text;
    Entry::Room room;
    const auto add = [&](const Entry& entry) {
      if (!text.empty()) text += ',';
      text += records_->attributes[entry.attribute].name;
      text += '=';
      text += entry.text(room);
    };
    records_->each([&](std::uint32_t path, std::span<const Entry> own) {
      text.clear();
      records_->each_entry(path, add);
      for (const Entry& entry : own) add(entry);
      return sink(visible(text) + "\n");
    });
    return {};
  }

 private:
  std::shared_ptr<const Records> records_;
};

Match recognise_cali(const Source& source) {
  if (source.is_directory()) return {};
  std::string_view head = source.head();
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || !head.substr(first).starts_with("__rec=")) return {};
  return {Confidence::certain, "begins with a record '__rec='"};
}

constexpr std::array<std::string_view, 4> kKeys = {"data", "columns", "column_metadata", "nodes"};

// The keys may be far apart: a file in whose front one of them stands is walked through from key to key. Others may
// stand before it: attributes of the run.
bool begins_as_json_split(const Blob& blob) {
  constexpr std::uint64_t kLookedAt = 1 << 17;
  JsonScanner scanner(blob.size() > kLookedAt ? blob.part(0, kLookedAt) : blob);
  if (!scanner.accept('{')) return false;
  bool first = true;
  while (const auto key = scanner.next_key(first)) {
    if (std::find(kKeys.begin(), kKeys.end(), *key) != kKeys.end()) return true;
    scanner.skip_value();
    if (!scanner.ok()) break;
  }
  return false;
}

Match recognise_json(const Source& source) {
  if (source.is_directory() || !begins_as_json_split(source.blob())) return {};
  JsonScanner scanner(source.blob());
  scanner.expect('{');
  std::array<bool, kKeys.size()> found{};
  bool first = true;
  while (const auto key = scanner.next_key(first)) {
    const auto known = std::find(kKeys.begin(), kKeys.end(), *key);
    if (known != kKeys.end()) found[static_cast<std::size_t>(known - kKeys.begin())] = true;
    if (std::find(found.begin(), found.end(), false) == found.end()) {
      return {Confidence::certain, "JSON object with data, columns, column_metadata and nodes"};
    }
    scanner.skip_value();
    if (!scanner.ok()) break;
  }
  return {};
}

template <auto Read, const Format& (*Which)()>
Result<DatasetPtr> open(const Source& source, const Work& work) {
  if (source.is_directory()) {
    return Error("is a directory; a Caliper profile is one file", Place::in(source.path().string()));
  }
  FATHOM_TRY(auto records, Read(source.blob(), work));
  return DatasetPtr(std::make_unique<CaliperDataset>(Which(), source, work, std::move(records)));
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "caliper",
                              .title = "Caliper profile",
                              .extensions = ".cali",
                              .can = {{Level::profile}, {}},
                              .recognise = recognise_cali,
                              .open = open<read_cali, format>};
  return kFormat;
}

const Format& json_format() {
  static const Format kFormat{.name = "caliper-json",
                              .title = "Caliper profile (json-split)",
                              .extensions = "",
                              .can = {{Level::profile}, {}},
                              .recognise = recognise_json,
                              .open = open<read_json, json_format>};
  return kFormat;
}

}  // namespace fathom::caliper
