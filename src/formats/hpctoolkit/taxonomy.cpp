#include "formats/hpctoolkit/taxonomy.hpp"

#include <fmt/format.h>
#include <yaml.h>

#include <deque>
#include <map>
#include <memory>
#include <set>

namespace fathom::hpctoolkit {

namespace {

constexpr std::size_t kMostLevels = 100;                 // of a formula
constexpr std::size_t kMostText = std::size_t{1} << 16;  // of a formula written down: aliases may repeat parts

class Reader {
 public:
  explicit Reader(const Blob& blob) : blob_(blob) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    if (loaded_) yaml_document_delete(&document_);
  }

  Result<Taxonomy> read() {
    FATHOM_CHECK(load());
    yaml_node_t* root = yaml_document_get_root_node(&document_);
    if (root == nullptr || root->type != YAML_MAPPING_NODE) {
      return Error("expected a mapping with 'inputs' and 'roots'", Place::at_line(blob_.name(), 1));
    }
    if (const yaml_node_t* roots = find(root, "roots"); roots != nullptr && roots->type == YAML_SEQUENCE_NODE) {
      for (const yaml_node_item_t* at = roots->data.sequence.items.start; at < roots->data.sequence.items.top; ++at) {
        pending_.emplace_back(*at, TaxonomyMetric::kNoParent);
      }
    }
    std::set<int> seen;
    while (!pending_.empty()) {
      const auto [id, parent] = pending_.front();
      pending_.pop_front();
      if (seen.insert(id).second) add_metric(node(id), parent);
      if (error_) return std::move(*error_);
    }
    return std::move(out_);
  }

 private:
  // The library's time grows with the square of how deep brackets are nested; nobody nests them so.
  [[nodiscard]] Result<void> check_depth() const {
    constexpr std::size_t kMostBrackets = 256;
    std::size_t depth = 0;
    std::uint64_t line = 1;
    for (const char c : blob_.text()) {
      if (c == '\n') ++line;
      if ((c == ']' || c == '}') && depth > 0) --depth;
      if ((c == '[' || c == '{') && ++depth > kMostBrackets) {
        return Error(fmt::format("more than {} brackets within each other", kMostBrackets),
                     Place::at_line(blob_.name(), line));
      }
    }
    return {};
  }

  Result<void> load() {
    FATHOM_CHECK(check_depth());
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0) return Error("no memory for a YAML parser", blob_.place());
    const std::unique_ptr<yaml_parser_t, void (*)(yaml_parser_t*)> guard(&parser, yaml_parser_delete);
    yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(blob_.bytes().data()), blob_.size());
    loaded_ = yaml_parser_load(&parser, &document_) != 0;
    if (loaded_) return {};
    return Error(parser.problem == nullptr ? "is not YAML" : parser.problem,
                 Place::at_line(blob_.name(), parser.problem_mark.line + 1));
  }

  yaml_node_t* node(int id) { return yaml_document_get_node(&document_, id); }
  static std::uint64_t line_of(const yaml_node_t* at) { return at->start_mark.line + 1; }

  static std::string scalar(const yaml_node_t* at) {
    if (at == nullptr || at->type != YAML_SCALAR_NODE) return {};
    return {reinterpret_cast<const char*>(at->data.scalar.value), at->data.scalar.length};
  }

  // A member of a mapping, also one that comes in by a merge key.
  yaml_node_t* find(const yaml_node_t* map, std::string_view key, std::size_t level = 0) {
    constexpr std::size_t kMostMerges = 16;
    if (map == nullptr || map->type != YAML_MAPPING_NODE || level > kMostMerges) return nullptr;
    yaml_node_t* merged = nullptr;
    for (const yaml_node_pair_t* at = map->data.mapping.pairs.start; at < map->data.mapping.pairs.top; ++at) {
      const std::string name = scalar(node(at->key));
      if (name == key) return node(at->value);
      if (name == "<<" && merged == nullptr) merged = find(node(at->value), key, level + 1);
    }
    return merged;
  }

  // A text, or the texts of a list.
  std::vector<std::string> texts(const yaml_node_t* at) {
    if (at->type != YAML_SEQUENCE_NODE) return {scalar(at)};
    std::vector<std::string> out;
    for (const yaml_node_item_t* item = at->data.sequence.items.start; item < at->data.sequence.items.top; ++item) {
      out.push_back(scalar(node(*item)));
    }
    return out;
  }

  void fail(const yaml_node_t* at, std::string what) {
    if (!error_) error_ = Error(std::move(what), Place::at_line(blob_.name(), at == nullptr ? 0 : line_of(at)));
  }

  void add_metric(yaml_node_t* at, std::uint32_t parent) {
    if (at == nullptr || at->type != YAML_MAPPING_NODE) return fail(at, "expected a metric: a mapping with a 'name'");
    TaxonomyMetric metric;
    metric.name = scalar(find(at, "name"));
    metric.description = scalar(find(at, "description"));
    if (metric.description.empty()) metric.description = scalar(find(at, "short description"));
    metric.parent = parent;
    metric.visible = scalar(find(at, "visible by default")) != "false";
    metric.format = scalar(find(at, "format"));
    if (const yaml_node_t* variants = find(at, "variants");
        variants != nullptr && variants->type == YAML_MAPPING_NODE) {
      for (const yaml_node_pair_t* pair = variants->data.mapping.pairs.start; pair < variants->data.mapping.pairs.top;
           ++pair) {
        add_variant(scalar(node(pair->key)), node(pair->value), metric);
      }
    }
    if (const yaml_node_t* children = find(at, "children");
        children != nullptr && children->type == YAML_SEQUENCE_NODE) {
      for (const yaml_node_item_t* child = children->data.sequence.items.start;
           child < children->data.sequence.items.top; ++child) {
        pending_.emplace_back(*child, static_cast<std::uint32_t>(out_.metrics.size()));
      }
    }
    out_.metrics.push_back(std::move(metric));
  }

  void add_variant(std::string name, yaml_node_t* at, TaxonomyMetric& metric) {
    const yaml_node_t* formula = find(at, "formula");
    if (formula == nullptr) return;  // a heading
    TaxonomyVariant variant;
    variant.name = std::move(name);
    variant.line = line_of(formula);
    variant.format = scalar(find(at, "format"));
    if (const yaml_node_t* render = find(at, "render")) {
      const std::vector<std::string> ways = texts(render);
      const auto has = [&](const char* way) { return std::find(ways.begin(), ways.end(), way) != ways.end(); };
      variant.hidden = has("hidden");
      variant.percent = has("percent");
    }
    if (formula->type == YAML_SCALAR_NODE) {
      const std::string how = scalar(formula);
      if (how != "sum" && how != "first")
        return fail(formula, fmt::format("expected sum, first or a mapping, found '{}'", how));
      variant.from = how == "sum" ? TaxonomyVariant::From::sum_of_children : TaxonomyVariant::From::first_child;
    } else {
      variant.inclusive = side(find(formula, "inclusive"));
      variant.exclusive = side(find(formula, "exclusive"));
    }
    metric.variants.push_back(std::move(variant));
  }

  // The formula itself, or its standard form. The custom one counts loops in another way, which is a scope of its own.
  std::optional<std::string> side(yaml_node_t* at) {
    if (at == nullptr) return std::nullopt;
    for (const char* key : {"standard", "custom"}) {
      if (yaml_node_t* inner = find(at, key)) return spell(inner, 0);
    }
    if (at->type == YAML_SCALAR_NODE && (scalar(at).empty() || scalar(at) == "null" || scalar(at) == "~")) {
      return std::nullopt;
    }
    return spell(at, 0);
  }

  std::string spell(yaml_node_t* at, std::size_t level) {
    if (at == nullptr || level > kMostLevels || spelled_ > kMostText) {
      fail(at, "a formula that is nested too deeply or too long");
      return {};
    }
    std::string out = at->type == YAML_SCALAR_NODE     ? scalar(at)
                      : at->type == YAML_SEQUENCE_NODE ? infix(at, level)
                      : find(at, "metric") != nullptr  ? input(at)
                                                       : call(at, level);
    spelled_ += out.size();
    if (level == 0) spelled_ = 0;
    return out;
  }

  std::string infix(yaml_node_t* at, std::size_t level) {
    std::string out = "(";
    for (const std::string& part : parts(at, level)) {
      if (out.size() > 1) out += ' ';
      out += part;
    }
    return out + ")";
  }

  std::vector<std::string> parts(yaml_node_t* at, std::size_t level) {
    std::vector<std::string> out;
    if (at->type != YAML_SEQUENCE_NODE) return {spell(at, level + 1)};
    for (const yaml_node_item_t* item = at->data.sequence.items.start; item < at->data.sequence.items.top && !error_;
         ++item) {
      out.push_back(spell(node(*item), level + 1));
    }
    return out;
  }

  // {function: [operands]} or {operator: [operands]}
  std::string call(yaml_node_t* at, std::size_t level) {
    const auto& pairs = at->data.mapping.pairs;
    if (at->type != YAML_MAPPING_NODE || pairs.top - pairs.start != 1) {
      fail(at, "expected an alias of an input or a mapping {function: [operands]}");
      return {};
    }
    const std::string name = scalar(node(pairs.start->key));
    yaml_node_t* value = node(pairs.start->value);
    if (value == nullptr) return {};
    const std::vector<std::string> operands = parts(value, level);
    const auto join = [&](std::string_view between) {
      std::string out;
      for (const std::string& operand : operands) {
        if (!out.empty()) out += between;
        out += operand;
      }
      return out;
    };
    if (name.size() == 1 && std::string_view("+-*/^").find(name[0]) != std::string_view::npos) {
      if (operands.size() == 1 && name == "-") return fmt::format("(-{})", operands[0]);
      return fmt::format("({})", join(name));
    }
    if (name == "log" && operands.size() == 1) return fmt::format("ln({})", operands[0]);
    if (name == "strict floor") return fmt::format("(ceil({})-1)", join(","));
    if (name == "strict ceil") return fmt::format("(floor({})+1)", join(","));
    return fmt::format("{}({})", name, join(","));
  }

  std::string input(yaml_node_t* at) {
    const auto [found, fresh] = inputs_.try_emplace(at, out_.inputs.size());
    if (fresh) {
      TaxonomyInput input;
      input.metric = scalar(find(at, "metric"));
      input.scope = scalar(find(at, "scope"));
      if (const yaml_node_t* formula = find(at, "formula")) input.formula = scalar(formula);
      if (const yaml_node_t* combine = find(at, "combine")) input.combine = scalar(combine);
      out_.inputs.push_back(std::move(input));
    }
    return fmt::format("${}", found->second);
  }

  const Blob& blob_;
  yaml_document_t document_{};
  bool loaded_ = false;
  std::deque<std::pair<int, std::uint32_t>> pending_;  // metrics with their parents
  std::map<const yaml_node_t*, std::size_t> inputs_;
  std::size_t spelled_ = 0;
  std::optional<Error> error_;
  Taxonomy out_;
};

}  // namespace

Result<Taxonomy> Taxonomy::read(const Blob& blob) {
  if (blob.size() == 0) return Error("is empty", blob.place());
  return Reader(blob).read();
}

}  // namespace fathom::hpctoolkit
