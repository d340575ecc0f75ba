// Datasets of several files inside an archive (.zip, .tar, .tar.gz): unpacked into a temporary directory.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "formats/format.hpp"

namespace fathom {

struct PackedFile {
  std::string name;
  Blob content;
};

// Hands out one member after the other; nothing when there are no more.
using PackedFiles = std::function<Result<std::optional<PackedFile>>()>;

// Unpacks everything below TMPDIR and finds the dataset in it; nothing when there is none. The directory goes when
// nobody works with `work` any more, at the latest with the program; what a killed program left is removed by the next
// one that opens an archive of the same name.
Result<std::optional<Source>> unpacked_dataset(const Source& archive, const PackedFiles& files, const Work& work);

}  // namespace fathom
