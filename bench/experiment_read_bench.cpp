// How fast experiments are read, against a plain pass over the same bytes and against Extra-P, which needs 1.8 ms of
// CPU time for a call path (10,000 call paths as JSON: 17.6 s, measured on another machine). Inputs are made here: call
// paths × 5 points × 5 repetitions, one parameter. Times are CPU times of all threads. The share of reading in
// modelling is in model_bench.
#include <cstdio>
#include <ctime>
#include <functional>
#include <random>
#include <string>

#include "formats/registry.hpp"

namespace {

constexpr double kExtraPSecondsPerCallPath = 1.76e-3;

double seconds(const std::function<void()>& work) {
  double best = 1e300;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return std::max(best, 1.0 / CLOCKS_PER_SEC);
}

// The same measurements in each form.
struct Inputs {
  std::string text, json, lines;
};
Inputs make_inputs(int callpaths) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> value(0.5, 1.5);
  Inputs in;
  in.text = "PARAMETER p\nPOINTS 4 8 16 32 64\nMETRIC time\n";
  in.json = R"({"parameters":["p"],"measurements":{)";
  for (int c = 0; c < callpaths; ++c) {
    const std::string name = "main->f" + std::to_string(c);
    in.text += "REGION " + name + "\n";
    in.json += (c > 0 ? ",\"" : "\"") + name + R"(":{"time":[)";
    for (int p = 0; p < 5; ++p) {
      const std::string x = std::to_string(4 << p);
      in.text += "DATA";
      in.json += (p > 0 ? ",{\"point\":[" : "{\"point\":[") + x + "],\"values\":[";
      for (int r = 0; r < 5; ++r) {
        const std::string v = std::to_string(value(random) * (4 << p));
        in.text += " " + v;
        in.json += (r > 0 ? "," : "") + v;
        in.lines += R"({"params":{"p":)" + x + R"(},"callpath":")" + name + R"(","metric":"time","value":)" + v + "}\n";
      }
      in.text += "\n";
      in.json += "]}";
    }
    in.json += "]}";
  }
  in.json += "}}";
  return in;
}

void run(const char* name, const std::string& bytes, const char* format, int callpaths) {
  using namespace fathom;
  const Blob blob = Blob::own(name, bytes);
  volatile unsigned sink = 0;
  const double pass = seconds([&] {
    unsigned sum = 0;
    for (const char c : bytes) sum += static_cast<unsigned char>(c);
    sink = sum;
  });
  const double read = seconds([&] {
    auto dataset = open_source(Source::of(blob), make_work(), format);
    if (!dataset || !(*dataset)->experiment()) std::puts("cannot be read");
  });
  std::printf("%-12s %7d call paths %8.2f MB %9.2f ms %6.0f MB/s %6.1f x a plain pass, Extra-P takes %6.0f x\n", format,
              callpaths, static_cast<double>(bytes.size()) / 1e6, read * 1e3,
              static_cast<double>(bytes.size()) / 1e6 / read, read / pass,
              kExtraPSecondsPerCallPath * callpaths / read);
}

}  // namespace

int main() {
  for (const int callpaths : {1000, 10000, 100000}) {
    const Inputs in = make_inputs(callpaths);
    run("text", in.text, "extrap-text", callpaths);
    run("json", in.json, "extrap-json", callpaths);
    run("lines", in.lines, "extrap-jsonl", callpaths);
  }
}
