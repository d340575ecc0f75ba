#include "io/input_watch.hpp"

#include <atomic>
#include <cctype>

#include "io/mapped_file.hpp"

namespace fathom {

namespace fs = std::filesystem;

namespace {

std::atomic<int> g_in_use{0};

std::string normal(const fs::path& path) {
  std::string text = path.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

}  // namespace

InputsInUse::InputsInUse() { g_in_use.fetch_add(1); }
InputsInUse::~InputsInUse() { g_in_use.fetch_sub(1); }
bool InputsInUse::any() { return g_in_use.load() > 0; }

InputWatch::InputWatch(const fs::path& dataset) : path_(normal(dataset)), losses_(input_losses()) {
  std::error_code unknown;
  if (fs::is_directory(dataset, unknown)) return;
  // x.meta is read with x-0000.bin, x.otf2 with x/0.evt.
  const fs::path file(path_);
  const std::string name = file.filename().string();
  beside_ = (file.parent_path() / name.substr(0, name.find('.', 1))).string();
}

bool InputWatch::owns(const std::string& file) const {
  const std::string name = normal(file);
  if (name.ends_with(".fathom-index")) return false;  // ours: its time says when it was used last
  const auto begins = [&](const std::string& with) { return !with.empty() && name.compare(0, with.size(), with) == 0; };
  if (name == path_ || begins(path_ + "/") || (path_ == "." && name.front() != '/')) return true;
  return begins(beside_) && name.size() > beside_.size() &&
         std::isalnum(static_cast<unsigned char>(name[beside_.size()])) == 0;
}

std::optional<Error> InputWatch::lost(Diagnostics* diagnostics) {
  const std::scoped_lock lock(mutex_);
  if (lost_) return lost_;
  if (input_losses() != losses_) return lost_ = latest_loss();
  // Looking costs a call of the system for each file; where there are many, a twentieth of the time at the most.
  const auto begin = std::chrono::steady_clock::now();
  if (begin < next_look_) return std::nullopt;
  for (const MappedChange& change : changed_mappings([this](const std::string& file) { return owns(file); })) {
    if (change.shorter) return lost_ = loss_of(change.file, change.size);
    if (diagnostics == nullptr || !told_.insert(change.file).second) continue;
    auto told = diagnostics->warn("input.changed", Place::in(change.file),
                                  "was written to while it was open: what was read may be of the old and of the new "
                                  "content; open it again when it is complete");
    if (!told.ok()) return lost_ = std::move(told).error();
  }
  const auto took = std::chrono::steady_clock::now() - begin;
  if (took > std::chrono::microseconds(50)) next_look_ = begin + 21 * took;
  return std::nullopt;
}

}  // namespace fathom
