#include "formats/hpctoolkit/database_writer.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>

#include "formats/format.hpp"
#include "formats/hpctoolkit/meta_writer.hpp"
#include "formats/hpctoolkit/sparse_writer.hpp"
#include "formats/hpctoolkit/trace_writer.hpp"
#include "formats/hpctoolkit/xml_writer.hpp"
#include "io/file.hpp"
#include "io/output_file.hpp"

namespace fathom::hpctoolkit {

namespace {

namespace fs = std::filesystem;

// A directory beside the target that is removed unless it is put in the target's place.
class NewDirectory {
 public:
  static Result<NewDirectory> beside(const fs::path& target) {
    fs::path real = target;
    if (!real.has_filename()) real = real.parent_path();
    std::error_code status;
    if (fs::exists(real, status) && !fs::is_empty(real, status) && !fs::exists(real / "meta.db", status) &&
        !fs::exists(real / "experiment.xml", status)) {
      return Error::usage(fmt::format("{} exists and is no database; it is left alone", real.string()));
    }
    std::string pattern = real.string() + ".XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) {
      return Error(fmt::format("cannot create a directory beside it: {}", std::strerror(errno)),
                   Place::in(real.string()));
    }
    fs::permissions(pattern,
                    fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read |
                        fs::perms::others_exec,
                    status);
    return NewDirectory(real, pattern);
  }
  NewDirectory(NewDirectory&& other) noexcept : target_(other.target_), path_(std::exchange(other.path_, {})) {}
  NewDirectory& operator=(NewDirectory&&) = delete;
  ~NewDirectory() {
    std::error_code status;
    if (!path_.empty()) fs::remove_all(path_, status);
  }

  [[nodiscard]] const fs::path& path() const { return path_; }

  Result<void> commit() {
    std::error_code status;
    fs::path old;
    if (fs::exists(target_, status)) {
      old = path_.string() + ".old";
      fs::rename(target_, old, status);
    }
    if (!status) fs::rename(path_, target_, status);
    if (status) {
      std::error_code ignored;
      if (!old.empty()) fs::rename(old, target_, ignored);
      return Error(fmt::format("cannot put the database in place: {}", status.message()), Place::in(target_.string()));
    }
    path_.clear();
    if (!old.empty()) fs::remove_all(old, status);
    return {};
  }

 private:
  NewDirectory(fs::path target, fs::path path) : target_(std::move(target)), path_(std::move(path)) {}
  fs::path target_;
  fs::path path_;
};

}  // namespace

Result<void> write_database(const Profile& profile, const Trace* trace, const fs::path& sources, Generation generation,
                            const fs::path& target) {
  FATHOM_TRY(NewDirectory directory, NewDirectory::beside(target));
  FATHOM_TRY(const std::vector<MetricPlan> plans, plan_metrics(profile));
  if (generation == Generation::meta) {
    FATHOM_CHECK(write_meta(profile, plans, directory.path()));
  } else {
    const auto span = trace != nullptr ? trace->known_span() : std::nullopt;
    FATHOM_CHECK(write_xml(profile, plans, span, directory.path()));
  }
  FATHOM_CHECK(write_values(profile, plans, generation, directory.path()));
  if (trace != nullptr) FATHOM_CHECK(write_trace(*trace, generation, directory.path()));
  std::error_code status;
  if (!sources.empty() && fs::is_directory(sources, status)) {
    fs::copy(sources, directory.path() / "src", fs::copy_options::recursive, status);
    if (status) {
      FATHOM_CHECK(profile.work->diagnostics.warn("hpctoolkit.sources", Place::in(sources.string()),
                                                  "sources were not copied: " + status.message()));
    }
  }
  return directory.commit();
}

Result<void> write_database(Dataset& dataset, Generation generation, const fs::path& target) {
  FATHOM_TRY(const ProfilePtr profile, dataset.profile());
  std::shared_ptr<const Trace> trace;
  const auto levels = dataset.levels();
  const bool ours = dataset.format().name.starts_with("hpctoolkit");
  if (ours && std::find(levels.begin(), levels.end(), Level::trace) != levels.end()) {
    FATHOM_TRY(trace, dataset.trace());
  }
  return write_database(*profile, trace.get(), ours ? dataset.path() / "src" : fs::path(), generation, target);
}

}  // namespace fathom::hpctoolkit
