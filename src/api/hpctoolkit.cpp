#include "fathom/hpctoolkit.hpp"

#include "api/state.hpp"
#include "formats/hpctoolkit/profile_db.hpp"
#include "formats/hpctoolkit/trace_db.hpp"
#include "io/file.hpp"

namespace fathom::api::hpctoolkit {

struct Database::State {
  fathom::hpctoolkit::ProfileDb profiles;
  std::optional<fathom::hpctoolkit::TraceDb> trace;
};

struct Values::State {
  std::shared_ptr<const Database::State> database;
  fathom::hpctoolkit::ProfileBlock block;
  std::uint64_t slot = 0;
  std::uint64_t entry = 0;
};

Values::Values(std::unique_ptr<State> state) : state_(std::move(state)) {}
Values::Values(Values&&) noexcept = default;
Values& Values::operator=(Values&&) noexcept = default;
Values::~Values() = default;

bool Values::next(Value& value) {
  State& at = *state_;
  while (at.slot < at.block.index_count()) {
    at.entry = std::max(at.entry, at.block.begin(at.slot));
    if (at.entry < at.block.end(at.slot)) {
      value = {at.block.key(at.slot), at.block.id(at.entry), at.block.number(at.entry)};
      ++at.entry;
      return true;
    }
    ++at.slot;
    at.entry = 0;
  }
  return false;
}

Database::Database(std::shared_ptr<const State> state) : state_(std::move(state)) {}
Database::Database(const Database&) = default;
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(const Database&) = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const std::string& path, const OpenOptions& options) {
  const Execution execution(options.threads, options.cancel.flag());
  return guarded<Database>(execution, [&]() -> fathom::Result<Database> {
    const Work work = make_work(options.strict, options.max_memory > 0 ? options.max_memory : Budget::default_limit());
    const std::filesystem::path folder(path);
    auto state = std::make_shared<State>();
    FATHOM_TRY(const Blob profiles, map_file(folder / "profile.db"));
    FATHOM_TRY(state->profiles, fathom::hpctoolkit::ProfileDb::read(profiles, work));
    std::error_code ignored;
    if (std::filesystem::exists(folder / "trace.db", ignored)) {
      FATHOM_TRY(const Blob trace, map_file(folder / "trace.db"));
      FATHOM_TRY(state->trace, fathom::hpctoolkit::TraceDb::read(trace, work));
    }
    return Database(std::move(state));
  });
}

std::size_t Database::profiles() const { return state_->profiles.profiles().size(); }

ProfileInfo Database::profile(std::size_t position) const {
  const auto& record = state_->profiles.profiles()[position];
  ProfileInfo out{{}, record.summary, record.value_count};
  for (const auto& one : record.tuple) out.identifier.push_back({one.kind, one.logical, one.physical});
  return out;
}

Values Database::values(std::size_t profile) const {
  return Values(std::make_unique<Values::State>(Values::State{state_, state_->profiles.block(profile), 0, 0}));
}

std::size_t Database::lines() const { return state_->trace ? state_->trace->lines().size() : 0; }
std::uint32_t Database::profile_of_line(std::size_t line) const { return state_->trace->lines()[line].profile; }
std::uint64_t Database::samples(std::size_t line) const { return state_->trace->lines()[line].count; }
Sample Database::sample(std::size_t line, std::uint64_t position) const {
  const auto sample = state_->trace->sample(state_->trace->lines()[line], position);
  return {sample.time_ns, sample.context};
}

}  // namespace fathom::api::hpctoolkit
