#include "formats/paraver/cfg_text.hpp"

#include <fmt/format.h>

#include "formats/paraver/pcf_text.hpp"

namespace fathom::paraver {

namespace {

// What Paraver stores of a window: one key and its value per line. Rows are threads, and a thread shows the last value
// of the events that the filter at the end lets through.
constexpr std::pair<std::string_view, std::string_view> kWindow[] = {
    {"window_type", "single"},
    {"window_id", "1"},
    {"window_position_x", "100"},
    {"window_position_y", "100"},
    {"window_width", "800"},
    {"window_height", "250"},
    {"window_comm_lines_enabled", "false"},
    {"window_flags_enabled", "false"},
    {"window_noncolor_mode", "true"},
    {"window_logical_filtered", "true"},
    {"window_physical_filtered", "false"},
    {"window_comm_fromto", "true"},
    {"window_comm_tagsize", "true"},
    {"window_comm_typeval", "true"},
    {"window_units", "Microseconds"},
    {"window_maximum_y", "1000.000000000000"},
    {"window_minimum_y", "1.000000000000"},
    {"window_compute_y_max", "true"},
    {"window_level", "thread"},
    {"window_scale_relative", "1.000000000000"},
    {"window_end_time_relative", "1.000000000000"},
    {"window_object", "appl { 1, { All } }"},
    {"window_begin_time_relative", "0.000000000000"},
    {"window_open", "true"},
    {"window_drawmode", "draw_randnotzero"},
    {"window_drawmode_rows", "draw_randnotzero"},
    {"window_pixel_size", "1"},
    {"window_labels_to_draw", "1"},
    {"window_selected_functions",
     "{ 14, { {cpu, Active Thd}, {appl, Adding}, {task, Adding}, {thread, Last Evt Val}, {node, Adding}, "
     "{system, Adding}, {workload, Adding}, {from_obj, All}, {to_obj, All}, {tag_msg, All}, {size_msg, All}, "
     "{bw_msg, All}, {evt_type, =}, {evt_value, All} } }"},
    {"window_compose_functions",
     "{ 9, { {compose_cpu, As Is}, {compose_appl, As Is}, {compose_task, As Is}, {compose_thread, As Is}, "
     "{compose_node, As Is}, {compose_system, As Is}, {compose_workload, As Is}, {topcompose1, As Is}, "
     "{topcompose2, As Is} } }"},
};

}  // namespace

std::string cfg_text(std::string_view title, std::int64_t type, std::string_view type_label) {
  const std::string name = one_line(title);
  const std::string rule(80, '#');
  std::string text = fmt::format(
      "#ParaverCFG\nConfigFile.Version: 3.4\nConfigFile.NumWindows: 1\n\n\n{}\n< NEW DISPLAYING WINDOW {} >\n{}\n"
      "window_name {}\n",
      rule, name, rule, name);
  for (const auto& [key, value] : kWindow) text += fmt::format("{} {}\n", key, value);
  text += fmt::format("window_filter_module evt_type 1 {}\n", type);
  text += fmt::format("window_filter_module evt_type_label 1 \"{}\"\n", one_line(type_label));
  return text;
}

std::string cfg_name(std::string_view title) {
  std::string name;
  for (const char character : title) {
    const bool letter = (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9');
    const bool capital = character >= 'A' && character <= 'Z';
    if (letter || capital) {
      name += static_cast<char>(capital ? character - 'A' + 'a' : character);
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

}  // namespace fathom::paraver
