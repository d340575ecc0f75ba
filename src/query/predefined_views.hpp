// Views for what people ask most, made of the tables of a dataset.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::query {

struct PredefinedView {
  std::string_view name;
  std::string_view title;
  std::vector<std::string_view> needs;  // tables; in the text they stand in braces
  std::string sql;
};

std::span<const PredefinedView> predefined_views();

}  // namespace fathom::query
