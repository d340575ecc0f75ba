// fathom what-if: the run once more, with other compute times or another network.
#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/session.hpp"
#include "report/text_table.hpp"
#include "trace/analysis/what_if.hpp"

namespace fathom::cli {

namespace {

using analysis::Change;
using analysis::Efficiencies;
using analysis::Prediction;
using analysis::ReplayModel;

// "5us", "2e-6", "1.5ms"
std::optional<double> parse_seconds(std::string_view text) {
  double unit = 1;
  for (const auto& [ending, factor] : {std::pair{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}}) {
    if (!text.ends_with(ending)) continue;
    text.remove_suffix(std::string_view(ending).size());
    unit = factor;
    break;
  }
  const auto number = parse_double(text);
  if (!number || *number < 0) return std::nullopt;
  return *number * unit;
}

class WhatIfCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("TRACE", path_, "a trace of an MPI program")
        .values("--compute", "rank=R:F", compute_,
                "rank R computes F times as long (0.8 = a fifth less); rank=*:F for all others")
        .value("--network", "NET", &network_,
               "ideal (nothing but waiting takes time), or latency=T,bandwidth=B (5us, 10G bytes per second)")
        .flag("--balance", balance_, "every rank computes as much as the mean")
        .example("fathom what-if run.meta --balance", "what balancing the work would gain")
        .example("fathom what-if run.meta --compute rank=3:0.8", "what it gains when rank 3 computes a fifth less")
        .example("fathom what-if run.meta --network latency=2us,bandwidth=25G", "another network")
        .about(
            "The run is replayed with its recorded dependences: the same messages in the same order, the same "
            "collectives. Without --network the calls take what they took beside waiting. Cache effects, contention "
            "and "
            "other decisions of the program at run time are not in it.");
  }

  Result<int> run(Session& session) override {
    FATHOM_TRY(const Change change, parse());
    FATHOM_TRY(const DatasetPtr dataset, session.open(path_));
    FATHOM_TRY(const auto trace, dataset->trace());
    FATHOM_TRY(const auto analysed, analysis::analyse(*trace, session.work()));
    for (const auto& [rank, factor] : change.compute) {
      if (rank >= 0 && analysed->run.process_of_rank(rank) == analysis::kNone) {
        return Error::usage(fmt::format("--compute: the trace has no rank {}", rank));
      }
    }
    FATHOM_TRY(const Prediction prediction, analysis::what_if(*analysed, change));
    if (session.json()) {
      write_json(session, change, prediction);
    } else {
      write_text(session, change, prediction);
    }
    return kDone;
  }

 private:
  [[nodiscard]] Result<Change> parse() const {
    Change change;
    change.balance = balance_;
    for (const std::string& text : compute_) {
      const auto colon = text.find(':');
      const bool shaped = text.starts_with("rank=") && colon != std::string::npos;
      const std::string rank = shaped ? text.substr(5, colon - 5) : "";
      const auto factor = shaped ? parse_double(std::string_view(text).substr(colon + 1)) : std::nullopt;
      const auto number = rank == "*" ? std::optional<std::int32_t>(-1) : parse_integer<std::int32_t>(rank);
      if (!number || *number < -1 || !factor || !(*factor >= 0) || *factor > 1e6) {
        return Error::usage(fmt::format("--compute needs rank=R:FACTOR (rank=3:0.8), found '{}'", text));
      }
      change.compute.emplace_back(*number, *factor);
    }
    if (!network_) return change;
    if (*network_ == "ideal") {
      change.network = ReplayModel::Network::ideal;
      return change;
    }
    change.network = ReplayModel::Network::given;
    for (const std::string_view part : split(std::string_view(*network_), ',')) {
      const auto equals = part.find('=');
      const std::string_view key = part.substr(0, equals);
      const std::string_view value = equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1);
      if (key == "latency" && parse_seconds(value)) {
        change.latency_ns = *parse_seconds(value) * 1e9;
      } else if (key == "bandwidth" && parse_size(value).value_or(0) > 0) {
        change.bytes_per_ns = static_cast<double>(*parse_size(value)) * 1e-9;
      } else {
        return Error::usage(fmt::format(
            "--network needs ideal or latency=T,bandwidth=B (latency=2us,bandwidth=10G), found '{}'", part));
      }
    }
    return change;
  }

  static std::vector<std::string> assumptions(const Change& change) {
    std::vector<std::string> out = {"messages, collectives and their order stay as recorded"};
    switch (change.network) {
      case ReplayModel::Network::recorded:
        out.emplace_back("calls take what they took beside waiting");
        break;
      case ReplayModel::Network::ideal:
        out.emplace_back("calls take no time but for what they must wait for; file operations keep theirs");
        break;
      case ReplayModel::Network::given:
        out.push_back(fmt::format(
            "a message takes {} and {}, a collective that times log2 of its members; no contention",
            readable(change.latency_ns * 1e-9, "sec"),
            change.bytes_per_ns > 0 ? fmt::format("its size over {}/s", readable(change.bytes_per_ns * 1e9, "bytes"))
                                    : std::string("nothing for its size")));
    }
    if (change.balance) out.emplace_back("every rank computes as much as the mean, in the same proportions over time");
    for (const auto& [rank, factor] : change.compute) {
      out.push_back(rank < 0 ? fmt::format("all other ranks compute {:g} times as long", factor)
                             : fmt::format("rank {} computes {:g} times as long", rank, factor));
    }
    return out;
  }

  static void write_json(Session& session, const Change& change, const Prediction& prediction) {
    JsonWriter json(session.out());
    json.begin_object();
    json.member("recorded_s", prediction.recorded_s).member("replayed_s", prediction.replayed_s);
    json.member("predicted_s", prediction.predicted_s);
    const auto efficiencies = [&](std::string_view name, const Efficiencies& numbers) {
      json.key(name).begin_object().member("parallel", numbers.parallel).member("load_balance", numbers.load_balance);
      json.member("communication", numbers.communication).end_object();
    };
    efficiencies("before", prediction.before);
    efficiencies("after", prediction.after);
    json.key("assumptions").begin_array();
    for (const std::string& text : assumptions(change)) json.value(text);
    json.end_array();
    session.write_diagnostics(json);
    json.end_object();
    session.forget_diagnostics();
  }

  static void write_text(Session& session, const Change& change, const Prediction& prediction) {
    const double gain = prediction.replayed_s > 0 ? 1 - prediction.predicted_s / prediction.replayed_s : 0;
    session.out().write(fmt::format("Predicted runtime {} instead of {} ({}{:.1f}%)\n\n",
                                    readable(prediction.predicted_s, "sec"), readable(prediction.recorded_s, "sec"),
                                    gain >= 0 ? "-" : "+", std::abs(gain) * 100));
    TextTable table;
    table.column("").column("RUNTIME", Align::right).column("PARALLEL", Align::right);
    table.column("LOAD BALANCE", Align::right).column("COMMUNICATION", Align::right);
    const auto row = [&](const char* name, double seconds, const Efficiencies& numbers) {
      table.row({name, readable(seconds, "sec"), fmt::format("{:.1f}%", numbers.parallel * 100),
                 fmt::format("{:.1f}%", numbers.load_balance * 100),
                 fmt::format("{:.1f}%", numbers.communication * 100)});
    };
    row("recorded", prediction.recorded_s, prediction.before);
    row("predicted", prediction.predicted_s, prediction.after);
    session.out().write(table.text(session.terminal()));
    session.out().write("\nAssumed: ");
    bool first = true;
    for (const std::string& text : assumptions(change)) {
      session.out().write(fmt::format("{}{}", first ? "" : "; ", text));
      first = false;
    }
    const double off = prediction.recorded_s > 0 ? prediction.replayed_s / prediction.recorded_s - 1 : 0;
    session.out().write(
        fmt::format(".\nThe run as it was, replayed in the same way, is {:.2f}% off.\n", std::abs(off) * 100));
  }

  std::string path_;
  std::vector<std::string> compute_;
  std::optional<std::string> network_;
  bool balance_ = false;
};

}  // namespace

std::unique_ptr<Command> make_what_if_command() { return std::make_unique<WhatIfCommand>(); }

}  // namespace fathom::cli
