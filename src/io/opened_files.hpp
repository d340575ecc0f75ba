// What this process has opened for reading so far.
#pragma once

#include <cstdint>
#include <filesystem>

namespace fathom {

// How many files: many processes that open the same ones are what the metadata server of a parallel file system
// suffers from.
std::uint64_t opened_files();

// Whether this file, by whatever name, was among them. MT: safe.
bool was_opened(const std::filesystem::path& path);

}  // namespace fathom
