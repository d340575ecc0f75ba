#include "formats/hpctoolkit/hpctoolkit_format.hpp"

#include "formats/hpctoolkit/classic_database.hpp"
#include "formats/hpctoolkit/database.hpp"
#include "formats/hpctoolkit/database_writer.hpp"
#include "formats/hpctoolkit/magic.hpp"
#include "io/file.hpp"
#include "trace/samples.hpp"

namespace fathom::hpctoolkit {

namespace {

constexpr std::string_view kFamily = "hpctoolkit";
constexpr std::size_t kHeadSize = 65536;  // an inline DTD stands before the root element

// The first bytes of a file of the directory that `source` is, or lies in; none of what is no file, a pipe, say.
std::string head_of(const std::filesystem::path& file) {
  const auto blob = map_file(file);
  return blob ? std::string(blob->text().substr(0, kHeadSize)) : std::string();
}

std::filesystem::path directory_of(const Source& source) {
  if (source.is_directory()) return source.path();
  const auto parent = source.path().parent_path();
  return parent.empty() ? std::filesystem::path(".") : parent;
}

// Does the source belong to a database whose description is `name`? A file of it stands for the directory.
bool points_at(const Source& source, std::string_view name) {
  if (source.is_directory()) return source.has(name);
  if (source.path().filename() == name) return true;
  std::error_code status;
  const auto head = source.head(16);
  const bool member = head.starts_with("HPCTOOLKIT") || head.starts_with("HPCPROF-");
  return member && std::filesystem::exists(directory_of(source) / name, status);
}

Match recognise_meta(const Source& source) {
  if (!points_at(source, "meta.db")) return {};
  const std::string head =
      source.is_directory() ? head_of(source.path() / "meta.db") : head_of(directory_of(source) / "meta.db");
  if (head.starts_with(kMetaMagic)) return {Confidence::certain, "holds a meta.db that begins with HPCTOOLKITmeta"};
  if (source.is_directory() && source.has("profile.db")) {
    return {Confidence::maybe, "holds files named meta.db and profile.db"};
  }
  return {};
}

Match recognise_xml(const Source& source) {
  if (!points_at(source, "experiment.xml")) return {};
  const std::string version = ExperimentXml::version_in(head_of(directory_of(source) / "experiment.xml"));
  if (!version.empty() && version[0] >= '4') {
    return {Confidence::certain, "experiment.xml says HPCToolkitExperiment version " + version};
  }
  if (version.empty() && source.is_directory() && source.has("profile.db")) {
    return {Confidence::maybe, "holds files named experiment.xml and profile.db"};
  }
  return {};
}

// The XML of a classic database: the source itself, or the file of that name in the directory.
std::filesystem::path classic_xml(const Source& source) {
  if (!source.is_directory()) return source.path();
  for (const char* name : {"experiment.xml", "callpath.xml"}) {
    if (source.has(name)) return source.path() / name;
  }
  return {};
}

Match recognise_classic(const Source& source) {
  const auto file = classic_xml(source);
  if (file.empty()) return {};
  const std::string version =
      ExperimentXml::version_in(source.is_directory() ? head_of(file) : std::string(source.head(kHeadSize)));
  if (version.empty() || version[0] >= '4') return {};
  return {Confidence::certain, "the XML says HPCToolkitExperiment version " + version};
}

Result<DatasetPtr> open_classic(const Source& source, const Work& work) {
  Blob xml = source.blob();
  if (source.is_directory()) {
    FATHOM_TRY(xml,
               open_file(classic_xml(source).empty() ? source.path() / "experiment.xml" : classic_xml(source), work));
  }
  FATHOM_TRY(auto database, ClassicDatabase::open(classic_format(), directory_of(source), xml, work));
  return DatasetPtr(std::move(database));
}

Result<DatasetPtr> open_meta(const Source& source, const Work& work) {
  FATHOM_TRY(DatabaseFiles files, DatabaseFiles::at(directory_of(source), "meta.db", work));
  if (!source.is_directory()) files.named = source.path().filename().string();
  FATHOM_TRY(auto database, Database::open(meta_format(), std::move(files), work));
  return DatasetPtr(std::move(database));
}

Result<DatasetPtr> open_xml(const Source& source, const Work& work) {
  FATHOM_TRY(DatabaseFiles files, DatabaseFiles::at(directory_of(source), "experiment.xml", work));
  if (!source.is_directory()) files.named = source.path().filename().string();
  FATHOM_TRY(auto database, Database::open(xml_format(), std::move(files), work));
  return DatasetPtr(std::move(database));
}

Result<void> write_meta_database(Dataset& dataset, const std::filesystem::path& target, const WriteOptions&) {
  return write_database(dataset, Generation::meta, target);
}

Result<void> write_xml_database(Dataset& dataset, const std::filesystem::path& target, const WriteOptions&) {
  return write_database(dataset, Generation::xml, target);
}

}  // namespace

const Format& meta_format() {
  static const Format kFormat = {
      .name = "hpctoolkit",
      .title = "HPCToolkit database (meta.db)",
      .extensions = ".hpcdb",
      .can = {{Level::profile, Level::trace}, {Level::profile}},
      .recognise = recognise_meta,
      .open = open_meta,
      .write = write_meta_database,
      .options = {.statistics = {&kDepth}},
      .shared = {.reads_values = true, .writes_profile = true},
      .family = kFamily,
  };
  return kFormat;
}

const Format& classic_format() {
  static const Format kFormat = {
      .name = "hpctoolkit-classic",
      .title = "HPCToolkit database (experiment.xml 2.x)",
      .extensions = "",
      .can = {{Level::profile, Level::trace}, {}},
      .recognise = recognise_classic,
      .open = open_classic,
      .options = {.statistics = {&kDepth}},
      .family = kFamily,
  };
  return kFormat;
}

const Format& xml_format() {
  static const Format kFormat = {
      .name = "hpctoolkit-xml",
      .title = "HPCToolkit database (experiment.xml 4.0)",
      .extensions = "",
      .can = {{Level::profile, Level::trace}, {Level::profile}},
      .recognise = recognise_xml,
      .open = open_xml,
      .write = write_xml_database,
      .options = {.statistics = {&kDepth}},
      .shared = {.writes_profile = true},
      .family = kFamily,
  };
  return kFormat;
}

}  // namespace fathom::hpctoolkit
