#include "formats/hpctoolkit/dump.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/visible.hpp"

namespace fathom::hpctoolkit {

namespace {

constexpr std::size_t kFlushAt = std::size_t{1} << 16;

template <std::size_t N>
std::string name_of(const std::array<const char*, N>& names, std::size_t value) {
  return value < N ? names[value] : fmt::format("{}", value);
}
constexpr std::array kScopeTypes = {"custom", "point", "execution", "transitive"};
constexpr std::array kCombines = {"sum", "min", "max"};
constexpr std::array kRelations = {"lexical", "call", "inlined"};
constexpr std::array kLexicals = {"function", "loop", "line", "instruction"};
constexpr std::array kTagNames = {"PF", "Pr", "A", "L", "C", "S"};

template <class... T>
void put(Dumper& to, fmt::format_string<T...> format, T&&... values) {
  fmt::format_to(std::back_inserter(to.buffer()), format, std::forward<T>(values)...);
  to.end_line();
}

std::string index_text(std::uint32_t index) { return index == kNoIndex ? "-" : fmt::format("{}", index); }

std::string tuple_text(const std::vector<Identifier>& tuple) {
  std::string out;
  for (const Identifier& id : tuple) {
    out += fmt::format(" {}:{}:{:x}{}", id.kind, id.logical, id.physical, id.physical_is_real ? "" : "?");
  }
  return out;
}

}  // namespace

void Dumper::flush() {
  if (open_ && !text_.empty()) open_ = sink_(text_);
  text_.clear();
}

void Dumper::end_line() {
  text_ += '\n';
  if (text_.size() > kFlushAt) flush();
}

void Dumper::dump(const MetaDb& meta) {
  put(*this, "meta.db version={}{}", meta.version, meta.prerelease ? " pre-release" : "");
  put(*this, "  title {}", json_quote(meta.title));
  put(*this, "  description {}", json_quote(meta.description));
  for (std::size_t i = 0; i < meta.id_names.size(); ++i) {
    put(*this, "  identifier {} {}", i, json_quote(meta.id_names[i]));
  }
  for (std::size_t i = 0; i < meta.scopes.size(); ++i) {
    const MetaScope& scope = meta.scopes[i];
    put(*this, "  scope {} {} type={} propagation-index={}", i, json_quote(scope.name),
        name_of(kScopeTypes, scope.type), scope.propagation_index);
  }
  for (std::size_t i = 0; i < meta.metrics.size(); ++i) {
    const MetaMetric& metric = meta.metrics[i];
    put(*this, "  metric {} {}", i, json_quote(metric.name));
    for (const MetaScopeInstance& scope : metric.scopes) {
      put(*this, "    value id={} scope={}", scope.id, scope.scope);
    }
    for (const MetaSummary& summary : metric.summaries) {
      put(*this, "    summary id={} scope={} combine={} formula={}", summary.id, summary.scope,
          name_of(kCombines, summary.combine), json_quote(summary.formula));
    }
  }
  for (std::size_t i = 0; i < meta.modules.size(); ++i) {
    put(*this, "  module {} {}", i, json_quote(meta.modules[i]));
  }
  for (std::size_t i = 0; i < meta.files.size(); ++i) {
    put(*this, "  file {} {}{}", i, json_quote(meta.files[i].path), meta.files[i].copied ? " copied" : "");
  }
  for (std::size_t i = 0; i < meta.functions.size() && open_; ++i) {
    const MetaFunction& function = meta.functions[i];
    put(*this, "  function {} {} module={} offset=0x{:x} file={} line={}", i, json_quote(function.name),
        index_text(function.module), function.offset, index_text(function.file), function.line);
  }
  for (std::size_t i = 0; i < meta.contexts.size() && open_; ++i) {
    const MetaContext& context = meta.contexts[i];
    if (context.entry >= 0) {
      put(*this, "  entry point id={} kind={} {}", context.id, int{context.entry},
          json_quote(i < meta.entry_names.size() ? meta.entry_names[i] : ""));
      continue;
    }
    std::string rest;
    if (context.has_function) rest += fmt::format(" function={}", index_text(context.function));
    if (context.has_line) rest += fmt::format(" file={} line={}", index_text(context.file), context.line);
    if (context.has_point) rest += fmt::format(" module={} offset=0x{:x}", index_text(context.module), context.offset);
    put(*this, "  context id={} parent={} relation={} lexical={} propagation=0x{:x}{}", context.id,
        context.parent == kNoIndex ? "-" : fmt::format("{}", meta.contexts[context.parent].id),
        name_of(kRelations, context.relation), name_of(kLexicals, context.lexical), context.propagation, rest);
  }
}

void Dumper::dump(const ExperimentXml& xml) {
  put(*this, "experiment.xml version={}", visible(xml.version));
  put(*this, "  title {}", json_quote(xml.title));
  for (std::size_t i = 0; i < xml.id_names.size(); ++i) {
    put(*this, "  identifier {} {}", i, json_quote(xml.id_names[i]));
  }
  for (const XmlMetric& metric : xml.metrics) {
    put(*this, "  metric id={} {} value-type={} scope={} partner={} show={}", metric.id, json_quote(metric.name),
        visible(metric.value_type), visible(metric.scope), metric.partner ? fmt::format("{}", *metric.partner) : "-",
        metric.show);
    for (const XmlFormula& formula : metric.formulas) {
      put(*this, "    formula {} {}", visible(formula.type), json_quote(formula.text));
    }
    for (const auto& [key, value] : metric.info) put(*this, "    info {}={}", visible(key), json_quote(value));
  }
  for (const XmlMetricDb& column : xml.metric_dbs) {
    put(*this, "  column id={} {}{}", column.id, json_quote(column.name),
        column.glob.empty()
            ? ""
            : fmt::format(" files={} column={} of {}", json_quote(column.glob), column.column, column.columns));
  }
  if (xml.trace) {
    put(*this, "  trace min={} max={} ticks-per-second={}", xml.trace->min_time, xml.trace->max_time,
        xml.trace->ticks_per_second ? fmt::format("{}", *xml.trace->ticks_per_second) : "-");
  }
  for (std::size_t i = 0; i < xml.modules.size(); ++i) {
    put(*this, "  module {} {}", i, json_quote(xml.modules[i]));
  }
  for (std::size_t i = 0; i < xml.files.size(); ++i) put(*this, "  file {} {}", i, json_quote(xml.files[i]));
  for (std::size_t i = 0; i < xml.procedures.size() && open_; ++i) {
    const XmlProcedure& procedure = xml.procedures[i];
    put(*this, "  procedure {} {} address=0x{:x}{}", i, json_quote(procedure.name), procedure.address,
        procedure.artificial ? " artificial" : "");
  }
  std::size_t value = 0;
  const auto values_of = [&](std::uint32_t element, const char* indent) {
    for (; value < xml.values.size() && xml.values[value].element == element; ++value) {
      put(*this, "{}value metric={} {}", indent, xml.values[value].metric, exact_text(xml.values[value].value));
    }
  };
  values_of(0xFFFFFFFF, "  ");
  for (std::uint32_t i = 0; i < xml.elements.size() && open_; ++i) {
    const XmlElement& element = xml.elements[i];
    put(*this, "  {} id={} parent={} sample-id={} procedure={} module={} file={} line={} address=0x{:x}",
        name_of(kTagNames, static_cast<std::size_t>(element.tag)), element.id,
        element.parent == 0xFFFFFFFF ? "-" : fmt::format("{}", xml.elements[element.parent].id), element.sample_id,
        element.procedure, element.module, element.file, element.line, element.address);
    values_of(i, "    ");
  }
}

void Dumper::dump(const ProfileDb& profiles) {
  put(*this, "profile.db version={} profiles={}", profiles.version(), profiles.profiles().size());
  for (std::size_t i = 0; i < profiles.profiles().size() && open_; ++i) {
    const ProfileRecord& record = profiles.profiles()[i];
    put(*this, "  profile {}{} values={} at=0x{:x} contexts={} at=0x{:x} identifiers:{}", i,
        record.summary ? " summary" : "", record.value_count, record.values_at, record.context_count, record.indices_at,
        tuple_text(record.tuple));
    const ProfileBlock block = profiles.block(i);
    for (std::uint64_t slot = 0; slot < block.index_count() && open_; ++slot) {
      put(*this, "    context {}", block.key(slot));
      for (std::uint64_t entry = block.begin(slot); entry < block.end(slot); ++entry) {
        put(*this, "      metric {} {}", block.id(entry), exact_text(block.number(entry)));
      }
    }
  }
}

void Dumper::dump(const CctDb& contexts) {
  put(*this, "cct.db contexts={}", contexts.size());
  for (std::uint64_t id = 0; id < contexts.size() && open_; ++id) {
    const ContextRecord record = contexts.record(id);
    put(*this, "  context {} values={} at=0x{:x} metrics={}", id, record.value_count, record.values_at,
        record.metric_count);
    const auto block = contexts.block(id);
    if (!block) {
      put(*this, "    damaged");
      continue;
    }
    for (std::uint64_t slot = 0; slot < block->index_count() && open_; ++slot) {
      put(*this, "    metric {}", block->key(slot));
      for (std::uint64_t entry = block->begin(slot); entry < block->end(slot); ++entry) {
        put(*this, "      profile {} {}", block->id(entry), exact_text(block->number(entry)));
      }
    }
  }
}

void Dumper::dump(const TraceDb& trace) {
  put(*this, "trace.db lines={}", trace.lines().size());
  for (const TraceLine& one : trace.lines()) {
    put(*this, "  trace profile={} samples={} at=0x{:x}", one.profile, one.count, one.begin);
    for (std::uint64_t i = 0; i < one.count && open_; ++i) {
      const Sample sample = trace.sample(one, i);
      put(*this, "    {} context {}", sample.time_ns, sample.context);
    }
  }
}

namespace {

std::string stream_text(const StreamFile& stream) {
  return fmt::format("process={} thread={}", stream.process ? fmt::format("{}", *stream.process) : "-",
                     stream.thread ? fmt::format("{}", *stream.thread) : "-");
}

}  // namespace

void Dumper::dump(const std::string& name, const StreamFile& stream, const MetricDbFile& table) {
  put(*this, "{} {} contexts={} metrics={}", name, stream_text(stream), table.rows, table.columns);
  for (std::uint32_t row = 0; row < table.rows && open_; ++row) {
    for (std::uint32_t column = 0; column < table.columns; ++column) {
      const double value = table.at(row, column);
      if (value != 0) put(*this, "  context {} metric {} {}", row + 1, column, exact_text(value));
    }
  }
}

void Dumper::dump(const std::string& name, const StreamFile& stream, const TraceFile& trace) {
  put(*this, "{} {} samples={}", name, stream_text(stream), trace.count);
  const std::byte* at = stream.content.bytes().data() + trace.begin;
  for (std::uint64_t i = 0; i < trace.count && open_; ++i, at += trace.stride) {
    const auto metric = trace.has_metric_ids()
                            ? fmt::format(" metric {}", load_unchecked<std::uint32_t>(at + 12, Endian::big))
                            : std::string();
    put(*this, "  {} context {}{}", load_unchecked<std::uint64_t>(at, Endian::big),
        load_unchecked<std::uint32_t>(at + 8, Endian::big), metric);
  }
}

Result<void> check_sections(const DumpOptions& options, const std::vector<std::string>& known) {
  for (const std::string& chosen : options.sections) {
    if (std::find(known.begin(), known.end(), chosen) != known.end()) continue;
    return Error::usage(fmt::format("no section '{}'{}", chosen, did_you_mean(chosen, known)))
        .hint(fmt::format("sections: {}", fmt::join(known, ", ")));
  }
  return {};
}

bool wants_section(const DumpOptions& options, const std::string& name) {
  return options.sections.empty() ||
         std::find(options.sections.begin(), options.sections.end(), name) != options.sections.end();
}

}  // namespace fathom::hpctoolkit
