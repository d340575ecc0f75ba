#include "formats/chrome/chrome_format.hpp"

#include "base/text.hpp"
#include "formats/chrome/chrome_trace.hpp"
#include "formats/chrome/trace_writer.hpp"
#include "formats/loaded_trace_dataset.hpp"

namespace fathom::chrome {

namespace {

class ChromeDataset final : public LoadedTraceDataset<ChromeTrace> {
 public:
  using LoadedTraceDataset::LoadedTraceDataset;
  Result<std::vector<InfoEntry>> describe(bool) override {
    FATHOM_CHECK(load());
    std::vector<InfoEntry> entries;
    const Definitions& definitions = trace_->definitions();
    entries.push_back({"regions", std::uint64_t{definitions.regions.size()}});
    entries.push_back({"metrics", std::uint64_t{definitions.metrics.size()}});
    entries.push_back({"locations", std::uint64_t{trace_->location_count()}});
    entries.push_back({"events", trace_->event_count()});
    entries.push_back({"slices", trace_->store().slices()});
    if (const auto span = trace_->known_span()) describe_span(span->from_ns, span->to_ns, entries);
    for (const auto& [key, value] : definitions.attributes) entries.push_back({key, value});
    return entries;
  }
};

Match recognise(const Source& source) {
  constexpr std::size_t kFarAhead = std::size_t{1} << 20;  // descriptions of devices come first
  std::string_view head = source.head();
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  head = trim(head);
  if (head.empty() || (head.front() != '[' && head.front() != '{')) return {};
  const bool events = head.find("\"ph\"") != std::string_view::npos;
  if (head.front() == '[') {
    if (!events || trim(head.substr(1)).substr(0, 1) != "{") return {};
    return {Confidence::likely, "is a list of events with \"ph\""};
  }
  const std::string_view far = source.head(kFarAhead);
  if (far.find("\"traceEvents\"") == std::string_view::npos) return {};
  if (far.find("\"ph\"") != std::string_view::npos) return {Confidence::certain, "has \"traceEvents\" with \"ph\""};
  return {Confidence::likely, "has \"traceEvents\""};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  return DatasetPtr(std::make_unique<ChromeDataset>(format(), source.path(), work, source.blob()));
}

Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions&) {
  FATHOM_TRY(const auto trace, dataset.trace());
  return write_trace(*trace, target, dataset.work());
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "chrome",
                              .title = "Chrome trace (JSON), also of PyTorch",
                              .extensions = ".trace.json .json",
                              .can = {{Level::trace}, {Level::trace}},
                              .recognise = recognise,
                              .open = open,
                              .write = write};
  return kFormat;
}

}  // namespace fathom::chrome
