#include "formats/cube/cube_format.hpp"

namespace fathom::cube {

const Format& format() {
  static const Format kFormat{
      .name = "cube", .title = "Cube 4 profile", .extensions = ".cubex", .can = {{Level::profile}, {Level::profile}}};
  return kFormat;
}

}  // namespace fathom::cube
