# cmake -D DIST=folder -D OUT=file.cpp -P embed_assets.cmake: every file of the folder, gzipped, as one table in a source.
set(type_html "text/html; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_svg "image/svg+xml")
set(type_txt "text/plain; charset=utf-8")
file(GLOB_RECURSE files RELATIVE ${DIST} ${DIST}/*)
list(FILTER files EXCLUDE REGEX "\\.gz$")
list(SORT files)
set(blocks "")
set(externs "")
set(rows "")
set(number 0)
foreach(file IN LISTS files)
  # -n: no name and no time inside, so that equal pages make equal programs.
  execute_process(COMMAND gzip -9nkf ${DIST}/${file} COMMAND_ERROR_IS_FATAL ANY)
  get_filename_component(ending ${file} LAST_EXT)
  string(SUBSTRING ${ending} 1 -1 ending)
  string(APPEND blocks "asm(\".section .rodata\\nfathom_asset_${number}:\\n.incbin \\\"${DIST}/${file}.gz\\\"\\n"
                       "fathom_asset_end_${number}:\\n.byte 0\\n.previous\");\n")
  string(APPEND externs "extern const char fathom_asset_${number}[];\nextern const char fathom_asset_end_${number}[];\n")
  file(SHA256 ${DIST}/${file} hash)
  string(APPEND rows "      {\"${file}\", \"${type_${ending}}\",\n"
                     "       {fathom_asset_${number}, static_cast<std::size_t>(fathom_asset_end_${number} - fathom_asset_${number})},\n"
                     "       \"${hash}\"},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT} "// Made by the build from the viewer's page.
#include \"serve/assets.hpp\"

#include <array>

${blocks}
extern \"C\" {
${externs}}

namespace fathom::serve {

std::span<const Asset> assets() {
  static const std::array kAssets = std::to_array<Asset>({
${rows}  });
  return kAssets;
}

}  // namespace fathom::serve
")
