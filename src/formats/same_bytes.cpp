#include "formats/same_bytes.hpp"

#include "io/inflate.hpp"
#include "io/output_file.hpp"

namespace fathom {

Result<bool> write_same_bytes(const Blob& blob, const std::filesystem::path& target, const WriteOptions& options) {
  if (!options.options.empty()) return false;
  FATHOM_TRY(OutputFile out, OutputFile::create(target));
  if (options.compress || target.extension() == ".gz") {
    constexpr int kLevel = 6;
    out.write(Bytes(gzip(blob.bytes(), kLevel)));
  } else {
    out.write(blob.bytes());
  }
  FATHOM_CHECK(out.commit());
  return true;
}

}  // namespace fathom
