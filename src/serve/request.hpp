// A question to the viewer and its answer, free of any HTTP library.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace fathom::serve {

struct Request {
  std::string path;  // behind "api/": "session", "0/tree"
  std::map<std::string, std::string, std::less<>> query;
  std::string body;

  [[nodiscard]] std::string_view get(std::string_view name, std::string_view otherwise = {}) const {
    const auto found = query.find(name);
    return found == query.end() ? otherwise : std::string_view(found->second);
  }
  // A whole number; nothing given = `otherwise`; anything else is an error.
  [[nodiscard]] Result<std::int64_t> integer(std::string_view name, std::int64_t otherwise) const;
};

struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::string failure = {};  // what was wrong, in one line; the body says more

  static Answer json(std::string text) { return {200, "application/json", std::move(text)}; }
  // {"error": ..., "place": ..., "hint": ...}
  static Answer failed(int status, const Error& error);
  static Answer nothing_there();
  // Of an answer that failed: what was wrong, in one line.
};

}  // namespace fathom::serve
