#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <utility>

#include "formats/caliper/records.hpp"

namespace fathom::caliper {

namespace {

namespace dom = simdjson::dom;

class Reader {
 public:
  Reader(const Blob& blob, const Work& work) : work_(work), writer_(blob, work), records_(writer_.made) {
    records_->old_times = true;
  }

  Result<std::shared_ptr<const Records>> run() {
    std::string_view text = records_->blob.text();
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    // The parser keeps a copy and a tape of the document.
    FATHOM_TRY(const auto memory, work_->budget.reserve(text.size() * 4, "a JSON document"));
    dom::parser parser;
    dom::element document;
    if (const auto error = parser.parse(text.data(), text.size()).get(document); error != simdjson::SUCCESS) {
      return wrong(fmt::format("is no JSON document: {}", simdjson::error_message(error)));
    }
    dom::object top;
    dom::array data;
    dom::array columns;
    dom::array nodes;
    if (document.get_object().get(top) != simdjson::SUCCESS || top["data"].get_array().get(data) != simdjson::SUCCESS ||
        top["columns"].get_array().get(columns) != simdjson::SUCCESS) {
      return wrong("has no arrays 'data' and 'columns': it is no json-split of Caliper");
    }
    const bool has_nodes = top["nodes"].get_array().get(nodes) == simdjson::SUCCESS;
    FATHOM_CHECK(read_columns(top, columns));
    if (has_nodes) FATHOM_CHECK(read_nodes(nodes));
    for (const dom::element row : data) FATHOM_CHECK(read_row(row));
    FATHOM_CHECK(writer_.add(std::move(piece_)));
    for (const auto [key, value] : top) {
      if (key == "data" || key == "columns" || key == "column_metadata" || key == "nodes") continue;
      records_->globals.emplace_back(std::string(key), text_of(value));
    }
    if (const std::string* const version = find_attribute(records_->globals, "cali.caliper.version")) {
      records_->old_times = is_before_seconds(*version);
    }
    // A text among numbers is a value that is none.
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (is_value_[i] && !numbers_[i]) records_->attributes[i].type = Type::text;
    }
    if (bad_rows_ > 0) {
      FATHOM_CHECK(work_->diagnostics.add(
          "caliper.row", Severity::warning, records_->blob.place(),
          "a row has other columns than are named, or a node that is not there or above itself", bad_rows_));
    }
    return std::shared_ptr<const Records>(std::move(records_));
  }

 private:
  Error wrong(std::string what) const { return Error(std::move(what), records_->blob.place()); }

  static std::string text_of(dom::element value) {
    std::string_view text;
    if (value.get_string().get(text) == simdjson::SUCCESS) return std::string(text);
    return simdjson::minify(value);
  }

  Result<void> read_columns(dom::object top, dom::array columns) {
    for (const dom::element column : columns) {
      std::string_view name;
      if (column.get_string().get(name) != simdjson::SUCCESS) return wrong("a column has no name");
      Attribute made;
      made.name = std::string(name);
      made.type = Type::integer;  // until a number with a fraction comes
      records_->attributes.push_back(std::move(made));
    }
    is_value_.assign(records_->attributes.size(), true);
    numbers_.assign(records_->attributes.size(), false);
    dom::array metadata;
    if (top["column_metadata"].get_array().get(metadata) != simdjson::SUCCESS) return {};
    std::size_t i = 0;
    for (const dom::element one : metadata) {
      if (i >= records_->attributes.size()) break;
      Attribute& made = records_->attributes[i];
      bool is_value = true;
      std::string_view text;
      if (one["is_value"].get_bool().get(is_value) == simdjson::SUCCESS) is_value_[i] = is_value;
      if (one["attribute.unit"].get_string().get(text) == simdjson::SUCCESS) made.unit = std::string(text);
      if (one["attribute.alias"].get_string().get(text) == simdjson::SUCCESS) made.alias = std::string(text);
      ++i;
    }
    // The call path is one of the columns of trees; the others are attributes of records.
    std::size_t path = columns.size();
    for (const char* wanted : {"path", "source.function#callpath.address"}) {
      for (std::size_t c = 0; c < records_->attributes.size() && path == columns.size(); ++c) {
        if (!is_value_[c] && records_->attributes[c].name == wanted) path = c;
      }
    }
    for (std::size_t c = 0; c < records_->attributes.size(); ++c) {
      if (!is_value_[c] && path == columns.size()) path = c;
    }
    for (std::size_t c = 0; c < records_->attributes.size(); ++c) {
      Attribute& made = records_->attributes[c];
      made.properties = is_value_[c] ? kAsValue : c == path ? kNested : 0;
      if (!is_value_[c]) made.type = Type::text;
    }
    return {};
  }

  Result<void> read_nodes(dom::array nodes) {
    for (const dom::element node : nodes) {
      std::string_view label;
      std::uint64_t parent = kNoParent;
      if (node["label"].get_string().get(label) != simdjson::SUCCESS) return wrong("a node has no label");
      if (node["parent"].get_uint64().get(parent) != simdjson::SUCCESS) parent = kNoParent;
      nodes_.push_back({&records_->texts.emplace_back(label), parent});
    }
    return {};
  }

  Result<void> read_row(dom::element row) {
    dom::array cells;
    if (row.get_array().get(cells) != simdjson::SUCCESS) return wrong("a row of 'data' is no array");
    std::size_t column = 0;
    const std::size_t first = piece_.entries.size();
    key_.clear();
    for (const dom::element cell : cells) {
      if (column >= records_->attributes.size()) {
        ++bad_rows_;
        break;
      }
      const auto attribute = static_cast<std::uint32_t>(column++);
      if (cell.is_null()) continue;
      std::uint64_t node = 0;
      if (is_value_[attribute]) {
        piece_.entries.push_back(value_of(cell, attribute));
      } else if (cell.get_uint64().get(node) != simdjson::SUCCESS) {
        piece_.entries.emplace_back(attribute, records_->texts.emplace_back(text_of(cell)));
      } else if (node >= nodes_.size()) {
        ++bad_rows_;
      } else {
        key_.push_back({attribute, node});
      }
    }
    FATHOM_TRY(const std::uint32_t path, path_of_row());
    piece_.all.push_back({path, static_cast<std::uint32_t>(piece_.entries.size() - first)});
    constexpr std::size_t kPiece = 1 << 16;
    if (piece_.entries.size() + piece_.all.size() < kPiece) return {};
    return writer_.add(std::exchange(piece_, {}));
  }

  // The nodes that a row names, with all above them; rows name the same ones again and again.
  Result<std::uint32_t> path_of_row() {
    if (key_.empty()) return std::uint32_t{0};
    // As a rule it is one.
    if (key_.size() == 1) {
      if (one_node_.size() <= key_[0].first) one_node_.resize(key_[0].first + std::size_t{1});
      auto& paths = one_node_[key_[0].first];
      if (paths.empty()) paths.resize(nodes_.size());
      std::uint32_t& path = paths[key_[0].second];
      if (path == 0) {
        FATHOM_TRY(path, made_path());
      }
      return path;
    }
    const auto [known, fresh] = paths_.try_emplace(key_, 0);
    if (fresh) {
      FATHOM_TRY(known->second, made_path());
    }
    return known->second;
  }

  Result<std::uint32_t> made_path() {
    std::vector<Entry> path;
    for (const auto& [attribute, node] : key_) {
      const std::size_t begin = path.size();
      std::uint64_t at = node;
      for (std::size_t steps = 0; at != kNoParent && steps < kDeepest; ++steps) {
        if (at >= nodes_.size() || steps == nodes_.size()) {
          ++bad_rows_;
          if (at < nodes_.size()) path.resize(begin);  // a circle leads nowhere
          break;
        }
        path.emplace_back(attribute, *nodes_[at].label);
        at = nodes_[at].parent;
      }
      std::reverse(path.begin() + static_cast<std::ptrdiff_t>(begin), path.end());
    }
    return writer_.path(path);
  }

  Entry value_of(dom::element cell, std::uint32_t column) {
    Attribute& attribute = records_->attributes[column];
    std::int64_t integer = 0;
    const bool is_integer = cell.get_int64().get(integer) == simdjson::SUCCESS;
    double real = 0;
    if (is_integer || cell.get_double().get(real) == simdjson::SUCCESS) {
      numbers_[column] = true;
      if (is_integer) return {column, integer};
      attribute.type = Type::real;
      return {column, real};
    }
    return {column, records_->texts.emplace_back(text_of(cell))};
  }

  static constexpr std::uint64_t kNoParent = ~std::uint64_t{0};
  static constexpr std::size_t kDeepest = 10000;  // nodes on a path: a cycle is none
  struct Node {
    const std::string* label;
    std::uint64_t parent;
  };

  Work work_;
  RecordWriter writer_;
  std::shared_ptr<Records> records_;
  RecordPiece piece_;  // the rows since the last one
  std::vector<bool> is_value_;
  std::vector<bool> numbers_;  // by column: it has any
  std::vector<Node> nodes_;
  using RowKey = std::vector<std::pair<std::uint32_t, std::uint64_t>>;  // columns with their nodes
  RowKey key_;
  std::map<RowKey, std::uint32_t> paths_;
  std::vector<std::vector<std::uint32_t>> one_node_;  // paths of rows with one node, by column and node; 0 = none yet
  std::uint64_t bad_rows_ = 0;
};

}  // namespace

Result<std::shared_ptr<const Records>> read_json(const Blob& blob, const Work& work) {
  return Reader(blob, work).run();
}

}  // namespace fathom::caliper
