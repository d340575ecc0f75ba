// Level 2: values over metrics × calling contexts × locations.
#pragma once

#include <fathom/export.h>

#include <cstdint>
#include <fathom/error.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::api {

struct MetricInfo {
  std::string name;  // unique
  std::string title;
  std::string unit;
  std::optional<std::size_t> parent;  // position
};

// Contexts are numbered depth first: a subtree is the range [own number, end).
struct ContextInfo {
  std::uint64_t id = 0;  // as the file uses it
  std::optional<std::size_t> parent;
  std::size_t end = 0;
  std::size_t depth = 0;
  std::string_view region;  // lives as long as the profile
  std::string_view file;
  std::optional<std::int64_t> line;
};

enum class Flavour : std::uint8_t { stored, own, exclusive, inclusive };

// It keeps the dataset alive. MT: safe (const).
class FATHOM_API Profile {
 public:
  struct State;
  explicit Profile(std::shared_ptr<const State> state);
  Profile(const Profile&);
  Profile(Profile&&) noexcept;
  Profile& operator=(const Profile&);
  Profile& operator=(Profile&&) noexcept;
  ~Profile();

  [[nodiscard]] std::size_t metric_count() const;
  [[nodiscard]] MetricInfo metric(std::size_t position) const;
  [[nodiscard]] std::optional<std::size_t> find_metric(std::string_view name) const;
  [[nodiscard]] std::size_t context_count() const;
  [[nodiscard]] ContextInfo context(std::size_t number) const;
  // Region names from the root down, joined with "->".
  [[nodiscard]] std::string path(std::size_t context) const;
  [[nodiscard]] std::size_t location_count() const;
  [[nodiscard]] std::string location(std::size_t position) const;

  // One value per context, all locations together.
  [[nodiscard]] Result<std::vector<double>> totals(std::size_t metric, Flavour flavour) const;
  // One value per context at one location.
  [[nodiscard]] Result<std::vector<double>> values(std::size_t metric, Flavour flavour, std::size_t location) const;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace fathom::api
