// The values of one metric and location while a profile is built: added up as they come.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "defs/value_type.hpp"

namespace fathom {

// Values of one node add up in the order in which they come, whichever way they are kept. Columns with few values keep
// a list; one with values for many of the nodes has a place for each.
class ValueColumn {
 public:
  struct Entry {
    std::uint32_t node;
    std::uint64_t bits;
  };

  // `nodes` is how many there are by now.
  void add(ValueKind kind, std::uint32_t node, std::uint64_t bits, std::size_t nodes) {
    if (node < sums_.size()) {
      add_dense(kind, node, bits);
      return;
    }
    list_.push_back({node, bits});
    if (list_.size() >= kFewest && list_.size() * 2 >= nodes) make_dense(kind, nodes);
  }

  [[nodiscard]] std::uint64_t bytes() const { return list_.size() * sizeof(Entry) + sums_.size() * 9; }
  // How many sums of integers had to be cut so far.
  [[nodiscard]] std::uint64_t cuts() const { return cuts_; }

  // keep(number, bits) of all nodes that have a value (sums: may have), by ascending number; `numbers` has those of
  // all nodes, and `nodes` the nodes of all numbers.
  template <class Number, class Keep>
  void each(ValueKind kind, const std::vector<Number>& numbers, const std::vector<std::uint32_t>& nodes, Keep&& keep) {
    if (sums_.empty() && list_.size() < numbers.size() / 4) {
      each_sorted(kind, numbers, keep);
      return;
    }
    make_dense(kind, numbers.size());
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (is_sum(kind) ? sums_[nodes[i]] != 0 : met_[nodes[i]] != 0) keep(i, sums_[nodes[i]]);
    }
  }

 private:
  static constexpr std::size_t kFewest = 64;

  // Sums need no mark: nothing is as good as zero.
  static bool is_sum(ValueKind kind) { return kind == ValueKind::i64 || kind == ValueKind::f64; }
  void add_dense(ValueKind kind, std::uint32_t node, std::uint64_t bits) {
    if (is_sum(kind)) {
      combine(kind, sums_[node], bits);
    } else if (met_[node] == 0) {
      met_[node] = 1;
      sums_[node] = bits;
    } else {
      combine(kind, sums_[node], bits);
    }
  }

  // What is in the list belongs to nodes that had no place yet.
  void make_dense(ValueKind kind, std::size_t nodes) {
    sums_.resize(std::max(nodes, sums_.size()));
    if (!is_sum(kind)) met_.resize(sums_.size());
    for (const Entry& entry : list_) add_dense(kind, entry.node, entry.bits);
    list_.clear();
  }

  template <class Number, class Keep>
  void each_sorted(ValueKind kind, const std::vector<Number>& numbers, Keep&& keep) {
    for (Entry& entry : list_) entry.node = numbers[entry.node].value;
    const auto before = [](const Entry& a, const Entry& b) { return a.node < b.node; };
    if (!std::is_sorted(list_.begin(), list_.end(), before)) std::stable_sort(list_.begin(), list_.end(), before);
    for (std::size_t at = 0; at < list_.size();) {
      const std::uint32_t node = list_[at].node;
      std::uint64_t bits = list_[at].bits;
      for (++at; at < list_.size() && list_[at].node == node; ++at) combine(kind, bits, list_[at].bits);
      keep(node, bits);
    }
  }

  void combine(ValueKind kind, std::uint64_t& into, std::uint64_t more) {
    if (kind != ValueKind::i64) {
      const auto a = std::bit_cast<double>(into);
      const auto b = std::bit_cast<double>(more);
      into = std::bit_cast<std::uint64_t>(kind == ValueKind::min_f64   ? std::min(a, b)
                                          : kind == ValueKind::max_f64 ? std::max(a, b)
                                                                       : a + b);
      return;
    }
    const auto before = static_cast<std::int64_t>(into);
    std::int64_t sum = 0;
    if (__builtin_add_overflow(before, static_cast<std::int64_t>(more), &sum)) [[unlikely]] {
      sum = before < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
      ++cuts_;
    }
    into = static_cast<std::uint64_t>(sum);
  }

  std::vector<Entry> list_;
  std::vector<std::uint64_t> sums_;  // by node
  std::vector<std::uint8_t> met_;    // the same, where values are no sums
  std::uint64_t cuts_ = 0;
};

}  // namespace fathom
