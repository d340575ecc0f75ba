#include "serve/anonymous.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "profile/profile.hpp"
#include "trace/trace.hpp"

namespace fathom::serve {

namespace {

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_number(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Characters of a path; a quote, a blank or a bracket ends it.
bool is_path(char c) { return is_word(c) || c == '/' || c == '.' || c == '-' || c == '+' || c == '~' || c == '@'; }

bool about_people(std::string_view key) {
  const std::string low = to_lower(key);
  for (const std::string_view part : {"host", "user", "machine", "node", "login", "owner", "home"}) {
    if (low.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

void Anonymiser::forget(std::string_view name, std::string_view instead) {
  if (name.size() < 2 || is_number(name)) return;
  const auto known = std::find_if(names_.begin(), names_.end(), [&](const Name& n) { return n.name == name; });
  if (known != names_.end()) return;
  const auto place =
      std::find_if(names_.begin(), names_.end(), [&](const Name& n) { return n.name.size() < name.size(); });
  names_.insert(place, {std::string(name), std::string(instead)});
}

void Anonymiser::forget_names(Dataset& dataset) {
  const std::filesystem::path& path = dataset.path();
  const std::string last = (path.has_filename() ? path : path.parent_path()).filename().string();
  if (last != path.string()) forget(path.string(), last);
  std::error_code failed;
  const auto whole = std::filesystem::absolute(path, failed);
  for (auto part = whole.begin(); !failed && part != whole.end(); ++part) {
    const std::string folder = part->string();
    if (folder != "home" && folder != "users" && folder != "Users") continue;
    if (auto next = std::next(part); next != whole.end() && std::next(next) != whole.end()) {
      forget(next->string(), "user");
    }
  }
  if (const char* user = std::getenv("USER"); user != nullptr) forget(user, "user");
  if (const passwd* entry = getpwuid(getuid()); entry != nullptr) forget(entry->pw_name, "user");
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) == 0) forget(host, "host");
  if (const auto entries = dataset.describe(false); entries.ok()) {
    for (const InfoEntry& entry : *entries) {
      if (!about_people(entry.key)) continue;
      const bool person = to_lower(entry.key).find("user") != std::string::npos;
      const auto one = [&](const std::string& name) { forget(name, person ? "user" : "host"); };
      if (const auto* name = std::get_if<std::string>(&entry.value)) one(*name);
      if (const auto* list = std::get_if<std::vector<std::string>>(&entry.value)) {
        for (const std::string& name : *list) one(name);
      }
    }
  }
  const auto tell = [&](const SystemTree& system) {
    for (const SystemNode& node : system.nodes) {
      if (node.kind != SystemKind::node) continue;
      forget(node.name, fmt::format("{} {}", node.type.empty() ? "node" : node.type, ++nodes_));
    }
  };
  const auto levels = dataset.levels();
  const auto has = [&](Level level) { return std::find(levels.begin(), levels.end(), level) != levels.end(); };
  if (has(Level::trace)) {
    if (const auto trace = dataset.trace(); trace.ok()) tell((*trace)->definitions().system);
  }
  if (has(Level::profile)) {
    if (const auto profile = dataset.profile(); profile.ok()) tell((*profile)->defs().system);
  }
}

std::string Anonymiser::text(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const bool starts = i == 0 || !is_word(text[i - 1]);
    if (starts) {
      const auto name = std::find_if(names_.begin(), names_.end(), [&](const Name& n) {
        const std::size_t end = i + n.name.size();
        return text.compare(i, n.name.size(), n.name) == 0 && (end >= text.size() || !is_word(text[end]));
      });
      if (name != names_.end()) {
        out += name->instead;
        i += name->name.size();
        continue;
      }
      // "/home/jane/app/solve.c" -> "solve.c"; a single slash is no path.
      if (text[i] == '/' && (i == 0 || !is_path(text[i - 1]))) {
        std::size_t end = i;
        while (end < text.size() && is_path(text[end])) ++end;
        const std::string_view path = text.substr(i, end - i);
        const auto slash = path.rfind('/');
        if (slash > 0 && slash + 1 < path.size()) {
          out += this->text(path.substr(slash + 1));
          i = end;
          continue;
        }
      }
    }
    out += text[i++];
  }
  return out;
}

std::string Anonymiser::json(std::string_view json) const {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size();) {
    if (json[i] != '"') {
      out += json[i++];
      continue;
    }
    std::size_t end = i + 1;
    while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
    end = std::min(end, json.size());
    const std::string_view inside = json.substr(i + 1, end - i - 1);
    std::size_t next = end + 1;
    while (next < json.size() && (json[next] == ' ' || json[next] == '\n')) ++next;
    const bool key = next < json.size() && json[next] == ':';
    out += '"';
    out += key ? std::string(inside) : text(inside);
    out += '"';
    i = end + 1;
  }
  return out;
}

}  // namespace fathom::serve
