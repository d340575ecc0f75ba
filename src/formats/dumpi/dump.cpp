#include "formats/dumpi/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "formats/dumpi/call_printer.hpp"
#include "formats/dumpi/names.hpp"

namespace fathom::dumpi {

namespace {

std::string header_text(const Header& header) {
  const auto time = static_cast<std::time_t>(header.start_time);
  std::tm parts{};
  std::string start = "?\n";
  char buffer[64];
  if (localtime_r(&time, &parts) != nullptr && asctime_r(&parts, buffer) != nullptr) start = buffer;
  return fmt::format(
      "version={}.{}.{}\nstarttime={}hostname={}\nusername={}\nmeshdim={}\nmeshsize=[{}]\nmeshcrd=[{}]\n",
      header.version[0], header.version[1], header.version[2], start, header.host, header.user,
      header.mesh_position.size(), fmt::join(header.mesh_size, ", "), fmt::join(header.mesh_position, ", "));
}

std::string footer_text(const Footer& footer) {
  std::string text;
  for (std::size_t id = 0; id < kFooterSlots; ++id) {
    fmt::format_to(std::back_inserter(text), "{} called {} times and ignored {} times\n", functions()[id].name,
                   static_cast<std::int32_t>(footer.called[id]), static_cast<std::int32_t>(footer.ignored[id]));
  }
  return text;
}

}  // namespace

Result<void> dump(const File& file, const ScanResult& scan, const std::vector<std::string>& sections,
                  const TextSink& sink) {
  static const std::vector<std::string> kNames = {"header",   "stream",    "keyvals", "footer",
                                                  "counters", "addresses", "sizes"};
  for (const std::string& name : sections) {
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
      return Error::usage(fmt::format("unknown section '{}'{}", name, did_you_mean(name, kNames)))
          .hint(fmt::format("sections of a DUMPI trace: {}", fmt::join(kNames, ", ")));
    }
  }
  const auto wanted = [&](std::string_view name) {
    return sections.empty() || std::find(sections.begin(), sections.end(), name) != sections.end();
  };
  const Sections& parts = file.sections();
  bool open = true;
  if (wanted("header") && parts.has(Section::header)) open = open && sink(header_text(parts.header));
  if (wanted("stream") && open) {
    const CallPrinter printer(file);
    Progress progress("dump", scan.chunks.size());
    FATHOM_CHECK(parallel_texts(
        scan.chunks.size(),
        [&](std::size_t i, TextBuffer& out) -> Result<void> {
          for_each_call(file, scan.chunks[i], [&](const Call& call) {
            printer.print(call, out);
            return true;
          });
          progress.advance();
          return {};
        },
        [&](std::string_view text) { return open = sink(text); }));
  }
  if (wanted("keyvals") && open && !file.cut_off()) {
    std::string text = fmt::format("Total keyvals: {}\n", parts.keyvals.size());
    for (const auto& [key, value] : parts.keyvals) text += fmt::format("{}={}\n", key, value);
    open = sink(text);
  }
  if (wanted("footer") && open && parts.has(Section::footer)) open = sink(footer_text(parts.footer));
  if (wanted("counters") && open && !file.cut_off()) {
    std::string text = fmt::format("Performance counters: {}\n", parts.counters.size());
    for (const std::string& label : parts.counters) text += fmt::format("    {}\n", label);
    open = sink(text);
  }
  if (wanted("addresses") && open) {
    std::string text;
    for (const FunctionAddress& entry : parts.addresses) {
      text += fmt::format("Function address {} has label {}\n", static_cast<std::int64_t>(entry.address), entry.label);
    }
    if (!text.empty()) open = sink(text);
  }
  if (wanted("sizes") && open) {
    std::string text;
    for (std::size_t id = 0; id < parts.sizes.size(); ++id) {
      text += fmt::format("Datatype {} ({}) has size {}\n", id,
                          value_name(Type::datatype, static_cast<std::int64_t>(id)), parts.sizes[id]);
    }
    if (!text.empty()) sink(text);
  }
  return {};
}

}  // namespace fathom::dumpi
