#include "serve/request.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"

namespace fathom::serve {

Result<std::int64_t> Request::integer(std::string_view name, std::int64_t otherwise) const {
  const std::string_view text = get(name);
  if (text.empty()) return otherwise;
  const auto value = parse_integer<std::int64_t>(text);
  if (!value) return Error::usage(fmt::format("'{}' must be a whole number, found '{}'", name, text));
  return *value;
}

Answer Answer::failed(int status, const Error& error) {
  Output out;
  JsonWriter json(out);
  json.begin_object().member("error", std::string_view(error.what()));
  if (const std::string place = error.place().text(); !place.empty()) json.member("place", std::string_view(place));
  if (!error.hint().empty()) json.member("hint", std::string_view(error.hint()));
  json.end_object();
  return {status, "application/json", out.text(), error.what()};
}

Answer Answer::nothing_there() { return failed(404, Error("there is no such thing here")); }

}  // namespace fathom::serve
