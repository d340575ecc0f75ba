// Decimal numbers as files of measurements hold them by the million: 12, -0.25, 6.98054827004965, 1e-05.
#pragma once

namespace fathom {

// Reads the number that begins at `at`, spelt as JSON has it: no '+' in front, no zero before other digits, digits on
// both sides of a point. Says where it ends; null when none begins here or a double cannot hold it. The result is the
// nearest double, as std::from_chars gives it, which takes longer and is not so strict.
const char* read_decimal(const char* at, const char* end, double& number);

}  // namespace fathom
