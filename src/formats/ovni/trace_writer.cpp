#include "formats/ovni/trace_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "formats/ovni/models.hpp"
#include "io/output_file.hpp"
#include "io/output_set.hpp"

namespace fathom::ovni {

namespace fs = std::filesystem;

namespace {

// What the library's version is called where an older trace is made one of version 3.
constexpr std::string_view kUnknown = "unknown";

template <class T>
void append(std::string& bytes, T value, Endian order) {
  if (Endian::native != order) value = byte_swapped(value);
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

// "loom.L/proc.P/thread.T": where the streams of old layouts are, and those of version 3 usually.
std::string usual_path(const Metadata& metadata) {
  return fmt::format("loom.{}/proc.{}/thread.{}", metadata.loom.value_or("unknown"), metadata.pid.value_or(0),
                     metadata.tid.value_or(0));
}

Result<void> write_events(const Stream& stream, bool header, const fs::path& target) {
  const std::string_view events = stream.blob.text().substr(stream.begin);
  if (!header) return copy_bytes(target, {events});
  return copy_bytes(target, {StreamBuilder(true, stream.order).bytes(), events});
}

Result<void> write_as_v3(const Stream& stream, const fs::path& root) {
  const fs::path directory = root / usual_path(stream.metadata);
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
  if (!metadata.lib_version) metadata.lib_version = kUnknown;
  if (!metadata.lib_commit) metadata.lib_commit = kUnknown;
  if (!metadata.finished && stream.metadata.version == 1) metadata.finished = 1;
  FATHOM_CHECK(write_file(directory / "stream.json", to_stream_json(metadata)));
  return write_events(stream, true, directory / "stream.obs");
}

// "O1 V2 61": a letter and the major version of each model that is required.
std::string model_versions(const Metadata& metadata) {
  std::string text;
  if (!metadata.require) return text;
  for (const auto& [name, version] : *metadata.require) {
    const int model = find_model(name);
    if (model < 0) continue;
    if (!text.empty()) text += ' ';
    text += model_info(static_cast<Model>(model)).character;
    text += version.substr(0, version.find('.'));
  }
  return text;
}

// What the process says, put together from its threads.
void add_to_process(Metadata& process, const Metadata& thread) {
  if (thread.app_id) process.app_id = thread.app_id;
  if (thread.rank) process.rank = thread.rank;
  if (thread.nranks) process.nranks = thread.nranks;
  if (thread.cpus) {
    if (!process.cpus) process.cpus.emplace();
    for (const Cpu& cpu : *thread.cpus) {
      const auto same = [&](const Cpu& known) { return known.index == cpu.index && known.phyid == cpu.phyid; };
      if (std::none_of(process.cpus->begin(), process.cpus->end(), same)) process.cpus->push_back(cpu);
    }
  }
  if (process.model_version.empty()) {
    process.model_version = thread.model_version.empty() ? model_versions(thread) : thread.model_version;
  }
}

// What a thread tells of itself and version 1 has no words for.
std::vector<std::string_view> beyond_version_1(const Metadata& metadata) {
  const auto known = [](const std::optional<std::string>& text) { return text && *text != kUnknown; };
  std::vector<std::string_view> out;
  if (!metadata.marks.empty()) out.emplace_back("marks");
  if (metadata.counters) out.emplace_back("counters");
  if (!metadata.attributes.empty()) out.emplace_back("attributes");
  if (known(metadata.lib_version) || known(metadata.lib_commit)) out.emplace_back("the library's version");
  if (metadata.can_breakdown) out.emplace_back("whether there is a breakdown");
  return out;
}

Result<void> write_as_old(const NativeTrace& trace, const fs::path& root, Layout layout, const Work& work) {
  std::map<fs::path, Metadata> processes;
  for (const Stream& stream : trace.streams) {
    fs::path file = root / usual_path(stream.metadata);
    FATHOM_CHECK(make_directory(file.parent_path()));
    Metadata& process = processes[file.parent_path()];
    add_to_process(process, stream.metadata);
    if (layout == Layout::v2) {
      Metadata thread = stream.metadata;
      thread.version = 2;
      FATHOM_CHECK(write_file(fs::path(file).concat(".json"), to_thread_json(thread)));
    } else if (const auto homeless = beyond_version_1(stream.metadata); !homeless.empty()) {
      FATHOM_CHECK(work->diagnostics.lost(
          "ovni.metadata_lost", Place::in(stream.metadata_file.string()),
          fmt::format("layout {} has no place for {}: left out", to_string(layout), fmt::join(homeless, ", "))));
    }
    if (layout >= Layout::v1_c) file += ".obs";
    FATHOM_CHECK(write_events(stream, layout != Layout::v1_a, file));
  }
  for (auto& [directory, process] : processes) {
    process.version = layout == Layout::v2 ? 2 : 1;
    if (layout == Layout::v1_a || layout == Layout::v2) process.model_version.clear();
    FATHOM_CHECK(write_file(directory / "metadata.json", to_process_json(process)));
  }
  return {};
}

Result<void> write_same(const Stream& stream, Layout layout, const fs::path& root, const WriteStream& write) {
  const fs::path name = layout == Layout::v3 ? fs::path(stream.path) / "stream.obs"
                                             : fs::path(stream.path).parent_path() / stream.file.filename();
  const fs::path target = root / name;
  FATHOM_CHECK(make_directory(target.parent_path()));
  FATHOM_CHECK(write ? write(stream, target) : copy_bytes(target, {stream.blob.text()}));
  if (layout == Layout::v3) return write_file(target.parent_path() / "stream.json", stream.metadata_text);
  FATHOM_CHECK(copy_whole(stream.metadata_file, target.parent_path() / "metadata.json"));
  if (layout != Layout::v2) return {};
  const fs::path thread = fs::path(target).replace_extension(".json");
  return write_file(thread, stream.metadata_text);
}

// Where a layout gives threads their paths, two of the same name would be one.
Result<void> judge_names(const NativeTrace& trace) {
  std::map<std::string, const Stream*> known;
  for (const Stream& stream : trace.streams) {
    const auto [found, is_new] = known.emplace(usual_path(stream.metadata), &stream);
    if (is_new) continue;
    return Error::refused(fmt::format("two streams are {}: {} and {}", found->first, found->second->path, stream.path),
                          Place::in(stream.file.string()));
  }
  return {};
}

Result<void> write_all(const NativeTrace& trace, const fs::path& root, Layout layout, const Work& work,
                       const WriteStream& write) {
  if (layout != trace.layout) FATHOM_CHECK(judge_names(trace));
  if (layout == trace.layout || layout == Layout::v3) {
    for (const Stream& stream : trace.streams) {
      FATHOM_CHECK(layout == trace.layout ? write_same(stream, layout, root, write) : write_as_v3(stream, root));
    }
  } else {
    FATHOM_CHECK(write_as_old(trace, root, layout, work));
  }
  const fs::path offsets = trace.root / "clock-offsets.txt";
  std::error_code status;
  if (fs::is_regular_file(offsets, status)) return copy_whole(offsets, root / "clock-offsets.txt");
  return {};
}

}  // namespace

StreamBuilder::StreamBuilder(bool header, Endian order) : order_(order) {
  if (!header) return;
  bytes_ = "ovni";
  append(bytes_, std::uint32_t{1}, order_);
}

void StreamBuilder::head(unsigned flags, std::string_view mcv, std::uint64_t clock) {
  bytes_ += static_cast<char>(flags);
  bytes_ += mcv.substr(0, 3);
  append(bytes_, clock, order_);
}

StreamBuilder& StreamBuilder::event(std::string_view mcv, std::uint64_t clock, Bytes payload) {
  head(payload.empty() ? 0U : static_cast<unsigned>(payload.size() - 1) & 0xfU, mcv, clock);
  bytes_ += as_text(payload);
  return *this;
}

StreamBuilder& StreamBuilder::jumbo(std::string_view mcv, std::uint64_t clock, Bytes data) {
  head(kJumboFlag | 3U, mcv, clock);
  append(bytes_, static_cast<std::uint32_t>(data.size()), order_);
  bytes_ += as_text(data);
  return *this;
}

namespace {

// "thread.T", "thread.T.obs" or "thread.T.json".
bool is_thread_file(std::string_view name) {
  constexpr std::string_view kThread = "thread.";
  if (!name.starts_with(kThread)) return false;
  const std::string_view ending =
      name.substr(std::min(name.find_first_not_of("0123456789", kThread.size()), name.size()));
  return ending.empty() || ending == ".obs" || ending == ".json";
}

}  // namespace

bool is_trace_file(const fs::path& relative) {
  if (relative == "clock-offsets.txt") return true;
  for (const fs::path& folder : relative.parent_path()) {
    const std::string& name = folder.native();
    if (!name.starts_with("loom") && !name.starts_with("proc.") && !name.starts_with("thread.")) return false;
  }
  if (!relative.has_parent_path()) return false;
  const std::string name = relative.filename().string();
  if (name == "stream.obs" || name == "stream.json" || name == "metadata.json") return true;
  return is_thread_file(name) && relative.parent_path().filename().native().starts_with("proc.");
}

Result<void> write_trace(const NativeTrace& trace, const fs::path& target, Layout layout, const Work& work, bool force,
                         const WriteStream& write) {
  FATHOM_TRY(OutputSet directory,
             OutputSet::directory(target, {.owns = is_trace_file, .force = force, .source = trace.root}));
  FATHOM_CHECK(write_all(trace, directory.path(), layout, work, write));
  return directory.commit();
}

}  // namespace fathom::ovni
