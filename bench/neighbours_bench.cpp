// Reading profiles and traces of neighbours, each made here at some tens of megabytes: against a plain pass over the
// same bytes, and against looking for the ends of lines, which any reader of text must do. All on one core.
// Usage: neighbours_bench [megabytes [format]]
#include <fmt/format.h>

#include <cstring>
#include <random>

#include "base/execution.hpp"
#include "formats/registry.hpp"
#include "io/protobuf.hpp"
#include "measure.hpp"
#include "profile/profile.hpp"
#include "trace/trace.hpp"

using namespace fathom;
using namespace fathom::bench;

namespace {

volatile std::uint64_t g_sink;

Cost memory_pass(std::string_view text) {
  return measure([&] {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i + 8 <= text.size(); i += 8) {
      std::uint64_t word;
      std::memcpy(&word, text.data() + i, 8);
      sum += word;
    }
    g_sink = sum;
  });
}

Cost line_pass(std::string_view text) {
  return measure([&] {
    std::uint64_t lines = 0;
    for (const char* at = text.data(); at < text.data() + text.size(); ++lines) {
      const void* end = std::memchr(at, '\n', static_cast<std::size_t>(text.data() + text.size() - at));
      at = end == nullptr ? text.data() + text.size() : static_cast<const char*>(end) + 1;
    }
    g_sink = lines;
  });
}

// Stacks of 5 to 25 frames over 2,000 functions, sorted as the tools write them.
std::string made_folded(std::size_t bytes) {
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

std::string made_callgrind(std::size_t bytes) {
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

std::string made_cali(std::size_t bytes) {
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

std::string made_pprof(std::size_t bytes) {
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
std::string made_chrome(std::size_t bytes) {
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
std::string made_perfetto(std::size_t bytes) {
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

void report_trace(const char* name, const std::string& text) {
  const Blob blob = Blob::own(name, text);
  const Execution one_core(1);
  const ExecutionScope scope(one_core);
  const Cost pass = memory_pass(blob.text());
  std::size_t locations = 0;
  const Cost read = measure([&] {
    const auto dataset = must(open_source(Source::of(blob), make_work()));
    locations = must(dataset->trace())->location_count();
  });
  const double mb = static_cast<double>(text.size()) / 1e6;
  std::printf("%-10s %5.0f MB %8zu locations  read %7.0f MB/s   %5.1f x a pass over the bytes\n", name, mb, locations,
              mb / read.cpu, read.cpu / pass.cpu);
}

void report(const char* name, const std::string& text, bool lines) {
  const Blob blob = Blob::own(name, text);
  const Execution one_core(1);
  const ExecutionScope scope(one_core);
  const Cost pass = memory_pass(blob.text());
  const Cost ends = lines ? line_pass(blob.text()) : pass;
  std::size_t contexts = 0;
  const Cost read = measure([&] {
    const auto dataset = must(open_source(Source::of(blob), make_work()));
    contexts = must(dataset->profile())->defs().contexts.size();
  });
  const double mb = static_cast<double>(text.size()) / 1e6;
  std::printf(
      "%-10s %5.0f MB %8zu contexts   read %7.0f MB/s   %5.1f x a pass over the bytes   %5.1f x ends of lines\n", name,
      mb, contexts, mb / read.cpu, read.cpu / pass.cpu, read.cpu / ends.cpu);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t bytes = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 32) * 1'000'000;
  const std::string_view only = argc > 2 ? argv[2] : "";
  const auto wanted = [&](std::string_view name) { return only.empty() || only == name; };
  if (wanted("folded")) report("folded", made_folded(bytes), true);
  if (wanted("callgrind")) report("callgrind", made_callgrind(bytes), true);
  if (wanted("caliper")) report("caliper", made_cali(bytes), true);
  if (wanted("pprof")) report("pprof", made_pprof(bytes), false);
  if (wanted("chrome")) report_trace("chrome", made_chrome(bytes));
  if (wanted("perfetto")) report_trace("perfetto", made_perfetto(bytes));
  return 0;
}
