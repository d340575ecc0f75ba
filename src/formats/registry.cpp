#include "formats/registry.hpp"

#include <array>

#include "formats/caliper/caliper_format.hpp"
#include "formats/callgrind/callgrind_format.hpp"
#include "formats/chrome/chrome_format.hpp"
#include "formats/cube/cube_format.hpp"
#include "formats/cube3/cube3_format.hpp"
#include "formats/dot/dot_format.hpp"
#include "formats/dumpi/dumpi_format.hpp"
#include "formats/extra_prof/extra_prof_format.hpp"
#include "formats/extrap/extrap_formats.hpp"
#include "formats/folded/folded_format.hpp"
#include "formats/hpctoolkit/hpctoolkit_format.hpp"
#include "formats/nsight/nsight_format.hpp"
#include "formats/otf2/otf2_format.hpp"
#include "formats/ovni/ovni_format.hpp"
#include "formats/paraver/paraver_format.hpp"
#include "formats/perf_script/perf_script_format.hpp"
#include "formats/perfetto/perfetto_format.hpp"
#include "formats/pprof/pprof_format.hpp"
#include "formats/runs/runs_format.hpp"
#include "formats/speedscope/speedscope_format.hpp"
#include "formats/tau/tau_format.hpp"

namespace fathom {

std::span<const Format* const> all_formats() {
  static const std::array kFormats = {
      &cube::format(),
      &cube3::format(),
      &dumpi::format(),
      &dumpi::text_format(),
      &hpctoolkit::meta_format(),
      &hpctoolkit::xml_format(),
      &ovni::format(),
      &hpctoolkit::classic_format(),
      &paraver::format(),
      &otf2::format(),
      &pprof::format(),
      &callgrind::format(),
      &tau::format(),
      &caliper::format(),
      &caliper::json_format(),
      &folded::format(),
      &speedscope::format(),
      &chrome::format(),
      &perfetto::format(),
      &perf_script::format(),
      &extrap::text_format(),
      &extrap::talpas_format(),
      &extrap::json_format(),
      &extrap::json_lines_format(),
      &extrap::extra_p_format(),
      &extrap::extra_p_3_format(),
      &extra_prof::format(),
      &nsight::format(),
      &runs::format(),
      &dot::format(),
  };
  return kFormats;
}

}  // namespace fathom
