#include "fathom/dataset.hpp"

#include <fmt/format.h>

#include "api/state.hpp"
#include "base/shown_files.hpp"
#include "base/text.hpp"
#include "formats/format.hpp"
#include "formats/registry.hpp"
#include "io/mapped_file.hpp"
#include "profile/profile.hpp"
#include "tables/tables.hpp"
#include "trace/trace.hpp"

namespace fathom::api {

Error to_public(const fathom::Error& error) {
  Place place{shown_file(error.place().file), error.place().offset, error.place().line};
  return {static_cast<ErrorKind>(error.kind()), error.text(), error.hint(), std::move(place)};
}

namespace {

std::string json_value(const InfoValue& value) {
  return std::visit(
      [](const auto& one) -> std::string {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<T, std::nullptr_t>) {
          return "null";
        } else if constexpr (std::is_same_v<T, double>) {
          return json_number(one);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return json_quote(one);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          std::string out = "[";
          for (const std::string& text : one) out += (out.size() > 1 ? "," : "") + json_quote(text);
          return out + "]";
        } else {
          return std::to_string(one);
        }
      },
      value);
}

}  // namespace

Dataset::Dataset(std::shared_ptr<State> state) : state_(std::move(state)) {}
Dataset::Dataset(const Dataset&) = default;
Dataset::Dataset(Dataset&&) noexcept = default;
Dataset& Dataset::operator=(const Dataset&) = default;
Dataset& Dataset::operator=(Dataset&&) noexcept = default;
Dataset::~Dataset() = default;

std::string_view Dataset::format() const { return state_->dataset->format().name; }
std::string Dataset::path() const { return state_->dataset->path().string(); }

std::string Dataset::version() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->dataset->version();
}

std::vector<Level> Dataset::levels() const {
  const std::scoped_lock lock(state_->mutex);
  std::vector<Level> out;
  for (const fathom::Level level : state_->dataset->levels()) out.push_back(static_cast<Level>(level));
  return out;
}

Result<std::vector<Info>> Dataset::info(bool count) const {
  return guarded<std::vector<Info>>(*state_, [&]() -> fathom::Result<std::vector<Info>> {
    const std::scoped_lock lock(state_->mutex);
    FATHOM_TRY(const auto entries, state_->dataset->describe(count));
    std::vector<Info> out;
    for (const InfoEntry& entry : entries) out.push_back({entry.key, json_value(entry.value)});
    return out;
  });
}

std::vector<Diagnostic> Dataset::diagnostics() const {
  std::vector<Diagnostic> out;
  for (const fathom::Diagnostic& one : state_->dataset->work()->diagnostics.all()) {
    out.push_back({one.id, static_cast<Severity>(one.severity), Place{one.place.file, one.place.offset, one.place.line},
                   one.count, one.text});
  }
  return out;
}

std::vector<std::string> Dataset::tables() const {
  const std::scoped_lock lock(state_->mutex);
  std::vector<std::string> out;
  for (const TableKind* kind : tables_of(state_->dataset->levels())) out.emplace_back(kind->name);
  return out;
}

Result<Table> Dataset::table(std::string_view name, const Bounds& bounds) const {
  return guarded<Table>(*state_, [&]() -> fathom::Result<Table> {
    const std::scoped_lock lock(state_->mutex);
    FATHOM_TRY(auto source, open_table(*state_->dataset, name,
                                       TableBounds{bounds.from_ns, bounds.to_ns, bounds.locations, bounds.metrics,
                                                   bounds.contexts, bounds.flavour}));
    return Table(make_table_state(state_, std::move(source)));
  });
}

Result<Dataset> open(const std::filesystem::path& path, const OpenOptions& options) {
  auto state = std::make_shared<Dataset::State>();
  ProgressSink progress;
  if (options.progress) {
    progress = [told = options.progress](const ProgressReport& report) {
      told({report.label, report.done, report.total, report.elapsed_ms, report.finished});
    };
  }
  state->execution = Execution(options.threads, options.cancel.flag(), std::move(progress));
  // What was open when input was lost stays unusable; nobody works on it any more.
  if (stopped() && !InputsInUse::any()) reset_lost_input();
  state->watch.emplace(path);
  return guarded<Dataset>(*state, [&]() -> fathom::Result<Dataset> {
    const Work work = make_work(options.strict, options.max_memory > 0 ? options.max_memory : Budget::default_limit());
    for (const auto& [name, value] : options.options) FATHOM_CHECK(set_reading_option(*work, name, value));
    FATHOM_TRY(state->dataset, open_dataset(path, work, options.format));
    return Dataset(state);
  });
}

}  // namespace fathom::api
