#include "formats/hpctoolkit/meta_writer.hpp"

#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "base/shown_files.hpp"
#include "base/text.hpp"
#include "formats/hpctoolkit/byte_buffer.hpp"
#include "formats/hpctoolkit/magic.hpp"
#include "formats/hpctoolkit/mapping.hpp"
#include "formats/hpctoolkit/sparse_writer.hpp"
#include "formats/hpctoolkit/taxonomy_writer.hpp"
#include "io/output_file.hpp"

namespace fathom::hpctoolkit {

namespace {

struct ScopeRow {
  const char* name;
  ScopeType type;
  std::uint8_t propagation_index;
};
constexpr std::array<ScopeRow, kWrittenScopes> kScopes = {{{"point", ScopeType::point, 0xFF},
                                                           {"function", ScopeType::transitive, 0},
                                                           {"lex_aware", ScopeType::custom, 0xFF},
                                                           {"execution", ScopeType::execution, 0xFF}}};
struct PartialRow {
  const char* formula;
  Combine combine;
};
constexpr std::array<PartialRow, kPartials> kPartialRows = {
    {{"1", Combine::sum}, {"$$", Combine::sum}, {"($$^2)", Combine::sum}, {"$$", Combine::min}, {"$$", Combine::max}}};

// What a region becomes.
struct RegionPlan {
  Lexical lexical = Lexical::function;
  std::uint64_t function = 0;  // pointers; 0 = none
  std::uint64_t file = 0;
  std::uint64_t module = 0;
  std::uint64_t offset = 0;
};

class MetaWriter {
 public:
  MetaWriter(const Profile& profile, const std::vector<MetricPlan>& plans)
      : defs_(profile.defs()), profile_(profile), plans_(plans), out_(Endian::little) {}

  ByteBuffer write() {
    out_.put_text(kMetaMagic);
    out_.put<std::uint8_t>(kMetaMajor);
    out_.put<std::uint8_t>(0);
    out_.pad_to(0x90);
    general();
    id_names();
    metrics();
    strings();
    tables();
    contexts();
    out_.align(8);
    out_.put_text(kMetaFooter);
    return std::move(out_);
  }

 private:
  enum Section { kGeneral, kIdNames, kMetrics, kContext, kStrings, kModules, kFiles, kFunctions };
  std::size_t begin(std::size_t alignment = 8) {
    out_.align(alignment);
    return out_.size();
  }
  void end(Section section, std::size_t begin) {
    out_.replace<std::uint64_t>(0x10 + 0x10 * static_cast<std::size_t>(section), out_.size() - begin);
    out_.replace<std::uint64_t>(0x18 + 0x10 * static_cast<std::size_t>(section), begin);
  }
  std::uint64_t text(std::string_view value) {
    const std::uint64_t at = out_.size();
    // A NUL inside would end the text early.
    out_.put_text(value.substr(0, value.find('\0')));
    out_.zeros(1);
    return at;
  }

  void general() {
    const std::size_t at = begin();
    out_.zeros(16);
    const std::string* title = find_attribute(defs_.attributes, "title");
    const std::string* description = find_attribute(defs_.attributes, "description");
    out_.replace<std::uint64_t>(at, text(title != nullptr ? *title : shown_file(profile_.name)));
    out_.replace<std::uint64_t>(at + 8, text(description != nullptr ? *description : ""));
    end(kGeneral, at);
  }

  void id_names() {
    const std::size_t at = begin();
    out_.zeros(8);
    out_.put<std::uint8_t>(static_cast<std::uint8_t>(default_id_names().size()));
    out_.zeros(1);
    std::vector<std::uint64_t> names;
    for (const std::string& name : default_id_names()) names.push_back(text(name));
    out_.align(8);
    out_.replace<std::uint64_t>(at, out_.size());
    for (const std::uint64_t name : names) out_.put(name);
    end(kIdNames, at);
  }

  void metrics() {
    const MetricNumbers numbers{Generation::meta};
    const std::size_t at = begin();
    out_.zeros(0x1B);
    std::array<std::uint64_t, kWrittenScopes> names{};
    for (std::size_t i = 0; i < kScopes.size(); ++i) names[i] = text(kScopes[i].name);
    out_.align(8);
    const std::uint64_t scopes = out_.size();
    for (std::size_t i = 0; i < kScopes.size(); ++i) {
      out_.put(names[i]);
      out_.put(static_cast<std::uint8_t>(kScopes[i].type));
      out_.put(kScopes[i].propagation_index);
      out_.zeros(6);
    }
    struct Row {
      std::uint64_t name, instances, summaries;
    };
    std::vector<Row> rows;
    for (std::size_t plan = 0; plan < plans_.size(); ++plan) {
      Row row{};
      out_.align(8);
      row.instances = out_.size();
      for (unsigned scope = 0; scope < kWrittenScopes; ++scope) {
        out_.put<std::uint64_t>(scopes + 16 * scope);
        out_.put(static_cast<std::uint16_t>(numbers.value_id(plan, scope)));
        out_.zeros(6);
      }
      std::vector<std::uint64_t> formulas;
      for (std::size_t i = 0; i < std::size_t{kWrittenScopes} * kPartials; ++i) {
        formulas.push_back(text(kPartialRows[i / kWrittenScopes].formula));
      }
      out_.align(8);
      row.summaries = out_.size();
      for (std::size_t i = 0; i < formulas.size(); ++i) {
        const auto scope = static_cast<unsigned>(i % kWrittenScopes);
        const auto partial = static_cast<Partial>(i / kWrittenScopes);
        out_.put<std::uint64_t>(scopes + 16 * scope);
        out_.put(formulas[i]);
        out_.put(static_cast<std::uint8_t>(kPartialRows[partial].combine));
        out_.zeros(1);
        out_.put(static_cast<std::uint16_t>(numbers.statistic_id(plan, scope, partial)));
        out_.zeros(4);
      }
      row.name = text(defs_.metric(plans_[plan].metric).name);
      rows.push_back(row);
    }
    out_.align(8);
    out_.replace<std::uint64_t>(at, out_.size());
    out_.replace<std::uint32_t>(at + 8, static_cast<std::uint32_t>(rows.size()));
    out_.replace<std::uint8_t>(at + 12, 32);
    out_.replace<std::uint8_t>(at + 13, 16);
    out_.replace<std::uint8_t>(at + 14, 24);
    out_.replace<std::uint64_t>(at + 16, scopes);
    out_.replace<std::uint16_t>(at + 24, static_cast<std::uint16_t>(kScopes.size()));
    out_.replace<std::uint8_t>(at + 26, 16);
    for (const Row& row : rows) {
      out_.put(row.name);
      out_.put(row.instances);
      out_.put(row.summaries);
      out_.put<std::uint16_t>(kWrittenScopes);
      out_.put<std::uint16_t>(std::uint16_t{kWrittenScopes} * std::uint16_t{kPartials});
      out_.zeros(4);
    }
    end(kMetrics, at);
  }

  // Every text that the later sections name, once.
  void strings() {
    const std::size_t at = begin(1);
    const auto add = [&](const std::string& value) {
      if (!strings_.contains(value)) strings_.emplace(value, text(value));
    };
    for (const Region& region : defs_.regions) {
      add(region.name);
      if (!region.file.empty()) add(region.file);
      if (!region.module.empty()) add(region.module);
    }
    end(kStrings, at);
  }

  static Lexical lexical_of(const Region& region) {
    if (region.role == "loop") return Lexical::loop;
    if (region.role == "line" || region.role == "call site") return Lexical::line;
    if (region.role == "instruction") return Lexical::instruction;
    return Lexical::function;
  }

  // Numbers texts in the order of first use; entries are 16 bytes.
  template <class Flags>
  std::unordered_map<std::string, std::uint64_t> table(Section section, std::string Region::*member, Flags&& flags) {
    const std::size_t at = begin();
    out_.zeros(16);
    std::unordered_map<std::string, std::uint64_t> pointers;
    for (const Region& region : defs_.regions) {
      const std::string& value = region.*member;
      if (value.empty() || pointers.contains(value)) continue;
      pointers.emplace(value, out_.size());
      out_.put<std::uint32_t>(flags(value));
      out_.zeros(4);
      out_.put(strings_.at(value));
    }
    out_.replace<std::uint64_t>(at, at + 16);
    out_.replace<std::uint32_t>(at + 8, static_cast<std::uint32_t>(pointers.size()));
    out_.replace<std::uint16_t>(at + 12, 16);
    end(section, at);
    return pointers;
  }

  void tables() {
    const auto modules = table(kModules, &Region::module, [](const std::string&) { return 0U; });
    const auto files =
        table(kFiles, &Region::file, [](const std::string& f) { return f.starts_with("src/") ? 1U : 0U; });
    const auto pointer = [](const auto& pointers, const std::string& value) {
      return value.empty() ? std::uint64_t{0} : pointers.at(value);
    };
    const std::size_t at = begin();
    out_.zeros(16);
    std::uint32_t count = 0;
    regions_.resize(defs_.regions.size());
    for (std::size_t i = 0; i < defs_.regions.size(); ++i) {
      const Region& region = defs_.regions[i];
      RegionPlan& plan = regions_[i];
      plan.lexical = lexical_of(region);
      plan.file = pointer(files, region.file);
      plan.module = pointer(modules, region.module);
      if (const std::string* offset = find_attribute(region.attributes, "offset")) {
        plan.offset =
            parse_integer<std::uint64_t>(std::string_view(*offset).substr(offset->starts_with("0x") ? 2 : 0), 16)
                .value_or(0);
      }
      if (plan.lexical != Lexical::function) continue;
      plan.function = out_.size();
      out_.put(strings_.at(region.name));
      out_.put(plan.module);
      out_.put(plan.module != 0 ? plan.offset : 0);
      out_.put(plan.file);
      out_.put(static_cast<std::uint32_t>(std::max<std::int64_t>(0, region.begin_line)));
      out_.zeros(4);
      ++count;
    }
    out_.replace<std::uint64_t>(at, at + 16);
    out_.replace<std::uint32_t>(at + 8, count);
    out_.replace<std::uint16_t>(at + 12, 40);
    end(kFunctions, at);
  }

  void put_context(ContextId id, std::uint64_t child_bytes, std::uint64_t children) {
    const Context& context = defs_.contexts[id];
    const RegionPlan& region = regions_[context.region.index()];
    const bool has_function = region.lexical == Lexical::function;
    const bool has_line = region.lexical == Lexical::loop || region.lexical == Lexical::line;
    const bool has_point = region.lexical == Lexical::instruction;
    const std::int64_t line = context.line >= 0 ? context.line : defs_.region(context.region).begin_line;
    out_.put(child_bytes);
    out_.put(children);
    out_.put<std::uint32_t>(id.value + 1);
    out_.put<std::uint8_t>(
        static_cast<std::uint8_t>((has_function ? 1 : 0) | (has_line ? 2 : 0) | (has_point ? 4 : 0)));
    const Relation relation = context.edge == Edge::lexical        ? Relation::lexical
                              : context.edge == Edge::inlined_call ? Relation::inlined_call
                                                                   : Relation::call;
    out_.put(static_cast<std::uint8_t>(relation));
    out_.put(static_cast<std::uint8_t>(region.lexical));
    out_.put<std::uint8_t>(has_function ? 1 : 2);
    out_.put<std::uint16_t>(relation == Relation::lexical ? 1 : 0);
    out_.zeros(6);
    if (has_function) {
      out_.put(region.function);
    } else if (has_line) {
      out_.put(region.file);
      out_.put(static_cast<std::uint32_t>(std::max<std::int64_t>(0, line)));
      out_.zeros(4);
    } else {
      out_.put(region.module);
      out_.put(region.offset);
    }
  }

  // Backwards every array comes after the arrays of the contexts it holds.
  void contexts() {
    const std::size_t at = begin();
    out_.zeros(16);
    const ContextTree& tree = defs_.contexts;
    std::vector<std::uint64_t> bytes(tree.size());
    std::vector<std::uint64_t> arrays(tree.size());
    for (std::size_t i = tree.size(); i-- > 0;) {
      const ContextId parent(i);
      if (!tree.first_child(parent).valid()) continue;
      arrays[i] = out_.size();
      for (ContextId child = tree.first_child(parent); child.valid(); child = tree.next_sibling(child)) {
        put_context(child, bytes[child.index()], arrays[child.index()]);
      }
      bytes[i] = out_.size() - arrays[i];
    }
    // Names of entry points are not part of any other section.
    const std::vector<ContextId> roots = tree.roots();
    std::vector<std::uint64_t> names;
    for (const ContextId root : roots) names.push_back(strings_.at(defs_.region_of(root).name));
    out_.align(8);
    const std::uint64_t entries = out_.size();
    for (std::size_t i = 0; i < roots.size(); ++i) {
      out_.put(bytes[roots[i].index()]);
      out_.put(arrays[roots[i].index()]);
      out_.put<std::uint32_t>(roots[i].value + 1);
      const std::string& name = defs_.region_of(roots[i]).name;
      out_.put<std::uint16_t>(name == "main thread" ? 1 : name == "application thread" ? 2 : 0);
      out_.zeros(2);
      out_.put(names[i]);
    }
    out_.replace<std::uint64_t>(at, entries);
    out_.replace<std::uint16_t>(at + 8, static_cast<std::uint16_t>(roots.size()));
    out_.replace<std::uint8_t>(at + 10, 32);
    end(kContext, at);
  }

  const Definitions& defs_;
  const Profile& profile_;
  const std::vector<MetricPlan>& plans_;
  ByteBuffer out_;
  std::unordered_map<std::string, std::uint64_t> strings_;
  std::vector<RegionPlan> regions_;
};

}  // namespace

Result<void> write_meta(const Profile& profile, const std::vector<MetricPlan>& plans,
                        const std::filesystem::path& directory) {
  constexpr std::size_t kMostEntryPoints = 0xFFFF;
  if (profile.defs().contexts.roots().size() > kMostEntryPoints) {
    return Error(fmt::format("more than {} root contexts, which meta.db cannot hold", kMostEntryPoints),
                 Place::in(profile.name));
  }
  FATHOM_CHECK(write_file(directory / "meta.db", as_text(MetaWriter(profile, plans).write().bytes())));
  std::error_code status;
  std::filesystem::create_directories(directory / "metrics", status);
  FATHOM_TRY(const std::string text, taxonomy_text(profile, plans));
  return write_file(directory / "metrics" / "default.yaml", text);
}

}  // namespace fathom::hpctoolkit
