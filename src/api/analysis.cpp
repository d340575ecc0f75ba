// What is computed from a whole dataset: its report, the profile of a trace.
#include "api/state.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "fathom/dataset.hpp"
#include "findings/dataset_report.hpp"
#include "formats/format.hpp"
#include "formats/profile_dataset.hpp"
#include "profile/reduce/reduce.hpp"
#include "report/findings_output.hpp"

namespace fathom::api {

namespace {

fathom::Result<ReduceOptions> reduce_options(const fathom::Trace& trace,
                                             const std::vector<std::pair<std::string, std::string>>& options) {
  ReduceOptions out;
  for (const auto& [name, value] : options) {
    const auto number = parse_integer<std::int64_t>(value);
    const auto wrong = [&] { return fathom::Error::usage("'" + value + "' is no value of " + name); };
    if (name == "from_ns" || name == "to_ns") {
      if (!number) return wrong();
      (name == "from_ns" ? out.window.from_ns : out.window.to_ns) = *number;
    } else if (name == "windows") {
      constexpr std::int64_t kMost = 100'000;
      if (!number || *number < 1 || *number > kMost) return wrong();
      out.parts = static_cast<std::uint32_t>(*number);
    } else if (name == "split") {
      out.split = value == "communicator" ? MessageSplit::communicator
                  : value == "peer"       ? MessageSplit::peer
                  : value == "size"       ? MessageSplit::size
                                          : MessageSplit::none;
      if (out.split == MessageSplit::none && value != "none") return wrong();
    } else if (name == "channel") {
      FATHOM_TRY(const ChannelId channel, find_channel(trace, value));
      out.channels.push_back(channel);
    } else {
      return fathom::Error::usage("reduce has no option '" + name + "'")
          .hint("from_ns, to_ns, windows, split, channel");
    }
  }
  if (out.window.to_ns <= out.window.from_ns) return fathom::Error::usage("to_ns must be after from_ns");
  return out;
}

}  // namespace

Result<std::string> report(const Dataset& dataset) {
  const auto& state = dataset.state();
  return guarded<std::string>(*state, [&]() -> fathom::Result<std::string> {
    const std::scoped_lock lock(state->mutex);
    FATHOM_TRY(const ReportInput input, report_input(*state->dataset));
    FATHOM_TRY(const Report found, make_report(input));
    Output out;
    JsonWriter json(out);
    json.begin_object();
    write_report(json, found);
    json.end_object();
    return out.text();
  });
}

Result<Dataset> reduce(const Dataset& dataset, const std::vector<std::pair<std::string, std::string>>& options) {
  const auto& state = dataset.state();
  return guarded<Dataset>(*state, [&]() -> fathom::Result<Dataset> {
    const std::scoped_lock lock(state->mutex);
    FATHOM_TRY(const auto trace, state->dataset->trace());
    FATHOM_TRY(ReduceOptions wanted, reduce_options(*trace, options));
    wanted.name = state->dataset->path().string();
    auto made = std::make_shared<Dataset::State>();
    made->execution = state->execution;
    FATHOM_TRY(const ProfilePtr profile, fathom::reduce(*trace, wanted, state->dataset->work()));
    made->dataset = make_profile_dataset(profile);
    return Dataset(made);
  });
}

}  // namespace fathom::api
