// The model sets of a .extra-p archive.
#pragma once

#include <simdjson.h>

#include <map>
#include <string>

#include "base/work.hpp"
#include "model/model.hpp"

namespace fathom::extrap {

// Names as the file spells them where they carry tags, and the plain names.
using NameMap = std::map<std::string, std::string, std::less<>>;

Result<ModelSets> read_model_sets(simdjson::dom::array sets, const Experiment& experiment, const NameMap& names,
                                  const Work& work, const Place& place);

// A JSON number, or a text: "nan", "inf", "-inf" in any case, or a fraction "3/2".
Result<double> stored_number(simdjson::dom::element value);

// One element of "modelers".
std::string model_set_json(const ModelSet& set, const Experiment& experiment);
// Doubles as the reference writes them: a decimal point always, nan and inf as texts.
std::string stored_text(double value);
// One measurement; with `values` = "[chunk, index]" or "null".
std::string measurement_json(const Experiment& experiment, const Series& series, std::size_t k,
                             const std::string& values, bool with_names);

}  // namespace fathom::extrap
