#include "profile/column_sums.hpp"

#include <algorithm>
#include <limits>

#include "io/byte_cursor.hpp"
#include "profile/integer_type.hpp"

namespace fathom {

namespace {

constexpr std::uint64_t kMostInWord = std::numeric_limits<std::int64_t>::max();

// No value is further from zero than this: all their bits together, those of negative ones turned over.
template <class T>
std::uint64_t bound_of(const std::byte* values, std::size_t count) {
  using Bits = std::make_unsigned_t<T>;
  Bits bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const T value = load_unchecked<T>(values + i * sizeof(T));
    bits |= static_cast<Bits>(value < 0 ? ~value : value);
  }
  return std::uint64_t{bits} + (std::is_signed_v<T> ? 1 : 0);
}

}  // namespace

ColumnSums::ColumnSums(Cells& table, std::size_t row) : table_(table), row_(row) {
  if (form_of(table.type()) == Form::integer) words_.resize(table.columns());
}

void ColumnSums::add(std::size_t first, std::size_t count, const std::byte* values) {
  if (form_of(table_.type()) == Form::integer) {
    return with_integer_type(table_.type().kind,
                             [&](auto zero) { add_integers<decltype(zero)>(first, count, values); });
  }
  double* out = table_.reals(row_).data() + first;
  for (std::size_t i = 0; i < count; ++i) out[i] += load_unchecked<double>(values + i * sizeof(double));
}

template <class T>
void ColumnSums::add_integers(std::size_t first, std::size_t count, const std::byte* values) {
  const std::uint64_t bound = bound_of<T>(values, count);
  if (bound > kMostInWord - bound_) finish();
  if (bound > kMostInWord) {
    Int128* out = table_.integers(row_).data() + first;
    for (std::size_t i = 0; i < count; ++i) out[i] += load_unchecked<T>(values + i * sizeof(T));
    return;
  }
  bound_ += bound;
  std::int64_t* out = words_.data() + first;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] += static_cast<std::int64_t>(load_unchecked<T>(values + i * sizeof(T)));
  }
}

void ColumnSums::finish() {
  if (words_.empty()) return;
  const std::span<Int128> out = table_.integers(row_);
  for (std::size_t i = 0; i < words_.size(); ++i) out[i] += words_[i];
  std::fill(words_.begin(), words_.end(), 0);
  bound_ = 0;
}

}  // namespace fathom
