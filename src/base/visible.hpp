// Text from files as people may see it: what would drive a terminal or forge a line is shown instead of done.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

// Control characters, line breaks, bytes that are no UTF-8 and marks that turn the direction of writing, each as \xNN
// or \uNNNN; everything else as it is. For one name, cell or message.
std::string visible(std::string_view text);

// The same for whole lines of our own making: line breaks and tabs stay, and with `colours` those of Terminal::paint.
// A name in such a line must have been made visible before: its line breaks cannot be told from ours any more.
std::string visible_lines(std::string_view text, bool colours = true);

// True when visible() would change nothing.
bool is_plain_text(std::string_view text);

}  // namespace fathom
