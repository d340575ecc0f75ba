// Models as Extra-P's command line prints them, so that scripts that read its output go on working.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/model.hpp"

namespace fathom {

// `what` is all, all-python, all-latex, callpaths, metrics, parameters, functions, functions-python, functions-latex
// (in any case), or a format string with placeholders in braces. The predefined outputs show the first set.
// `all` shows every call path with every metric, as Extra-P does, or only those that have a model in that set.
enum class Pairs : std::uint8_t { every, modelled };
Result<std::string> print_models(const Experiment& experiment, std::span<const ModelSet> sets, std::string_view what,
                                 Pairs pairs = Pairs::every);

}  // namespace fathom
