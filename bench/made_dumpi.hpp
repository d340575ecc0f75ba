// A DUMPI trace made for benchmarks.
#pragma once

#include <string>

#include "formats/dumpi/writer.hpp"

namespace fathom::bench {

struct MadeDumpi {
  bool cpu_times = true;
  bool regions = false;  // every step is in two functions of the program, one in the other
};

// Two receives, two sends and a Waitall with statuses per step, now and then an Allreduce: a stencil.
inline std::string make_dumpi_trace(std::uint64_t bytes, MadeDumpi how = {}) {
  using namespace fathom::dumpi;
  ByteText out;
  out.bytes(kMagic);
  out.number(std::int32_t{0});
  out.number(std::int32_t{1000});
  std::uint64_t now = 0;
  Sections sections;
  const auto head = [&](std::uint16_t id) {
    now += 700;
    out.number(id);
    out.number(static_cast<std::uint8_t>(how.cpu_times ? 0x4F : 0x4B));
    out.number(std::uint16_t{0});
    const std::uint64_t lasts = id >= kFunctionEnter ? 0 : 400;
    for (int clock = how.cpu_times ? 0 : 1; clock < 2; ++clock) {
      for (const std::uint64_t at : {now, now + lasts}) {
        out.number(static_cast<std::uint16_t>(at / 1'000'000'000));
        out.number(static_cast<std::uint32_t>(at % 1'000'000'000));
      }
    }
    if (id < kFooterSlots) ++sections.footer.called[id];
  };
  constexpr std::uint64_t kOuter = 0x1000;
  constexpr std::uint64_t kInner = 0x2000;
  if (how.regions) sections.addresses = {{kOuter, "step"}, {kInner, "exchange"}};
  const auto function = [&](std::uint16_t id, std::uint64_t address) {
    if (!how.regions) return;
    head(id);
    out.number(address);
  };
  const auto point_to_point = [&](std::uint16_t id, std::int32_t peer, std::int32_t request) {
    head(id);
    out.number(std::int32_t{1024});
    out.number(std::int16_t{14});
    out.number(peer);
    out.number(std::int32_t{17});
    out.number(std::int16_t{2});
    out.number(request);
  };
  for (std::uint64_t step = 0; out.size() < bytes; ++step) {
    function(kFunctionEnter, kOuter);
    function(kFunctionEnter, kInner);
    point_to_point(ids::kIrecv, 1, 2);
    point_to_point(ids::kIrecv, 2, 3);
    point_to_point(ids::kIsend, 1, 4);
    point_to_point(ids::kIsend, 2, 5);
    head(ids::kWaitall);
    out.number(std::int32_t{4});
    out.number(std::int32_t{4});
    for (std::int32_t request = 2; request < 6; ++request) out.number(request);
    out.number(std::int32_t{4});
    for (std::int32_t n = 0; n < 4; ++n) {
      out.number(std::int32_t{8192});
      out.number(n);
      out.number(std::uint16_t{0});
      out.number(std::int32_t{17});
    }
    function(kFunctionExit, kInner);
    if (step % 4 == 0) {
      head(ids::kAllreduce);
      out.number(std::int32_t{1});
      out.number(std::int16_t{14});
      out.number(std::uint8_t{3});
      out.number(std::int16_t{2});
    }
    function(kFunctionExit, kOuter);
  }
  out.number(kEndOfStream);
  out.bytes(encode_sections(sections, Layout{}, out.size()));
  return out.text();
}

}  // namespace fathom::bench
