// The global definitions of a trace that is written. Part of the writer; needs the library.
#pragma once

#include "formats/otf2/event_writer.hpp"

namespace fathom::otf2 {

struct WrittenSpan {
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
};

class DefinitionWriter {
 public:
  DefinitionWriter(const Trace& trace, const WriterPlan& plan, const WriterIds& ids, OTF2_GlobalDefWriter* out)
      : trace_(trace), plan_(plan), ids_(ids), out_(out) {}

  // `events`: records by location. The first error, or none.
  OTF2_ErrorCode write(WrittenSpan span, const std::vector<std::uint64_t>& events);

 private:
  // Strings are written before anything that uses them, each once.
  OTF2_StringRef text(const std::string& value);
  void check(OTF2_ErrorCode code) {
    if (error_ == OTF2_SUCCESS) error_ = code;
  }
  void write_system(const std::vector<std::uint64_t>& events);
  void write_regions();
  void write_region(std::uint32_t id, const Region& region);
  void write_communicators();
  [[nodiscard]] bool has_one_sided() const;
  void write_group(OTF2_GroupType type, const std::vector<std::uint64_t>& members);
  void write_metrics();
  void write_metric(std::uint32_t id, const std::string& name, const std::string& description, OTF2_Type type,
                    OTF2_MetricMode mode, const std::string& unit);
  void write_contexts();
  void write_handles();
  void write_topologies();

  const Trace& trace_;
  const WriterPlan& plan_;
  const WriterIds& ids_;
  OTF2_GlobalDefWriter* out_;
  OTF2_ErrorCode error_ = OTF2_SUCCESS;
  std::unordered_map<std::string, OTF2_StringRef> strings_;
  std::uint32_t groups_ = 0;
};

}  // namespace fathom::otf2
