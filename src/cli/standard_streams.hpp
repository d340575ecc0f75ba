// Standard input, output and error that whoever started the program has closed (`>&-`, some batch systems and daemons).
#pragma once

namespace fathom::cli {

// Puts something in the place of those that are closed that can be neither read nor written: the next file that is
// opened would take the number, and what the program says would go into it. Called before anything is opened.
void hold_closed_streams();

}  // namespace fathom::cli
