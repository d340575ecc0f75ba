// Native access to HPCToolkit databases (profile.db, trace.db of both generations): identifiers, values and samples as
// the files hold them, without an allocation per value.
//
//   auto database = fathom::api::hpctoolkit::Database::open("hpctoolkit-app-database");
//   for (std::size_t p = 0; p < database->profiles(); ++p) {
//     auto values = database->values(p);
//     fathom::api::hpctoolkit::Value value;
//     while (values.next(value)) { ... }
//   }
//
// Readers keep the database alive.
#pragma once

#include <fathom/export.h>

#include <cstdint>
#include <fathom/error.hpp>
#include <fathom/options.hpp>
#include <memory>
#include <string>
#include <vector>

namespace fathom::api::hpctoolkit {

// One element of a profile's identifier: node, rank, thread, ...
struct Identifier {
  std::uint16_t kind = 0;
  std::uint64_t logical = 0;
  std::uint64_t physical = 0;
};

struct ProfileInfo {
  std::vector<Identifier> identifier;
  bool summary = false;
  std::uint64_t values = 0;
};

struct Value {
  std::uint32_t context = 0;
  std::uint16_t metric = 0;  // with its scope: the number that meta.db or experiment.xml gives it
  double value = 0;
};

struct Sample {
  std::uint64_t time_ns = 0;
  std::uint32_t context = 0;
};

// MT: externally synchronised; different readers are independent.
class FATHOM_API Values {
 public:
  struct State;
  explicit Values(std::unique_ptr<State> state);
  Values(Values&&) noexcept;
  Values& operator=(Values&&) noexcept;
  ~Values();
  // False at the end.
  bool next(Value& value);

 private:
  std::unique_ptr<State> state_;
};

// MT: safe (const).
class FATHOM_API Database {
 public:
  struct State;
  explicit Database(std::shared_ptr<const State> state);
  Database(const Database&);
  Database(Database&&) noexcept;
  Database& operator=(const Database&);
  Database& operator=(Database&&) noexcept;
  ~Database();
  // A directory with profile.db; trace.db where there is one.
  static Result<Database> open(const std::string& path, const OpenOptions& options = {});

  [[nodiscard]] std::size_t profiles() const;
  [[nodiscard]] ProfileInfo profile(std::size_t position) const;
  // All values of a profile, by context.
  [[nodiscard]] Values values(std::size_t profile) const;

  // Lines of trace.db; 0 where there is none.
  [[nodiscard]] std::size_t lines() const;
  [[nodiscard]] std::uint32_t profile_of_line(std::size_t line) const;
  [[nodiscard]] std::uint64_t samples(std::size_t line) const;
  [[nodiscard]] Sample sample(std::size_t line, std::uint64_t position) const;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace fathom::api::hpctoolkit
