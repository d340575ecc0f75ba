// The long lists of a profile of speedscope: read as they stand where they are spelt in the usual way, and from there
// on where they are not by a JSON parser.
#pragma once

#include <functional>
#include <span>

#include "formats/speedscope/speedscope_file.hpp"

namespace fathom::speedscope {

// Frames are numbers of the file's; one that does not fit is none of them.
using FrameNumber = std::uint32_t;

// The events of an evented profile: take(opens, frame, at). What is no event is counted.
Result<std::uint64_t> each_event(const StoredProfile& profile, const Work& work,
                                 const std::function<void(bool opens, FrameNumber frame, double at)>& take);
// The samples of a sampled one with their weights. find(stack, root first) says what it ends in, which is asked once
// for stacks that are spelt alike as a rule; take(end, weight).
using FindStack = std::function<std::uint32_t(std::span<const FrameNumber> stack)>;
Result<std::uint64_t> each_sample(const StoredProfile& profile, const Work& work, const FindStack& find,
                                  const std::function<void(std::uint32_t end, double weight)>& take);

}  // namespace fathom::speedscope
