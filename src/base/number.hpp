// Numbers as text: exact for machines, readable for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fathom {

// 128-bit integers hold any sum of 64-bit counters.
using Int128 = __int128;

// Shortest text that reads back to the same value; "nan", "inf", "-inf".
std::string exact_text(double value);
std::string exact_text(Int128 value);
// As a JSON value: NaN and infinities become texts.
std::string json_number(double value);

// "1.23 ms", "4.5 GiB", "12.3 M": `unit` as formats spell it (sec, s, bytes, occ, ...).
std::string readable(double value, std::string_view unit);
// "12.3%"
std::string percent(double part, double whole);
// Digits in groups of three: 12 345 678 as "12,345,678".
std::string grouped(std::uint64_t value);

}  // namespace fathom
