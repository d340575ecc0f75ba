// fathom reduce: a profile made from a trace.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/output_arguments.hpp"
#include "cli/time_argument.hpp"
#include "experiment/collect.hpp"
#include "formats/experiment_dataset.hpp"
#include "formats/registry.hpp"
#include "io/opened_files.hpp"
#include "profile/reduce/reduce.hpp"

namespace fathom::cli {

namespace {

class ReduceCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("TRACE", in_, "a trace of any format")
        .positional("OUT", output_.target, "the profile to write")
        .values("--channel", "NAME", channels_,
                "take contexts from what this channel says (thread state, CPU, ...); repeatable, outermost first")
        .choice("--split", split_, {"none", "communicator", "peer", "size"},
                "contexts below calls that move data, by what they are told apart; counters stay with the call")
        .flag("--waits", waits_,
              "wait states, delay costs and the critical path as further metrics, named as Scalasca names them")
        .value("--from-time", "T", &from_, "begin at T: ns on the trace's clock, or with a unit (1.5s)")
        .value("--to-time", "T", &to_, "end before T")
        .value(
            "--windows", "N", &windows_,
            "N equal parts of the time: locations of their own beside the others, or points of an experiment where OUT "
            "is one");
    output_.declare_format(options);
    options
        .about(
            "Contexts are the regions that are entered and left, or what samples found; time outside of all regions is "
            "the root 'compute'. Metrics: time, visits, and where the trace tells cpu_time, bytes_sent, "
            "bytes_received, "
            "messages_sent, messages_received, samples and its counters. Every command for profiles does this unasked "
            "when it is given a trace; this one has options and keeps the result.")
        .example("fathom reduce dumpi-2013.meta profile.cubex", "a profile of an MPI trace for Cube")
        .example("fathom reduce run.meta peers.cubex --split peer", "time and bytes by whom a call talks to")
        .example("fathom reduce run.meta waits.cubex --waits", "who waits where, and because of what, for Cube")
        .example("fathom reduce ovni/ cpus.cubex --channel cpu", "what ran on each CPU, and how long")
        .example("fathom reduce run.meta phases.cubex --windows 10", "how a run changes in ten steps")
        .example("fathom reduce run.meta phases.extra-p --windows 10", "the same as an experiment over time");
  }

  Result<int> run(Session& session) override {
    ReduceOptions options;
    options.name = in_;
    FATHOM_TRY(const auto from, time_argument(from_));
    FATHOM_TRY(const auto to, time_argument(to_));
    if (from) options.window.from_ns = *from;
    if (to) options.window.to_ns = *to;
    if (options.window.to_ns <= options.window.from_ns) return Error::usage("--to-time must be after --from-time");
    constexpr std::uint64_t kMostWindows = 100'000;
    if (windows_ == 0 || windows_ > kMostWindows) {
      return Error::usage(fmt::format("--windows takes 1 to {}, got {}", kMostWindows, windows_));
    }
    options.parts = static_cast<std::uint32_t>(windows_);
    options.split = split_ == "communicator" ? MessageSplit::communicator
                    : split_ == "peer"       ? MessageSplit::peer
                    : split_ == "size"       ? MessageSplit::size
                                             : MessageSplit::none;
    options.waits = waits_;
    // What is to be written is known before the work begins.
    constexpr Level kLevels[] = {Level::profile, Level::experiment};
    FATHOM_TRY(const Format* format, output_.format(nullptr, std::span(kLevels).first(windows_ > 1 ? 2 : 1)));
    FATHOM_TRY(const DatasetPtr dataset, session.open(in_));
    FATHOM_TRY(const auto trace, dataset->trace());
    FATHOM_CHECK(spare_inputs(output_.target));
    for (const std::string& name : channels_) {
      FATHOM_TRY(const ChannelId channel, find_channel(*trace, name));
      options.channels.push_back(channel);
    }
    FATHOM_TRY(const ProfilePtr profile, reduce(*trace, options, session.work()));
    if (writes_one_of(*format, std::span(kLevels).first(1))) {
      FATHOM_CHECK(output_.write(session, profile, format));
    } else {
      FATHOM_CHECK(write_experiment(session, *profile, *format));
    }
    return kDone;
  }

 private:
  // The windows as points of an experiment.
  Result<void> write_experiment(Session& session, const Profile& profile, const Format& format) const {
    CollectOptions options;
    options.missing = CollectOptions::Missing::keep;
    FATHOM_TRY(ExperimentPtr experiment, collect_parts(profile, windows_, options, session.work()));
    FATHOM_TRY(const Format* runs, find_format("runs"));
    ExperimentDataset dataset(*runs, in_, session.work(), std::move(experiment));
    FATHOM_TRY(const WriteOptions how, output_.write_options(format));
    FATHOM_CHECK(format.write(dataset, output_.target, how));
    session.note(fmt::format("wrote {} ({})", output_.target, format.name));
    return {};
  }

  std::string in_;
  OutputArguments output_;
  std::vector<std::string> channels_;
  std::string split_ = "none";
  std::optional<std::string> from_;
  std::optional<std::string> to_;
  std::uint64_t windows_ = 1;
  bool waits_ = false;
};

}  // namespace

std::unique_ptr<Command> make_reduce_command() { return std::make_unique<ReduceCommand>(); }

}  // namespace fathom::cli
