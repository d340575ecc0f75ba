// What this process has opened for reading so far, and what it will.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace fathom {

// How many files: many processes that open the same ones are what the metadata server of a parallel file system
// suffers from.
std::uint64_t opened_files();

// Files of what is read may be opened late or by another process: those of the directory for whose paths, relative to
// it, `owns` says yes. `what` tells several such sets of a directory apart. MT: safe.
void expect_inputs(const std::filesystem::path& directory, const std::string& what,
                   std::function<bool(const std::filesystem::path&)> owns);
void expect_input(const std::filesystem::path& file);

// Whether this file, by whatever name, was opened or is to be expected. MT: safe.
bool is_input(const std::filesystem::path& path);

// Those that somebody has written to since they were opened: what was read may be half of one and half of another.
// Files that were replaced as a whole are not. MT: safe.
std::vector<std::filesystem::path> changed_inputs();

// An error where a file to write is one. For output that is no other form of the same: a report or another format in
// the place of the measurement would be the end of it. Asked when all inputs are open.
Result<void> spare_inputs(const std::filesystem::path& target);

}  // namespace fathom
