// A dataset of the experiment level: what all its formats have in common.
#pragma once

#include <memory>
#include <string>

#include "experiment/experiment.hpp"
#include "formats/dataset.hpp"
#include "formats/format.hpp"
#include "model/model.hpp"

namespace fathom {

class ExperimentDataset : public Dataset {
 public:
  // Without an experiment it is made when it is first asked for.
  ExperimentDataset(const Format& format, std::filesystem::path path, Work work, ExperimentPtr experiment,
                    std::string version = {})
      : Dataset(format, std::move(path), std::move(work)),
        experiment_(std::move(experiment)),
        version_(std::move(version)) {}

  [[nodiscard]] std::string version() const override { return version_; }
  [[nodiscard]] std::vector<Level> levels() const override;
  Result<std::vector<InfoEntry>> describe(bool count) override;
  // Validated, unless the format says that its files are used as they are; multiplied by a parameter when that is
  // asked.
  Result<std::shared_ptr<const Experiment>> experiment() override;
  Result<std::shared_ptr<const std::vector<ModelSet>>> models() override;
  // The experiment in the text form of Extra-P.
  Result<void> dump(const DumpOptions& options, const TextSink& sink) override;
  Result<void> check() override;

  void set_models(ModelSets sets) { models_ = std::make_shared<const ModelSets>(std::move(sets)); }
  void use_as_it_is() { validated_ = true; }

 protected:
  // Where the constructor got none.
  virtual Result<ExperimentPtr> make_experiment() { return no_level(Level::experiment); }
  // Afterwards there is one.
  Result<void> load() {
    if (experiment_ == nullptr) {
      FATHOM_TRY(experiment_, make_experiment());
    }
    return {};
  }

 private:
  ExperimentPtr experiment_;
  std::shared_ptr<const ModelSets> models_;
  std::string version_;
  bool validated_ = false;
  bool multiplied_ = false;
};

// The experiment in Extra-P's text form, piece by piece. Where only statistics are known the mean stands for the
// values; points that a series lacks are nan.
Result<void> write_experiment_text(const Experiment& experiment, const TextSink& sink);
// A name as the text form holds it: runs of white space are one blank, none at the ends.
std::string text_spelling(std::string_view name);

}  // namespace fathom
