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

}  // namespace fathom::extrap
