// metrics/*.yaml of a meta.db database: how its metrics are presented, with formulas over summary statistics.
//
//   version: 0
//   inputs: [&anchor {metric, scope, formula ($$), combine (sum)}, ...]
//   roots: [{name, description, children: [...], variants: {NAME: {formula: sum | first | {inclusive, exclusive}}}}]
//
// A formula is a number, an alias of an input, {function: [operands]}, or a sequence that is read as infix; members of
// inclusive and exclusive may be {standard, custom}. It is kept as text of the formula language, in which $k is the
// input number k.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/work.hpp"
#include "io/blob.hpp"

namespace fathom::hpctoolkit {

struct TaxonomyInput {
  std::string metric;
  std::string scope;
  std::string formula = "$$";
  std::string combine = "sum";
};

struct TaxonomyVariant {
  enum class From : std::uint8_t { formulas, sum_of_children, first_child };
  std::string name;
  From from = From::formulas;
  std::optional<std::string> inclusive;
  std::optional<std::string> exclusive;
  std::uint64_t line = 0;  // of the file, for messages
  bool hidden = false;
  bool percent = true;
  std::string format;  // printf; empty = that of the metric
};

struct TaxonomyMetric {
  static constexpr std::uint32_t kNoParent = 0xFFFFFFFF;
  std::string name;
  std::string description;
  std::uint32_t parent = kNoParent;  // which comes before it
  bool visible = true;
  std::string format;
  std::vector<TaxonomyVariant> variants;
};

struct Taxonomy {
  std::vector<TaxonomyInput> inputs;
  std::vector<TaxonomyMetric> metrics;

  static Result<Taxonomy> read(const Blob& blob);
};

}  // namespace fathom::hpctoolkit
