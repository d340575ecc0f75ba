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

// What NumPy prints for a figure that it could not compute (a deviation that overflows, say): Extra-P writes it, too.
inline constexpr std::string_view kNotComputed = "--";

// A JSON number, or a text: "nan", "inf", "-inf" in any case, a fraction "3/2", or kNotComputed, which is NaN.
Result<double> stored_number(simdjson::dom::element value);

}  // namespace fathom::extrap
