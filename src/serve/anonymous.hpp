// Names of people and machines taken out of texts that leave the house.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/dataset.hpp"

namespace fathom::serve {

// MT: safe (const) once the names are known.
class Anonymiser {
 public:
  // Wherever the name stands as a word of its own there is `instead`. Numbers and single characters are no names.
  void forget(std::string_view name, std::string_view instead);
  // What a dataset tells: nodes of its system tree, hosts and users that its file names; its path; this machine and
  // its user. Levels that cannot be made tell nothing.
  void forget_names(Dataset& dataset);

  // Without the names; of absolute paths the last part is left.
  [[nodiscard]] std::string text(std::string_view text) const;
  // The same for all strings of a JSON text that are values; keys stay.
  [[nodiscard]] std::string json(std::string_view json) const;

 private:
  struct Name {
    std::string name;
    std::string instead;
  };
  std::vector<Name> names_;  // longest first
  std::size_t nodes_ = 0;
};

}  // namespace fathom::serve
