#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <utility>

#include "formats/caliper/records.hpp"
#include "io/json_scanner.hpp"
#include "io/plain_json.hpp"

namespace fathom::caliper {

namespace {

namespace dom = simdjson::dom;

// A column is one of numbers where it has any, with fractions where one of them has; texts among them are values that
// are none.
void widen(Type& column, Type value) {
  if (value == Type::real || column == Type::text) column = value;
}

// Some rows of 'data': [12,0.5,null,"text"], a node or a value per column.
struct RowPiece {
  struct Node {
    std::uint32_t attribute, number;
  };
  RecordPiece records;        // instead of a path, how many nodes a record names
  std::vector<Node> nodes;    // of all of them
  std::vector<Type> types;    // of the values in each column so far
  std::uint64_t unknown = 0;  // nodes that are not there

  // Whether all of it is spelt in the usual way.
  bool read(std::string_view text, const std::vector<std::uint8_t>& is_value, std::size_t node_count) {
    records.entries.clear();
    records.all.clear();
    nodes.clear();
    types.assign(is_value.size(), Type::text);
    unknown = 0;
    PlainJson json(text);
    do {
      const std::size_t entries = records.entries.size();
      const std::size_t named = nodes.size();
      if (!json.accept('[') || !read_row(json, is_value, node_count)) return false;
      records.all.push_back({static_cast<std::uint32_t>(nodes.size() - named),
                             static_cast<std::uint32_t>(records.entries.size() - entries)});
    } while (json.accept(','));
    return json.at_end();
  }

 private:
  bool read_row(PlainJson& json, const std::vector<std::uint8_t>& is_value, std::size_t node_count) {
    if (json.accept(']')) return true;
    std::uint32_t column = 0;
    do {
      if (column == is_value.size() || !read_cell(json, column, is_value[column] != 0, node_count)) return false;
      ++column;
    } while (json.accept(','));
    return json.accept(']');
  }

  bool read_cell(PlainJson& json, std::uint32_t column, bool is_value, std::size_t node_count) {
    json.skip_white();
    const char first = json.at() == json.end() ? '\0' : *json.at();
    if (first == 'n') return json.accept("null");
    if (first == '"') {
      std::string_view text;
      if (!json.text(text)) return false;
      records.entries.emplace_back(column, text);
      return true;
    }
    if (is_value) {
      JsonNumber number;
      if (!json.number(number)) return false;
      if (number.real) {
        records.entries.emplace_back(column, number.value);
      } else {
        records.entries.emplace_back(column, number.integer);
      }
      widen(types[column], number.real ? Type::real : Type::integer);
      return true;
    }
    std::uint32_t node = 0;
    if (!json.natural(node)) return false;
    if (node < node_count) {
      nodes.push_back({column, node});
    } else {
      ++unknown;
    }
    return true;
  }
};

class Reader {
 public:
  Reader(const Blob& blob, const Work& work) : work_(work), writer_(blob, work), records_(writer_.made) {
    records_->old_times = true;
  }

  // The rows are most of the text, and read as they stand there; a JSON parser gets all else, and all of it only where
  // something is spelt otherwise.
  Result<std::shared_ptr<const Records>> run() {
    std::string_view text = records_->blob.text();
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    const std::string_view rows = row_text();
    dom::parser parser;
    dom::element document;
    bool plain = !rows.empty();
    if (plain) {
      const auto before = static_cast<std::size_t>(rows.data() - text.data());
      std::string rest(text.substr(0, before));
      rest.append("[]").append(text.substr(before + rows.size()));
      FATHOM_TRY(const auto memory, work_->budget.reserve(rest.size() * kParserBytes, "a JSON document"));
      plain = parser.parse(rest).get(document) == simdjson::SUCCESS && begin(document).ok();
      if (plain) {
        FATHOM_TRY(plain, read_rows(rows));
        if (plain) return finish(document);
      }
    }
    FATHOM_TRY(const auto memory, work_->budget.reserve(text.size() * kParserBytes, "a JSON document"));
    if (const auto error = parser.parse(text.data(), text.size()).get(document); error != simdjson::SUCCESS) {
      return wrong(fmt::format("is no JSON document: {}", simdjson::error_message(error)));
    }
    if (records_->count == 0) FATHOM_CHECK(begin(document));
    std::uint64_t taken = records_->count;
    for (const dom::element row : dom::array(document["data"])) {
      if (taken == 0) {
        FATHOM_CHECK(read_row(row));
      } else {
        --taken;
      }
    }
    FATHOM_CHECK(writer_.add(std::move(piece_)));
    return finish(document);
  }

 private:
  // The parser keeps a copy and a tape of the document.
  static constexpr std::uint64_t kParserBytes = 4;

  // The list 'data'; empty where it cannot be found.
  [[nodiscard]] std::string_view row_text() const {
    JsonScanner scanner(records_->blob);
    bool first = true;
    if (!scanner.expect('{')) return {};
    while (const auto key = scanner.next_key(first)) {
      const std::string_view value = scanner.skip_value();
      if (!scanner.ok()) return {};
      if (*key == "data") return value.starts_with('[') && value.ends_with(']') ? value : std::string_view{};
    }
    return {};
  }

  // Columns and nodes.
  Result<void> begin(dom::element document) {
    records_->attributes.clear();
    nodes_.clear();
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
    return has_nodes ? read_nodes(nodes) : Result<void>();
  }

  Result<std::shared_ptr<const Records>> finish(dom::element document) {
    for (const auto [key, value] : dom::object(document)) {
      if (key == "data" || key == "columns" || key == "column_metadata" || key == "nodes") continue;
      records_->globals.emplace_back(std::string(key), text_of(value));
    }
    if (const std::string* const version = find_attribute(records_->globals, "cali.caliper.version")) {
      records_->old_times = is_before_seconds(*version);
    }
    if (bad_rows_ > 0) {
      FATHOM_CHECK(work_->diagnostics.add(
          "caliper.row", Severity::warning, records_->blob.place(),
          "a row has other columns than are named, or a node that is not there or above itself", bad_rows_));
    }
    return std::shared_ptr<const Records>(std::move(records_));
  }

  Result<bool> read_rows(std::string_view rows) {
    return each_plain_piece<RowPiece>(
        rows, '[', ']',
        [&](RowPiece& piece, std::string_view text) { return piece.read(text, is_value_, nodes_.size()); },
        [&](RowPiece& piece) -> Result<bool> {
          const RowPiece::Node* node = piece.nodes.data();
          for (Record& record : piece.records.all) {
            key_.clear();
            for (std::uint32_t i = 0; i < record.path; ++i, ++node) key_.push_back({node->attribute, node->number});
            FATHOM_TRY(record.path, path_of_row());
          }
          for (std::size_t i = 0; i < piece.types.size(); ++i) widen(records_->attributes[i].type, piece.types[i]);
          bad_rows_ += piece.unknown;
          FATHOM_CHECK(writer_.add(piece.records));
          return true;
        });
  }

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
      made.type = Type::text;  // until a number comes
      records_->attributes.push_back(std::move(made));
    }
    is_value_.assign(records_->attributes.size(), 1);
    dom::array metadata;
    if (top["column_metadata"].get_array().get(metadata) != simdjson::SUCCESS) return {};
    std::size_t i = 0;
    for (const dom::element one : metadata) {
      if (i >= records_->attributes.size()) break;
      Attribute& made = records_->attributes[i];
      bool is_value = true;
      std::string_view text;
      if (one["is_value"].get_bool().get(is_value) == simdjson::SUCCESS) is_value_[i] = is_value ? 1 : 0;
      if (one["attribute.unit"].get_string().get(text) == simdjson::SUCCESS) made.unit = std::string(text);
      if (one["attribute.alias"].get_string().get(text) == simdjson::SUCCESS) made.alias = std::string(text);
      ++i;
    }
    // The call path is one of the columns of trees; the others are attributes of records.
    std::size_t path = columns.size();
    for (const char* wanted : {"path", "source.function#callpath.address"}) {
      for (std::size_t c = 0; c < records_->attributes.size() && path == columns.size(); ++c) {
        if (is_value_[c] == 0 && records_->attributes[c].name == wanted) path = c;
      }
    }
    for (std::size_t c = 0; c < records_->attributes.size(); ++c) {
      if (is_value_[c] == 0 && path == columns.size()) path = c;
    }
    for (std::size_t c = 0; c < records_->attributes.size(); ++c) {
      Attribute& made = records_->attributes[c];
      made.properties = is_value_[c] != 0 ? kAsValue : c == path ? kNested : 0;
      if (is_value_[c] == 0) made.type = Type::text;
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
      if (is_value_[attribute] != 0) {
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
    // As a rule it is one.
    if (key_.size() == 1) return path_of(key_[0].first, key_[0].second);
    if (key_.empty()) return std::uint32_t{0};
    const auto [known, fresh] = paths_.try_emplace(key_, 0);
    if (fresh) {
      for (const auto& [attribute, node] : key_) {
        FATHOM_TRY(const std::uint32_t path, path_of(attribute, node));
        FATHOM_TRY(known->second, writer_.joined(known->second, path));
      }
    }
    return known->second;
  }

  // Goes up to a node whose path is known, and down from there.
  Result<std::uint32_t> path_of(std::uint32_t attribute, std::uint64_t node) {
    if (one_node_.size() <= attribute) one_node_.resize(attribute + std::size_t{1});
    auto& paths = one_node_[attribute];
    if (paths.empty()) paths.resize(nodes_.size());
    way_.clear();
    std::uint32_t path = 0;
    for (std::uint64_t at = node; at != kNoParent; at = nodes_[at].parent) {
      if (at < nodes_.size() && paths[at] != 0) {
        path = paths[at];
        break;
      }
      if (at >= nodes_.size() || way_.size() == nodes_.size()) {
        ++bad_rows_;
        if (at < nodes_.size()) path = kLost;
        break;
      }
      way_.push_back(at);
    }
    for (auto at = way_.rbegin(); at != way_.rend(); ++at) {
      if (path != kLost) {
        FATHOM_TRY(path, writer_.path(path, {attribute, *nodes_[*at].label}));
      }
      paths[*at] = path;
    }
    return path == kLost ? 0 : path;
  }

  Entry value_of(dom::element cell, std::uint32_t column) {
    Type& type = records_->attributes[column].type;
    std::int64_t integer = 0;
    if (cell.get_int64().get(integer) == simdjson::SUCCESS) {
      widen(type, Type::integer);
      return {column, integer};
    }
    double real = 0;
    if (cell.get_double().get(real) == simdjson::SUCCESS) {
      widen(type, Type::real);
      return {column, real};
    }
    return {column, records_->texts.emplace_back(text_of(cell))};
  }

  static constexpr std::uint64_t kNoParent = ~std::uint64_t{0};
  static constexpr std::uint32_t kLost = ~std::uint32_t{0};  // the path of what is on a circle, or below one
  struct Node {
    const std::string* label;
    std::uint64_t parent;
  };

  Work work_;
  RecordWriter writer_;
  std::shared_ptr<Records> records_;
  RecordPiece piece_;  // the rows since the last one
  std::vector<std::uint8_t> is_value_;
  std::vector<Node> nodes_;
  using RowKey = std::vector<std::pair<std::uint32_t, std::uint64_t>>;  // columns with their nodes
  RowKey key_;
  std::map<RowKey, std::uint32_t> paths_;
  std::vector<std::uint64_t> way_;
  std::vector<std::vector<std::uint32_t>> one_node_;  // paths of rows with one node, by column and node; 0 = none yet
  std::uint64_t bad_rows_ = 0;
};

}  // namespace

Result<std::shared_ptr<const Records>> read_json(const Blob& blob, const Work& work) {
  return Reader(blob, work).run();
}

}  // namespace fathom::caliper
