// fathom index: what the viewer draws timelines from, made before anybody looks.
#include <fmt/format.h>

#include "base/team.hpp"
#include "cli/commands.hpp"
#include "cli/session.hpp"
#include "profile/reduce/reduce.hpp"
#include "serve/index_place.hpp"
#include "trace/summary/index_build.hpp"

namespace fathom::cli {

namespace {

class IndexCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("TRACE", path_, "a trace")
        .value("--index", "DIR", &index_, "keep the index here (default: ~/.cache/fathom)")
        .flag("--index-beside", index_beside_, "keep it beside the data")
        .values("--channel", "NAME", channels_,
                "of what this channel says (default: what the viewer shows first); repeatable")
        .about(
            "The viewer makes an index of a trace when it is opened for the first time and keeps it. Here it is made "
            "beforehand, in a batch job, say; fathom view with the same --index or --index-beside finds it. An index "
            "that is there, of the same files and the same version of Fathom, is left as it is.")
        .example("fathom index run.meta", "fathom view run.meta shows everything at once")
        .example("mpirun -n 64 fathom-mpi index run.meta --index-beside", "the same by many processes");
  }

  Result<int> run(Session& session) override {
    if (index_ && index_beside_) return Error::usage("--index and --index-beside exclude each other");
    FATHOM_TRY(const DatasetPtr dataset, session.open(path_));
    FATHOM_TRY(const auto trace, dataset->trace());
    FATHOM_TRY(const std::vector<ChannelId> channels, chosen(*trace));
    TableBuilder rows({"index",
                       {{"file", ColumnType::text},
                        {"channel", ColumnType::text},
                        {"state", ColumnType::text},
                        {"rows", ColumnType::uint64},
                        {"events", ColumnType::uint64},
                        {"transitions", ColumnType::uint64},
                        {"bytes", ColumnType::uint64, "bytes"}}});
    bool here = true;
    for (const ChannelId channel : channels) {
      summary::IndexPlace place;
      // The others write where the first one says.
      if (team().first()) {
        FATHOM_TRY(place, place_of(*trace, dataset->path(), channel));
      }
      const auto built = summary::build_index(*trace, channel, session.work(), place);
      if (!built.ok()) {
        if (!is_elsewhere(built.error())) return built.error();
        here = false;  // this process has done its part; there may be another index to make
        continue;
      }
      rows.row(place.file.string(), channel.valid() ? trace->channels()[channel.index()].name : std::string(),
               built->made ? "made" : "there already", built->rows, built->events, built->transitions, built->bytes);
    }
    if (!here) return elsewhere();
    session.show_table(std::move(rows).finish(), "indexes");
    return kDone;
  }

 private:
  [[nodiscard]] Result<std::vector<ChannelId>> chosen(const Trace& trace) const {
    std::vector<ChannelId> out;
    for (const std::string& name : channels_) {
      FATHOM_TRY(const ChannelId channel, find_channel(trace, name));
      out.push_back(channel);
    }
    if (!out.empty()) return out;
    // The page asks for the activity first, and for the channel that tells it where a trace has one.
    out.emplace_back();
    if (!trace.activity_channels().empty()) out.push_back(trace.activity_channels().back());
    return out;
  }

  [[nodiscard]] Result<summary::IndexPlace> place_of(const Trace& trace, const std::filesystem::path& path,
                                                     ChannelId channel) const {
    const std::filesystem::path directory = index_ ? std::filesystem::path(*index_) : summary::index_directory();
    if (directory.empty() && !index_beside_) {
      return Error::usage("there is no home directory to keep the index in").hint("--index DIR or --index-beside");
    }
    return serve::index_place(trace, path, channel, {.directory = directory, .beside = index_beside_, .always = true});
  }

  std::string path_;
  std::optional<std::string> index_;
  bool index_beside_ = false;
  std::vector<std::string> channels_;
};

}  // namespace

std::unique_ptr<Command> make_index_command() { return std::make_unique<IndexCommand>(); }

}  // namespace fathom::cli
