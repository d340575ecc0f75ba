// Items that need each other not, made by whichever process has time: dealt out by bytes, made in parallel, put
// together in their order. The outcome is the same for any number of processes and threads, since every item is made as
// it would be by one.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/pack.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "base/work.hpp"

namespace fathom {

// Who has the items in the end. Where it is the first process alone, the others are told to leave (elsewhere()).
enum class Holder : std::uint8_t { first, all };

// The part of one process, and what it notices on the way.
class Share {
 public:
  using Weight = std::function<std::uint64_t(std::size_t)>;

  // `weight` may be empty: all alike.
  static Result<Share> of(std::string label, std::size_t count, const Weight& weight);

  [[nodiscard]] const std::vector<std::size_t>& mine() const { return mine_; }
  [[nodiscard]] bool alone() const { return alone_; }
  // make(item) for every item of this process.
  // MT: make runs on several threads at once.
  Result<void> each(const std::function<Result<void>(std::size_t)>& make);
  // What the others noticed becomes known to the holder.
  Result<void> join_diagnostics(Holder holder);

 private:
  std::string label_;
  std::vector<std::size_t> mine_;
  std::uint64_t weight_ = 0;
  bool alone_ = true;
  std::vector<Diagnostic> before_;
};

template <class Pack>
void pack_fields(Pack& pack, Diagnostic& diagnostic) {
  pack(diagnostic.id, diagnostic.severity, diagnostic.place, diagnostic.count, diagnostic.text);
}

// What every process has made, at its holder; the items of `share` are there already.
template <class T>
Result<void> bring_together(Share& share, std::vector<T>& items, Holder holder) {
  Packer packer;
  for (const std::size_t i : share.mine()) {
    packer(std::uint64_t{i}, items[i]);
    if (holder == Holder::first && !team().first()) items[i] = T{};
  }
  FATHOM_TRY(std::vector<Parcel> all, holder == Holder::all ? team().gather_all(std::move(packer).take())
                                                            : team().gather(std::move(packer).take()));
  FATHOM_CHECK(share.join_diagnostics(holder));
  if (holder == Holder::first) FATHOM_CHECK(first_goes_on());
  for (std::size_t process = 0; process < all.size(); ++process) {
    if (process == team().rank()) continue;
    Unpacker unpacker(all[process]);
    while (!unpacker.done()) {
      std::uint64_t i = 0;
      unpacker(i);
      if (unpacker.ok() && i < items.size()) unpacker(items[i]);
    }
    FATHOM_CHECK(unpacker.status());
    all[process] = {};
  }
  return {};
}

// All items; make(item, T&) fills in one of them.
template <class T, class Make>
Result<std::vector<T>> share_out(std::string label, std::size_t count, const Share::Weight& weight, Holder holder,
                                 const Make& make) {
  FATHOM_TRY(Share share, Share::of(std::move(label), count, weight));
  std::vector<T> items(count);
  FATHOM_CHECK(share.each([&](std::size_t i) -> Result<void> { return make(i, items[i]); }));
  if (!share.alone()) FATHOM_CHECK(bring_together(share, items, holder));
  return items;
}

// The same where the first process takes one item after the other, in order: take(item, const T&). One process keeps a
// few at a time only.
template <class T, class Make, class Take>
Result<void> share_and_fold(std::string label, std::size_t count, const Share::Weight& weight, const Make& make,
                            const Take& take) {
  FATHOM_TRY(Share share, Share::of(label, count, weight));
  if (share.alone()) {
    Progress progress(std::move(label), count);
    const std::size_t round = 64 * std::size_t{thread_count()};
    for (std::size_t begin = 0; begin < count; begin += round) {
      std::vector<T> some(std::min(round, count - begin));
      FATHOM_CHECK(parallel_for(some.size(), [&](std::size_t n) -> Result<void> {
        auto made = make(begin + n, some[n]);
        progress.advance();
        return made;
      }));
      for (std::size_t n = 0; n < some.size(); ++n) take(begin + n, std::as_const(some[n]));
    }
    return {};
  }
  std::vector<T> items(count);
  FATHOM_CHECK(share.each([&](std::size_t i) -> Result<void> { return make(i, items[i]); }));
  FATHOM_CHECK(bring_together(share, items, Holder::first));
  for (std::size_t i = 0; i < count; ++i) {
    take(i, std::as_const(items[i]));
    items[i] = T{};
  }
  return {};
}

// Where items give nothing but diagnostics, which all processes know afterwards.
inline Result<void> share_each(std::string label, std::size_t count, const Share::Weight& weight,
                               const std::function<Result<void>(std::size_t)>& make) {
  FATHOM_TRY(Share share, Share::of(std::move(label), count, weight));
  FATHOM_CHECK(share.each(make));
  return share.join_diagnostics(Holder::all);
}

}  // namespace fathom
