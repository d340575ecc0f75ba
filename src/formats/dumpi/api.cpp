// The public reader of include/fathom/dumpi.hpp.
#include <algorithm>

#include "formats/dumpi/resolve.hpp"

namespace fathom::dumpi {

struct TraceSet::State {
  std::shared_ptr<RankSet> ranks;
  std::shared_ptr<const Resolution> resolution;
  std::string error;
};

struct CallReader::State {
  std::shared_ptr<RankSet> ranks;
  std::shared_ptr<const Resolution> resolution;
  std::optional<Tables> tables;
  const File* file = nullptr;
  std::shared_ptr<const Blob> held;
  const std::byte* at = nullptr;
  const std::byte* end = nullptr;
  std::uint64_t number = 0;
  bool finalized = false;
  Rollover rollover;
  Call call;
  std::string error;
};

TraceSet::TraceSet() = default;
TraceSet::TraceSet(TraceSet&&) noexcept = default;
TraceSet& TraceSet::operator=(TraceSet&&) noexcept = default;
TraceSet::~TraceSet() = default;
CallReader::CallReader() = default;
CallReader::CallReader(CallReader&&) noexcept = default;
CallReader& CallReader::operator=(CallReader&&) noexcept = default;
CallReader::~CallReader() = default;

TraceSet TraceSet::open(const std::string& path) {
  auto state = std::make_shared<State>();
  const Work work = make_work();
  auto ranks = [&]() -> Result<std::shared_ptr<RankSet>> {
    FATHOM_TRY(const Source source, Source::at(path, work));
    return RankSet::open(source, work);
  }();
  if (ranks) {
    state->ranks = *std::move(ranks);
  } else {
    state->error = ranks.error().text();
  }
  TraceSet set;
  set.state_ = std::move(state);
  return set;
}

const std::string& TraceSet::error() const { return state_->error; }
std::size_t TraceSet::ranks() const { return state_->ranks == nullptr ? 0 : state_->ranks->world_size(); }

bool TraceSet::has(std::size_t rank) const {
  return rank < ranks() && state_->ranks->find(static_cast<std::uint32_t>(rank)) >= 0;
}

CallReader TraceSet::reader(std::size_t rank) const {
  CallReader reader;
  reader.state_ = std::make_unique<CallReader::State>();
  CallReader::State& state = *reader.state_;
  if (!has(rank)) {
    state.error = "there is no file of this rank";
    return reader;
  }
  state.ranks = state_->ranks;
  const int index = state.ranks->find(static_cast<std::uint32_t>(rank));
  state.file = &state.ranks->files()[static_cast<std::size_t>(index)].file;
  state.held = state.file->hold();
  state.at = state.held->bytes().data() + state.file->stream_begin();
  state.end = state.held->bytes().data() + state.file->stream_limit();
  state.resolution = state_->resolution;
  if (state.resolution != nullptr) {
    state.tables.emplace(*state.file, *state.resolution, static_cast<std::size_t>(index),
                         static_cast<std::uint32_t>(rank));
  }
  return reader;
}

bool TraceSet::resolve() {
  if (state_->ranks == nullptr) return false;
  auto resolution = [&]() -> Result<Resolution> {
    FATHOM_TRY(const auto* scans, state_->ranks->scans());
    return dumpi::resolve(*state_->ranks, *scans);
  }();
  if (!resolution) {
    state_->error = resolution.error().text();
    return false;
  }
  state_->resolution = std::make_shared<const Resolution>(*std::move(resolution));
  return true;
}

std::int64_t CallReader::size_of(std::int64_t datatype) const {
  if (state_ == nullptr || !state_->tables) return 0;
  return state_->tables->size_of(datatype);
}

std::int32_t CallReader::world_rank(std::int64_t communicator, std::int64_t rank) const {
  static_assert(kNobody == kNoPeer && kNotKnown == kUnknownPeer);
  if (state_ == nullptr || !state_->tables) return kNotKnown;
  return state_->tables->world_rank(state_->tables->communicator(communicator), rank);
}

std::int32_t CallReader::size_of_communicator(std::int64_t communicator) const {
  return state_ == nullptr || !state_->tables ? 0 : state_->tables->communicator(communicator).size;
}

std::int32_t CallReader::global_id(std::int64_t communicator) const {
  return state_ == nullptr || !state_->tables ? -1 : state_->tables->communicator(communicator).global;
}

std::int64_t TraceSet::datatype_size(std::size_t rank, std::int64_t datatype) const {
  if (!has(rank)) return 0;
  const int index = state_->ranks->find(static_cast<std::uint32_t>(rank));
  return state_->ranks->files()[static_cast<std::size_t>(index)].file.datatype_size(datatype);
}

std::vector<std::string> TraceSet::counter_names(std::size_t rank) const {
  if (!has(rank)) return {};
  const int index = state_->ranks->find(static_cast<std::uint32_t>(rank));
  return state_->ranks->files()[static_cast<std::size_t>(index)].file.sections().counters;
}

const std::string& CallReader::error() const {
  static const std::string kNone;
  return state_ == nullptr ? kNone : state_->error;
}

const Call* CallReader::next() {
  if (state_ == nullptr || state_->file == nullptr || !state_->error.empty()) return nullptr;
  State& state = *state_;
  const File& file = *state.file;
  const auto left = state.end - state.at;
  if (left >= 2) {
    const auto id = detail::load<std::uint16_t>(state.at);
    if (id == kEndOfStream || (id == ids::kSend && state.finalized)) return nullptr;
  } else if (left == 0 || state.finalized) {
    if (file.cut_off()) state.error = "the trace ends without an end mark: the job was killed";
    return nullptr;
  }
  const auto offset = static_cast<std::uint64_t>(state.at - state.held->bytes().data());
  if (file.decoder().decode(state.at, state.end, state.call) != Decoder::Outcome::ok) {
    state.error = file.place(offset).text() + (file.cut_off() ? ": the last record is not whole: the job was killed"
                                                              : ": this record cannot be read");
    return nullptr;
  }
  state.call.number = state.number++;
  state.call.offset = offset;
  state.rollover.apply(state.call, file.cpu_zero_ns(), file.wall_zero_ns());
  state.at += state.call.size;
  state.finalized = state.finalized || state.call.id == ids::kFinalize;
  if (state.tables) state.tables->advance(state.call.number);
  return &state.call;
}

}  // namespace fathom::dumpi
