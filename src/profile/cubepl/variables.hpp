// The variables that CubePL predefines: data of the profile (cube::...) and of the running calculation.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "profile/expression/environment.hpp"

namespace fathom::cubepl {

// Number of a predefined variable.
std::optional<std::uint32_t> find_variable(std::string_view name);
std::string_view variable_name(std::uint32_t id);

std::shared_ptr<const expression::Environment> make_environment();

}  // namespace fathom::cubepl
