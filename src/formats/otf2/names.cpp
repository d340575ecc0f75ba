// Names of the numbers that OTF2 gives to paradigms and roles.
#include <fmt/format.h>

#include <array>

#include "base/text.hpp"
#include "formats/otf2/mapping.hpp"

namespace fathom::otf2 {

namespace {

constexpr std::array<std::string_view, 25> kParadigms = {
    "unknown", "user",     "compiler", "openmp",   "mpi",   "cuda",      "measurement", "pthread",   "hmpp",
    "ompss",   "hardware", "gaspi",    "upc",      "shmem", "winthread", "qtthread",    "acethread", "tbbthread",
    "openacc", "opencl",   "mtapi",    "sampling", "none",  "hip",       "kokkos"};

constexpr std::array<std::string_view, 39> kRoles = {"unknown",
                                                     "function",
                                                     "wrapper",
                                                     "loop",
                                                     "code",
                                                     "parallel",
                                                     "sections",
                                                     "section",
                                                     "workshare",
                                                     "single",
                                                     "single sblock",
                                                     "master",
                                                     "critical",
                                                     "critical sblock",
                                                     "atomic",
                                                     "barrier",
                                                     "implicit barrier",
                                                     "flush",
                                                     "ordered",
                                                     "ordered sblock",
                                                     "task",
                                                     "task create",
                                                     "taskwait",
                                                     "one2all",
                                                     "all2one",
                                                     "all2all",
                                                     "other collective",
                                                     "file io",
                                                     "point2point",
                                                     "rma",
                                                     "data transfer",
                                                     "artificial",
                                                     "thread create",
                                                     "thread wait",
                                                     "task untied",
                                                     "allocate",
                                                     "deallocate",
                                                     "reallocate",
                                                     "file io metadata"};

template <std::size_t N>
std::string name_in(const std::array<std::string_view, N>& names, std::uint8_t number, std::string_view what) {
  return number < N ? std::string(names[number]) : fmt::format("{} {}", what, number);
}
template <std::size_t N>
std::uint8_t number_in(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (equal_ignoring_case(names[i], name)) return static_cast<std::uint8_t>(i);
  }
  return 0;
}

}  // namespace

std::string paradigm_name(std::uint8_t paradigm) { return name_in(kParadigms, paradigm, "paradigm"); }
std::string role_name(std::uint8_t role) { return name_in(kRoles, role, "role"); }
std::uint8_t paradigm_number(std::string_view name) { return number_in(kParadigms, name); }
std::uint8_t role_number(std::string_view name) { return number_in(kRoles, name); }

}  // namespace fathom::otf2
