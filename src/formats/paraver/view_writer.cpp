#include "formats/paraver/view_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "formats/paraver/cfg_text.hpp"
#include "formats/paraver/pcf_text.hpp"

namespace fathom::paraver {

namespace {

// Longest record behind its row: three numbers of at most 20 characters and their separators.
constexpr std::size_t kLongestTail = 72;

}  // namespace

std::string header_line(std::int64_t final_time_ns, std::size_t rows) {
  // Paraver wants a date; one that is always the same keeps files comparable.
  return fmt::format("#Paraver (19/01/38 at 03:14):{:020}_ns:0:1:1({}:1)\n", final_time_ns, rows);
}

std::string pcf_text(const View& view) {
  std::string text = std::string(pcf_options()) + pcf_colours();
  for (const ViewType& type : view.types) append_type(text, type);
  return text;
}

std::string row_text(const View& view) {
  std::string text = fmt::format("LEVEL NODE SIZE 1\nhostname\n\nLEVEL THREAD SIZE {}\n", view.rows.size());
  for (const std::string& row : view.rows) text += row + '\n';
  return text;
}

Result<void> ViewWriter::begin(std::span<const View> views) {
  FATHOM_TRY(OutputSet set, OutputSet::into(directory_));
  set_.emplace(std::move(set));
  for (const View& view : views) {
    FATHOM_TRY(OutputFile file, OutputFile::create(set_->path() / (view.name + ".prv")));
    files_.push_back(std::make_unique<OutputFile>(std::move(file)));
    files_.back()->write(header_line(0, view.rows.size()));
    auto& prefixes = prefixes_.emplace_back();
    for (std::size_t row = 1; row <= view.rows.size(); ++row) prefixes.push_back(fmt::format("2:0:1:1:{}:", row));
  }
  return {};
}

void ViewWriter::encode(std::span<const ViewRecord> records, std::vector<std::string>& texts) const {
  texts.resize(files_.size());
  // Written into room that is made ahead: one check per record instead of one per number.
  std::vector<std::size_t> used(texts.size(), 0);
  char time_text[24];
  std::size_t time_size = 0;
  std::int64_t time = -1;
  for (const ViewRecord& record : records) {
    std::string& text = texts[record.view];
    std::size_t& size = used[record.view];
    const std::string& prefix = prefixes_[record.view][record.row];
    if (text.size() - size < prefix.size() + kLongestTail) text.resize(2 * text.size() + 4096);
    if (record.time_ns != time || time_size == 0) {
      time = record.time_ns;
      time_size =
          static_cast<std::size_t>(std::to_chars(time_text, time_text + sizeof time_text, time).ptr - time_text);
    }
    char* at = text.data() + size;
    char* const end = text.data() + text.size();
    at = std::copy_n(prefix.data(), prefix.size(), at);
    at = std::copy_n(time_text, time_size, at);
    *at++ = ':';
    at = std::to_chars(at, end, record.type).ptr;
    *at++ = ':';
    at = std::to_chars(at, end, record.value).ptr;
    *at++ = '\n';
    size = static_cast<std::size_t>(at - text.data());
  }
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i].resize(used[i]);
}

Result<void> ViewWriter::write(const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) files_[i]->write(texts[i]);
  return {};
}

Result<void> ViewWriter::write_windows(const View& view) const {
  const std::filesystem::path folder = set_->path() / "cfg" / view.name;
  std::error_code status;
  std::filesystem::create_directories(folder, status);
  if (status) {
    return Error(fmt::format("cannot create the directory: {}", status.message()), Place::in(folder.string()));
  }
  for (const ViewType& type : view.types) {
    const std::string title(trim(type.label));
    FATHOM_CHECK(write_file(folder / fmt::format("{}-{}.cfg", type.type, cfg_name(title)),
                            cfg_text(fmt::format("{}: {}", view.name, title), type.type, title)));
  }
  return {};
}

Result<void> ViewWriter::end(std::span<const View> views, std::int64_t final_time_ns) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    files_[i]->overwrite(0, as_bytes(header_line(final_time_ns, views[i].rows.size())));
    FATHOM_CHECK(files_[i]->commit());
    FATHOM_CHECK(write_file(set_->path() / (views[i].name + ".pcf"), pcf_text(views[i])));
    FATHOM_CHECK(write_file(set_->path() / (views[i].name + ".row"), row_text(views[i])));
    if (with_windows_) FATHOM_CHECK(write_windows(views[i]));
  }
  files_.clear();
  return set_->commit();
}

}  // namespace fathom::paraver
