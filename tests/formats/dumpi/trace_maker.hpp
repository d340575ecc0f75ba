// DUMPI files built in tests from names and values, by the table of functions.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "formats/dumpi/rank_set.hpp"
#include "formats/dumpi/writer.hpp"
#include "io/output_file.hpp"

namespace fathom::dumpi {

// One argument; what is not given is 0 or empty.
struct Value {
  std::int64_t number = 0;
  std::vector<std::int64_t> numbers;
  std::vector<std::vector<std::string>> lists;
  std::vector<Status> statuses;
  Value() = default;
  template <class Int>
    requires std::is_integral_v<Int>
  Value(Int value) : number(static_cast<std::int64_t>(value)) {}
};
inline Value list(std::vector<std::int64_t> numbers) {
  Value value;
  value.numbers = std::move(numbers);
  return value;
}
inline Value texts(std::vector<std::string> strings) {
  Value value;
  value.lists = {std::move(strings)};
  return value;
}
inline Value text(std::string string) { return texts({std::move(string)}); }
inline Value statuses(std::vector<Status> entries) {
  Value value;
  value.statuses = std::move(entries);
  return value;
}
// What a receive got.
inline Value got(std::int32_t bytes, std::int32_t source, std::int32_t tag) {
  return statuses({Status{bytes, source, tag, 0, 0}});
}
using Arguments = std::vector<std::pair<std::string_view, Value>>;

inline constexpr std::int32_t kWallBias = 1000;  // seconds
inline constexpr std::int32_t kCpuBias = 100;

// A call begins 1 us after the last one ended and takes 100 ns, unless told otherwise.
class TraceMaker {
 public:
  Sections sections;
  Layout layout;

  TraceMaker() : TraceMaker({13, 0, 0}) {}
  explicit TraceMaker(std::array<std::uint8_t, 3> version) : rules_(Rules::of_version(version)) {
    sections.header.version = version;
    sections.header.host = "here";
    sections.header.user = "me";
    sections.header.start_time = 1'700'000'000;
    for (std::size_t i = 0; i < kSections; ++i) sections.present[i] = true;
    out_.bytes(kMagic);
    out_.number(kCpuBias);
    out_.number(kWallBias);
  }

  // Times behind the bias, in ns.
  TraceMaker& at(std::int64_t start_ns, std::int64_t duration_ns = 100) {
    now_ns_ = start_ns;
    duration_ns_ = duration_ns;
    return *this;
  }
  TraceMaker& thread(std::uint16_t thread) {
    thread_ = thread;
    return *this;
  }
  TraceMaker& mask(std::uint8_t mask) {
    mask_ = mask;
    return *this;
  }
  TraceMaker& counters(std::vector<std::pair<std::int64_t, std::int64_t>> values) {
    counters_ = std::move(values);
    return *this;
  }

  TraceMaker& call(std::string_view name, const Arguments& given = {}) {
    const Function* found = function(name);
    if (found == nullptr) {
      ADD_FAILURE() << "no function " << name;
      return *this;
    }
    std::vector<Value> values(found->argument_count);
    std::vector<bool> set(found->argument_count);
    for (const auto& [argument, value] : given) {
      const int i = found->find(argument);
      if (i < 0) {
        ADD_FAILURE() << name << " has no argument " << argument;
        return *this;
      }
      values[static_cast<std::size_t>(i)] = value;
      set[static_cast<std::size_t>(i)] = true;
    }
    // Lengths follow from the lists.
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Argument& argument = found->argument[i];
      if (argument.length < 0 || set[static_cast<std::size_t>(argument.length)] || !set[i]) continue;
      values[static_cast<std::size_t>(argument.length)].number = static_cast<std::int64_t>(
          argument.shape == Shape::triples                              ? values[i].numbers.size() / 3
          : !values[i].lists.empty() && argument.shape == Shape::scalar ? values[i].lists[0][0].size()
          : argument.shape == Shape::list_of_lists                      ? values[i].lists.size()
          : !values[i].lists.empty()                                    ? values[i].lists[0].size()
                                                                        : values[i].numbers.size());
    }
    head(found->id);
    for (std::size_t i = 0; i < values.size(); ++i) encode(*found, i, values);
    if (found->id < kFunctions) {
      ++sections.footer.called[found->id];
      ++sections.footer.called[kAllFunctions];
    }
    ++records_;
    return *this;
  }

  // Positions and sizes of most point-to-point calls.
  TraceMaker& send(std::string_view name, int count, int datatype, int dest, int tag, int comm, int request = -1) {
    Arguments arguments = {{"count", count}, {"datatype", datatype}, {"dest", dest}, {"tag", tag}, {"comm", comm}};
    if (request >= 0) arguments.emplace_back("request", request);
    return call(name, arguments);
  }
  TraceMaker& irecv(int count, int datatype, int source, int tag, int comm, int request,
                    std::string_view name = "MPI_Irecv") {
    return call(name, {{"count", count},
                       {"datatype", datatype},
                       {"source", source},
                       {"tag", tag},
                       {"comm", comm},
                       {"request", request}});
  }
  TraceMaker& recv(int count, int datatype, int source, int tag, int comm, Value status) {
    return call("MPI_Recv", {{"count", count},
                             {"datatype", datatype},
                             {"source", source},
                             {"tag", tag},
                             {"comm", comm},
                             {"status", std::move(status)}});
  }

  [[nodiscard]] std::uint64_t records() const { return records_; }
  // The stream alone, as a killed job leaves it.
  [[nodiscard]] std::string cut() const { return out_.text(); }
  [[nodiscard]] std::string finish() const {
    ByteText whole = out_;
    whole.number(kEndOfStream);
    whole.bytes(encode_sections(sections, layout, whole.size()));
    return whole.text();
  }

 private:
  void head(std::uint16_t id) {
    out_.number(id);
    const bool counted = !counters_.empty();
    out_.number(static_cast<std::uint8_t>(mask_ | (counted ? kMaskCounters : 0)));
    if ((mask_ & kMaskThread) != 0) out_.number(thread_);
    for (const std::uint8_t clock : {kMaskCpu, kMaskWall}) {
      if ((mask_ & clock) == 0) continue;
      for (const std::int64_t time : {now_ns_, now_ns_ + duration_ns_}) {
        out_.number(static_cast<std::uint16_t>(time / 1'000'000'000));
        out_.number(static_cast<std::uint32_t>(time % 1'000'000'000));
      }
    }
    if (counted) {
      out_.number(static_cast<std::uint8_t>(counters_.size()));
      for (const auto& [in, out] : counters_) {
        out_.number(in);
        out_.number(out);
      }
    }
    now_ns_ += duration_ns_ + 1000;
    duration_ns_ = 100;
  }
  void strings(const std::vector<std::string>& list) {
    for (const std::string& one : list) {
      out_.number(static_cast<std::int32_t>(one.size()));
      out_.bytes(one);
    }
  }
  void encode(const Function& function, std::size_t i, const std::vector<Value>& values) {
    const Argument& argument = function.argument[i];
    const Value& value = values[i];
    if (argument.only_if >= 0 && values[static_cast<std::size_t>(argument.only_if)].number !=
                                     values[static_cast<std::size_t>(argument.equals)].number) {
      return;
    }
    if (argument.type == Type::status) {
      if ((mask_ & kMaskStatus) == 0) return;
      out_.number(static_cast<std::int32_t>(value.statuses.size()));
      for (const Status& status : value.statuses) {
        out_.number(status.bytes);
        out_.number(status.source);
        out_.number(status.cancelled);
        out_.number(status.error);
        if (rules_.status_size >= 14) out_.number(status.tag);
      }
      return;
    }
    const std::vector<std::string> none;
    const auto& first = value.lists.empty() ? none : value.lists[0];
    switch (argument.shape) {
      case Shape::scalar:
        if (argument.type == Type::str) {
          strings(first.empty() ? std::vector<std::string>{""} : first);
        } else {
          out_.value(argument.type, value.number);
          if (rules_.repeated_argc && function.name == "MPI_Init" && i == 0) out_.value(argument.type, value.number);
        }
        break;
      case Shape::array:
        if ((rules_.single_coords && function.name == "MPI_Cart_get" && argument.name == "coords") ||
            (rules_.single_indices && function.name == "MPI_Type_struct" && argument.name == "indices")) {
          out_.value(argument.type, value.numbers.empty() ? 0 : value.numbers[0]);
          break;
        }
        out_.number(static_cast<std::int32_t>(value.numbers.size()));
        for (const std::int64_t number : value.numbers) out_.value(argument.type, number);
        break;
      case Shape::triples:
        out_.number(static_cast<std::int32_t>(value.numbers.size() / 3));
        for (std::size_t n = 0; n < value.numbers.size(); ++n) {
          if (n % 3 == 0) out_.number(std::int32_t{3});
          out_.value(argument.type, value.numbers[n]);
        }
        break;
      case Shape::string_by_arg:
        strings(first);
        break;
      case Shape::list_of_lists:
        out_.number(static_cast<std::int32_t>(value.lists.size()));
        for (const auto& one : value.lists) {
          out_.number(static_cast<std::int32_t>(one.size()));
          strings(one);
        }
        break;
      default:
        out_.number(static_cast<std::int32_t>(first.size()));
        strings(first);
    }
  }

  ByteText out_;
  Rules rules_;
  std::int64_t now_ns_ = 0;
  std::int64_t duration_ns_ = 100;
  std::uint16_t thread_ = 0;
  std::uint8_t mask_ = kMaskStatus | kMaskCpu | kMaskWall | kMaskThread;
  std::vector<std::pair<std::int64_t, std::int64_t>> counters_;
  std::uint64_t records_ = 0;
};

// A folder for the files of a run, gone after the test.
class DumpiRun : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("dumpi_" + std::string(test->name()) + "_" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& bytes) { ASSERT_TRUE(write_file(folder_ / name, bytes).ok()); }
  Result<std::shared_ptr<RankSet>> open(const std::string& name = {}) {
    work_ = make_work();
    FATHOM_TRY(const Source source, Source::at(name.empty() ? folder_ : folder_ / name, work_));
    return RankSet::open(source, work_);
  }
  // One file per rank and the metafile.
  std::shared_ptr<RankSet> run(const std::vector<TraceMaker>& ranks) {
    write("run.meta", "numprocs=" + std::to_string(ranks.size()) + "\nfileprefix=run\n");
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      std::string number = std::to_string(rank);
      number.insert(0, 4 - std::min<std::size_t>(4, number.size()), '0');
      write("run-" + number + ".bin", ranks[rank].finish());
    }
    auto set = open("run.meta");
    EXPECT_TRUE(set.ok()) << (set.ok() ? "" : set.error().text());
    return set.ok() ? *set : nullptr;
  }
  [[nodiscard]] std::vector<std::string> noticed() const {
    std::vector<std::string> ids;
    for (const auto& one : work_->diagnostics.all()) ids.emplace_back(one.id);
    return ids;
  }

  [[nodiscard]] std::ptrdiff_t noticed_times(std::string_view id) const {
    const auto ids = noticed();
    return std::count(ids.begin(), ids.end(), id);
  }

  std::filesystem::path folder_;
  Work work_;
};

}  // namespace fathom::dumpi
