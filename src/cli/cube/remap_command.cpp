// fathom remap: a profile under the metric tree of a remapping spec.
#include "cli/commands.hpp"
#include "cli/output_arguments.hpp"
#include "formats/cube/remap.hpp"
#include "io/file.hpp"
#include "profile/algebra/idle_threads.hpp"
#include "profile/algebra/reshape.hpp"

namespace fathom::cli {

namespace {

class RemapCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("IN", in_, "a profile");
    output_.declare_target(options, "the profile to write");
    options.value("--spec", "FILE", &spec_, "the spec; default: remapping.spec inside IN")
        .was("-r")
        .flag("-d,--store", store_, "store the values of derived metrics instead of their expressions")
        .flag("-s,--idle-threads", idle_threads_,
              "add what OpenMP threads idle: outside parallel regions, and inside where not all of them work");
    output_.declare_format(options);
    options
        .about(
            "A spec declares metrics, most of them derived from others in CubePL: for Score-P profiles the tree of "
            "times in MPI, OpenMP and so on. Metrics that it does not name follow behind.")
        .example("fathom remap profile.cubex -o summary.cubex", "with the spec that Score-P left in the profile")
        .example("fathom remap in.cubex --spec my.spec -d -o out.cubex", "with another, as plain stored values")
        .example("fathom remap profile.cubex -s -o summary.cubex", "time includes that of idle threads");
  }

  Result<int> run(Session& session) override {
    FATHOM_TRY(const DatasetPtr dataset, session.open(in_));
    FATHOM_TRY(ProfilePtr profile, dataset->profile());
    const auto spec = spec_.empty() ? cube::stored_spec(*dataset) : open_file(spec_, dataset->work());
    if (spec.ok()) {
      FATHOM_TRY(profile, cube::remap(profile, *spec));
    } else if (spec_.empty() && idle_threads_) {
      session.note("no remapping.spec inside: the metrics stay, those of idle threads are added");
    } else {
      return spec.error();
    }
    if (idle_threads_) {
      FATHOM_TRY(const ProfilePtr more, algebra::with_idle_threads(profile));
      if (more == profile) session.note("no OpenMP parallel regions with several threads: nobody idles");
      profile = more;
    }
    if (store_) {
      FATHOM_TRY(profile, algebra::materialise(profile));
    }
    FATHOM_CHECK(output_.write(session, profile, &dataset->format()));
    return kDone;
  }

 private:
  std::string in_;
  std::string spec_;
  bool store_ = false;
  bool idle_threads_ = false;
  OutputArguments output_;
};

}  // namespace

std::unique_ptr<Command> make_remap_command() { return std::make_unique<RemapCommand>(); }

}  // namespace fathom::cli
