#include "profile/value.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#include "io/byte_cursor.hpp"
#include "profile/absent.hpp"
#include "profile/composite.hpp"
#include "profile/integer_type.hpp"

namespace fathom {

namespace {

double combine(ValueKind kind, double a, double b) {
  if (kind == ValueKind::min_f64) return std::min(a, b);
  if (kind == ValueKind::max_f64) return std::max(a, b);
  return a + b;
}

// Calls f with the way in which doubles of this kind add up, so that loops see it at compile time.
template <class F>
void with_combination(ValueKind kind, F&& f) {
  if (kind == ValueKind::min_f64) return f([](double a, double b) { return std::min(a, b); });
  if (kind == ValueKind::max_f64) return f([](double a, double b) { return std::max(a, b); });
  f([](double a, double b) { return a + b; });
}

// What stands for no value; zero for plain sums.
double absent_real(ValueKind kind) {
  if (kind == ValueKind::min_f64) return DBL_MAX;
  if (kind == ValueKind::max_f64) return -DBL_MAX;
  return 0;
}

bool real_has_value(ValueKind kind, double value) { return kind == ValueKind::f64 || value != absent_real(kind); }

bool packed_has_value(ValueType type, const std::byte* value) {
  return type.kind != ValueKind::atomic || !composite::atomic_is_absent(value);
}

bool all_zero(const std::byte* at, std::size_t size) {
  return std::all_of(at, at + size, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

void put_absent(ValueType type, std::byte* value) {
  if (type.kind == ValueKind::atomic) return composite::put_absent_atomic(value);
  const double real = type.is_double() ? absent_real(type.kind) : 0;
  if (real != 0) {
    std::memcpy(value, &real, sizeof(real));
  } else {
    std::memset(value, 0, type.size());
  }
}

double difference(double a, double b) {
  const double d = a - b;
  if (std::abs(d) < DBL_EPSILON * std::abs(a + b) * 2 || std::abs(d) < DBL_MIN) return 0;
  return d;
}

double Value::scalar() const {
  switch (form_of(type_)) {
    case Form::integer:
      return static_cast<double>(integer_);
    case Form::real:
      return real_has_value(type_.kind, real_) ? real_ : 0;
    case Form::packed:
      return packed_.empty() ? 0 : composite::scalar(type_, packed_.data());
  }
  return 0;
}

bool has_value(const Value& value) { return !value.text().empty(); }

bool Value::is_zero() const {
  switch (form_of(type_)) {
    case Form::integer:
      return integer_ == 0;
    case Form::real:
      return real_ == 0 || !real_has_value(type_.kind, real_);
    case Form::packed:
      return all_zero(packed_.data(), packed_.size()) || !packed_has_value(type_, packed_.data());
  }
  return true;
}

std::string Value::text() const {
  switch (form_of(type_)) {
    case Form::integer:
      return exact_text(integer_);
    case Form::real:
      return real_has_value(type_.kind, real_) ? exact_text(real_) : std::string();
    case Form::packed:
      break;
  }
  std::string out;
  if (packed_.empty() || !packed_has_value(type_, packed_.data())) return out;
  for (const std::string& part : composite::components(type_, packed_.data())) {
    if (!out.empty()) out += ';';
    out += part;
  }
  return out;
}

Cells::Cells(ValueType type, std::size_t rows, std::size_t columns) : type_(type), rows_(rows), columns_(columns) {
  switch (form_of(type)) {
    case Form::integer:
      integers_.resize(rows * columns);
      break;
    case Form::real:
      reals_.resize(rows * columns, absent_real(type.kind));
      break;
    case Form::packed:
      packed_.resize(rows * columns * type.size());
      if (!absent_is_no_value(type)) break;
      for (std::size_t i = 0; i < rows * columns; ++i) put_absent(type, packed_.data() + i * type.size());
      break;
  }
}

std::uint64_t Cells::bytes_needed(ValueType type, std::uint64_t rows, std::uint64_t columns) {
  const std::uint64_t each = form_of(type) == Form::integer ? sizeof(Int128) : type.size();
  unsigned __int128 total = static_cast<unsigned __int128>(rows) * columns * each;
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  return total > kMax ? kMax : static_cast<std::uint64_t>(total);
}

Value Cells::at(std::size_t row, std::size_t column) const {
  const std::size_t i = row * columns_ + column;
  switch (form_of(type_)) {
    case Form::integer:
      return {type_, integers_[i]};
    case Form::real:
      return {type_, reals_[i]};
    case Form::packed:
      break;
  }
  return {type_, Bytes(packed(row, column), type_.size())};
}

double Cells::scalar(std::size_t row, std::size_t column) const {
  const std::size_t i = row * columns_ + column;
  switch (form_of(type_)) {
    case Form::integer:
      return static_cast<double>(integers_[i]);
    case Form::real:
      return real_has_value(type_.kind, reals_[i]) ? reals_[i] : 0;
    case Form::packed:
      break;
  }
  return composite::scalar(type_, packed(row, column));
}

bool has_value(const Cells& cells, std::size_t row, std::size_t column) {
  const ValueType type = cells.type();
  if (form_of(type) == Form::real) return real_has_value(type.kind, cells.reals(row)[column]);
  return form_of(type) != Form::packed || packed_has_value(type, cells.raw(row, column));
}

bool Cells::is_zero(std::size_t row, std::size_t column) const {
  const std::size_t i = row * columns_ + column;
  switch (form_of(type_)) {
    case Form::integer:
      return integers_[i] == 0;
    case Form::real:
      return reals_[i] == 0 || !real_has_value(type_.kind, reals_[i]);
    case Form::packed:
      break;
  }
  return !packed_has_value(type_, packed(row, column)) || all_zero(packed(row, column), type_.size());
}

void Cells::store(std::size_t row, std::size_t first, std::size_t count, const std::byte* values) {
  if (count == 0) return;  // without locations there is no memory to copy to
  switch (form_of(type_)) {
    case Form::integer:
      return with_integer_type(type_.kind, [&](auto zero) {
        using T = decltype(zero);
        Int128* out = integers_.data() + row * columns_ + first;
        for (std::size_t i = 0; i < count; ++i) out[i] = load_unchecked<T>(values + i * sizeof(T));
      });
    case Form::real:
      std::memcpy(reals_.data() + row * columns_ + first, values, count * sizeof(double));
      return;
    case Form::packed:
      std::memcpy(packed(row, first), values, count * type_.size());
      return;
  }
}

void Cells::store(std::size_t row, std::span<const std::uint32_t> columns, const std::byte* values) {
  for (std::size_t i = 0; i < columns.size(); ++i) store(row, columns[i], 1, values + i * type_.size());
}

void Cells::fold(std::size_t row, std::size_t column, const std::byte* values, std::size_t count, bool fresh) {
  const std::size_t at = row * columns_ + column;
  switch (form_of(type_)) {
    case Form::integer:
      return with_integer_type(type_.kind, [&](auto zero) {
        using T = decltype(zero);
        // 2^16 values of up to 32 bits cannot overflow 64 bits: narrow types are summed in machine words.
        using Word = std::conditional_t<sizeof(T) == 8, Int128, std::int64_t>;
        constexpr std::size_t kBlock = std::size_t{1} << 16;
        Int128 sum = 0;
        for (std::size_t begin = 0; begin < count; begin += kBlock) {
          const std::size_t end = std::min(count, begin + kBlock);
          Word part = 0;
          for (std::size_t i = begin; i < end; ++i) part += load_unchecked<T>(values + i * sizeof(T));
          sum += part;
        }
        integers_[at] += sum;
      });
    case Form::real:
      if (type_.kind == ValueKind::f64) {
        // Four running sums: the processor adds several at once, and the result does not depend on the machine.
        double sums[4] = {0, 0, 0, 0};
        std::size_t i = 0;
        for (; i + 4 <= count; i += 4) {
          for (std::size_t k = 0; k < 4; ++k) sums[k] += load_unchecked<double>(values + (i + k) * sizeof(double));
        }
        for (; i < count; ++i) sums[0] += load_unchecked<double>(values + i * sizeof(double));
        reals_[at] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
        return;
      }
      for (std::size_t i = 0; i < count; ++i) {
        const double value = load_unchecked<double>(values + i * sizeof(double));
        reals_[at] = fresh && i == 0 ? value : combine(type_.kind, reals_[at], value);
      }
      return;
    case Form::packed:
      for (std::size_t i = 0; i < count; ++i) {
        const std::byte* value = values + i * type_.size();
        if (fresh && i == 0) {
          std::memcpy(packed(row, column), value, type_.size());
        } else {
          composite::plus(type_, packed(row, column), value);
        }
      }
      return;
  }
}

void Cells::add_row(std::size_t to, const Cells& other, std::size_t from) {
  const std::size_t a = to * columns_;
  const std::size_t b = from * columns_;
  switch (form_of(type_)) {
    case Form::integer:
      for (std::size_t i = 0; i < columns_; ++i) integers_[a + i] += other.integers_[b + i];
      return;
    case Form::real:
      return with_combination(type_.kind, [&](auto plus) {
        for (std::size_t i = 0; i < columns_; ++i) reals_[a + i] = plus(reals_[a + i], other.reals_[b + i]);
      });
    case Form::packed:
      for (std::size_t i = 0; i < columns_; ++i) composite::plus(type_, packed(to, i), other.packed(from, i));
      return;
  }
}

void Cells::copy_row(std::size_t to, const Cells& other, std::size_t from) {
  if (columns_ == 0) return;
  const std::size_t a = to * columns_;
  const std::size_t b = from * columns_;
  switch (form_of(type_)) {
    case Form::integer:
      std::copy_n(other.integers_.begin() + static_cast<std::ptrdiff_t>(b), columns_,
                  integers_.begin() + static_cast<std::ptrdiff_t>(a));
      return;
    case Form::real:
      std::copy_n(other.reals_.begin() + static_cast<std::ptrdiff_t>(b), columns_,
                  reals_.begin() + static_cast<std::ptrdiff_t>(a));
      return;
    case Form::packed:
      std::memcpy(packed(to, 0), other.packed(from, 0), columns_ * type_.size());
      return;
  }
}

void Cells::add_cell(std::size_t row, std::size_t column, const Cells& other, std::size_t from_row,
                     std::size_t from_column, bool fresh) {
  const std::size_t a = row * columns_ + column;
  const std::size_t b = from_row * other.columns_ + from_column;
  switch (form_of(type_)) {
    case Form::integer:
      integers_[a] = fresh ? other.integers_[b] : integers_[a] + other.integers_[b];
      return;
    case Form::real:
      reals_[a] = fresh ? other.reals_[b] : combine(type_.kind, reals_[a], other.reals_[b]);
      return;
    case Form::packed:
      if (fresh) {
        std::memcpy(packed(row, column), other.packed(from_row, from_column), type_.size());
      } else {
        composite::plus(type_, packed(row, column), other.packed(from_row, from_column));
      }
      return;
  }
}

void Cells::subtract_row(std::size_t to, const Cells& other, std::size_t from) {
  const std::size_t a = to * columns_;
  const std::size_t b = from * columns_;
  switch (form_of(type_)) {
    case Form::integer:
      for (std::size_t i = 0; i < columns_; ++i) integers_[a + i] -= other.integers_[b + i];
      return;
    case Form::real:
      // What is left of a minimum when a part is taken out is at least the part's: the bounds swap roles.
      for (std::size_t i = 0; i < columns_; ++i) {
        double& x = reals_[a + i];
        const double y = other.reals_[b + i];
        if (!real_has_value(type_.kind, x) || !real_has_value(type_.kind, y)) continue;
        if (type_.kind == ValueKind::min_f64) {
          x = std::max(x, y);
        } else if (type_.kind == ValueKind::max_f64) {
          x = std::min(x, y);
        } else {
          x = difference(x, y);
        }
      }
      return;
    case Form::packed:
      for (std::size_t i = 0; i < columns_; ++i) composite::minus(type_, packed(to, i), other.packed(from, i));
      return;
  }
}

std::size_t Cells::clamp_row(std::size_t row) {
  if (!type_.is_unsigned()) return 0;
  std::size_t clamped = 0;
  for (Int128& value : integers(row)) {
    if (value < 0) {
      value = 0;
      ++clamped;
    }
  }
  return clamped;
}

bool pack_row(const Cells& cells, std::size_t row, std::span<std::byte> out) {
  const ValueType type = cells.type();
  bool fits = true;
  for (std::size_t i = 0; i < cells.columns(); ++i) {
    std::byte* at = out.data() + i * type.size();
    switch (form_of(type)) {
      case Form::integer:
        with_integer_type(type.kind, [&](auto zero) {
          using T = decltype(zero);
          const Int128 wide = cells.at(row, i).integer();
          const auto narrow = static_cast<T>(wide);
          if (static_cast<Int128>(narrow) != wide) fits = false;
          std::memcpy(at, &narrow, sizeof(T));
        });
        break;
      case Form::real: {
        const double value = cells.reals(row)[i];
        std::memcpy(at, &value, sizeof(value));
        break;
      }
      case Form::packed:
        std::memcpy(at, cells.raw(row, i), type.size());
        break;
    }
  }
  return fits;
}

}  // namespace fathom
