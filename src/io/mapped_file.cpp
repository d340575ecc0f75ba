#include "io/mapped_file.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <vector>

#include "base/cancel.hpp"
#include "base/stop.hpp"

namespace fathom {

namespace {

// What the handler may look at while other threads map and unmap: slots that are never freed.
struct Slot {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::size_t> size{0};
  std::atomic<const char*> name{nullptr};
  struct stat was {};  // under g_mutex
};
struct Block {
  std::array<Slot, 1024> slots;
  std::atomic<Block*> next{nullptr};
};

Block g_first;
std::mutex g_mutex;
std::vector<Slot*> g_free;
Block* g_last = nullptr;
std::size_t g_used_of_last = 0;
struct sigaction g_previous {};

// The first loss: the name is that of the slot, which then is not freed any more.
std::atomic<const char*> g_lost_name{nullptr};
std::atomic<std::uint64_t> g_lost_offset{0};
// The latest one, with the name kept in the same way, and how many.
std::atomic<const char*> g_latest_name{nullptr};
std::atomic<std::uint64_t> g_latest_offset{0};
std::atomic<std::uint64_t> g_losses{0};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

void note_loss(const char* name, std::uint64_t offset) {
  const char* none = nullptr;
  if (g_lost_name.compare_exchange_strong(none, name)) g_lost_offset.store(offset);
  g_latest_offset.store(offset);
  g_latest_name.store(name);
  g_losses.fetch_add(1);
}

std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGE_SIZE));
  return size;
}

Error lost_error() { return lost_input().value_or(Error("input is gone")); }

bool replace_by_zeros(std::uintptr_t address) {
  for (Block* block = &g_first; block != nullptr; block = block->next.load(std::memory_order_acquire)) {
    for (Slot& slot : block->slots) {
      const std::uintptr_t begin = slot.begin.load(std::memory_order_acquire);
      const std::size_t size = slot.size.load(std::memory_order_relaxed);
      if (begin == 0 || address < begin || address - begin >= size) continue;
      if (slot.begin.load(std::memory_order_acquire) != begin) continue;  // became another's between the two
      const std::uintptr_t page = address / page_size() * page_size();
      // What lies behind is gone as well, mostly; it is of no use any more either way.
      if (mmap(reinterpret_cast<void*>(page), begin + size - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
               -1, 0) == MAP_FAILED) {
        return false;
      }
      note_loss(slot.name.load(), page - begin);
      stop_with(lost_error);
      return true;
    }
  }
  return false;
}

extern "C" void on_bus_error(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool ours = replace_by_zeros(reinterpret_cast<std::uintptr_t>(info->si_addr));
  errno = saved;
  if (ours) return;
  // Somebody else's: as if we were not there.
  if ((g_previous.sa_flags & SA_SIGINFO) != 0 && g_previous.sa_sigaction != nullptr) {
    g_previous.sa_sigaction(number, info, context);
  } else if (g_previous.sa_handler != SIG_DFL && g_previous.sa_handler != SIG_IGN) {
    g_previous.sa_handler(number);
  } else {
    std::signal(number, SIG_DFL);  // the access is repeated and ends the process
  }
}

void install() {
  (void)page_size();
  g_last = &g_first;
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &g_previous);
}

Slot* take_slot() {
  const std::scoped_lock lock(g_mutex);
  static std::once_flag once;
  std::call_once(once, install);
  if (!g_free.empty()) {
    Slot* const slot = g_free.back();
    g_free.pop_back();
    return slot;
  }
  if (g_used_of_last == g_last->slots.size()) {
    auto* const block = new Block;
    g_last->next.store(block, std::memory_order_release);
    g_last = block;
    g_used_of_last = 0;
  }
  return &g_last->slots[g_used_of_last++];
}

void give_back(Slot* slot) {
  slot->begin.store(0, std::memory_order_release);
  const std::scoped_lock lock(g_mutex);
  const char* const name = slot->name.load();
  // The slot is used up with it: an error may still be made from the name.
  if (g_lost_name.load() == name || g_latest_name.load() == name) return;
  slot->name.store(nullptr);
  std::free(const_cast<char*>(name));
  g_free.push_back(slot);
}

}  // namespace

std::shared_ptr<const void> map_guarded(int descriptor, std::size_t size, const std::string& name, bool shared) {
  void* const address = mmap(nullptr, size, PROT_READ, shared ? MAP_SHARED : MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) return nullptr;
  Slot* const slot = take_slot();
  {
    const std::scoped_lock lock(g_mutex);
    if (shared || fstat(descriptor, &slot->was) != 0) slot->was = {};
    slot->name.store(strdup(name.c_str()));
  }
  slot->size.store(size, std::memory_order_relaxed);
  slot->begin.store(reinterpret_cast<std::uintptr_t>(address), std::memory_order_release);
  return {address, [slot, size](const void* at) {
            give_back(slot);
            munmap(const_cast<void*>(at), size);
          }};
}

std::shared_ptr<const void> lost_bytes(const std::string& name, std::uint64_t offset, std::size_t size) {
  static std::deque<std::string> names;  // an error may be made from one at any time
  {
    const std::scoped_lock lock(g_mutex);
    note_loss(names.emplace_back(name).c_str(), offset);
  }
  stop_with(lost_error);
  void* const address = mmap(nullptr, std::max<std::size_t>(size, 1), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  return {address, [size](const void* at) { munmap(const_cast<void*>(at), std::max<std::size_t>(size, 1)); }};
}

std::optional<Error> lost_input() {
  const char* const name = g_lost_name.load();
  if (name == nullptr) return std::nullopt;
  return loss_of(name, g_lost_offset.load());
}

Error loss_of(const std::string& file, std::uint64_t size) {
  return Error("the file became shorter, or could not be read any more, while it was being read",
               Place::at_offset(file, size))
      .hint("what was there before is not enough: nothing was written; try again when the file is complete");
}

std::uint64_t input_losses() { return g_losses.load(); }

Error latest_loss() {
  const char* const name = g_latest_name.load();
  return loss_of(name == nullptr ? "" : name, g_latest_offset.load());
}

std::vector<MappedChange> changed_mappings(const std::function<bool(const std::string&)>& wanted) {
  std::vector<MappedChange> changed;
  const std::scoped_lock lock(g_mutex);
  for (Block* block = &g_first; block != nullptr; block = block->next.load(std::memory_order_acquire)) {
    for (const Slot& slot : block->slots) {
      const char* const name = slot.name.load();
      if (slot.begin.load(std::memory_order_acquire) == 0 || slot.was.st_ino == 0 || !wanted(name)) continue;
      struct stat now {};
      const struct stat& was = slot.was;
      if (stat(name, &now) != 0 || now.st_dev != was.st_dev || now.st_ino != was.st_ino) continue;
      if (now.st_size == was.st_size && now.st_mtim.tv_sec == was.st_mtim.tv_sec &&
          now.st_mtim.tv_nsec == was.st_mtim.tv_nsec) {
        continue;
      }
      changed.push_back({name, static_cast<std::uint64_t>(now.st_size), now.st_size < was.st_size});
    }
  }
  return changed;
}

void reset_lost_input() {
  g_lost_name.store(nullptr);
  forget_stop();
}

void touch_pages(const void* begin, std::size_t size) {
  const auto* const bytes = static_cast<const volatile char*>(begin);
  for (std::size_t at = 0; at < size; at += page_size()) (void)bytes[at];
  if (size > 0) (void)bytes[size - 1];
}

}  // namespace fathom
