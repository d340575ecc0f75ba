// The text that the DUMPI community's dump prints.
#pragma once

#include "formats/dataset.hpp"
#include "formats/dumpi/scan.hpp"

namespace fathom::dumpi {

// Sections: "header", "stream", "keyvals", "footer", "counters", "addresses", "sizes"; none = all of them.
Result<void> dump(const File& file, const ScanResult& scan, const std::vector<std::string>& sections,
                  const TextSink& sink);

}  // namespace fathom::dumpi
