// Files of neighbours' formats, some tens of megabytes each, as the tools write them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "io/protobuf.hpp"

namespace fathom::bench {

// Stacks of 5 to 25 frames over 2,000 functions, sorted as the tools write them.
inline std::string made_folded(std::size_t bytes) {
  std::mt19937 random(1);
  std::vector<std::string> stack;
  std::string out;
  while (out.size() < bytes) {
    const std::size_t keep = stack.empty() ? 0 : stack.size() - std::min<std::size_t>(stack.size(), random() % 4);
    stack.resize(std::max<std::size_t>(keep, stack.empty() ? 0 : 1));
    while (stack.size() < 5 || (stack.size() < 25 && random() % 3 != 0)) {
      stack.push_back(fmt::format("application::module_{}::function_{}(double*, int)", random() % 40, random() % 50));
    }
    for (std::size_t i = 0; i < stack.size(); ++i) out += (i == 0 ? "" : ";") + stack[i];
    out += fmt::format(" {}\n", 1 + random() % 1000);
  }
  return out;
}

inline std::string made_callgrind(std::size_t bytes) {
  std::mt19937 random(2);
  std::string out = "# callgrind format\npositions: line\nevents: Ir Dr Dw\n\n";
  for (int f = 0; out.size() < bytes; f = (f + 1) % 5000) {
    out += fmt::format("fl=({}) file_{}.c\nfn=({}) function_{}\n", f % 300, f % 300, f, f);
    for (int line = 0; line < 40; ++line)
      out += fmt::format("+{} {} {}\n", 1 + random() % 9, random() % 100000, random() % 1000);
    out +=
        fmt::format("cfn=({}) function_{}\ncalls={} 5\n* {} {}\n", f / 2, f / 2, random() % 99, random() % 1000000, 7);
  }
  return out;
}

inline std::string made_cali(std::size_t bytes) {
  std::mt19937 random(3);
  std::string out =
      "__rec=node,id=19,attr=10,data=276,parent=3\n__rec=node,id=20,attr=8,data=function,parent=19\n"
      "__rec=node,id=23,attr=10,data=65,parent=5\n__rec=node,id=30,attr=8,data=sum#time.duration,parent=23\n"
      "__rec=node,id=24,attr=10,data=65,parent=1\n__rec=node,id=31,attr=8,data=mpi.rank,parent=24\n";
  for (int i = 0; i < 2000; ++i) {
    out += fmt::format("__rec=node,id={},attr=20,data=function_{}{}\n", 100 + i, i,
                       i == 0 ? "" : fmt::format(",parent={}", 100 + i / 2));
  }
  while (out.size() < bytes) {
    out += fmt::format("__rec=ctx,ref={},attr=30=31,data=0.{:06}={}\n", 100 + random() % 2000, random() % 1000000,
                       random() % 64);
  }
  return out;
}

inline std::string made_pprof(std::size_t bytes) {
  std::mt19937 random(4);
  std::string out;
  std::string type;
  protobuf::put_integer(type, 1, 1);
  protobuf::put_integer(type, 2, 2);
  protobuf::put_bytes(out, 1, type);
  while (out.size() < bytes) {
    std::string ids;
    std::string value;
    std::uint64_t at = 1 + random() % 20000;
    for (int i = 0; i < 20; ++i, at = 1 + at / 2) protobuf::put_varint(ids, at);
    protobuf::put_varint(value, random() % 1000);
    std::string sample;
    protobuf::put_bytes(sample, 1, ids);
    protobuf::put_bytes(sample, 2, value);
    protobuf::put_bytes(out, 2, sample);
  }
  for (std::uint64_t i = 1; i <= 20001; ++i) {
    std::string line;
    protobuf::put_integer(line, 1, 1 + i % 3000);
    std::string location;
    protobuf::put_integer(location, 1, i);
    protobuf::put_bytes(location, 4, line);
    protobuf::put_bytes(out, 4, location);
  }
  for (std::uint64_t i = 1; i <= 3000; ++i) {
    std::string function;
    protobuf::put_integer(function, 1, i);
    protobuf::put_integer(function, 2, 2 + i);
    protobuf::put_bytes(out, 5, function);
  }
  for (const char* text : {"", "samples", "count"}) protobuf::put_bytes(out, 6, text);
  for (int i = 0; i <= 3000; ++i) protobuf::put_bytes(out, 6, fmt::format("function_{}", i));
  return out;
}

// As PyTorch writes them: complete events of a few threads, with arguments.
inline std::string made_chrome(std::size_t bytes) {
  std::mt19937 random(5);
  std::string out = "{\"schemaVersion\": 1, \"traceEvents\": [\n";
  std::uint64_t time = 1'000'000;
  for (bool first = true; out.size() < bytes; first = false) {
    time += random() % 50;
    out += fmt::format(
        "{}  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::operator_{}\", \"pid\": 4711, \"tid\": "
        "{},\n    \"ts\": "
        "{}.{:03}, \"dur\": {}.{:03},\n    \"args\": {{\n      \"External id\": {}, \"Input Dims\": [[64, 3, 7, 7], "
        "[]], "
        "\"Ev Idx\": {}\n    }}\n  }}",
        first ? "" : ",\n", random() % 400, 4711 + random() % 4, time, random() % 1000, random() % 40, random() % 1000,
        random() % 100000, random() % 100000);
  }
  return out + "\n]}\n";
}

// Slices with interned names, as our own writer has them.
inline std::string made_perfetto(std::size_t bytes) {
  std::mt19937 random(6);
  std::string out;
  std::uint64_t time = 1'000'000;
  const auto packet = [&](const std::string& event, std::uint64_t flags, const std::string& interned) {
    std::string made;
    protobuf::put_integer(made, 8, time);
    protobuf::put_integer(made, 10, 1);
    protobuf::put_integer(made, 13, flags);
    if (!interned.empty()) protobuf::put_bytes(made, 12, interned);
    protobuf::put_bytes(made, 11, event);
    protobuf::put_bytes(out, 1, made);
  };
  std::string interned;
  for (std::uint64_t i = 1; i <= 400; ++i) {
    std::string entry;
    protobuf::put_integer(entry, 1, i);
    protobuf::put_bytes(entry, 2, fmt::format("function_{}", i));
    protobuf::put_bytes(interned, 2, entry);
  }
  for (int depth = 0; out.size() < bytes;) {
    time += random() % 1000;
    const bool begins = depth == 0 || (depth < 20 && random() % 2 == 0);
    depth += begins ? 1 : -1;
    std::string event;
    protobuf::put_integer(event, 9, begins ? 1 : 2);
    protobuf::put_integer(event, 11, 77);
    if (begins) protobuf::put_integer(event, 10, 1 + random() % 400);
    packet(event, interned.empty() ? 2 : 3, interned);
    interned.clear();
  }
  return out;
}

// As `perf script` prints call chains: threads of one process, stacks of 5 to 25 frames.
inline std::string made_perf_script(std::size_t bytes) {
  std::mt19937 random(7);
  std::string out;
  std::uint64_t time = 1'000'000'000;
  while (out.size() < bytes) {
    time += 1 + random() % 250'000;
    out += fmt::format("solver  4711/{}  [{:03}] {}.{:06}:     {} cycles:u: \n", 4711 + random() % 8, random() % 8,
                       time / 1'000'000, time % 1'000'000, 200'000 + random() % 100'000);
    std::uint64_t at = 1 + random() % 20'000;
    bool leaf = true;
    for (std::size_t depth = 5 + random() % 20; depth-- > 0; at = 1 + at / 2) {
      out += fmt::format("\t{:16x} application::module_{}::function_{}+{:#x} (/opt/solver/bin/solver)\n",
                         0x401000 + 64 * at, at % 40, at % 2000, leaf ? 1 + random() % 63 : 17);
      leaf = false;
    }
    out += '\n';
  }
  return out;
}

inline std::string made_speedscope(std::size_t bytes) {
  std::mt19937 random(8);
  std::string out = "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":[";
  for (int i = 0; i < 2000; ++i) {
    out += fmt::format("{}{{\"name\":\"function_{}\",\"file\":\"file_{}.c\",\"line\":{}}}", i == 0 ? "" : ",", i,
                       i % 90, 1 + random() % 900);
  }
  out += "]},\"profiles\":[{\"type\":\"sampled\",\"name\":\"one\",\"unit\":\"microseconds\",\"startValue\":0,";
  out += "\"endValue\":1000000,\"samples\":[";
  std::string weights;
  std::uint64_t at = 8192;
  for (bool first = true; out.size() + weights.size() < bytes; first = false) {
    out += first ? "[" : ",[";
    // The root first, and often nearly the stack of the sample before.
    at = random() % 4 == 0 ? 8192 + random() % 8192 : at ^ random() % 8;
    for (int i = 13; i-- > 0;) out += fmt::format("{}{}", i == 12 ? "" : ",", (at >> i) % 2000);
    out += ']';
    weights += fmt::format("{}{}.{}", first ? "" : ",", random() % 1000, random() % 10);
  }
  return out + "],\"weights\":[" + weights + "]}]}\n";
}

// One file of a thread: functions and the paths to them.
inline std::string made_tau(std::size_t bytes, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::string lines;
  std::size_t count = 0;
  const auto line = [&](const std::string& name, const char* group) {
    lines += fmt::format("\"{}\" {} {} {}.{:03} {}.{:03} 0 GROUP=\"{}\"\n", name, random() % 100, random() % 10,
                         random() % 100'000, random() % 1000, random() % 1'000'000, random() % 1000, group);
    ++count;
  };
  const auto named = [](std::uint64_t i) {
    return fmt::format("void function_{}(int, double *) C [{{source_{}.c}} {{{},1}}-{{{},1}}]", i, i % 90, i, i + 20);
  };
  for (std::uint64_t i = 0; lines.size() < bytes / 5 && i < 2000; ++i) line(named(i), "TAU_USER");
  for (std::uint64_t i = 1; lines.size() < bytes; ++i) {
    std::string path = "void function_0(int, double *) C [{source_0.c} {0,1}-{20,1}]";
    for (std::uint64_t at = i; at > 0; at /= 8) path += " => " + named(at % 2000);
    line(path, "TAU_CALLPATH");
  }
  return fmt::format("{} templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls #\n", count) +
         lines + "0 aggregates\n0 userevents\n";
}

// Evented: what opens closes, in microseconds.
inline std::string made_speedscope_events(std::size_t bytes) {
  std::mt19937 random(10);
  std::string out = "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"profiles\":[{\"type\":";
  out += "\"evented\",\"name\":\"one\",\"unit\":\"microseconds\",\"startValue\":0,\"endValue\":1,\"events\":[";
  std::vector<std::uint64_t> open;
  std::uint64_t time = 0;
  for (bool first = true; out.size() < bytes || !open.empty(); first = false) {
    const bool opens = open.empty() || (out.size() < bytes && open.size() < 20 && random() % 2 == 0);
    if (opens) open.push_back(random() % 2000);
    time += random() % 1000;
    out += fmt::format("{}{{\"type\":\"{}\",\"frame\":{},\"at\":{}.{}}}", first ? "" : ",", opens ? 'O' : 'C',
                       open.back(), time / 10, time % 10);
    if (!opens) open.pop_back();
  }
  out += "]}],\"shared\":{\"frames\":[";
  for (int i = 0; i < 2000; ++i) out += fmt::format("{}{{\"name\":\"function_{}\"}}", i == 0 ? "" : ",", i);
  return out + "]}}\n";
}

// States, events and communication of 16 tasks.
inline std::string made_paraver(std::size_t bytes) {
  std::mt19937 random(11);
  constexpr int kTasks = 16;
  std::string body;
  std::uint64_t time = 0;
  while (body.size() < bytes) {
    time += random() % 1000;
    const std::uint64_t task = 1 + random() % kTasks;
    body += fmt::format("1:{0}:1:{0}:1:{1}:{2}:{3}\n", task, time, time + 1 + random() % 5000, random() % 16);
    body += fmt::format("2:{0}:1:{0}:1:{1}:50000001:{2}:42000050:{3}:42000059:{4}\n", task, time, random() % 9,
                        random() % 1000000, random() % 1000000);
    if (random() % 4 != 0) continue;
    const std::uint64_t other = 1 + random() % kTasks;
    body += fmt::format("3:{0}:1:{0}:1:{2}:{3}:{1}:1:{1}:1:{4}:{5}:{6}:{7}\n", task, other, time, time, time + 900,
                        time + 1000, random() % 65536, random() % 10);
  }
  std::string tasks;
  for (int i = 0; i < kTasks; ++i) tasks += i == 0 ? "1:1" : ",1:1";
  return fmt::format("#Paraver (01/01/20 at 00:00):{}_ns:1({}):1:{}({})\n", time + 10000, kTasks, kTasks, tasks) + body;
}

// The ranks of a path stand together, as Caliper writes them.
inline std::string made_caliper_json(std::size_t bytes) {
  std::mt19937 random(9);
  std::string out = "{\n  \"data\": [\n";
  for (std::size_t row = 0; out.size() < bytes; ++row) {
    out += fmt::format("{}    [ {}, {}.{:06}, {}, {} ]", row == 0 ? "" : ",\n", row / 64 % 2000, random() % 100,
                       random() % 1000000, row % 64, random() % 9999);
  }
  out +=
      "\n],\n\"columns\": [\"path\",\"time\",\"mpi.rank\",\"count\"],\n\"column_metadata\": "
      "[{\"is_value\":false},{\"is_value\":true},{\"is_value\":true},{\"is_value\":true}],\n\"nodes\": [";
  for (int i = 0; i < 2000; ++i) {
    out += fmt::format("{}{{\"label\":\"function_{}\",\"column\":\"path\"{}}}", i == 0 ? "" : ",", i,
                       i == 0 ? "" : fmt::format(",\"parent\":{}", i / 2));
  }
  return out + "]\n}\n";
}

}  // namespace fathom::bench
