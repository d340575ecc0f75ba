#include "formats/paraver/pcf_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::paraver {

namespace {

constexpr std::string_view kHead = R"(DEFAULT_OPTIONS

LEVEL               THREAD
UNITS               NANOSEC
LOOK_BACK           100
SPEED               1
FLAG_ICONS          ENABLED
NUM_OF_STATE_COLORS 1000
YMAX_SCALE          37


DEFAULT_SEMANTIC

THREAD_FUNC         State As Is
)";

struct Colour {
  int red, green, blue;
};
constexpr Colour kColours[] = {
    {0, 0, 0},       {0, 130, 200},   {217, 217, 217}, {230, 25, 75},  {60, 180, 75},   {255, 225, 25},
    {245, 130, 48},  {145, 30, 180},  {70, 240, 240},  {240, 50, 230}, {210, 245, 60},  {250, 190, 212},
    {0, 128, 128},   {128, 128, 128}, {220, 190, 255}, {170, 110, 40}, {255, 250, 200}, {128, 0, 0},
    {170, 255, 195}, {128, 128, 0},   {255, 215, 180}, {0, 0, 128},    {0, 0, 255},
};

}  // namespace

std::string one_line(std::string_view name) {
  std::string text(name);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

std::string_view pcf_options() { return kHead; }

std::string pcf_colours() {
  std::string text = "\n\nSTATES_COLOR\n";
  for (std::size_t i = 0; i < std::size(kColours); ++i) {
    text += fmt::format("{:<3} {{{:3}, {:3}, {:3}}}\n", i, kColours[i].red, kColours[i].green, kColours[i].blue);
  }
  return text;
}

void append_type(std::string& text, const ViewType& type) {
  text += fmt::format("\n\nEVENT_TYPE\n0 {:<10} {}\nVALUES\n", type.type, type.label);
  for (const auto& [value, label] : type.values) text += fmt::format("{:<4} {}\n", value, label);
}

}  // namespace fathom::paraver
