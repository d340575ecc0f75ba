// The one list of formats, and how a path becomes a dataset.
#pragma once

#include <span>
#include <string_view>

#include "formats/format.hpp"

namespace fathom {

// In the order in which they are tried.
std::span<const Format* const> all_formats();
// By name; an error with a suggestion otherwise.
Result<const Format*> find_format(std::string_view name);
// By the ending of an output path, or nothing; of several that have it, one that can write one of these levels.
const Format* format_for_extension(const std::filesystem::path& path, std::span<const Level> levels);
bool writes_one_of(const Format& format, std::span<const Level> levels);

// Every option of reading that a format declares, once each, and the formats that do.
struct ReadingOption {
  const OptionDeclaration* option = nullptr;
  std::vector<const Format*> formats;
};
std::vector<ReadingOption> reading_options();
// Sets an option of reading by its name; unknown names are usage errors.
Result<void> set_reading_option(WorkContext& work, std::string_view name, std::string_view text);
// That a format declares these keys among `declared`; `purpose` is for the message: "when it is written".
Result<void> check_options(const Format& format, const std::vector<const OptionDeclaration*>& declared,
                           std::span<const std::pair<std::string, std::string>> given, std::string_view purpose);

struct Recognition {
  const Format* format = nullptr;
  Match match;
};
// What every format, or those that are asked, says to this source, best first; formats that say no are left out.
std::vector<Recognition> recognise(const Source& source, bool (*asked)(const Format&) = nullptr);

// Opens a path as `from`, or as what it is recognised to be.
Result<DatasetPtr> open_dataset(const std::filesystem::path& path, const Work& work, std::string_view from = {});
Result<DatasetPtr> open_source(const Source& source, const Work& work, std::string_view from = {});

}  // namespace fathom
