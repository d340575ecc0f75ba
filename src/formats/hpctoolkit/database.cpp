#include "formats/hpctoolkit/database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/parallel.hpp"
#include "formats/hpctoolkit/database_writer.hpp"
#include "formats/hpctoolkit/derived_metrics.hpp"
#include "formats/hpctoolkit/dump.hpp"
#include "formats/hpctoolkit/sample_trace.hpp"
#include "formats/hpctoolkit/statistics.hpp"
#include "io/directory.hpp"
#include "io/file.hpp"
#include "io/opened_files.hpp"
#include "io/output_file.hpp"
#include "io/output_set.hpp"
#include "io/temporary.hpp"
#include "trace/samples.hpp"

namespace fathom::hpctoolkit {

Result<DatabaseFiles> DatabaseFiles::at(const std::filesystem::path& directory, const char* description,
                                        const Work& work) {
  DatabaseFiles files;
  files.directory = directory;
  FATHOM_TRY(files.description, open_file(directory / description, work));
  const auto optional_file = [&](const char* name) -> Result<std::optional<Blob>> {
    std::error_code status;
    if (!std::filesystem::exists(directory / name, status)) return std::optional<Blob>();
    FATHOM_TRY(Blob blob, open_file(directory / name, work));
    return std::optional<Blob>(std::move(blob));
  };
  FATHOM_TRY(files.profiles, optional_file("profile.db"));
  FATHOM_TRY(files.contexts, optional_file("cct.db"));
  FATHOM_TRY(files.trace, optional_file("trace.db"));
  return files;
}

Result<std::unique_ptr<Database>> Database::open(const Format& format, DatabaseFiles files, const Work& work) {
  // Sources are read when they are asked for.
  expect_inputs(files.directory, "hpctoolkit", [](const std::filesystem::path& file) {
    return is_database_file(file) || *file.begin() == "src" || *file.begin() == "metrics";
  });
  std::unique_ptr<Database> database(new Database(format, std::move(files), work));
  FATHOM_CHECK(database->load());
  return database;
}

// The default taxonomy, or all there are. One that cannot be read only costs its derived metrics.
Result<void> Database::load_taxonomy(Mapping& mapping) {
  const std::filesystem::path directory = files_.directory / "metrics";
  std::error_code status;
  if (!std::filesystem::is_directory(directory, status)) return {};
  FATHOM_TRY(const auto entries, list_directory(directory));
  for (const auto& path : entries) {
    if (path.extension() != ".yaml") continue;
    FATHOM_TRY(const Blob blob, open_file(path, work()));
    auto taxonomy = Taxonomy::read(blob);
    if (taxonomy) {
      FATHOM_CHECK(add_derived(*taxonomy, blob.name(), mapping, work()));
    } else {
      FATHOM_CHECK(work()->diagnostics.warn("hpctoolkit.taxonomy", taxonomy.error().place(),
                                            taxonomy.error().what() + "; its derived metrics are left out"));
    }
  }
  return {};
}

Result<void> Database::load() {
  std::vector<std::string> id_names;
  if (MetaDb::looks_like(files_.description.bytes())) {
    FATHOM_TRY(const MetaDb meta, MetaDb::read(files_.description, work()));
    version_ = meta.version;
    variant_ = meta.prerelease ? "pre-release meta.db" : "meta.db";
    id_names = meta.id_names;
    FATHOM_TRY(Mapping mapping, map_meta(meta, work()));
    FATHOM_CHECK(load_taxonomy(mapping));
    mapping_ = std::make_shared<Mapping>(std::move(mapping));
  } else {
    FATHOM_TRY(const ExperimentXml xml, ExperimentXml::read(files_.description, work()));
    version_ = xml.version;
    variant_ = "experiment.xml";
    id_names = xml.id_names;
    FATHOM_TRY(Mapping mapping, map_xml(xml, work()));
    mapping_ = std::make_shared<Mapping>(std::move(mapping));
  }
  FATHOM_CHECK(note_shared_ids(*mapping_, files_.description.name(), work()));
  if (id_names.empty()) id_names = default_id_names();
  FATHOM_CHECK(load_values());
  if (files_.trace) {
    auto trace = TraceDb::read(*files_.trace, work());
    if (trace) {
      if (trace->sample_count() > 0) trace_db_ = std::make_shared<const TraceDb>(std::move(*trace));
    } else {
      FATHOM_CHECK(work()->diagnostics.lost("hpctoolkit.trace_db", trace.error().place(),
                                            trace.error().what() + "; the trace is left out"));
    }
  }
  if (profiles_) {
    map_system(profiles_->profiles(), id_names, *mapping_);
  } else {
    FATHOM_TRY(std::vector<ProfileRecord> unknown, numbered_profiles());
    map_system(unknown, id_names, *mapping_);
  }
  source_ = std::make_shared<DatabaseSource>(profiles_, contexts_, mapping_, work());
  return {};
}

// Without profile.db nobody says what the profiles are; cct.db and trace.db know their numbers. One that is far beyond
// what the file has values for is damage, and must not be what memory is taken for.
Result<std::vector<ProfileRecord>> Database::numbered_profiles() {
  constexpr std::uint64_t kProfilesWithoutValues = 1U << 16;
  std::uint64_t most = kProfilesWithoutValues;
  const auto for_each_block = [&](const auto& take) {
    for (std::uint64_t id = 0; contexts_ && id < contexts_->size(); ++id) {
      if (const auto block = contexts_->block(id)) take(*block);
    }
  };
  for_each_block([&](const auto& block) { most += block.value_count(); });
  std::uint32_t last = 0;
  std::uint64_t beyond = 0;
  for_each_block([&](const auto& block) {
    for (std::uint64_t i = 0; i < block.value_count(); ++i) {
      const std::uint32_t number = block.id(i);
      if (number < most) {
        last = std::max(last, number);
      } else {
        ++beyond;
      }
    }
  });
  if (beyond > 0) {
    FATHOM_CHECK(work()->diagnostics.add("hpctoolkit.profile_number", Severity::data_loss,
                                         Place::in(files_.contexts ? files_.contexts->name() : path().string()),
                                         "values of profiles with impossible numbers are left out", beyond));
  }
  // A profile without values may have samples.
  if (trace_db_) {
    for (const TraceLine& line : trace_db_->lines()) {
      if (line.count > 0 && line.profile < most) last = std::max(last, line.profile);
    }
  }
  std::vector<ProfileRecord> unknown(std::size_t{last} + 1);
  unknown.front().summary = true;
  return unknown;
}

// Either of profile.db and cct.db is enough for the values.
Result<void> Database::load_values() {
  if (!files_.profiles && !files_.contexts) {
    return Error("holds neither profile.db nor cct.db", Place::in(path().string()))
        .hint("a database needs one of the two beside its description");
  }
  std::optional<Error> first;
  const auto note = [&](Error error, const char* other) -> Result<void> {
    FATHOM_CHECK(work()->diagnostics.lost("hpctoolkit.values_file", error.place(),
                                          fmt::format("{}; values come from {}", error.what(), other)));
    if (!first) first = std::move(error);
    return {};
  };
  const auto missing = [&](const char* name) { return Error("is missing", Place::in((path() / name).string())); };
  if (files_.profiles) {
    auto read = ProfileDb::read(*files_.profiles, work());
    if (read) {
      profiles_ = std::make_shared<const ProfileDb>(std::move(*read));
    } else if (read.error().kind() == ErrorKind::refused) {
      return std::move(read).error();
    } else {
      FATHOM_CHECK(note(std::move(read).error(), "cct.db"));
    }
  } else {
    FATHOM_CHECK(note(missing("profile.db"), "cct.db"));
  }
  if (files_.contexts) {
    auto read = CctDb::read(*files_.contexts, work());
    if (read && profiles_ && read->looks_damaged()) {
      FATHOM_CHECK(work()->diagnostics.lost("hpctoolkit.cct_damaged", read->blob().place(),
                                            "blocks of values are not terminated or do not lie inside the file (some "
                                            "writers of 2022 left the data zeroed); values come from profile.db"));
    } else if (read) {
      contexts_ = std::make_shared<const CctDb>(std::move(*read));
    } else if (read.error().kind() == ErrorKind::refused) {
      return std::move(read).error();
    } else {
      FATHOM_CHECK(note(std::move(read).error(), "profile.db"));
    }
  } else {
    FATHOM_CHECK(note(missing("cct.db"), "profile.db"));
  }
  if (!profiles_ && !contexts_) {
    return std::move(*first).hint("a database needs profile.db or cct.db beside its description");
  }
  return {};
}

std::vector<Level> Database::levels() const {
  std::vector<Level> levels = {Level::profile};
  if (trace_db_) levels.push_back(Level::trace);
  return levels;
}

Result<std::vector<InfoEntry>> Database::describe(bool) {
  const Definitions& defs = *mapping_->definitions;
  std::vector<InfoEntry> out;
  out.push_back({"metrics", std::uint64_t{defs.metrics.size() - mapping_->programs.size()}});
  if (!mapping_->programs.empty()) out.push_back({"derived_metrics", std::uint64_t{mapping_->programs.size()}});
  out.push_back({"contexts", std::uint64_t{defs.contexts.size()}});
  out.push_back({"regions", std::uint64_t{defs.regions.size()}});
  out.push_back({"locations", std::uint64_t{defs.system.location_count()}});
  if (trace_db_) out.push_back({"events", trace_db_->sample_count()});
  if (profiles_) {
    std::uint64_t values = 0;
    for (const ProfileRecord& profile : profiles_->profiles()) values += profile.summary ? 0 : profile.value_count;
    out.push_back({"values", values});
  }
  out.push_back({"variant", variant_});
  for (const auto& [key, value] : defs.attributes) out.push_back({key, value});
  if (trace_db_) {
    FATHOM_TRY(const auto level, trace());
    if (const auto span = level->known_span()) {
      describe_span(span->from_ns, span->to_ns, out);
    }
  }
  return out;
}

Result<ProfilePtr> Database::profile() {
  if (profile_) return profile_;
  auto profile = std::make_shared<Profile>();
  profile->definitions = mapping_->definitions;
  profile->values = source_;
  profile->programs = mapping_->programs;
  profile->name = path().string();
  profile->work = work();
  if (profiles_ && !mapping_->statistics.empty()) {
    profile->statistics = [profiles = profiles_, source = source_, mapping = mapping_, work = work()] {
      return hpctoolkit::statistics(*profiles, *source, *mapping, work);
    };
  }
  profile_ = std::move(profile);
  return profile_;
}

Result<std::shared_ptr<const Trace>> Database::trace() {
  if (!trace_db_) return no_level(Level::trace);
  if (trace_) return trace_;
  const auto& order = mapping_->profile_of_location;
  std::vector<SampleLine> lines;
  for (const TraceLine& line : trace_db_->lines()) {
    if (line.count == 0) continue;
    const Place place = trace_db_->blob().place(line.begin);
    const auto found = std::lower_bound(order.begin(), order.end(), line.profile);
    if (found == order.end() || *found != line.profile) {
      FATHOM_CHECK(work()->diagnostics.lost(
          "hpctoolkit.trace_profile", place,
          fmt::format("a trace of profile {}, which does not exist: {} samples", line.profile, line.count)));
      continue;
    }
    SampleLine target;
    target.at = trace_db_->blob().bytes().data() + line.begin;
    target.count = line.count;
    target.place = place;
    target.location = LocationId(static_cast<std::size_t>(found - order.begin()));
    if (line.type != 0) {
      target.metric = metric_of_id(line.type);
      if (!target.metric.valid()) {
        FATHOM_CHECK(work()->diagnostics.lost(
            "hpctoolkit.trace_type", place,
            fmt::format("a trace line of type {}, which is neither 0 (call paths) nor the id of a metric: {} records",
                        line.type, line.count)));
        continue;
      }
    }
    lines.push_back(std::move(target));
  }
  trace_ = std::make_shared<SampleTrace>(*mapping_->definitions, mapping_->samples, std::move(lines),
                                         order_of(trace_db_->generation()), TickScale(), trace_db_, work(),
                                         trace_db_->told_span());
  return trace_;
}

// The metric that values are stored for under an id.
MetricId Database::metric_of_id(std::uint16_t id) const {
  for (std::size_t m = 0; m < mapping_->ids.size(); ++m) {
    const auto& ids = mapping_->ids[m];
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) return MetricId(m);
  }
  return {};
}

Result<TraceStatistics> Database::statistics(const StatisticsOptions& options) {
  FATHOM_TRY(const auto samples, trace());
  return sample_statistics(*samples, options);
}

Result<void> Database::dump(const DumpOptions& asked, const TextSink& sink) {
  const bool meta = MetaDb::looks_like(files_.description.bytes());
  const std::string description = meta ? "meta" : "experiment";
  FATHOM_CHECK(check_sections(asked, {description, "profile", "cct", "trace"}));
  DumpOptions options = asked;
  // One of the files alone: its section.
  const std::string section = std::filesystem::path(files_.named).stem().string();
  if (options.sections.empty() && !section.empty()) options.sections = {section};
  Dumper dumper(sink);
  if (wants_section(options, description)) {
    if (meta) {
      FATHOM_TRY(const MetaDb native, MetaDb::read(files_.description, work()));
      dumper.dump(native);
    } else {
      FATHOM_TRY(const ExperimentXml native, ExperimentXml::read(files_.description, work()));
      dumper.dump(native);
    }
  }
  if (profiles_ && wants_section(options, "profile")) dumper.dump(*profiles_);
  if (contexts_ && wants_section(options, "cct")) dumper.dump(*contexts_);
  if (trace_db_ && wants_section(options, "trace")) dumper.dump(*trace_db_);
  return {};
}

// A copy of every file: nothing is lost, whatever it is.
Result<bool> Database::rewrite(const std::filesystem::path& target, const WriteOptions&) {
  namespace fs = std::filesystem;
  // Taxonomies of the source take the places of those of an older copy.
  const auto owns = [&](const fs::path& relative) {
    std::error_code ignored;
    return is_database_file(relative) || (relative.parent_path() == "metrics" && relative.extension() == ".yaml" &&
                                          fs::exists(path() / relative, ignored));
  };
  FATHOM_TRY(OutputSet directory,
             OutputSet::directory(target, {.owns = owns, .force = work()->options.flag(kForce), .source = path()}));
  std::error_code status;
  for (fs::recursive_directory_iterator it(path(), status), end; !status && it != end; it.increment(status)) {
    if (is_temporary_name(it->path().filename().native())) {
      it.disable_recursion_pending();
      continue;
    }
    const fs::path to = directory.path() / it->path().lexically_relative(path());
    std::error_code unknown;
    if (it->is_directory(unknown) && !it->is_symlink(unknown)) {
      fs::create_directories(to, status);
    } else if (it->is_regular_file(unknown)) {
      FATHOM_TRY(const Blob blob, map_file(it->path()));
      FATHOM_CHECK(write_file(to, blob.text()));
    } else {
      FATHOM_CHECK(work()->diagnostics.lost("hpctoolkit.not_copied", Place::in(it->path().string()),
                                            "is no file; it is left out"));
    }
  }
  if (status) return Error(status.message(), Place::in(path().string()));
  FATHOM_CHECK(directory.commit());
  return true;
}

}  // namespace fathom::hpctoolkit
