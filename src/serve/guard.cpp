#include "serve/guard.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace fathom::serve {

namespace {

// Takes the same time wherever the texts differ first.
bool equal_in_constant_time(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const char c = i < given.size() ? given[i] : '\0';
    difference |= static_cast<unsigned char>(c) ^ static_cast<unsigned char>(secret[i]);
  }
  return difference == 0;
}

bool known_host(const GuardRules& rules, std::string_view host) {
  return std::find(rules.hosts.begin(), rules.hosts.end(), host) != rules.hosts.end();
}

// "http://host:port" of one of our names.
bool own_origin(const GuardRules& rules, std::string_view origin, std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!origin.starts_with(scheme)) continue;
    const std::string_view name = origin.substr(scheme.size());
    return rules.check_hosts ? known_host(rules, name) : name == host;
  }
  return false;
}

}  // namespace

Verdict judge_page(const GuardRules& rules, const Credentials& credentials) {
  if (credentials.method != "GET" && credentials.method != "POST") return Verdict::wrong_method;
  if (rules.check_hosts && (credentials.hosts.size() != 1 || !known_host(rules, credentials.hosts.front()))) {
    return Verdict::forbidden;
  }
  const std::string_view host = credentials.hosts.empty() ? std::string_view{} : credentials.hosts.front();
  if (credentials.origins.size() > 1) return Verdict::forbidden;
  for (const std::string& origin : credentials.origins) {
    if (!own_origin(rules, origin, host)) return Verdict::forbidden;
  }
  for (const std::string& site : credentials.fetch_sites) {
    if (site != "same-origin" && site != "none") return Verdict::forbidden;
  }
  return Verdict::allowed;
}

Verdict judge_data(const GuardRules& rules, const Credentials& credentials) {
  const Verdict page = judge_page(rules, credentials);
  if (page != Verdict::allowed) return page;
  if (credentials.keys.size() != 1 || !equal_in_constant_time(credentials.keys.front(), rules.key)) {
    return Verdict::forbidden;
  }
  return Verdict::allowed;
}

Result<std::string> make_key() {
  std::array<unsigned char, 16> bits{};
  if (getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size())) {
    return Error(std::string("the kernel gives no random numbers: ") + std::strerror(errno));
  }
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string key;
  unsigned kept = 0;
  int kept_bits = 0;
  for (const unsigned char byte : bits) {
    kept = kept << 8 | byte;
    kept_bits += 8;
    while (kept_bits >= 6) {
      kept_bits -= 6;
      key += kDigits[kept >> kept_bits & 63];
    }
  }
  key += kDigits[kept << (6 - kept_bits) & 63];
  return key;
}

}  // namespace fathom::serve
