#include "formats/ovni/trace_writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "io/output_file.hpp"

namespace fathom::ovni {

namespace fs = std::filesystem;

namespace {

template <class T>
void append(std::string& bytes, T value) {
  if (Endian::native != Endian::little) value = byte_swapped(value);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

Error cannot(std::string_view what, const fs::path& path, const std::error_code& status) {
  return Error(fmt::format("cannot {}: {}", what, status.message()), Place::in(path.string()));
}

Result<void> make_directory(const fs::path& path) {
  std::error_code status;
  fs::create_directories(path, status);
  if (status) return cannot("create the directory", path, status);
  return {};
}

Result<void> copy_bytes(const fs::path& target, std::initializer_list<std::string_view> parts) {
  FATHOM_TRY(OutputFile out, OutputFile::create(target));
  for (const std::string_view part : parts) out.write(part);
  return out.commit();
}

Result<void> copy_whole(const fs::path& from, const fs::path& to) {
  std::error_code status;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, status);
  if (status) return cannot("copy to", to, status);
  return {};
}

Result<void> write_as_v3(const Stream& stream, const fs::path& root) {
  const fs::path directory = root / stream.path;
  FATHOM_CHECK(make_directory(directory));
  Metadata metadata = stream.metadata;
  // What version 3 demands and older ones do not say: the rules of version 2 for a missing model list, and the
  // assumption that a thread whose file is there has finished.
  metadata.version = 3;
  if (!metadata.require) {
    metadata.require.emplace();
    for (std::size_t i = 0; i < kModelCount; ++i) {
      const ModelInfo& model = model_info(static_cast<Model>(i));
      metadata.require->emplace_back(
          model.name, fmt::format("{}.{}.{}", model.version.major, model.version.minor, model.version.patch));
    }
  }
  if (!metadata.lib_version) metadata.lib_version = "unknown";
  if (!metadata.lib_commit) metadata.lib_commit = "unknown";
  if (!metadata.finished && stream.metadata.version == 1) metadata.finished = 1;
  FATHOM_CHECK(write_file(directory / "stream.json", to_stream_json(metadata)));
  const std::string_view bytes = stream.blob.text();
  if (stream.begin != 0) return copy_bytes(directory / "stream.obs", {bytes});
  const std::string header = StreamBuilder().bytes();
  return copy_bytes(directory / "stream.obs", {header, bytes});
}

Result<void> write_same(const Stream& stream, Layout layout, const fs::path& root) {
  const fs::path name = layout == Layout::v3 ? fs::path(stream.path) / "stream.obs"
                                             : fs::path(stream.path).parent_path() / stream.file.filename();
  const fs::path target = root / name;
  FATHOM_CHECK(make_directory(target.parent_path()));
  FATHOM_CHECK(copy_bytes(target, {stream.blob.text()}));
  if (layout == Layout::v3) return write_file(target.parent_path() / "stream.json", stream.metadata_text);
  FATHOM_CHECK(copy_whole(stream.metadata_file, target.parent_path() / "metadata.json"));
  if (layout != Layout::v2) return {};
  const fs::path thread = fs::path(target).replace_extension(".json");
  return write_file(thread, stream.metadata_text);
}

Result<void> write_all(const NativeTrace& trace, const fs::path& root, Layout layout) {
  FATHOM_CHECK(make_directory(root));
  for (const Stream& stream : trace.streams) {
    if (layout == trace.layout) {
      FATHOM_CHECK(write_same(stream, layout, root));
    } else {
      FATHOM_CHECK(write_as_v3(stream, root));
    }
  }
  const fs::path offsets = trace.root / "clock-offsets.txt";
  std::error_code status;
  if (fs::is_regular_file(offsets, status)) return copy_whole(offsets, root / "clock-offsets.txt");
  return {};
}

}  // namespace

StreamBuilder::StreamBuilder(bool header) {
  if (!header) return;
  bytes_ = "ovni";
  append(bytes_, std::uint32_t{1});
}

void StreamBuilder::head(unsigned flags, std::string_view mcv, std::uint64_t clock) {
  bytes_ += static_cast<char>(flags);
  bytes_ += mcv.substr(0, 3);
  append(bytes_, clock);
}

StreamBuilder& StreamBuilder::event(std::string_view mcv, std::uint64_t clock, Bytes payload) {
  head(payload.empty() ? 0U : static_cast<unsigned>(payload.size() - 1) & 0xfU, mcv, clock);
  bytes_ += as_text(payload);
  return *this;
}

StreamBuilder& StreamBuilder::jumbo(std::string_view mcv, std::uint64_t clock, Bytes data) {
  head(kJumboFlag | 3U, mcv, clock);
  append(bytes_, static_cast<std::uint32_t>(data.size()));
  bytes_ += as_text(data);
  return *this;
}

Result<void> write_trace(const NativeTrace& trace, const fs::path& target, Layout layout) {
  if (layout != trace.layout && layout != Layout::v3) return Error::usage("traces can be moved to layout v3 only");
  std::error_code status;
  if (fs::exists(target, status) && !(fs::is_directory(target, status) && fs::is_empty(target, status))) {
    return Error::usage(fmt::format("{} exists already and is not an empty directory", target.string()));
  }
  const fs::path temporary = fs::path(target).concat(fmt::format(".{}.tmp", getpid()));
  auto written = write_all(trace, temporary, layout);
  if (written.ok()) {
    fs::rename(temporary, target, status);
    if (status) written = cannot("rename to", target, status);
  }
  if (!written.ok()) fs::remove_all(temporary, status);
  return written;
}

}  // namespace fathom::ovni
