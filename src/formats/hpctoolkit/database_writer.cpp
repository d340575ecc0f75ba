#include "formats/hpctoolkit/database_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/team.hpp"
#include "formats/format.hpp"
#include "formats/hpctoolkit/meta_writer.hpp"
#include "formats/hpctoolkit/sparse_writer.hpp"
#include "formats/hpctoolkit/trace_writer.hpp"
#include "formats/hpctoolkit/xml_writer.hpp"
#include "io/file.hpp"
#include "io/shared_output.hpp"

namespace fathom::hpctoolkit {

namespace fs = std::filesystem;

bool is_database_file(const fs::path& relative) {
  // Other taxonomies in metrics/ are people's own.
  static constexpr std::string_view kNames[] = {"meta.db", "experiment.xml", "profile.db",
                                                "cct.db",  "trace.db",       "metrics/default.yaml"};
  return std::find(std::begin(kNames), std::end(kNames), relative.native()) != std::end(kNames);
}

Result<void> write_database(const Profile& profile, const Trace* trace, const fs::path& sources, Generation generation,
                            const fs::path& target) {
  const fs::path source = sources.empty() ? fs::path() : sources.parent_path();
  FATHOM_TRY(SharedOutput shared, SharedOutput::make([&] {
               return OutputSet::directory(
                   target, {.owns = is_database_file, .force = profile.work->options.flag(kForce), .source = source});
             }));
  FATHOM_TRY(const std::vector<MetricPlan> plans, plan_metrics(profile));
  const auto describe = [&]() -> Result<void> {
    const TeamScope alone(nullptr);
    if (generation == Generation::meta) return write_meta(profile, plans, shared.path());
    const auto span = trace != nullptr ? trace->known_span() : std::nullopt;
    return write_xml(profile, plans, span, shared.path());
  };
  if (team().first()) FATHOM_CHECK(describe());
  FATHOM_CHECK(write_values(profile, plans, generation, shared.path()));
  FATHOM_CHECK(shared.all_written());
  OutputSet& directory = shared.set();
  if (trace != nullptr) FATHOM_CHECK(write_trace(*trace, generation, directory.path(), profile.work));
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
