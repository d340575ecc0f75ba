// Who may ask the local server. Other users of the machine can reach its port, and so can any page in the user's
// browser; only whoever has the secret gets data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace fathom::serve {

// What a request says about where it comes from; a header that may come once is listed as often as it came.
struct Credentials {
  std::string_view method;
  std::vector<std::string> hosts;
  std::vector<std::string> origins;
  std::vector<std::string> fetch_sites;
  std::vector<std::string> keys;
};

struct GuardRules {
  std::vector<std::string> hosts;  // as a Host header spells them, with the port
  bool check_hosts = true;         // not on a unix socket: the name in front of it is a proxy's
  std::string key;
};

enum class Verdict : std::uint8_t { allowed, forbidden, wrong_method };

// Whether the request may have the page, which holds no data.
Verdict judge_page(const GuardRules& rules, const Credentials& credentials);
// Whether it may have data, too.
Verdict judge_data(const GuardRules& rules, const Credentials& credentials);

// 128 random bits from the kernel, base64url.
Result<std::string> make_key();
// Keys that are given must be as hard to guess.
inline constexpr std::size_t kShortestKey = 22;

}  // namespace fathom::serve
