// Cube 3:  cube(attr*, doc(mirrors(murl*)), metrics(metric*), program(region*, cnode*), system(machine*, topologies?),
//          severity(matrix(row*)*)); metrics, cnodes and the system nest. Open elements live on a stack of our own.
#include "formats/cube3/cube3_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/cancel.hpp"
#include "base/text.hpp"
#include "io/xml.hpp"

namespace fathom::cube3 {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::size_t kMaxDepth = 1'000'000;

class Reader final : private XmlHandler {
 public:
  // `encoding`: instead of the one that the document says it has; null: that one.
  Reader(Blob document, Work work, const char* encoding = nullptr)
      : work_(std::move(work)), parser_(*this, {.encoding = encoding}) {
    file_->document = std::move(document);
  }

  Result<std::shared_ptr<const Cube3File>> read() {
    if (auto fed = feed(file_->document.text()); !fed.ok()) return std::move(fed).error();
    if (broken_) {
      const std::uint64_t at = original(parser_.byte());
      const std::string_view rest = file_->document.text().substr(std::min(at, file_->document.text().size()));
      wrong_encoding_ = parser_.unknown_encoding() ||
                        (parser_.invalid_token() && !rest.empty() && static_cast<unsigned char>(rest[0]) >= 0x80);
      return truncated(fault_);
    }
    if (file_->version.empty()) return Error("no <cube> element", file_->document.place(0));
    return std::shared_ptr<const Cube3File>(std::move(file_));
  }

  // It broke off at bytes that are no text in the encoding that it says it has.
  [[nodiscard]] bool wrong_encoding() const { return wrong_encoding_ && !in_severity_; }

 private:
  // Old writers left '&' as it is: such ones are handed on as "&amp;", and so are entities that XML does not know.
  Result<void> feed(std::string_view all) {
    for (std::size_t at = 0; !broken_;) {
      if (cancelled()) return cancelled_error();
      std::size_t end = std::min(all.size(), at + kPiece);
      const std::size_t bare = find_bare(all, at, end);
      end = std::min(end, bare);
      FATHOM_CHECK(hand_on(all.substr(at, end - at), end == all.size()));
      at = end;
      if (at == all.size()) break;
      if (at != bare) continue;
      FATHOM_CHECK(work_->diagnostics.warn("cube3.ampersand", file_->document.place(at), "'&' should be '&amp;'"));
      FATHOM_CHECK(hand_on("&amp;", at + 1 == all.size()));
      added_.push_back(fed_);
      ++at;
      if (at == all.size()) break;
    }
    return success();
  }

  Result<void> hand_on(std::string_view piece, bool last) {
    if (broken_) return success();
    fed_ += piece.size();
    auto status = parser_.parse(piece, last);
    if (status.ok() || !parser_.malformed()) return status;
    broken_ = true;
    fault_ = status.error().text();
    return success();
  }

  // The next '&' that begins no entity.
  static std::size_t find_bare(std::string_view all, std::size_t from, std::size_t stop) {
    const std::string_view window = all.substr(0, stop);
    for (std::size_t at = window.find('&', from); at < stop; at = window.find('&', at + 1)) {
      const std::string_view next = all.substr(at + 1, 12);
      const std::size_t end = next.find(';');
      const std::string_view name = next.substr(0, std::min(end, next.size()));
      const bool known = name == "amp" || name == "lt" || name == "gt" || name == "quot" || name == "apos" ||
                         (name.size() > 1 && name[0] == '#');
      if (end == std::string_view::npos || !known) return at;
    }
    return all.size();
  }

  // Where something that was handed on stands in the document.
  [[nodiscard]] std::uint64_t original(std::uint64_t at) const {
    constexpr std::size_t kAdded = 4;  // "amp;"
    const auto before = std::upper_bound(added_.begin(), added_.end(), at) - added_.begin();
    return at - std::min<std::uint64_t>(at, static_cast<std::uint64_t>(before) * kAdded);
  }

  struct Open {
    std::string name;
    std::uint32_t index = kNoIndex;  // in the table of its kind
    std::string* text = nullptr;
  };

  [[nodiscard]] Place here() const { return file_->document.place(original(parser_.byte())); }

  Result<void> element_begins(const char* name, const char** attributes) override {
    begin(name, attributes);
    return outcome();
  }
  Result<void> element_ends(const char*) override {
    end();
    return outcome();
  }
  Result<void> characters(std::string_view piece) override {
    text(piece);
    return outcome();
  }
  Result<void> outcome() {
    if (error_) return *error_;
    return {};
  }
  void fail(std::string what) {
    if (!error_) error_ = Error(std::move(what), here());
  }

  Result<std::shared_ptr<const Cube3File>> truncated(std::string why) {
    if (!in_severity_) return Error(std::move(why), here()).with("reading the XML document");
    FATHOM_CHECK(work_->diagnostics.lost("cube3.truncated", here(),
                                         fmt::format("{}: the values from here on are missing", why)));
    return std::shared_ptr<const Cube3File>(std::move(file_));
  }

  static std::string_view attribute(const char** list, std::string_view name) {
    for (; *list != nullptr; list += 2) {
      if (equal_ignoring_case(*list, name)) return list[1];
    }
    return {};
  }

  std::uint32_t id_of(const char** list, std::string_view name) {
    const std::string_view text = trim(attribute(list, name));
    const auto id = parse_integer<std::uint32_t>(text);
    if (!id || *id == kNoIndex) {
      fail(fmt::format("attribute {}: expected a number, found '{}'", name, text));
      return 0;
    }
    return *id;
  }

  static std::int64_t line_of(const char** list, std::string_view name) {
    return parse_integer<std::int64_t>(trim(attribute(list, name))).value_or(-1);
  }

  [[nodiscard]] std::string_view parent_name() const {
    return open_.empty() ? std::string_view() : std::string_view(open_.back().name);
  }
  [[nodiscard]] std::uint32_t parent_index(std::string_view kind) const {
    return parent_name() == kind ? open_.back().index : kNoIndex;
  }

  void begin(std::string_view name, const char** list) {
    Open element{std::string(name), kNoIndex, nullptr};
    // Text ends where an element begins: the tables that hold it may move.
    if (!open_.empty()) open_.back().text = nullptr;
    if (open_.size() >= kMaxDepth) return fail("elements are nested too deeply");
    if (open_.empty()) {
      if (name != "cube") return fail(fmt::format("expected <cube>, found <{}>", name));
      file_->version = attribute(list, "version");
      if (file_->version.empty()) file_->version = "3.0";
    } else if (name == "attr" && parent_name() == "cube") {
      file_->attributes.emplace_back(attribute(list, "key"), attribute(list, "value"));
    } else if (name == "murl") {
      file_->mirrors.emplace_back();
      element.text = &file_->mirrors.back();
    } else if (name == "metrics") {
      file_->metrics_title = attribute(list, "title");
    } else if (name == "program") {
      file_->program_title = attribute(list, "title");
    } else if (name == "system") {
      file_->system_title = attribute(list, "title");
    } else if (name == "metric") {
      FileMetric metric;
      metric.id = id_of(list, "id");
      metric.parent = parent_index("metric");
      element.index = static_cast<std::uint32_t>(file_->metrics.size());
      file_->metrics.push_back(std::move(metric));
    } else if (name == "region") {
      Region region;
      region.file_id = id_of(list, "id");
      region.file = attribute(list, "mod");
      region.begin_line = line_of(list, "begin");
      region.end_line = line_of(list, "end");
      element.index = static_cast<std::uint32_t>(file_->regions.size());
      file_->regions.push_back(std::move(region));
    } else if (name == "cnode") {
      FileCnode cnode;
      cnode.id = id_of(list, "id");
      cnode.parent = parent_index("cnode");
      cnode.callee = id_of(list, "calleeId");
      cnode.line = line_of(list, "line");
      cnode.mod = attribute(list, "mod");
      element.index = static_cast<std::uint32_t>(file_->cnodes.size());
      file_->cnodes.push_back(std::move(cnode));
    } else if (!begin_system(name, list, element)) {
      begin_value(name, list, element);
    }
    open_.push_back(std::move(element));
  }

  bool begin_system(std::string_view name, const char** list, Open& element) {
    using Kind = FileSystemNode::Kind;
    constexpr std::pair<std::string_view, Kind> kKinds[] = {
        {"machine", Kind::machine}, {"node", Kind::node}, {"process", Kind::process}, {"thread", Kind::thread}};
    for (const auto& [text, kind] : kKinds) {
      if (name != text) continue;
      FileSystemNode node;
      node.kind = kind;
      node.id = id_of(list, "Id");
      // Each level stands in the one above it.
      const std::string_view above =
          kind == Kind::machine ? "system" : kKinds[static_cast<std::size_t>(kind) - 1].first;
      if (parent_name() != above)
        fail(fmt::format("expected <{}> inside <{}>, found it inside <{}>", name, above, parent_name()));
      node.parent = kind == Kind::machine ? kNoIndex : open_.back().index;
      element.index = static_cast<std::uint32_t>(file_->system.size());
      file_->system.push_back(std::move(node));
      return true;
    }
    if (name == "cart") {
      file_->topologies.emplace_back();
      file_->topologies.back().name = attribute(list, "name");
      return true;
    }
    if (name == "dim" && !file_->topologies.empty()) {
      file_->topologies.back().dimensions.push_back(
          {std::string(attribute(list, "name")),
           parse_integer<std::uint64_t>(trim(attribute(list, "size"))).value_or(0),
           equal_ignoring_case(trim(attribute(list, "periodic")), "true")});
      return true;
    }
    if (name == "coord" && !file_->topologies.empty()) {
      constexpr std::pair<std::string_view, Kind> kIds[] = {
          {"thrdId", Kind::thread}, {"procId", Kind::process}, {"nodeId", Kind::node}, {"machId", Kind::machine}};
      for (const auto& [text, kind] : kIds) {
        if (attribute(list, text).empty()) continue;
        auto& coordinates = file_->topologies.back().coordinates;
        coordinates.push_back({kind, id_of(list, text), {}});
        element.text = &coordinates.back().at;
        break;
      }
      return true;
    }
    return false;
  }

  void begin_value(std::string_view name, const char** list, Open& element) {
    if (name == "severity") {
      in_severity_ = true;
      // Numbers are looked at later: no need to be handed them now.
      parser_.skip_characters();
    } else if (name == "matrix") {
      element.index = id_of(list, "metricId");
    } else if (name == "row") {
      FileRow row;
      row.metric = parent_index("matrix");
      row.cnode = id_of(list, "cnodeId");
      if (row.metric == kNoIndex) return fail("expected <row> inside <matrix>");
      row.begin = original(parser_.byte() + parser_.byte_count());
      pending_ = row;
    } else {
      element.text = text_of(name);
    }
  }

  // Where the text of a small element goes.
  std::string* text_of(std::string_view name) {
    if (open_.back().index == kNoIndex) return nullptr;
    const std::uint32_t at = open_.back().index;
    const std::string_view in = parent_name();
    if (in == "metric") {
      FileMetric& metric = file_->metrics[at];
      if (name == "disp_name") return &metric.disp_name;
      if (name == "uniq_name") return &metric.uniq_name;
      if (name == "dtype") return &metric.dtype;
      if (name == "uom") return &metric.uom;
      if (name == "val") return &metric.val;
      if (name == "url") return &metric.url;
      if (name == "descr") return &metric.descr;
    } else if (in == "region") {
      Region& region = file_->regions[at];
      if (name == "name") return &region.name;
      if (name == "url") return &region.url;
      if (name == "descr") return &region.description;
    } else if (in == "machine" || in == "node" || in == "process" || in == "thread") {
      FileSystemNode& node = file_->system[at];
      if (name == "name") return &node.name;
      if (name == "rank") return &node.rank;
      if (name == "descr") return &node.descr;
    }
    return nullptr;
  }

  void text(std::string_view piece) {
    if (!open_.empty() && open_.back().text != nullptr) open_.back().text->append(piece);
  }

  void end() {
    if (open_.empty()) return;
    if (open_.back().name == "row" && pending_) {
      pending_->end = std::max(pending_->begin, original(parser_.byte()));
      file_->rows.push_back(*pending_);
      pending_.reset();
    }
    open_.pop_back();
  }

  Work work_;
  std::shared_ptr<Cube3File> file_ = std::make_shared<Cube3File>();
  XmlParser parser_;
  std::vector<Open> open_;
  std::optional<FileRow> pending_;
  std::optional<Error> error_;
  bool in_severity_ = false;
  bool broken_ = false;  // no well-formed XML from here on
  std::string fault_;    // why
  bool wrong_encoding_ = false;
  std::uint64_t fed_ = 0;             // bytes handed to the parser
  std::vector<std::uint64_t> added_;  // how many of them when something had been added
};

}  // namespace

Result<std::shared_ptr<const Cube3File>> read(const Blob& document, const Work& work) {
  Reader reader(document, work);
  auto file = reader.read();
  if (file.ok() || !reader.wrong_encoding()) return file;
  // Names of that age are Latin-1, whatever the first line says; every byte is text in it.
  FATHOM_CHECK(work->diagnostics.warn("cube3.encoding", file.error().place(), "is no UTF-8 text: read as Latin-1"));
  return Reader(document, work, "ISO-8859-1").read();
}

}  // namespace fathom::cube3
