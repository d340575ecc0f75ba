// How the files of a database begin and end.
#pragma once

#include <string_view>

#include "base/work.hpp"
#include "io/byte_cursor.hpp"

namespace fathom::hpctoolkit {

using namespace std::string_view_literals;

inline constexpr auto kXmlProfileMagic = "HPCPROF-profdb__"sv;
inline constexpr auto kXmlCctMagic = "HPCPROF-cctdb___"sv;
inline constexpr auto kXmlTraceMagic = "HPCPROF-tracedb_"sv;
// Footers of the XML generation are words in the byte order of the machine that wrote them: accepted in both.
inline constexpr auto kXmlProfileFooter = "PROFDBft"sv;
inline constexpr auto kXmlCctFooter = "CCTDBftr"sv;
inline constexpr std::uint64_t kXmlHeaderSize = 128;

inline constexpr auto kMetaMagic = "HPCTOOLKITmeta"sv;
inline constexpr auto kMetaProfileMagic = "HPCTOOLKITprof"sv;
inline constexpr auto kMetaCctMagic = "HPCTOOLKITctxt"sv;
inline constexpr auto kMetaTraceMagic = "HPCTOOLKITtrce"sv;
inline constexpr auto kMetaFooter = "_meta.db"sv;
inline constexpr auto kMetaProfileFooter = "_prof.db"sv;
inline constexpr auto kMetaCctFooter = "__ctx.db"sv;
inline constexpr auto kMetaTraceFooter = "trace.db"sv;
inline constexpr unsigned kMetaMajor = 4;

// Reads magic and version of a file of the meta.db generation, up to its section table; the text is "4.0".
Result<std::string> read_meta_header(ByteCursor& in, std::string_view magic);
// Reports a file that does not end with its footer: it was not written to the end.
Result<void> check_footer(const Blob& blob, std::string_view footer, const Work& work);

}  // namespace fathom::hpctoolkit
