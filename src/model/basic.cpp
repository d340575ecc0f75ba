// The Basic modeler: leave-one-out over a fixed list of terms.
#include "model/single.hpp"

namespace fathom {

namespace {

class Basic final : public SingleModeler {
 public:
  Basic(const SingleOptions& options, std::span<const double> x, BasicSpace space, std::uint32_t parameter)
      : options_(options), table_(x, space.blocks, options.use_crossvalidation), parameter_(parameter) {
    if (x.size() < 5) warnings_.push_back(kTooFewForParameter);
    if (space.logs_dropped) warnings_.push_back(kBelowOne);
  }

  void fit(std::span<const double* const> rows, std::span<Model> models) const override {
    const std::size_t n = table_.points();
    // Of very many points one series at a time is quicker.
    const bool many = options_.use_crossvalidation && table_.long_work();
    std::vector<const double*> plain;
    std::vector<std::size_t> owner;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::span<const double> y(rows[i], n);
      if (!many && vectorisable(y)) {
        plain.push_back(rows[i]);
        owner.push_back(i);
      } else {
        store(basic_fit(table_, y, options_), models[i]);
      }
    }
    std::vector<std::int32_t> winners(plain.size());
    basic_search(table_, plain, options_, winners);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const std::span<const double> y(plain[i], n);
      const LineFit constant = constant_fit(y);
      if (winners[i] < 0) {
        store(constant, models[owner[i]]);
      } else {
        store(block_fit(table_, static_cast<std::size_t>(winners[i]), y, options_, constant.quality.rss),
              models[owner[i]]);
      }
    }
  }

 private:
  void store(const LineFit& fit, Model& model) const {
    model.function = function_of(fit, parameter_);
    model.quality = fit.quality;
  }

  SingleOptions options_;
  BlockTable table_;
  std::uint32_t parameter_;
};

}  // namespace

std::unique_ptr<SingleModeler> make_basic(const SingleOptions& options, std::span<const double> x,
                                          std::uint32_t parameter) {
  return std::make_unique<Basic>(options, x, basic_space(options, x), parameter);
}

}  // namespace fathom
