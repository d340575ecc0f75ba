// Values as bytes, for processes of one program that run together: no versions, no byte orders. A type of its own says
// what it consists of by a function beside it:
//   template <class Pack> void pack_fields(Pack& pack, Part& part) { pack(part.count, part.names); }
#pragma once

#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/team.hpp"

namespace fathom {

class Packer {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (one(values), ...);
  }
  Parcel take() && { return std::move(bytes_); }

 private:
  void raw(const void* data, std::size_t size) {
    const auto* from = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
  }
  template <class T>
  void one(const T& value) {
    static_assert(!std::is_pointer_v<T> && !std::is_same_v<T, std::string_view>, "means nothing elsewhere");
    if constexpr (std::is_trivially_copyable_v<T>) {
      raw(&value, sizeof value);
    } else {
      pack_fields(*this, const_cast<T&>(value));
    }
  }
  template <class T>
  void list(const T& values) {
    one(static_cast<std::uint64_t>(values.size()));
    using Item = typename T::value_type;
    if constexpr (std::is_trivially_copyable_v<Item>) {
      if (!values.empty()) raw(values.data(), values.size() * sizeof(Item));
    } else {
      for (const Item& value : values) one(value);
    }
  }
  void one(const std::string& text) { list(text); }
  void one(const std::filesystem::path& path) { list(path.native()); }
  template <class T>
  void one(const std::vector<T>& values) {
    list(values);
  }
  template <class T, std::size_t N>
    requires(!std::is_trivially_copyable_v<T>)
  void one(const std::array<T, N>& values) {
    for (const T& value : values) one(value);
  }
  template <class A, class B>
  void one(const std::pair<A, B>& value) {
    one(value.first);
    one(value.second);
  }
  template <class K, class V>
  void one(const std::map<K, V>& values) {
    one(static_cast<std::uint64_t>(values.size()));
    for (const auto& [key, value] : values) {
      one(key);
      one(value);
    }
  }
  template <class T>
    requires(!std::is_trivially_copyable_v<T>)
  void one(const std::optional<T>& value) {
    one(value.has_value());
    if (value) one(*value);
  }

  Parcel bytes_;
};

// Once something is missing nothing more is read; ask ok() at the end.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }
  [[nodiscard]] bool done() const { return bytes_.empty() || !ok_; }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] Result<void> status() const {
    if (!ok_) return Error("what another process of the team sent cannot be understood");
    return {};
  }

 private:
  void raw(void* data, std::size_t size) {
    if (size > bytes_.size()) ok_ = false;
    if (!ok_) return;
    if (size > 0) std::memcpy(data, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }
  std::size_t count(std::size_t least) {
    std::uint64_t many = 0;
    raw(&many, sizeof many);
    if (many > bytes_.size() / least) ok_ = false;
    return ok_ ? static_cast<std::size_t>(many) : 0;
  }
  template <class T>
  void one(T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      raw(&value, sizeof value);
    } else {
      pack_fields(*this, value);
    }
  }
  template <class T>
  void list(T& values) {
    using Item = typename T::value_type;
    if constexpr (std::is_trivially_copyable_v<Item>) {
      values.resize(count(sizeof(Item)));
      raw(values.data(), values.size() * sizeof(Item));
    } else {
      const std::size_t many = count(1);
      values.clear();
      for (std::size_t i = 0; i < many && ok_; ++i) one(values.emplace_back());
    }
  }
  void one(std::string& text) { list(text); }
  void one(std::filesystem::path& path) {
    std::string text;
    list(text);
    path = std::move(text);
  }
  template <class T>
  void one(std::vector<T>& values) {
    list(values);
  }
  template <class T, std::size_t N>
    requires(!std::is_trivially_copyable_v<T>)
  void one(std::array<T, N>& values) {
    for (T& value : values) one(value);
  }
  template <class A, class B>
  void one(std::pair<A, B>& value) {
    one(value.first);
    one(value.second);
  }
  template <class K, class V>
  void one(std::map<K, V>& values) {
    values.clear();
    const std::size_t many = count(1);
    for (std::size_t i = 0; i < many && ok_; ++i) {
      K key{};
      one(key);
      one(values[std::move(key)]);
    }
  }
  template <class T>
    requires(!std::is_trivially_copyable_v<T>)
  void one(std::optional<T>& value) {
    bool has = false;
    one(has);
    value.reset();
    if (has && ok_) one(value.emplace());
  }

  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

template <class T>
Parcel packed(const T& value) {
  Packer packer;
  packer(value);
  return std::move(packer).take();
}

template <class T>
Result<T> unpacked(std::span<const std::byte> bytes) {
  T value{};
  Unpacker unpacker(bytes);
  unpacker(value);
  FATHOM_CHECK(unpacker.status());
  return value;
}

template <class Pack>
void pack_fields(Pack& pack, Place& place) {
  pack(place.file, place.offset, place.line);
}
// What was being done when an error came up is part of its message by then.
inline void pack_fields(Packer& pack, Error& error) {
  pack(error.message(), error.hint(), error.place(), error.kind());
}
inline void pack_fields(Unpacker& unpack, Error& error) {
  std::string message;
  std::string hint;
  Place place;
  ErrorKind kind = ErrorKind::unusable;
  unpack(message, hint, place, kind);
  error = Error(std::move(message), std::move(place)).hint(std::move(hint)).as(kind);
}

}  // namespace fathom
