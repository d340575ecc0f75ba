// One line of a Caliper stream, taken apart without looking at any other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::caliper {

struct RawRecord {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  std::string_view line;
  std::string_view kind;
  std::uint64_t id = kNone;
  std::uint64_t parent = kNone;
  std::vector<std::uint64_t> refs, attributes;
  std::vector<std::string_view> data;
  bool sound = true;  // numbers are numbers

  // Fills all of it; `texts` takes those that are escaped in the file. Room that was used before is used again.
  void read(std::deque<std::string>& texts) {
    kind = {};
    id = parent = kNone;
    refs.clear();
    attributes.clear();
    data.clear();
    sound = true;
    for (std::size_t at = 0; at < line.size();) {
      const std::string_view key = value(at, texts);
      while (at < line.size() && line[at] == '=') {
        ++at;
        const std::string_view one = value(at, texts);
        take(key, one);
      }
      if (at < line.size() && line[at] == ',') ++at;
    }
  }

 private:
  void take(std::string_view key, std::string_view one) {
    std::uint64_t value = 0;
    if (key == "data") {
      data.push_back(one);
    } else if (key == "ref") {
      sound = number_of(one, value) && sound;
      refs.push_back(value);
    } else if (key == "attr") {
      sound = number_of(one, value) && sound;
      attributes.push_back(value);
    } else if (key == "__rec") {
      kind = one;
    } else if (key == "id") {
      sound = number_of(one, id) && sound;
    } else if (key == "parent") {
      sound = number_of(one, parent) && sound;
    }
  }

  // Decimal digits and nothing else.
  static bool number_of(std::string_view text, std::uint64_t& value) {
    constexpr std::size_t kAlwaysFit = 19;
    if (text.empty() || text.size() > kAlwaysFit) return false;
    value = 0;
    for (const char c : text) {
      if (c < '0' || c > '9') return false;
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return true;
  }

  // One value of a field: up to '=', ',' or the end; backslashes escape.
  std::string_view value(std::size_t& at, std::deque<std::string>& texts) {
    const std::size_t begin = at;
    bool rewrite = false;
    while (at < line.size() && line[at] != '=' && line[at] != ',') {
      if (line[at] == '\\') {
        rewrite = true;
        ++at;
      }
      ++at;
    }
    at = std::min(at, line.size());
    const std::string_view raw = line.substr(begin, at - begin);
    if (!rewrite) return raw;
    std::string out;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] == '\\' && i + 1 < raw.size()) {
        ++i;
        out.push_back(raw[i] == 'n' ? '\n' : raw[i]);
      } else {
        out.push_back(raw[i]);
      }
    }
    return texts.emplace_back(std::move(out));
  }
};

}  // namespace fathom::caliper
