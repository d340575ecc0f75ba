#include "formats/tau/packed_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "io/byte_cursor.hpp"

namespace fathom::tau {

namespace {

// What Java's DataOutputStream writes: numbers in big-endian order, texts with their length in two bytes before.
constexpr std::string_view kMagic("\0P\0P\0K", 6);
constexpr std::uint32_t kNewestVersion = 2;

using Thread = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

class Reader {
 public:
  Reader(const Blob& blob, const Work& work) : work_(work), in_(blob, Endian::big) {}

  Result<PackedProfile> run() {
    in_.expect(kMagic, "magic number");
    (void)in_.u32("version");
    const std::uint32_t needed = in_.u32("oldest version that can read the file");
    if (in_.ok() && needed > kNewestVersion) {
      in_.fail(fmt::format("needs a reader of version {}; known up to {}", needed, kNewestVersion));
    }
    metadata();
    out_.metrics = names("metric");
    const std::vector<std::string> groups = names("group");
    functions(groups);
    events_ = views("user event");
    FATHOM_CHECK(in_.status());
    if (out_.metrics.empty()) return Error("has no metrics", in_.place());
    return threads();
  }

 private:
  std::string_view text(const char* field) {
    const Bytes bytes = in_.bytes(in_.u16(field), field);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::uint64_t count(std::uint64_t record_size, const char* field) {
    return in_.count_that_fits(in_.u32(field), record_size, field);
  }

  std::vector<std::string_view> views(const char* field) {
    std::vector<std::string_view> out(count(2, field));
    for (std::string_view& one : out) one = text(field);
    return out;
  }

  std::vector<std::string> names(const char* field) {
    const auto found = views(field);
    return {found.begin(), found.end()};
  }

  void attributes(Attributes& out) {
    for (std::uint64_t left = count(4, "metadata"); left > 0 && in_.ok(); --left) {
      const std::string_view key = text("name of metadata");
      out.emplace_back(key, text("value of metadata"));
    }
  }

  Thread thread() {
    const std::uint32_t node = in_.u32("node");
    const std::uint32_t context = in_.u32("context");
    return {node, context, in_.u32("thread")};
  }

  // A block with its length before it: what all threads have alike, then what each has for itself.
  void metadata() {
    const std::uint64_t size = in_.count_that_fits(in_.u32("size of metadata"), 1, "metadata");
    const std::uint64_t end = in_.offset() + size;
    if (size > 0) {
      (void)in_.u32("word before the metadata");  // 0 in all files that were seen
      attributes(common_);
      for (std::uint64_t left = count(16, "threads with metadata"); left > 0 && in_.ok(); --left) {
        const Thread of = thread();
        attributes(own_[of]);
      }
    }
    if (in_.ok()) in_.seek(end, "metrics");
  }

  void functions(const std::vector<std::string>& groups) {
    functions_.resize(count(6, "functions"));
    for (FunctionLine& function : functions_) {
      function.name = text("function");
      std::string all;
      for (std::uint64_t left = count(4, "groups of a function"); left > 0 && in_.ok(); --left) {
        const std::uint32_t group = in_.u32("group of a function");
        if (group < groups.size()) all += (all.empty() ? "" : "|") + groups[group];
      }
      function.groups = *out_.groups.insert(std::move(all)).first;
    }
  }

  Result<PackedProfile> threads() {
    const std::uint32_t announced = in_.u32("threads");
    FATHOM_CHECK(in_.status());
    for (std::uint32_t i = 0; i < announced; ++i) {
      if (one_thread()) continue;
      out_.files.resize(i * out_.metrics.size());
      if (i == 0) return in_.status().error();
      FATHOM_CHECK(work_->diagnostics.lost("tau.cut_off", in_.place(),
                                           fmt::format("the file ends after {} threads of {}", i, announced)));
      break;
    }
    std::sort(out_.files.begin(), out_.files.end(), [](const ThreadFile& a, const ThreadFile& b) {
      return std::tie(a.node, a.context, a.thread, a.metric) < std::tie(b.node, b.context, b.thread, b.metric);
    });
    return std::move(out_);
  }

  bool one_thread() {
    const Thread of = thread();
    const std::size_t first = out_.files.size();
    for (std::size_t metric = 0; metric < out_.metrics.size(); ++metric) {
      ThreadFile file{std::get<0>(of), std::get<1>(of), std::get<2>(of), metric, {}};
      file.file.blob = in_.blob();
      file.file.metric = out_.metrics[metric];
      file.file.metadata = common_;
      if (const auto own = own_.find(of); own != own_.end()) {
        file.file.metadata.insert(file.file.metadata.end(), own->second.begin(), own->second.end());
      }
      out_.files.push_back(std::move(file));
    }
    for (std::uint64_t left = count(20 + 16 * out_.metrics.size(), "functions of a thread"); left > 0; --left) {
      const std::uint32_t id = in_.u32("function of a thread");
      const double calls = in_.f64("calls");
      const double subrs = in_.f64("calls made");
      if (in_.ok() && id >= functions_.size()) in_.fail(fmt::format("function {} is not defined", id));
      for (std::size_t metric = 0; metric < out_.metrics.size() && in_.ok(); ++metric) {
        FunctionLine line = functions_[id];
        line.calls = calls;
        line.subrs = subrs;
        line.exclusive = in_.f64("exclusive value");
        line.inclusive = in_.f64("inclusive value");
        out_.files[first + metric].file.functions.push_back(line);
      }
      if (!in_.ok()) return false;
    }
    for (std::uint64_t left = count(40, "user events of a thread"); left > 0; --left) {
      const std::uint32_t id = in_.u32("user event of a thread");
      UserEvent event;
      event.count = in_.u32("number of user events");
      event.minimum = in_.f64("minimum");
      event.maximum = in_.f64("maximum");
      event.mean = in_.f64("mean");
      event.sum_of_squares = in_.f64("sum of squares");
      if (in_.ok() && id >= events_.size()) in_.fail(fmt::format("user event {} is not defined", id));
      if (!in_.ok()) return false;
      event.name = events_[id];
      out_.files[first].file.events.push_back(event);
    }
    return in_.ok();
  }

  Work work_;
  ByteCursor in_;
  PackedProfile out_;
  std::vector<FunctionLine> functions_;
  std::vector<std::string_view> events_;
  Attributes common_;
  std::map<Thread, Attributes> own_;
};

}  // namespace

bool is_packed_profile(std::string_view head) { return head.starts_with(kMagic); }

Result<PackedProfile> read_packed(const Blob& blob, const Work& work) { return Reader(blob, work).run(); }

}  // namespace fathom::tau
