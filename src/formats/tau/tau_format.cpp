#include "formats/tau/tau_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "formats/tau/packed_profile.hpp"
#include "io/file.hpp"

namespace fathom::tau {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMulti = "MULTI__";

struct Found {
  fs::path path;
  std::uint32_t node = 0, context = 0, thread = 0;
  std::size_t metric = 0;
};

// profile.NODE.CONTEXT.THREAD
bool parse_file_name(const std::string& name, Found& out, std::string_view first = "profile") {
  const auto words = split(std::string_view(name), '.');
  if (words.size() != 4 || words[0] != first) return false;
  const auto node = parse_integer<std::uint32_t>(words[1]);
  const auto context = parse_integer<std::uint32_t>(words[2]);
  const auto thread = parse_integer<std::uint32_t>(words[3]);
  if (!node || !context || !thread) return false;
  out.node = *node;
  out.context = *context;
  out.thread = *thread;
  return true;
}

void find_files(const fs::path& directory, std::size_t metric, std::size_t most, std::vector<Found>& out) {
  std::error_code status;
  for (fs::directory_iterator it(directory, status), end; !status && it != end && out.size() < most;
       it.increment(status)) {
    Found one;
    one.metric = metric;
    if (!parse_file_name(it->path().filename().string(), one)) continue;
    one.path = it->path();
    out.push_back(std::move(one));
  }
}

// Directories of metrics, by name.
std::vector<fs::path> metric_directories(const fs::path& directory) {
  std::vector<fs::path> out;
  std::error_code status;
  for (fs::directory_iterator it(directory, status), end; !status && it != end; it.increment(status)) {
    if (it->path().filename().string().starts_with(kMulti) && it->is_directory(status)) out.push_back(it->path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

struct Run {
  std::vector<std::string> metrics;
  std::vector<Found> files;
};

Run list_run(const fs::path& path, bool directory, std::size_t most) {
  Run run;
  if (!directory) {
    Found one;
    (void)parse_file_name(path.filename().string(), one);
    one.path = path;
    run.metrics = {""};
    run.files = {one};
    return run;
  }
  find_files(path, 0, most, run.files);
  if (!run.files.empty()) {
    run.metrics = {""};
  } else {
    for (const fs::path& metric : metric_directories(path)) {
      find_files(metric, run.metrics.size(), most, run.files);
      run.metrics.push_back(metric.filename().string().substr(kMulti.size()));
    }
  }
  std::sort(run.files.begin(), run.files.end(), [](const Found& a, const Found& b) {
    return std::tie(a.node, a.context, a.thread, a.metric) < std::tie(b.node, b.context, b.thread, b.metric);
  });
  return run;
}

class TauDataset final : public Dataset {
 public:
  TauDataset(const fs::path& path, Work work, std::vector<std::string> metrics, std::vector<ThreadFile> files)
      : Dataset(tau::format(), path, std::move(work)), metrics_(std::move(metrics)), files_(std::move(files)) {}
  TauDataset(const fs::path& path, Work work, PackedProfile packed)
      : TauDataset(path, std::move(work), std::move(packed.metrics), std::move(packed.files)) {
    packed_ = true;
    groups_ = std::move(packed.groups);
  }

  [[nodiscard]] std::vector<Level> levels() const override { return {Level::profile}; }

  Result<std::vector<InfoEntry>> describe(bool) override {
    FATHOM_TRY(const ProfilePtr all, profile());
    const Definitions& defs = all->defs();
    std::uint64_t events = 0;
    for (const ThreadFile& one : files_) events += one.file.events.size();
    std::vector<std::string> attributes;
    for (const auto& [key, value] : defs.attributes) attributes.push_back(key + "=" + value);
    return std::vector<InfoEntry>{{"metrics", std::uint64_t{defs.metrics.size()}},
                                  {"contexts", std::uint64_t{defs.contexts.size()}},
                                  {"regions", std::uint64_t{defs.regions.size()}},
                                  {"locations", std::uint64_t{defs.system.location_count()}},
                                  {"user events", events},
                                  {"attributes", std::move(attributes)}};
  }

  Result<std::shared_ptr<const Profile>> profile() override {
    if (!profile_) {
      FATHOM_TRY(profile_, to_profile(metrics_, files_, path().string(), work()));
    }
    return profile_;
  }

  Result<void> check() override {
    if (auto made = profile(); !made.ok()) return std::move(made).error();
    return {};
  }

  Result<void> dump(const DumpOptions&, const TextSink& sink) override {
    for (const ThreadFile& one : files_) {
      const bool more = packed_ ? dump_packed(one, sink)
                                : sink(fmt::format("== {}\n", one.file.blob.name())) && sink(one.file.blob.text());
      if (!more) break;
    }
    return {};
  }

 private:
  // As the files say it that ParaProf packed.
  static bool dump_packed(const ThreadFile& one, const TextSink& sink) {
    const TauFile& file = one.file;
    std::string text = fmt::format("== profile.{}.{}.{} {}\n", one.node, one.context, one.thread, file.metric);
    for (const FunctionLine& line : file.functions) {
      text += fmt::format("\"{}\" {} {} {} {} GROUP=\"{}\"\n", line.name, line.calls, line.subrs, line.exclusive,
                          line.inclusive, line.groups);
    }
    for (const UserEvent& event : file.events) {
      text += fmt::format("\"{}\" {} {} {} {} {}\n", event.name, event.count, event.maximum, event.minimum, event.mean,
                          event.sum_of_squares);
    }
    return sink(text);
  }

  std::vector<std::string> metrics_;
  std::vector<ThreadFile> files_;
  bool packed_ = false;
  std::set<std::string> groups_;  // of a packed profile
  ProfilePtr profile_;
};

// Files of the state at several moments, snapshot.N.C.T, or of all threads, tauprofile.xml.
bool is_snapshot(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  head.remove_prefix(first);
  return head.starts_with("<profile_xml>") ||
         (head.starts_with("<?xml") && head.find("<profile_xml>") != std::string_view::npos);
}
// What a shell calls those of a directory; empty = there are none.
std::string snapshots_in(const fs::path& directory) {
  std::error_code status;
  for (fs::directory_iterator it(directory, status), end; !status && it != end; it.increment(status)) {
    Found one;
    const std::string name = it->path().filename().string();
    const bool merged = name == "tauprofile.xml";
    if (!merged && !parse_file_name(name, one, "snapshot")) continue;
    const auto blob = open_file(it->path(), make_work());
    if (!blob.ok() || !is_snapshot(blob->text().substr(0, 4096))) continue;
    return (directory / (merged ? name : "snapshot.*")).string();
  }
  return {};
}

Error snapshot_error(const Source& source, const std::string& files) {
  return Error("holds snapshots of TAU in XML, which are not read", Place::in(source.path().string()))
      .hint(fmt::format("pack them first, the last state is kept: paraprof -f snap --pack run.ppk {}; or run with "
                        "TAU_PROFILE_FORMAT=profile",
                        files));
}

Match recognise(const Source& source) {
  if (!source.is_directory()) {
    if (is_snapshot(source.head())) return {Confidence::certain, "begins with '<profile_xml>': snapshots of TAU"};
    if (looks_like_profile(source.head())) return {Confidence::certain, "begins with 'N templated_functions'"};
    if (is_packed_profile(source.head())) return {Confidence::certain, "a packed profile of ParaProf (.ppk)"};
    return {};
  }
  constexpr std::size_t kLookedAt = 3;
  const Run run = list_run(source.path(), true, kLookedAt);
  const Work work = make_work();
  for (const Found& one : run.files) {
    const auto blob = open_file(one.path, work);
    if (blob.ok() && looks_like_profile(blob->text().substr(0, 4096))) {
      return {Confidence::certain, "a directory with files profile.N.C.T of TAU"};
    }
  }
  if (run.files.empty() && !snapshots_in(source.path()).empty()) {
    return {Confidence::certain, "a directory with snapshots of TAU"};
  }
  return {};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  if (!source.is_directory() && is_snapshot(source.head())) {
    return snapshot_error(source, source.path().string());
  }
  if (!source.is_directory() && is_packed_profile(source.head())) {
    FATHOM_TRY(PackedProfile packed, read_packed(source.blob(), work));
    return DatasetPtr(std::make_unique<TauDataset>(source.path(), work, std::move(packed)));
  }
  Run run = list_run(source.path(), source.is_directory(), static_cast<std::size_t>(-1));
  if (run.files.empty()) {
    if (const std::string snapshots = snapshots_in(source.path()); !snapshots.empty()) {
      return snapshot_error(source, snapshots);
    }
    return Error("holds neither files profile.N.C.T nor directories MULTI__METRIC with such",
                 Place::in(source.path().string()));
  }
  std::vector<ThreadFile> files(run.files.size());
  std::vector<std::optional<Error>> errors(run.files.size());
  FATHOM_CHECK(parallel_for(run.files.size(), [&](std::size_t i) -> Result<void> {
    const Found& from = run.files[i];
    files[i] = {from.node, from.context, from.thread, from.metric, {}};
    const auto one = [&]() -> Result<void> {
      Blob blob = source.blob();
      if (source.is_directory()) {
        FATHOM_TRY(blob, open_file(from.path, work));
      }
      FATHOM_TRY(files[i].file, read(blob, work));
      return {};
    };
    if (auto done = one(); !done.ok()) errors[i] = std::move(done).error().where(Place::in(from.path.string()));
    return {};
  }));
  // A thread that cannot be read is named and left out.
  std::vector<ThreadFile> sound;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!errors[i]) {
      sound.push_back(std::move(files[i]));
    } else if (sound.empty() && i + 1 == files.size()) {
      return *errors[i];
    } else {
      FATHOM_CHECK(
          work->diagnostics.lost("tau.unreadable", errors[i]->place(), fmt::format("left out: {}", errors[i]->what())));
    }
  }
  return DatasetPtr(std::make_unique<TauDataset>(source.path(), work, std::move(run.metrics), std::move(sound)));
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "tau",
                              .title = "TAU profiles",
                              .extensions = "",
                              .can = {{Level::profile}, {}},
                              .recognise = recognise,
                              .open = open};
  return kFormat;
}

}  // namespace fathom::tau
