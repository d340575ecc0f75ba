// Runs a fuzz target on changed inputs, as libFuzzer does and with its interface and flags, for numbers: libFuzzer
// weighs every counter of every execution, which takes several times as long as reading a short input. Here counters
// are only compared with those seen before. What it does not do: compare values, minimise, merge.
//   PROGRAM FOLDER [-runs=N] [-max_len=N] [-max_total_time=S] [-artifact_prefix=P] [-seed=N]
// The folder has the inputs to begin with and gets those that reach something new.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "mutate.hpp"

extern "C" {
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int* argc, char*** argv);
__attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                                          unsigned seed);
}

namespace fathom {

namespace {

constexpr std::uint64_t kMostSeconds = 25;  // of one input
constexpr long kMostKilobytes = 2 << 20;    // of the process

// ---- What was reached ----

// The counters of all code that is linked, in blocks; the few that are less than a block at either end are left out.
using Words = std::array<std::uint64_t, 8>;
Words* g_counters = nullptr;
Words* g_counters_end = nullptr;
// Per counter one bit for each power of two that it had.
std::vector<std::uint8_t> g_seen;
// The counters of each block when it was last reached.
std::vector<Words> g_before;

// Of eight counters: each one's power of two as a bit, or nothing where it is 0.
bool is_new(std::uint64_t counts, std::uint8_t* seen) {
  bool any = false;
  for (; counts != 0; counts >>= 8, ++seen) {
    const auto count = static_cast<std::uint8_t>(counts);
    if (count == 0) continue;
    const auto bit = static_cast<std::uint8_t>(std::bit_floor(count));
    if ((*seen & bit) != 0) continue;
    *seen = static_cast<std::uint8_t>(*seen | bit);
    any = true;
  }
  return any;
}

// Remembers the counters of one execution and sets them back; says whether there was something new. Most are 0, and
// most of the others what they were the last time: what counts is how fast those are passed over.
bool reached_new() {
  bool any = false;
  std::uint8_t* seen = g_seen.data();
  Words* before = g_before.data();
  for (Words* block = g_counters; block < g_counters_end; ++block, ++before, seen += sizeof(Words)) {
    std::uint64_t together = 0;
    for (const std::uint64_t word : *block) together |= word;
    if (together == 0) continue;
    for (std::size_t i = 0; i < block->size(); ++i) {
      if ((*block)[i] != (*before)[i]) any |= is_new((*block)[i], seen + 8 * i);
    }
    *before = *block;
    *block = {};
  }
  return any;
}

std::size_t edges() {
  return g_seen.size() - static_cast<std::size_t>(std::count(g_seen.begin(), g_seen.end(), std::uint8_t{0}));
}

// ---- What is found ----

std::string g_prefix;  // of the names of findings
std::string g_input;   // what is tried just now; its bytes stay where they are while it is
volatile std::uint64_t g_executed = 0;
volatile std::sig_atomic_t g_stopped = 0;

std::string hash_text(std::string_view bytes) {
  std::array<char, 17> out{};
  std::snprintf(out.data(), out.size(), "%016zx", std::hash<std::string_view>()(bytes));
  return out.data();
}

void write_file(const std::string& path, std::string_view bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  if (write(file, bytes.data(), bytes.size()) < 0) std::perror(path.c_str());
  close(file);
}

[[noreturn]] void found(const char* what) {
  const std::string path = g_prefix + what + "-" + hash_text(g_input);
  write_file(path, g_input);
  std::fprintf(stderr, "%s: %s\nstat::number_of_executed_units: %llu\n", what, path.c_str(),
               static_cast<unsigned long long>(g_executed));
  _exit(77);
}

void on_signal(int number) {
  // Allocating in a handler may hang: then the process is at least stopped.
  std::signal(SIGALRM, SIG_DFL);
  alarm(2);
  std::fprintf(stderr, "signal %d\n", number);
  found("crash");
}

// Once a second: one input that takes many of them is a finding.
void on_second(int) {
  static std::uint64_t before = 0;
  static std::uint64_t seconds = 0;
  seconds = before == g_executed ? seconds + 1 : 0;
  before = g_executed;
  if (seconds > kMostSeconds) found("timeout");
}

// What was executed until then counts.
void on_stop(int) { g_stopped = 1; }

void watch() {
  static std::array<char, 1 << 16> stack;  // for inputs that use up the usual one
  stack_t other{};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  action.sa_handler = on_signal;
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT}) sigaction(number, &action, nullptr);
  action.sa_handler = on_stop;
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaction(number, &action, nullptr);
  action.sa_handler = on_second;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval second{{1, 0}, {1, 0}};
  setitimer(ITIMER_REAL, &second, nullptr);
}

// ---- The inputs ----

struct Options {
  std::filesystem::path folder;
  std::map<std::string, std::uint64_t> numbers = {
      {"runs", ~std::uint64_t{0}}, {"max_len", 4096}, {"max_total_time", ~std::uint64_t{0}}, {"seed", 1}};
};

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view given = argv[i];
    const std::size_t equals = given.find('=');
    if (!given.starts_with("-")) {
      options.folder = given;
    } else if (given.starts_with("-artifact_prefix=")) {
      g_prefix = given.substr(equals + 1);
    } else if (equals != std::string_view::npos) {
      options.numbers[std::string(given.substr(1, equals - 1))] = std::strtoull(argv[i] + equals + 1, nullptr, 10);
    }
  }
  return options;
}

using Duration = std::chrono::steady_clock::duration;
struct Input {
  std::string bytes;
  Duration took;
};

class Fuzzer {
 public:
  explicit Fuzzer(Options options) : options_(std::move(options)), dice_(options_.numbers["seed"]) {}

  void run() {
    begin();
    const std::uint64_t runs = options_.numbers["runs"];
    const std::uint64_t seconds = options_.numbers["max_total_time"];
    const auto start = std::chrono::steady_clock::now();
    const auto is_time = [&] {
      if (g_executed % 256 != 0) return false;
      const auto passed = std::chrono::steady_clock::now() - start;
      return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(passed).count()) >= seconds;
    };
    while (g_executed < runs && g_stopped == 0 && !is_time()) {
      change(some_input().bytes);
      if (tries_something_new()) keep();
    }
    report();
  }
  // An input whose bytes may be taken over.
  [[nodiscard]] std::string_view other() { return any_input().bytes; }
  [[nodiscard]] Dice& dice() { return dice_; }

 private:
  // Those of the folder, short ones first, so that what longer ones reach beside counts only once.
  void begin() {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(options_.folder)) {
      if (!entry.is_regular_file() || entry.file_size() > options_.numbers["max_len"]) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      all.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    std::sort(all.begin(), all.end(), [](const std::string& a, const std::string& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    for (std::string& one : all) {
      g_input = std::move(one);
      if (tries_something_new()) inputs_.push_back({g_input, took_});
    }
    if (inputs_.empty()) inputs_.push_back({"\n", took_});
  }

  const Input& any_input() { return inputs_[dice_.below(inputs_.size())]; }
  // New ones have been changed less: every other time one of them. Of four the one that took the least time, since the
  // slow ones would take most of it.
  const Input& some_input() {
    const std::size_t newest = inputs_.size() - 1 - dice_.below(inputs_.size() / 8 + 1);
    const Input* best = dice_.below(2) == 0 ? &inputs_[newest] : &any_input();
    for (int i = 0; i < 3; ++i) {
      const Input& other = any_input();
      if (other.took < best->took) best = &other;
    }
    return *best;
  }

  void change(const std::string& from) {
    g_input = from;
    const std::size_t most = options_.numbers["max_len"];
    const std::size_t times = 1 + dice_.below(4);
    for (std::size_t i = 0; i < times; ++i) {
      if (LLVMFuzzerCustomMutator == nullptr) {
        mutate(g_input, most, other(), dice_);
        continue;
      }
      const std::size_t size = g_input.size();
      g_input.resize(std::max(most, size));
      g_input.resize(LLVMFuzzerCustomMutator(reinterpret_cast<std::uint8_t*>(g_input.data()), size, most,
                                             static_cast<unsigned>(dice_.next() >> 32)));
    }
  }

  bool tries_something_new() {
    const auto start = std::chrono::steady_clock::now();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(g_input.data()), g_input.size());
    took_ = std::chrono::steady_clock::now() - start;
    g_executed = g_executed + 1;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    if (usage.ru_maxrss > kMostKilobytes) found("oom");
    return reached_new();
  }

  void keep() {
    write_file(options_.folder / hash_text(g_input), g_input);
    inputs_.push_back({g_input, took_});
    if (std::has_single_bit(inputs_.size())) report();
  }

  void report() const {
    std::fprintf(stderr, "#%llu cov: %zu corp: %zu\nstat::number_of_executed_units: %llu\n",
                 static_cast<unsigned long long>(g_executed), edges(), inputs_.size(),
                 static_cast<unsigned long long>(g_executed));
  }

  Options options_;
  Dice dice_;
  std::vector<Input> inputs_;
  Duration took_{};  // the last execution
};

Fuzzer* g_fuzzer = nullptr;

}  // namespace

}  // namespace fathom

extern "C" {

// Of every object file, with the same range each.
void __sanitizer_cov_8bit_counters_init(std::uint8_t* begin, std::uint8_t* end) {
  using fathom::Words;
  constexpr std::uintptr_t kAligned = alignof(Words);
  const auto from = (reinterpret_cast<std::uintptr_t>(begin) + kAligned - 1) / kAligned * kAligned;
  const std::uintptr_t blocks = (reinterpret_cast<std::uintptr_t>(end) - from) / sizeof(Words);
  fathom::g_counters = reinterpret_cast<Words*>(from);
  fathom::g_counters_end = fathom::g_counters + blocks;
}
void __sanitizer_cov_pcs_init(const std::uintptr_t*, const std::uintptr_t*) {}

// For mutators of targets.
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) {
  static std::string bytes;
  bytes.assign(reinterpret_cast<const char*>(data), size);
  fathom::mutate(bytes, most, fathom::g_fuzzer->other(), fathom::g_fuzzer->dice());
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

int main(int argc, char** argv) {
  using namespace fathom;
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);
  g_before.resize(static_cast<std::size_t>(g_counters_end - g_counters));
  g_seen.resize(g_before.size() * sizeof(Words));
  watch();
  Fuzzer fuzzer(options_of(argc, argv));
  g_fuzzer = &fuzzer;
  fuzzer.run();
  return 0;
}

}  // extern "C"
