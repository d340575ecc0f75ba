#include "formats/folded/folded_format.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/number_text.hpp"
#include "base/text.hpp"
#include "base/visible.hpp"
#include "formats/folded/folded_file.hpp"
#include "formats/stack_file.hpp"
#include "io/inflate.hpp"
#include "io/line_cursor.hpp"
#include "io/output_file.hpp"
#include "io/text_encoding.hpp"
#include "profile/export/stack_export.hpp"

namespace fathom::folded {

namespace {

class FoldedDataset final : public StackFileDataset {
 public:
  FoldedDataset(const Source& source, const Work& work) : StackFileDataset(folded::format(), source, work) {}

  Result<ProfilePtr> make_profile() override {
    FATHOM_TRY(const Blob text, as_utf8(blob(), work()));
    return read(text, work());
  }
  Result<void> dump(const DumpOptions&, const TextSink& sink) override {
    FATHOM_TRY(const Blob text, as_utf8(blob(), work()));
    sink(text.text());
    return {};
  }
};

bool has_own_ending(const Source& source) {
  const std::string name = to_lower(source.path().filename().string());
  for (const std::string_view ending : {".folded", ".collapsed", ".folded.gz", ".collapsed.gz"}) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

// How much of a file is looked at: at least its first line, which deep stacks make long.
std::size_t looked_at(std::string_view text) {
  constexpr std::size_t kUsual = 1 << 16, kMost = 1 << 24;
  if (text.size() <= kUsual || text.substr(0, kUsual).find('\n') != std::string_view::npos) {
    return std::min(text.size(), kUsual);
  }
  // Others write long lines, too: JSON, for which a search for its end would cost as much as reading it.
  const std::string_view head = trim(text.substr(0, kUsual));
  const bool deep = head.find(';') != std::string_view::npos && head.find_first_of("{[<") != 0;
  if (!deep) return kUsual;
  const std::size_t end = text.substr(0, kMost).find('\n', kUsual);
  // Characters of two bytes are not cut apart.
  return std::min({text.size(), kMost, end == std::string_view::npos ? kMost : (end + 2) / 2 * 2});
}

Match recognise(const Source& source) {
  if (source.is_directory() || source.blob().size() == 0) return {};
  const std::size_t size = looked_at(source.blob().text());
  Blob head = source.blob().part(0, size);
  auto text = as_utf8(head, make_work());
  if (!text.ok() || text->text().find('\0') != std::string_view::npos) return {};
  const bool whole = size == source.blob().size() || text->text().ends_with('\n');
  LineCursor lines(*text);
  std::size_t good = 0;
  std::size_t stacks = 0;
  std::size_t bad = 0;
  std::optional<std::string_view> line = lines.next();
  while (line) {
    const std::optional<std::string_view> following = lines.next();
    if (!following && !whole) break;  // cut off in the middle
    const std::string_view content = trim(*line);
    line = following;
    if (content.empty() || content.starts_with('#') || content.starts_with("//")) continue;
    const auto parsed = parse_line(content);
    (parsed ? good : bad) += 1;
    if (parsed && parsed->stack.find(';') != std::string_view::npos) ++stacks;
  }
  if (good == 0 || bad > good) return {};
  if (stacks * 2 >= good) {
    return {bad == 0 || has_own_ending(source) ? Confidence::likely : Confidence::maybe,
            "lines of frames joined with ';' that end in a count"};
  }
  if (has_own_ending(source)) return {Confidence::likely, "lines that end in a count, and the ending of folded stacks"};
  return {};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  if (source.is_directory()) {
    return Error("is a directory; folded stacks are one file", Place::in(source.path().string()));
  }
  return DatasetPtr(std::make_unique<FoldedDataset>(source, work));
}

// ';' separates frames and a line end stacks; a number behind the last blank would be a count.
std::string frame_text(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = c == ';' ? ':' : c == '\n' || c == '\r' ? ' ' : c;
  if (const std::string_view number = number_at_end(out); !number.empty() && number.size() < out.size()) {
    out[out.size() - number.size() - 1] = '_';
  }
  return out;
}

std::string frame_of(const Definitions& defs, ContextId context) { return frame_text(frame_name(defs, context)); }

// Names that are written differently, each once.
class AlteredNames {
 public:
  void look_at(const std::string& name, std::string_view written) {
    if (name != written) names_.insert(name);
  }
  Result<void> tell(const Profile& profile) const {
    if (names_.empty()) return {};
    return profile.work->diagnostics.add(
        "convert.altered_names", Severity::warning, Place::in(profile.name),
        fmt::format(
            "lines of folded stacks have no room for ';', line breaks and numbers at the end of a name: '{}' is "
            "written with other characters in their place",
            visible(*names_.begin())),
        names_.size());
  }

 private:
  std::set<std::string> names_;
};

constexpr Option<bool> kLocations{"locations", "", "a first frame per location instead of their sum"};

Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options) {
  FATHOM_TRY(const auto profile, dataset.profile());
  ExportOptions how{.format = "folded", .one_metric = true, .sum_locations = true, .frame = frame_of};
  for (const auto& [key, value] : options.options) {
    if (key == kExportMetric.name) how.metrics.push_back(value);
    if (key != kLocations.name) continue;
    OptionValues given;
    FATHOM_CHECK(given.set_text(kLocations, value));
    how.sum_locations = !given.flag(kLocations);
  }
  const Definitions& defs = profile->defs();
  FATHOM_TRY(const StackExport values, StackExport::plan(*profile, how));
  FATHOM_TRY(OutputFile out, OutputFile::create(target));
  std::vector<StackFrame> frames;
  std::string line;
  AlteredNames altered;
  FATHOM_CHECK(values.visit([&](ContextId context, LocationId location, std::span<const std::int64_t> value) {
    stack_of(defs.contexts, context, frames);
    line.clear();
    const auto add = [&](const std::string& name) {
      const std::size_t begin = line.size();
      line += frame_text(name);
      altered.look_at(name, std::string_view(line).substr(begin));
    };
    if (location.valid()) add(defs.system.path(defs.system.locations[location.index()]));
    for (std::size_t i = frames.size(); i-- > 0;) {
      if (!line.empty()) line.push_back(';');
      add(frame_name(defs, frames[i].function));
    }
    line.push_back(' ');
    append_number(line, value.front());
    line.push_back('\n');
    out.write(line);
    return Result<void>();
  }));
  FATHOM_CHECK(altered.tell(*profile));
  if (!options.compress && target.extension() != ".gz") return out.commit();
  FATHOM_TRY(const Blob plain, out.written());
  FATHOM_TRY(OutputFile packed, OutputFile::create(target));
  constexpr int kGzipLevel = 6;
  packed.write(Bytes(gzip(plain.bytes(), kGzipLevel)));
  return packed.commit();
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "folded",
                              .title = "folded stacks",
                              .extensions = ".folded .collapsed .folded.gz",
                              .can = {{Level::profile}, {Level::profile}},
                              .recognise = recognise,
                              .open = open,
                              .write = write,
                              .options = {.writing = {&kExportMetric, &kLocations}}};
  return kFormat;
}

}  // namespace fathom::folded
