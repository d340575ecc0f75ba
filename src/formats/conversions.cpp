#include "formats/conversions.hpp"

#include <algorithm>
#include <array>

#include "formats/registry.hpp"

namespace fathom {

namespace {

// What a format that is written cannot say. A test holds that every format that is written is here.
struct Target {
  std::string_view name;
  std::string_view loses;
  std::string_view only_from = {};  // blank separated formats, where not everything of the level can be written
};
constexpr std::array kTargets = {
    Target{"cube", "stored statistics; loops and lines become call paths"},
    Target{"cube3", "derived metrics, extremes, composites, attributes of parts, system levels beyond four"},
    Target{"hpctoolkit", "extremes, composites, attributes"},
    Target{"hpctoolkit-xml", "extremes, composites, attributes"},
    Target{"pprof", "fractions but of time and energy, extremes, composites, contexts and locations without values"},
    Target{"folded", "all metrics but one, locations (summed), fractions, contexts without values, source places"},
    Target{"callgrind", "call paths (functions and calls stay), locations (summed), fractions, extremes, composites"},
    Target{"dot", "all metrics but one, locations (summed), call paths, what is small: it is a picture"},
    Target{"speedscope",
           "fractions of nanoseconds, extremes, composites, source places of calls; of traces CPU times, messages, "
           "counters, markers"},
    Target{"perfetto", "CPU times, communicators, arguments of calls that are not named"},
    Target{"chrome", "CPU times, communicators, arguments of calls that are not named"},
    Target{"dumpi", "", "dumpi dumpi-text"},
    Target{"dumpi-text", "", "dumpi dumpi-text"},
    Target{"ovni", "", "ovni"},
    Target{"paraver",
           "CPU times, arguments of calls but peer, tag and size, paths of samples, messages with one end, fractions"},
    Target{"otf2", "CPU times, arguments of calls that OTF2 has no record for"},
    Target{"extrap-text", "models, tags, repetitions beyond plain numbers"},
    Target{"extrap-json", "models"},
    Target{"extrap-jsonl", "models"},
    Target{"extra-p", ""},
};

bool has(const std::vector<Level>& levels, Level level) {
  return std::find(levels.begin(), levels.end(), level) != levels.end();
}

const Target* target_of(std::string_view name) {
  const auto found = std::find_if(kTargets.begin(), kTargets.end(), [&](const Target& t) { return t.name == name; });
  return found == kTargets.end() ? nullptr : &*found;
}

bool names(std::string_view list, std::string_view name) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(' ', at), list.size());
    if (list.substr(at, end - at) == name) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

std::vector<Conversion> all_conversions() {
  std::vector<Conversion> out;
  for (const Format* from : all_formats()) {
    if (from->open == nullptr) continue;
    for (const Format* to : all_formats()) {
      if (to->write == nullptr) continue;
      const Target* target = target_of(to->name);
      if (from == to) {
        out.push_back({from, to, to->can.writes.front(), "same", {}});
        continue;
      }
      if (target != nullptr && !target->only_from.empty() && !names(target->only_from, from->name)) continue;
      for (const Level level : to->can.writes) {
        const bool direct = has(from->can.reads, level);
        const bool reduced = level == Level::profile && has(from->can.reads, Level::trace);
        if (!direct && !reduced) continue;
        out.push_back({from, to, level, direct ? "works" : "reduced",
                       target == nullptr ? "what it says when it is written" : std::string(target->loses)});
        break;
      }
    }
  }
  return out;
}

}  // namespace fathom
