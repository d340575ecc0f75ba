#include "formats/hpctoolkit/xml_tree.hpp"

#include <fmt/format.h>

#include <unordered_set>

namespace fathom::hpctoolkit {

namespace {

// Ids that have an owner: bits where ids are as dense as they should be.
class TakenIds {
 public:
  explicit TakenIds(std::size_t elements) : bits_(4 * elements + 65536) {}
  // False when it is taken already.
  bool take(std::uint32_t id) {
    if (id >= bits_.size()) return far_.insert(id).second;
    if (bits_[id]) return false;
    bits_[id] = true;
    return true;
  }

 private:
  std::vector<bool> bits_;
  std::unordered_set<std::uint32_t> far_;
};

constexpr std::uint32_t kNone = 0xFFFFFFFF;

// Copies of sources inside the database begin with "./src/": the path counts below the database.
std::string tidy_path(const std::string& path) { return path.starts_with("./") ? path.substr(2) : path; }

class TreeMapper {
 public:
  TreeMapper(const ExperimentXml& xml, Mapping& mapping)
      : xml_(xml), mapping_(mapping), regions_(mapping.definitions->regions) {
    for (const std::string& file : xml.files) files_.push_back(tidy_path(file));
  }

  // Elements with a negative id, or whose id was seen before, only repeat the context |id| so that frames and call
  // sites alternate. They stand inside that context or around it: either way what hangs below them hangs below their
  // parent.
  std::vector<ContextId> map() {
    const auto& elements = xml_.elements;
    std::vector<std::uint32_t> handle_of(elements.size());  // of the context that an element's children hang below
    std::vector<std::uint8_t> owns(elements.size());
    TakenIds taken(elements.size());
    // Classic call sites and statements have no file of their own: it is that of the procedure or loop around them.
    std::vector<std::int32_t> file_of(xml_.classic() ? elements.size() : 0, -1);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const XmlElement& element = elements[i];
      const std::uint32_t parent = element.parent == kNone ? kNone : handle_of[element.parent];
      std::int32_t file = element.file;
      if (!file_of.empty()) {
        const bool inside = element.tag == Tag::loop || element.tag == Tag::call_site || element.tag == Tag::statement;
        if (file < 0 && inside && element.parent != kNone) file = file_of[element.parent];
        file_of[i] = file;
      }
      if (element.id <= 0 || !taken.take(static_cast<std::uint32_t>(element.id))) {
        handle_of[i] = parent;
        continue;
      }
      const bool below_auxiliary = element.parent != kNone && elements[element.parent].id == -element.id;
      const std::uint32_t handle =
          builder_.add(parent == kNone ? ContextTreeBuilder::kRoot : parent, region_of(element, file),
                       static_cast<std::uint64_t>(element.id), element.line, edge_of(element, below_auxiliary, parent));
      handle_of[i] = handle;
      owns[i] = 1;
    }
    std::vector<ContextId> numbers;
    mapping_.definitions->contexts = std::move(builder_).build(&numbers);
    std::vector<ContextId> contexts(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (handle_of[i] == kNone) continue;
      const ContextId context = numbers[handle_of[i]];
      const XmlElement& element = elements[i];
      if (owns[i] != 0) {
        contexts[i] = context;
        mapping_.contexts.add(static_cast<std::uint32_t>(element.id), context);
      }
    }
    // Samples name the id itself (4.0) or "it" (classic, where it is a number of its own).
    if (!xml_.classic()) {
      for (std::size_t i = 0; i < elements.size(); ++i) {
        if (owns[i] != 0) mapping_.samples.add(static_cast<std::uint32_t>(elements[i].id), contexts[i]);
      }
    }
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const XmlElement& element = elements[i];
      if (handle_of[i] != kNone && element.sample_id > 0) {
        mapping_.samples.add(static_cast<std::uint32_t>(element.sample_id), numbers[handle_of[i]]);
      }
    }
    mapping_.contexts.finish();
    mapping_.samples.finish();
    return contexts;
  }

 private:
  enum Kind : std::uint8_t { kFrame, kNamelessFrame, kLoop, kLine, kCallSite };

  [[nodiscard]] Edge edge_of(const XmlElement& element, bool below_auxiliary, std::uint32_t parent) const {
    if (parent == kNone) return Edge::call;
    switch (element.tag) {
      case Tag::frame:
        return below_auxiliary ? Edge::inlined_call : Edge::call;
      case Tag::inlined:
      case Tag::alien:
        // Exclusive values of the classic generation contain inlined procedures.
        return xml_.classic() ? Edge::lexical : Edge::inlined_call;
      default:
        return Edge::lexical;
    }
  }

  RegionId region_of(const XmlElement& element, std::int32_t file_index) {
    const std::string& file = file_index >= 0 ? files_[static_cast<std::size_t>(file_index)] : empty_;
    const std::string& module = element.module >= 0 ? xml_.modules[static_cast<std::size_t>(element.module)] : empty_;
    const auto place = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(file_index)) << 32) |
                       static_cast<std::uint32_t>(element.line);
    const auto at_line = [&](const char* prefix, const char* role) {
      Region region;
      region.name = prefix + line_name(file, element.line);
      region.file = file;
      region.begin_line = region.end_line = element.line;
      region.role = role;
      return region;
    };
    switch (element.tag) {
      case Tag::loop:
        return regions_.get(kLoop, place, 0, [&] { return at_line("loop at ", "loop"); });
      case Tag::statement:
        return regions_.get(kLine, place, 0, [&] { return at_line("", "line"); });
      case Tag::call_site:
        // Where the line is known, all calls from it are one region.
        return regions_.get(kCallSite, place, element.line > 0 ? 0 : element.address, [&] {
          Region region = at_line("call at ", "call site");
          if (element.line <= 0) {
            const std::string address = fmt::format("0x{:x}", element.address);
            region.name = element.address == 0 ? "call site" : "call at " + address;
            if (element.address != 0) region.attributes.emplace_back("offset", address);
          }
          return region;
        });
      default:
        break;
    }
    if (element.procedure < 0) {
      return regions_.get(kNamelessFrame, place, element.address, [&] {
        Region region = at_line("<unknown procedure> ", "function");
        region.module = module;
        return region;
      });
    }
    const auto procedure = static_cast<std::size_t>(element.procedure);
    return regions_.get(kFrame, procedure, place, [&] {
      const XmlProcedure& native = xml_.procedures[procedure];
      Region region;
      region.name = native.name;
      region.file = file;
      region.module = module;
      region.begin_line = element.line > 0 ? element.line : -1;
      region.role = native.artificial ? "placeholder" : "function";
      if (native.address != 0) region.attributes.emplace_back("offset", fmt::format("0x{:x}", native.address));
      return region;
    });
  }

  const ExperimentXml& xml_;
  Mapping& mapping_;
  RegionTable regions_;
  ContextTreeBuilder builder_;
  std::vector<std::string> files_;
  const std::string empty_;
};

}  // namespace

std::vector<ContextId> map_xml_elements(const ExperimentXml& xml, Mapping& mapping) {
  return TreeMapper(xml, mapping).map();
}

Result<void> map_xml_tree(const ExperimentXml& xml, Mapping& mapping, const Work&) {
  map_xml_elements(xml, mapping);
  return {};
}

}  // namespace fathom::hpctoolkit
