// The analysis of a generated DUMPI trace (a stencil whose ranks wait for each other), as a ratio to a bare pass over
// the events of the same trace; and what an event costs with many ranks. Usage: analysis_bench [MB] [ranks] [many
// ranks]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/parallel.hpp"
#include "findings/trace_report.hpp"
#include "formats/dumpi/ids.hpp"
#include "formats/dumpi/writer.hpp"
#include "formats/registry.hpp"
#include "measure.hpp"
#include "trace/analysis/analysis.hpp"

namespace {

using namespace fathom;
using namespace fathom::dumpi;
namespace fs = std::filesystem;

class Maker {
 public:
  Maker(const fs::path& folder, std::size_t ranks) : ranks_(ranks), text_(ranks), sections_(ranks), now_(ranks, 1000) {
    for (std::size_t r = 0; r < ranks; ++r) {
      char name[32];
      std::snprintf(name, sizeof name, "run-%04zu.bin", r);
      files_.emplace_back(folder / name, std::ios::binary);
      text_[r].bytes(kMagic);
      text_[r].number(std::int32_t{0});
      text_[r].number(std::int32_t{1000});
      head(r, ids::kInit, now_[r], now_[r]);
      text_[r].number(std::int32_t{0});
    }
    std::ofstream(folder / "run.meta") << "hostname=node\nnumprocs=" << ranks
                                       << "\nusername=bench\nstartime=1\nfileprefix=run\nversion=13\nsubversion=0\n"
                                          "subsubversion=0\n";
  }

  // Exchange with four neighbours on a torus, now and then a reduction; one rank in sixteen is slower.
  void make(std::uint64_t bytes) {
    const auto width = static_cast<std::size_t>(std::sqrt(static_cast<double>(ranks_)));
    std::mt19937 random(1);
    std::uniform_int_distribution<std::int64_t> noise(0, 4000);
    for (std::size_t step = 0; written_ < bytes; ++step) {
      std::vector<std::int64_t> sent(ranks_);
      for (std::size_t r = 0; r < ranks_; ++r) {
        now_[r] += 40'000 + noise(random) + (r % 16 == 3 ? 5000 : 0);
        for (std::int32_t n = 0; n < 4; ++n) post(r, ids::kIrecv, neighbour(r, n, width), 2 + n);
        sent[r] = now_[r];
        for (std::int32_t n = 0; n < 4; ++n) post(r, ids::kIsend, neighbour(r, n, width), 6 + n);
      }
      std::vector<std::int64_t> until(ranks_);
      for (std::size_t r = 0; r < ranks_; ++r) {
        until[r] = now_[r];
        for (std::int32_t n = 0; n < 4; ++n) {
          until[r] = std::max(until[r], sent[static_cast<std::size_t>(neighbour(r, n, width))] + 1600);
        }
      }
      for (std::size_t r = 0; r < ranks_; ++r) wait_all(r, until[r] + 2000, width);
      if (step % 4 == 3) {
        const std::int64_t last = *std::max_element(now_.begin(), now_.end());
        for (std::size_t r = 0; r < ranks_; ++r) all_reduce(r, last + 12'000);
      }
      flush(std::size_t{1} << 20);
    }
    const std::int64_t last = *std::max_element(now_.begin(), now_.end());
    for (std::size_t r = 0; r < ranks_; ++r) {
      head(r, ids::kFinalize, now_[r], last + 1000);
      text_[r].number(kEndOfStream);
      const std::uint64_t offset = static_cast<std::uint64_t>(files_[r].tellp()) + text_[r].size();
      text_[r].bytes(encode_sections(sections_[r], Layout{}, offset));
    }
    flush(0);
  }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }

 private:
  [[nodiscard]] std::int32_t neighbour(std::size_t r, std::int32_t n, std::size_t width) const {
    const std::size_t steps[] = {1, ranks_ - 1, width, ranks_ - width};
    return static_cast<std::int32_t>((r + steps[static_cast<std::size_t>(n)]) % ranks_);
  }
  void head(std::size_t r, std::uint16_t id, std::int64_t enter, std::int64_t leave) {
    ByteText& out = text_[r];
    out.number(id);
    out.number(std::uint8_t{0x4F});
    out.number(std::uint16_t{0});
    for (int clock = 0; clock < 2; ++clock) {
      for (const std::int64_t at : {enter, leave}) {
        out.number(static_cast<std::uint16_t>(at / 1'000'000'000));
        out.number(static_cast<std::uint32_t>(at % 1'000'000'000));
      }
    }
    ++sections_[r].footer.called[id];
    ++calls_;
  }
  void post(std::size_t r, std::uint16_t id, std::int32_t peer, std::int32_t request) {
    head(r, id, now_[r], now_[r] + 400);
    now_[r] += 450;
    text_[r].number(std::int32_t{1024});
    text_[r].number(std::int16_t{14});
    text_[r].number(peer);
    text_[r].number(std::int32_t{17});
    text_[r].number(std::int16_t{2});
    text_[r].number(request);
  }
  void wait_all(std::size_t r, std::int64_t leave, std::size_t width) {
    head(r, ids::kWaitall, now_[r], leave);
    now_[r] = leave + 50;
    ByteText& out = text_[r];
    out.number(std::int32_t{8});
    out.number(std::int32_t{8});
    for (std::int32_t request = 2; request < 10; ++request) out.number(request);
    out.number(std::int32_t{8});
    for (std::int32_t n = 0; n < 8; ++n) {
      out.number(std::int32_t{8192});
      out.number(neighbour(r, n % 4, width));
      out.number(std::uint16_t{0});
      out.number(std::int32_t{17});
    }
  }
  void all_reduce(std::size_t r, std::int64_t leave) {
    head(r, ids::kAllreduce, now_[r], leave);
    now_[r] = leave + 50;
    text_[r].number(std::int32_t{1});
    text_[r].number(std::int16_t{14});
    text_[r].number(std::uint8_t{3});
    text_[r].number(std::int16_t{2});
  }
  void flush(std::size_t above) {
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (text_[r].size() <= above) continue;
      files_[r].write(text_[r].text().data(), static_cast<std::streamsize>(text_[r].size()));
      written_ += text_[r].size();
      text_[r].clear();
    }
    if (above > 0) return;
    for (auto& file : files_) file.close();
  }

  std::size_t ranks_;
  std::vector<std::ofstream> files_;
  std::vector<ByteText> text_;
  std::vector<Sections> sections_;
  std::vector<std::int64_t> now_;
  std::uint64_t written_ = 0;
  std::uint64_t calls_ = 0;
};

struct Numbers {
  bench::Cost events, waits, everything, report;
  std::uint64_t calls = 0;
};

Numbers run(std::uint64_t bytes, std::size_t ranks) {
  const fs::path folder = fs::temp_directory_path() / ("fathom_analysis_bench_" + std::to_string(ranks));
  fs::create_directories(folder);
  Numbers out;
  {
    Maker maker(folder, ranks);
    maker.make(bytes);
    out.calls = maker.calls();
  }
  const Work work = make_work();
  const DatasetPtr dataset = bench::must(open_dataset(folder / "run.meta", work, ""));
  const auto trace = bench::must(dataset->trace());
  out.events = bench::measure([&] {
    bench::must(parallel_for(trace->location_count(), [&](std::size_t l) -> Result<void> {
      FATHOM_TRY(auto stream, trace->open(LocationId(l), {}));
      EventCursor cursor(std::move(stream), 1024);
      while (cursor.next() != nullptr) {
      }
      return cursor.status();
    }));
  });
  out.waits = bench::measure([&] { (void)bench::must(analysis::analyse(*trace, work, analysis::Depth::waits)); }, 2);
  std::unique_ptr<analysis::Analysis> kept;
  const auto everything = [&] {
    kept.reset();  // so that the peak is that of one
    kept = bench::must(analysis::analyse(*trace, work));
  };
  out.everything = bench::measure(everything, 2);
  out.report = bench::measure([&] { (void)trace_report(*kept); }, 2);
  fs::remove_all(folder);
  return out;
}

void print(std::size_t ranks, const Numbers& n) {
  std::printf("%zu ranks, %llu calls, %u threads; peak %.0f MiB\n", ranks, static_cast<unsigned long long>(n.calls),
              thread_count(), bench::status_mib("VmHWM:"));
  const auto line = [&](const char* what, const bench::Cost& cost) {
    std::printf("  %-34s %8.3f s wall %8.3f s cpu %6.2f x events %8.1f ns per call\n", what, cost.wall, cost.cpu,
                cost.cpu / n.events.cpu, cost.cpu / static_cast<double>(n.calls) * 1e9);
  };
  line("bare pass over the events", n.events);
  line("wait states", n.waits);
  line("and delays, path, efficiencies", n.everything);
  line("findings of it", n.report);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t megabytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 400;
  const std::size_t few = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 64;
  const std::size_t many = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 512;
  const Numbers a = run(megabytes << 20, few);
  print(few, a);
  const Numbers b = run(megabytes << 20, many);
  print(many, b);
  const double per_call =
      (b.everything.cpu / static_cast<double>(b.calls)) / (a.everything.cpu / static_cast<double>(a.calls));
  std::printf("a call costs %.2f times as much with %zu ranks as with %zu\n", per_call, many, few);
  return 0;
}
