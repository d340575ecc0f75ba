// One call as the text that the DUMPI community's dump prints.
#pragma once

#include "base/text_buffer.hpp"
#include "formats/dumpi/file.hpp"

namespace fathom::dumpi {

// Writes calls as text. MT: safe (const).
class CallPrinter {
 public:
  explicit CallPrinter(const File& file);
  void print(const Call& call, TextBuffer& out) const;

 private:
  struct Line {
    std::string prefix;   // "MPI_Comm comm="
    std::string opening;  // "int counts["
  };
  struct Texts {
    std::string entering;   // "MPI_Send entering at walltime "
    std::string returning;  // "MPI_Send returning at walltime "
    std::array<Line, kMaxArguments> lines;
    // Position of the array whose own count replaces this argument in the text; -1 = none.
    std::array<std::int8_t, kMaxArguments> replaced_by{};
  };
  // One argument, by its shape.
  void argument(const Call& call, std::size_t i, TextBuffer& out) const;
  void statuses(const Call& call, std::size_t i, TextBuffer& out) const;
  void string(const Call& call, std::size_t i, TextBuffer& out) const;
  void number(const Call& call, std::size_t i, TextBuffer& out) const;
  void array(const Call& call, std::size_t i, TextBuffer& out) const;
  void triples(const Call& call, std::size_t i, TextBuffer& out) const;
  void string_list(const Call& call, std::size_t i, TextBuffer& out) const;
  void open_list(const Call& call, std::size_t i, TextBuffer& out) const;
  void list_of_lists(const Call& call, std::size_t i, TextBuffer& out) const;
  char* counters(const Call& call, bool at_exit, char* to) const;
  [[nodiscard]] std::int64_t shown(const Call& call, std::size_t i) const;
  void strings(const Strings& list, std::string_view separator, TextBuffer& out) const;

  const File& file_;
  std::vector<Texts> texts_;
  std::size_t counter_text_size_ = 0;
};

}  // namespace fathom::dumpi
