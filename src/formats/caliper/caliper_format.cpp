#include "formats/caliper/caliper_format.hpp"

#include "formats/caliper/records.hpp"
#include "formats/caliper/to_profile.hpp"
#include "formats/stack_file.hpp"

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
  [[nodiscard]] std::vector<InfoEntry> more_info() const override {
    return {{"records", std::uint64_t{records_->record_end.size()}}};
  }
  Result<ProfilePtr> make_profile() override { return to_profile(*records_, work()); }

  Result<void> dump(const DumpOptions&, const TextSink& sink) override {
    std::size_t at = 0;
    std::string text;
    for (const std::size_t end : records_->record_end) {
      text.clear();
      for (; at < end; ++at) {
        if (!text.empty()) text += ',';
        text += records_->attributes[records_->entries[at].attribute].name;
        text += '=';
        text += records_->entries[at].value;
      }
      if (!sink(text + "\n")) return {};
    }
    return {};
  }

 private:
  std::shared_ptr<const Records> records_;
};

Match recognise_cali(const Source& source) {
  if (source.is_directory() || !source.blob().starts_with("__rec=")) return {};
  return {Confidence::certain, "begins with a record '__rec='"};
}

Match recognise_json(const Source& source) {
  if (source.is_directory()) return {};
  const std::string_view text = source.blob().text();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return {};
  for (const std::string_view key : {"\"data\"", "\"columns\"", "\"column_metadata\"", "\"nodes\""}) {
    if (text.find(key) == std::string_view::npos) return {};
  }
  return {Confidence::certain, "JSON object with data, columns, column_metadata and nodes"};
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
