// The Refining modeler: a coarse search along slices of the exponent plane, then bisection by mediants.
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "model/single.hpp"

namespace fathom {

namespace {

constexpr int kPolySteps = 6;  // 0 ... 5
constexpr int kLogSteps = 3;   // 0 ... 2
constexpr int kRounds = 10;
constexpr double kAcceptance = 1.5;
constexpr double kTermination = 2.0;
constexpr double kNonConstancy = 1.3;
constexpr double kContribution = 0.0005;

Exponent mediant(const Exponent& a, const Exponent& b) {
  return Exponent::fraction(a.numerator + b.numerator, a.denominator + b.denominator);
}

// A line of the exponent plane: one exponent varies, the other is fixed.
struct Slice {
  bool along_power;
  Exponent fixed;
  [[nodiscard]] Block at(const Exponent& varying) const {
    return along_power ? Block{varying, fixed} : Block{fixed, varying};
  }
};

struct Found {
  LineFit fit;
  std::size_t index = 0;
  const BlockTable* table = nullptr;
};

struct Window {
  Exponent left, centre, right;
};

class Refining final : public SingleModeler {
 public:
  Refining(const SingleOptions& options, std::span<const double> x, std::uint32_t parameter)
      : options_(options), x_(x.begin(), x.end()), parameter_(parameter) {
    if (x.size() < 5) warnings_.push_back(kTooFew);
    if (!options_.allow_log_terms) {
      logs_ = false;
    } else {
      logs_ = logs_possible(x, false);
      if (!logs_) warnings_.push_back(kBelowOne);
    }
    for (int log = 0; log < (logs_ ? kLogSteps : 1); ++log) slices_.push_back({true, Exponent::fraction(log)});
    if (logs_) slices_.push_back({false, Exponent::fraction(0)});
  }

  void fit(std::span<const double* const> rows, std::span<Model> models) const override {
    Tables tables;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const LineFit best = fit_one({rows[i], x_.size()}, tables);
      models[i].function = function_of(best, parameter_);
      models[i].quality = best.quality;
    }
  }

 private:
  using Key = std::array<std::int64_t, 4>;
  using Tables = std::map<Key, BlockTable>;

  const BlockTable& table_for(const Block& block, Tables& tables) const {
    const Key key{block.power.numerator, block.power.denominator, block.log.numerator, block.log.denominator};
    auto found = tables.find(key);
    if (found == tables.end()) {
      found = tables.emplace(key, BlockTable(x_, std::span(&block, 1), options_.use_crossvalidation)).first;
    }
    return found->second;
  }

  [[nodiscard]] double criterion(const LineFit& fit) const {
    return options_.compare_with_rss ? fit.quality.rss : fit.quality.smape;
  }

  std::optional<Found> search(const Slice& slice, std::span<const Exponent> candidates, std::span<const double> y,
                              double total, Tables& tables) const {
    std::optional<Found> best;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const Block block = slice.at(candidates[i]);
      if (block.power.zero() && block.log.zero()) continue;
      const BlockTable& table = table_for(block, tables);
      if (table.size() == 0) continue;
      LineFit fit = block_fit(table, 0, y, options_, total);
      if (!std::isfinite(fit.quality.rss)) continue;
      if (best) {
        if (fit.coefficient == 0) continue;
        if (contribution(table, 0, fit.coefficient, y) < options_.minimum_term_contribution) continue;
        if (!(criterion(fit) < criterion(best->fit))) continue;
      }
      best = Found{std::move(fit), i, &table};
    }
    return best;
  }

  LineFit fit_one(std::span<const double> y, Tables& tables) const {
    const LineFit constant = constant_fit(y);
    const double total = constant.quality.rss;
    if (total == 0) return constant;
    std::vector<Slice> slices;
    std::vector<Window> windows;
    std::vector<Found> accepted;
    for (const auto& slice : slices_) {
      std::vector<Exponent> steps;
      for (int step = 0; step < (slice.along_power ? kPolySteps : kLogSteps); ++step) {
        steps.push_back(Exponent::fraction(step));
      }
      const auto found = search(slice, steps, y, total, tables);
      if (!found) continue;
      const std::size_t at = found->index;
      Window window{steps[at > 0 ? at - 1 : 0], steps[at], steps[std::min(at + 1, steps.size() - 1)]};
      if (window.left == window.right) {
        window.right = Exponent::fraction(window.right.numerator + window.right.denominator, window.right.denominator);
      }
      slices.push_back(slice);
      windows.push_back(window);
      accepted.push_back(*found);
    }
    if (accepted.empty()) return constant;
    std::vector<Found> previous = accepted;
    refine(slices, windows, previous, accepted, y, total, tables);
    const Found& winner = minimum(accepted);
    if (constant.quality.smape / winner.fit.quality.smape < kNonConstancy) return constant;
    if (contribution(*winner.table, 0, winner.fit.coefficient, y) < kContribution) return constant;
    return winner.fit;
  }

  void refine(std::span<const Slice> slices, std::span<Window> windows, std::vector<Found>& previous,
              std::vector<Found>& accepted, std::span<const double> y, double total, Tables& tables) const {
    double threshold = kAcceptance;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<Found> current;
      double improvement = -std::numeric_limits<double>::infinity();
      for (std::size_t s = 0; s < slices.size(); ++s) {
        Window& window = windows[s];
        const std::array<Exponent, 3> triple{mediant(window.left, window.centre), window.centre,
                                             mediant(window.centre, window.right)};
        auto found = search(slices[s], triple, y, total, tables);
        if (!found) found = previous[s];
        if (found->index == 0) {
          window = {window.left, triple[0], window.centre};
        } else if (found->index == 2) {
          window = {window.centre, triple[2], window.right};
        } else {
          window = {triple[0], triple[1], triple[2]};
        }
        const double gain = previous[s].fit.quality.smape / found->fit.quality.smape;
        if (gain > improvement) improvement = gain;
        current.push_back(std::move(*found));
      }
      const Found& step = minimum(current);
      if (minimum(accepted).fit.quality.smape / step.fit.quality.smape >= threshold) {
        accepted.push_back(step);
        threshold = kAcceptance;
      } else {
        threshold *= kAcceptance;
      }
      if (!(improvement >= kTermination)) break;
      previous = std::move(current);
    }
  }

  [[nodiscard]] const Found& minimum(const std::vector<Found>& list) const {
    const Found* best = &list.front();
    for (const auto& found : list) {
      if (criterion(found.fit) < criterion(best->fit)) best = &found;
    }
    return *best;
  }

  SingleOptions options_;
  std::vector<double> x_;
  std::uint32_t parameter_;
  bool logs_ = true;
  std::vector<Slice> slices_;
};

}  // namespace

std::unique_ptr<SingleModeler> make_refining(const SingleOptions& options, std::span<const double> x,
                                             std::uint32_t parameter) {
  return std::make_unique<Refining>(options, x, parameter);
}

}  // namespace fathom
