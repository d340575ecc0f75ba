// `fathom dump` of databases: what each file says, record by record, one line each, members indented below what they
// belong to. Ids are those of the file.
#pragma once

#include <string>
#include <vector>

#include "formats/dataset.hpp"
#include "formats/hpctoolkit/cct_db.hpp"
#include "formats/hpctoolkit/classic_files.hpp"
#include "formats/hpctoolkit/experiment_xml.hpp"
#include "formats/hpctoolkit/meta_db.hpp"
#include "formats/hpctoolkit/profile_db.hpp"
#include "formats/hpctoolkit/trace_db.hpp"

namespace fathom::hpctoolkit {

// Text that goes to the sink in large pieces.
class Dumper {
 public:
  explicit Dumper(const TextSink& sink) : sink_(sink) {}
  Dumper(const Dumper&) = delete;
  Dumper& operator=(const Dumper&) = delete;
  ~Dumper() { flush(); }

  void dump(const MetaDb& meta);
  void dump(const ExperimentXml& xml);
  void dump(const ProfileDb& profiles);
  void dump(const CctDb& contexts);
  void dump(const TraceDb& trace);
  void dump(const std::string& name, const StreamFile& stream, const MetricDbFile& table);
  void dump(const std::string& name, const StreamFile& stream, const TraceFile& trace);
  // False when nobody reads any more.
  [[nodiscard]] bool wanted() const { return open_; }

  // Where the next line is made, and that it is complete.
  std::string& buffer() { return text_; }
  void end_line();

 private:
  void flush();

  const TextSink& sink_;
  std::string text_;
  bool open_ = true;
};

// Chooses among sections by name: an error names the ones that exist.
Result<void> check_sections(const DumpOptions& options, const std::vector<std::string>& known);
bool wants_section(const DumpOptions& options, const std::string& name);

}  // namespace fathom::hpctoolkit
