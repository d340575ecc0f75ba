// Small archives made in the tests, byte by byte from the description of the format.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fathom::cube::testing {

using Members = std::vector<std::pair<std::string, std::string>>;

inline std::string make_tar(const Members& members) {
  std::string out;
  for (const auto& [name, content] : members) {
    std::string header(512, '\0');
    const auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
    put(0, name);
    put(100, "0000600");
    put(108, "0000000");
    put(116, "0000000");
    char size[12];
    std::snprintf(size, sizeof(size), "%011zo", content.size());
    put(124, size);
    put(136, "00000000000");
    put(148, "        ");
    put(156, "0");
    put(257, std::string("ustar\0", 6) + "00");
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    char checksum[8];
    std::snprintf(checksum, sizeof(checksum), "%06o", sum);
    put(148, std::string(checksum) + std::string("\0 ", 2));
    out += header + content;
    out.resize((out.size() + 511) / 512 * 512);
  }
  return out + std::string(1024, '\0');
}

// Integers of any width in either byte order.
inline std::string bytes_of(std::uint64_t value, std::size_t width, bool big) {
  std::string out;
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t shift = 8 * (big ? width - 1 - i : i);
    out += static_cast<char>(value >> shift & 0xFF);
  }
  return out;
}

inline std::string make_index(const std::vector<std::uint32_t>& rows, bool big = false) {
  std::string out = "CUBEX.INDEX" + bytes_of(1, 4, big) + bytes_of(0, 2, big) + "\x01" + bytes_of(rows.size(), 4, big);
  for (const std::uint32_t row : rows) out += bytes_of(row, 4, big);
  return out;
}

inline std::string make_row(const std::vector<std::uint64_t>& values, bool big = false) {
  std::string out;
  for (const std::uint64_t value : values) out += bytes_of(value, 8, big);
  return out;
}

inline std::string packed(const std::string& row) {
  uLongf size = compressBound(row.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(row.data()), row.size());
  out.resize(size);
  return out;
}

enum class Starts { true_ones, all_zero };

// ZCUBEX data with fields of 8 bytes, or of 4 as the published description has them.
inline std::string make_packed_data(const std::vector<std::string>& rows, std::size_t field, bool big = false,
                                    Starts starts = Starts::true_ones) {
  std::string table;
  std::string streams;
  std::uint64_t plain = 0;
  for (const std::string& row : rows) {
    const std::string stream = packed(row);
    const bool zero = starts == Starts::all_zero;
    table += bytes_of(zero ? 0 : plain, field, big) + bytes_of(zero ? 0 : streams.size(), field, big) +
             bytes_of(stream.size(), field, big);
    streams += stream;
    plain += row.size();
  }
  return "ZCUBEX.DATA" + bytes_of(rows.size(), field, big) + table + streams;
}

// main(work(leaf), end) on two locations; metric 0 exclusive u64 `visits`, metric 1 inclusive u64 `ticks`.
inline std::string small_anchor() {
  return R"(<?xml version="1.0" encoding="UTF-8"?>
<cube version="4.4" colour="red">
  <attr key="Cube Version" value="4.8.2"/>
  <attr key="CubePL Version" value="1.1"/>
  <!-- a comment -->
  <novelty depth="1">text &amp; <inner a="&lt;"/></novelty>
  <metrics>
    <metric id="0" type="EXCLUSIVE" shade="dark">
      <disp_name>Visits</disp_name><uniq_name>visits</uniq_name><dtype>UINT64</dtype><uom>occ</uom><url/><descr/>
      <hint>for later</hint>
    </metric>
    <metric id="1" type="INCLUSIVE">
      <disp_name>Ticks</disp_name><uniq_name>ticks</uniq_name><dtype>UINT64</dtype><uom>#</uom><url></url><descr></descr>
    </metric>
    <metric id="2" type="PREDERIVED_EXCLUSIVE">
      <disp_name>D</disp_name><uniq_name>d</uniq_name><dtype>DOUBLE</dtype><uom></uom><url></url><descr></descr>
      <cubepl rowwise=false>metric::visits() &lt; 2</cubepl>
      <cubeplaggr cubeplaggrtype=plus>max(arg1,arg2)</cubeplaggr>
      <cubeplaggr cubeplaggrtype="aggr">min(arg1,arg2)</cubeplaggr>
    </metric>
  </metrics>
  <program>
    <region id="7" mod="a.c" begin="1" end="9"><name>main</name></region>
    <region id="3" mod="" begin="-1" end="-1"><name><![CDATA[work<int>]]></name></region>
    <cnode id="0" calleeId="7">
      <cnode id="2" calleeId="3" line="4" mod="a.c">
        <parameter parvalue="x" parkey="k" partype="string"/>
        <extra>kept</extra>
        <cnode id="1" calleeId="7"/>
      </cnode>
      <cnode id="3" calleeId="3"/>
    </cnode>
  </program>
  <system>
    <systemtreenode Id="0"><name>m</name><class>machine</class>
      <systemtreenode Id="1"><name>n</name><class>node</class>
        <locationgroup Id="0"><name>p0</name><rank>0</rank><type>process</type>
          <location Id="1"><name>t1</name><rank>1</rank><type>thread</type></location>
          <location Id="0"><name>t0</name><rank>0</rank><type>thread</type></location>
        </locationgroup>
      </systemtreenode>
    </systemtreenode>
  </system>
</cube>
)";
}

// Rows of ticks are numbered in sibling blocks: main, work, end, leaf.
inline Members small_members() {
  return {
      {"anchor.xml", small_anchor()},
      {"0.index", make_index({0, 1, 3})},
      {"0.data", "CUBEX.DATA" + make_row({1, 2}) + make_row({3, 4}) + make_row({5, 6})},
      {"1.index", make_index({0, 1, 2, 3})},
      {"1.data", "CUBEX.DATA" + make_row({100, 200}) + make_row({60, 70}) + make_row({10, 20}) + make_row({50, 80})},
      {"note with blanks.txt", "free text"}};
}

}  // namespace fathom::cube::testing
