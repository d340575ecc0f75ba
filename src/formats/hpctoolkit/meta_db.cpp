#include "formats/hpctoolkit/meta_db.hpp"

#include <fmt/format.h>

#include <unordered_set>

#include "formats/hpctoolkit/magic.hpp"
#include "io/byte_cursor.hpp"

namespace fathom::hpctoolkit {

namespace {

// Sections in the order of the header's table.
enum Section { kGeneral, kIdNames, kMetrics, kContext, kStrings, kModules, kFiles, kFunctions, kSections };

struct Extent {
  std::uint64_t size = 0;
  std::uint64_t at = 0;
  [[nodiscard]] bool holds(std::uint64_t pointer) const { return pointer >= at && pointer - at < size; }
};

// An array of records that others point into.
struct Table {
  std::uint64_t at = 0;
  std::uint64_t count = 0;
  std::uint64_t stride = 1;
};

constexpr std::uint64_t kContextSize = 32;            // without the flexible words
constexpr std::uint64_t kPrereleaseContextSize = 24;  // no propagation word
constexpr std::uint64_t kPrereleaseMetricSize = 24;
constexpr std::uint64_t kEntryPointSize = 32;
constexpr std::uint64_t kTextFactor = 16;
constexpr std::uint8_t kHasFunction = 1;
constexpr std::uint8_t kHasLine = 2;
constexpr std::uint8_t kHasPoint = 4;

class Reader {
 public:
  Reader(const Blob& blob, const Work& work) : in_(blob), work_(work) {}

  Result<MetaDb> read() {
    FATHOM_TRY(db_.version, read_meta_header(in_, kMetaMagic));
    for (Extent& section : sections_) {
      section.size = in_.u64("size of a section");
      section.at = in_.u64("pointer to a section");
    }
    FATHOM_CHECK(in_.status());
    FATHOM_CHECK(check_footer(in_.blob(), kMetaFooter, work_));
    find_prerelease();
    FATHOM_CHECK(read_general());
    FATHOM_CHECK(read_id_names());
    FATHOM_CHECK(db_.prerelease ? read_prerelease_metrics() : read_metrics());
    FATHOM_CHECK(read_modules());
    FATHOM_CHECK(read_files());
    FATHOM_CHECK(read_functions());
    FATHOM_CHECK(read_contexts());
    return std::move(db_);
  }

 private:
  void seek(Section section) { in_.seek(sections_[section].at, "section"); }

  std::string text_at(std::uint64_t pointer, const char* field) {
    if (pointer == 0) return {};
    in_.seek(pointer, field);
    const std::string_view text = in_.c_string(field);
    // Names may be shared, but a file whose pointers all lead to one huge text must not fill the memory.
    text_bytes_ += text.size();
    if (text_bytes_ > kTextFactor * in_.blob().size()) in_.fail("the texts are far larger than the file");
    return in_.ok() ? std::string(text) : std::string();
  }

  // The released section begins with a pointer into itself; in the pre-release that is the second word. Without any
  // context neither need be so: then the size of a metric tells.
  void find_prerelease() {
    ByteCursor in = in_;
    in.seek(sections_[kContext].at, "context section");
    const std::uint64_t first = in.u64("first word of the context section");
    const std::uint64_t second = in.u64("second word of the context section");
    if (!in.ok() || sections_[kContext].holds(first)) return;
    db_.prerelease = sections_[kContext].holds(second);
    if (db_.prerelease || first != 0) return;
    in.seek(sections_[kMetrics].at, "metric section");
    in.skip(12, "pointer to the metrics, their number");
    const std::uint8_t metric_size = in.u8("size of a metric");
    db_.prerelease = in.ok() && metric_size == kPrereleaseMetricSize;
  }

  Result<void> read_general() {
    seek(kGeneral);
    const std::uint64_t title = in_.u64("pointer to the title");
    const std::uint64_t description = in_.u64("pointer to the description");
    db_.title = text_at(title, "title");
    db_.description = text_at(description, "description");
    return in_.status();
  }

  Result<void> read_id_names() {
    seek(kIdNames);
    const std::uint64_t names = in_.u64("pointer to the identifier names");
    const std::uint8_t count = in_.u8("number of identifier names");
    for (std::uint8_t i = 0; i < count && in_.ok(); ++i) {
      in_.seek(names + i * 8, "identifier names");
      db_.id_names.push_back(text_at(in_.u64("pointer to an identifier name"), "identifier name"));
    }
    return in_.status();
  }

  Table read_table(std::uint64_t minimum) {
    Table table;
    table.at = in_.u64("pointer to a table");
    table.count = in_.u32("number of entries");
    table.stride = in_.u16("size of an entry");
    check_table(table, minimum);
    return table;
  }

  void check_table(const Table& table, std::uint64_t minimum) {
    if (in_.ok() && table.count > 0 && table.stride < minimum) {
      in_.fail(fmt::format("an entry takes {} bytes, expected at least {}", table.stride, minimum));
    }
    in_.seek(table.at, "table");
    in_.count_that_fits(table.count, std::max<std::uint64_t>(1, table.stride), "table");
  }

  // Which entry of a table a pointer means.
  std::uint32_t entry_of(const Table& table, std::uint64_t pointer) {
    if (pointer == 0) return kNoIndex;
    if (table.count == 0 || pointer < table.at || (pointer - table.at) % table.stride != 0 ||
        (pointer - table.at) / table.stride >= table.count) {
      ++bad_pointers_;
      return kNoIndex;
    }
    return static_cast<std::uint32_t>((pointer - table.at) / table.stride);
  }

  Result<void> read_metrics() {
    seek(kMetrics);
    Table metrics;
    metrics.at = in_.u64("pointer to the metrics");
    metrics.count = in_.u32("number of metrics");
    metrics.stride = in_.u8("size of a metric");
    const std::uint64_t instance_size = in_.u8("size of a scope instance");
    const std::uint64_t summary_size = in_.u8("size of a summary");
    in_.skip(1, "padding");
    Table scopes;
    scopes.at = in_.u64("pointer to the scopes");
    scopes.count = in_.u16("number of scopes");
    scopes.stride = in_.u8("size of a scope");
    check_table(scopes, 10);
    check_table(metrics, 28);
    if (instance_size < 10 || summary_size < 20) in_.fail("scope instances or summaries are too small");
    FATHOM_CHECK(in_.status());
    for (std::uint64_t i = 0; i < scopes.count; ++i) {
      in_.seek(scopes.at + i * scopes.stride, "scope");
      MetaScope scope;
      const std::uint64_t name = in_.u64("pointer to a scope's name");
      scope.type = in_.u8("type of a scope");
      scope.propagation_index = in_.u8("propagation index of a scope");
      scope.name = text_at(name, "name of a scope");
      FATHOM_CHECK(in_.status());
      db_.scopes.push_back(std::move(scope));
    }
    for (std::uint64_t i = 0; i < metrics.count; ++i) {
      in_.seek(metrics.at + i * metrics.stride, "metric");
      MetaMetric metric;
      const std::uint64_t name = in_.u64("pointer to a metric's name");
      const std::uint64_t instances = in_.u64("pointer to scope instances");
      const std::uint64_t summaries = in_.u64("pointer to summaries");
      const std::uint16_t instance_count = in_.u16("number of scope instances");
      const std::uint16_t summary_count = in_.u16("number of summaries");
      metric.name = text_at(name, "name of a metric");
      check_table({instances, instance_count, instance_size}, 10);
      check_table({summaries, summary_count, summary_size}, 20);
      for (std::uint16_t k = 0; k < instance_count && in_.ok(); ++k) {
        in_.seek(instances + k * instance_size, "scope instance");
        const std::uint32_t scope = entry_of(scopes, in_.u64("pointer to a scope"));
        const std::uint16_t id = in_.u16("metric id");
        if (scope != kNoIndex) metric.scopes.push_back({scope, id});
      }
      for (std::uint16_t k = 0; k < summary_count && in_.ok(); ++k) {
        in_.seek(summaries + k * summary_size, "summary");
        MetaSummary summary;
        summary.scope = entry_of(scopes, in_.u64("pointer to a scope"));
        const std::uint64_t formula = in_.u64("pointer to a formula");
        summary.combine = in_.u8("combination");
        in_.skip(1, "padding");
        summary.id = in_.u16("metric id");
        summary.formula = text_at(formula, "formula");
        if (summary.scope != kNoIndex) metric.summaries.push_back(std::move(summary));
      }
      FATHOM_CHECK(in_.status());
      db_.metrics.push_back(std::move(metric));
    }
    return report_pointers("metrics");
  }

  // Pre-release: every metric has its own list of named scopes, each with its summaries.
  Result<void> read_prerelease_metrics() {
    seek(kMetrics);
    Table metrics;
    metrics.at = in_.u64("pointer to the metrics");
    metrics.count = in_.u32("number of metrics");
    metrics.stride = in_.u8("size of a metric");
    const std::uint64_t scope_size = in_.u8("size of a scope");
    const std::uint64_t summary_size = in_.u8("size of a summary");
    check_table(metrics, kPrereleaseMetricSize);
    if (scope_size < 24 || summary_size < 12) in_.fail("scopes or summaries are too small");
    FATHOM_CHECK(in_.status());
    for (std::uint64_t i = 0; i < metrics.count; ++i) {
      in_.seek(metrics.at + i * metrics.stride, "metric");
      MetaMetric metric;
      const std::uint64_t name = in_.u64("pointer to a metric's name");
      const std::uint16_t scope_count = in_.u16("number of scopes");
      in_.skip(6, "padding");
      const std::uint64_t scopes = in_.u64("pointer to scopes");
      metric.name = text_at(name, "name of a metric");
      check_table({scopes, scope_count, scope_size}, 24);
      for (std::uint16_t k = 0; k < scope_count && in_.ok(); ++k) {
        in_.seek(scopes + k * scope_size, "scope");
        const std::uint64_t scope_name = in_.u64("pointer to a scope's name");
        const std::uint16_t summary_count = in_.u16("number of summaries");
        const std::uint16_t id = in_.u16("metric id");
        in_.skip(4, "padding");
        const std::uint64_t summaries = in_.u64("pointer to summaries");
        const std::uint32_t scope = scope_named(text_at(scope_name, "name of a scope"));
        metric.scopes.push_back({scope, id});
        check_table({summaries, summary_count, summary_size}, 12);
        for (std::uint16_t s = 0; s < summary_count && in_.ok(); ++s) {
          in_.seek(summaries + s * summary_size, "summary");
          MetaSummary summary;
          summary.scope = scope;
          const std::uint64_t formula = in_.u64("pointer to a formula");
          summary.combine = in_.u8("combination");
          in_.skip(1, "padding");
          summary.id = in_.u16("metric id");
          summary.formula = text_at(formula, "formula");
          metric.summaries.push_back(std::move(summary));
        }
      }
      FATHOM_CHECK(in_.status());
      db_.metrics.push_back(std::move(metric));
    }
    return {};
  }

  std::uint32_t scope_named(const std::string& name) {
    for (std::size_t i = 0; i < db_.scopes.size(); ++i) {
      if (db_.scopes[i].name == name) return static_cast<std::uint32_t>(i);
    }
    const auto type = name == "point"       ? ScopeType::point
                      : name == "execution" ? ScopeType::execution
                      : name == "function"  ? ScopeType::transitive
                                            : ScopeType::custom;
    const std::uint8_t propagation = type == ScopeType::transitive ? 0 : 0xFF;
    db_.scopes.push_back({name, static_cast<std::uint8_t>(type), propagation});
    return static_cast<std::uint32_t>(db_.scopes.size() - 1);
  }

  Result<void> read_modules() {
    seek(kModules);
    modules_ = read_table(16);
    for (std::uint64_t i = 0; i < modules_.count && in_.ok(); ++i) {
      in_.seek(modules_.at + i * modules_.stride + 8, "module");
      db_.modules.push_back(text_at(in_.u64("pointer to a module's path"), "path of a module"));
    }
    return in_.status();
  }

  Result<void> read_files() {
    seek(kFiles);
    files_ = read_table(16);
    for (std::uint64_t i = 0; i < files_.count && in_.ok(); ++i) {
      in_.seek(files_.at + i * files_.stride, "file");
      MetaFile file;
      file.copied = (in_.u32("flags of a file") & 1U) != 0;
      in_.skip(4, "padding");
      file.path = text_at(in_.u64("pointer to a file's path"), "path of a file");
      db_.files.push_back(std::move(file));
    }
    return in_.status();
  }

  Result<void> read_functions() {
    seek(kFunctions);
    functions_ = read_table(36);
    FATHOM_CHECK(in_.status());
    for (std::uint64_t i = 0; i < functions_.count && in_.ok(); ++i) {
      in_.seek(functions_.at + i * functions_.stride, "function");
      MetaFunction function;
      const std::uint64_t name = in_.u64("pointer to a function's name");
      function.module = entry_of(modules_, in_.u64("pointer to a function's module"));
      function.offset = in_.u64("offset of a function");
      function.file = entry_of(files_, in_.u64("pointer to a function's file"));
      function.line = in_.u32("line of a function");
      function.name = text_at(name, "name of a function");
      db_.functions.push_back(std::move(function));
    }
    FATHOM_CHECK(in_.status());
    return report_pointers("functions");
  }

  // A children array that is still to be read.
  struct Pending {
    std::uint64_t at;
    std::uint64_t bytes;
    std::uint32_t parent;
  };

  Result<void> read_contexts() {
    std::vector<Pending> pending;
    seek(kContext);
    if (db_.prerelease) {
      const std::uint64_t bytes = in_.u64("size of the root contexts");
      const std::uint64_t at = in_.u64("pointer to the root contexts");
      pending.push_back({at, bytes, kNoIndex});
    } else {
      Table entries;
      entries.at = in_.u64("pointer to the entry points");
      entries.count = in_.u16("number of entry points");
      entries.stride = in_.u8("size of an entry point");
      check_table(entries, kEntryPointSize);
      for (std::uint64_t i = 0; i < entries.count && in_.ok(); ++i) {
        in_.seek(entries.at + i * entries.stride, "entry point");
        MetaContext context;
        const std::uint64_t bytes = in_.u64("size of an entry point's children");
        const std::uint64_t at = in_.u64("pointer to an entry point's children");
        context.id = in_.u32("context id");
        const std::uint16_t kind = in_.u16("kind of an entry point");
        context.entry = static_cast<std::int8_t>(std::min<std::uint16_t>(kind, 127));
        context.relation = static_cast<std::uint8_t>(Relation::call);
        in_.skip(2, "padding");
        std::string name = text_at(in_.u64("pointer to an entry point's name"), "name of an entry point");
        FATHOM_CHECK(in_.status());
        if (bytes > 0) pending.push_back({at, bytes, static_cast<std::uint32_t>(db_.contexts.size())});
        db_.contexts.push_back(context);
        db_.entry_names.push_back(std::move(name));
      }
    }
    FATHOM_CHECK(in_.status());
    // Records cannot overlap in a sound file, so there are never more than fit: a loop of pointers ends here.
    const std::uint64_t most = in_.blob().size() / kPrereleaseContextSize + 1;
    for (std::size_t i = 0; i < pending.size(); ++i) {
      const Pending now = pending[i];  // the vector grows below
      FATHOM_CHECK(read_siblings(now, most, pending));
    }
    FATHOM_CHECK(report_pointers("contexts"));
    return report_repeated_ids();
  }

  Result<void> read_siblings(const Pending& run, std::uint64_t most, std::vector<Pending>& pending) {
    const std::uint64_t fixed = db_.prerelease ? kPrereleaseContextSize : kContextSize;
    if (!in_.blob().size() || run.at > in_.blob().size() || run.bytes > in_.blob().size() - run.at) {
      return work_->diagnostics.lost(
          "hpctoolkit.context_children", in_.blob().place(std::min<std::uint64_t>(run.at, in_.blob().size())),
          fmt::format("{} bytes of contexts at 0x{:x} do not lie inside the file; left out", run.bytes, run.at));
    }
    const std::uint64_t end = run.at + run.bytes;
    for (std::uint64_t at = run.at; at < end;) {
      in_.seek(at, "context");
      MetaContext context;
      context.parent = run.parent;
      const std::uint64_t child_bytes = in_.u64("size of a context's children");
      const std::uint64_t children = in_.u64("pointer to a context's children");
      context.id = in_.u32("context id");
      const std::uint8_t flags = in_.u8("flags of a context");
      context.relation = in_.u8("relation of a context");
      context.lexical = in_.u8("lexical type of a context");
      const std::uint64_t words = in_.u8("number of flexible words");
      if (!db_.prerelease) context.propagation = in_.u16("propagation bits");
      in_.seek(at + fixed, "flexible words");
      FATHOM_CHECK(in_.status());
      const std::uint64_t size = fixed + 8 * words;
      if (size > end - at) {
        return work_->diagnostics.lost(
            "hpctoolkit.context_size", in_.blob().place(at),
            fmt::format("a context of {} bytes where {} are left; it and its siblings after it "
                        "are left out",
                        size, end - at));
      }
      read_flexible(flags, words, context);
      FATHOM_CHECK(in_.status());
      if (db_.contexts.size() >= most) {
        return Error("contexts overlap: their pointers form a loop", in_.blob().place(at));
      }
      if (child_bytes > 0) pending.push_back({children, child_bytes, static_cast<std::uint32_t>(db_.contexts.size())});
      db_.contexts.push_back(context);
      at += size;
    }
    return {};
  }

  // Words that a flag announces, in the order of the flags; what is not understood follows and is skipped.
  void read_flexible(std::uint8_t flags, std::uint64_t words, MetaContext& context) {
    const auto take = [&](std::uint8_t flag, std::uint64_t needed) {
      if ((flags & flag) == 0 || words < needed) return false;
      words -= needed;
      return true;
    };
    if (take(kHasFunction, 1)) {
      context.function = entry_of(functions_, in_.u64("pointer to a function"));
      context.has_function = true;
    }
    if (take(kHasLine, 2)) {
      context.file = entry_of(files_, in_.u64("pointer to a file"));
      context.line = in_.u32("line");
      in_.skip(4, "unused bytes");
      context.has_line = true;
    }
    if (take(kHasPoint, 2)) {
      context.module = entry_of(modules_, in_.u64("pointer to a module"));
      context.offset = in_.u64("offset");
      context.has_point = true;
    }
  }

  Result<void> report_pointers(const char* where) {
    if (bad_pointers_ == 0) return {};
    const std::uint64_t count = std::exchange(bad_pointers_, 0);
    return work_->diagnostics.add("hpctoolkit.pointer", Severity::data_loss, in_.place(),
                                  fmt::format("pointers among the {} lead to no entry of their table", where), count);
  }

  Result<void> report_repeated_ids() {
    std::unordered_set<std::uint32_t> seen;
    seen.reserve(db_.contexts.size());
    for (const MetaContext& context : db_.contexts) {
      if (seen.insert(context.id).second) continue;
      FATHOM_CHECK(work_->diagnostics.warn(
          "hpctoolkit.context_id", in_.blob().place(sections_[kContext].at),
          fmt::format("context id {} occurs more than once; the first one owns the values", context.id)));
    }
    return {};
  }

  ByteCursor in_;
  Work work_;
  MetaDb db_;
  Extent sections_[kSections];
  Table modules_;
  Table files_;
  Table functions_;
  std::uint64_t bad_pointers_ = 0;
  std::uint64_t text_bytes_ = 0;
};

}  // namespace

bool MetaDb::looks_like(Bytes bytes) { return as_text(bytes).starts_with(kMetaMagic); }

Result<MetaDb> MetaDb::read(const Blob& blob, const Work& work) {
  if (blob.size() == 0) return Error("is empty: the analysis was interrupted", blob.place());
  return Reader(blob, work).read();
}

}  // namespace fathom::hpctoolkit
