// Records as text: key=value with names for ids.
#pragma once

#include "formats/otf2/event_file.hpp"
#include "formats/otf2/local_definitions.hpp"

namespace fathom::otf2 {

class EventText {
 public:
  EventText(const GlobalDefinitions& definitions, const LocalDefinitions* local)
      : definitions_(definitions), local_(local) {}

  // All fields of a record, joined with ';'.
  void append_fields(const EventRecord& record, std::string& out) const;
  // Its attributes, each as attribute.NAME=value, behind a ';' where there is something before them.
  void append_attributes(const EventRecord& record, std::string& out) const;

 private:
  void append_value(std::uint8_t type, std::uint64_t bits, std::string& out) const;
  void append_id(std::string_view kind, std::uint64_t id, std::string& out) const;
  [[nodiscard]] std::uint64_t global(IdKind kind, std::uint64_t id) const {
    return local_ == nullptr ? id : local_->global(kind, id);
  }
  const GlobalDefinitions& definitions_;
  const LocalDefinitions* local_;
};

}  // namespace fathom::otf2
