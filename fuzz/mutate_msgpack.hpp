// Changes one item of MessagePack data, so that what stands around it stays sound.
#pragma once

#define MSGPACK_NO_BOOST

#include <array>
#include <bit>
#include <limits>
#include <msgpack.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "choices.hpp"

namespace fathom {

class ChangedItems {
 public:
  // Nothing where the bytes are no MessagePack.
  static std::optional<std::string> of(std::string_view bytes, unsigned seed) {
    ChangedItems changed(seed);
    msgpack::object_handle held;
    std::size_t end = 0;
    try {
      const msgpack::unpack_limit limit(kMost, kMost, bytes.size(), bytes.size(), bytes.size(), kDeepest);
      msgpack::unpack(held, bytes.data(), bytes.size(), end, nullptr, nullptr, limit);
    } catch (const std::exception&) {
      return std::nullopt;
    }
    msgpack::object root = held.get();
    changed.collect(root);
    changed.change(*held.zone());
    msgpack::sbuffer out;
    msgpack::packer<msgpack::sbuffer> packer(out);
    pack(packer, out, root);
    return std::string(out.data(), out.size()).append(bytes.substr(end));
  }

 private:
  static constexpr std::size_t kMost = 10000;
  static constexpr std::size_t kDeepest = 100;

  explicit ChangedItems(unsigned seed) : choices_(seed) {}

  // As the library does, but for real numbers: it makes integers of them, by casts that need not be defined.
  static void pack(msgpack::packer<msgpack::sbuffer>& packer, msgpack::sbuffer& out, const msgpack::object& item) {
    if (item.type == msgpack::type::ARRAY) {
      packer.pack_array(item.via.array.size);
      for (std::uint32_t i = 0; i < item.via.array.size; ++i) pack(packer, out, item.via.array.ptr[i]);
    } else if (item.type == msgpack::type::MAP) {
      packer.pack_map(item.via.map.size);
      for (std::uint32_t i = 0; i < item.via.map.size; ++i) {
        pack(packer, out, item.via.map.ptr[i].key);
        pack(packer, out, item.via.map.ptr[i].val);
      }
    } else if (item.type == msgpack::type::FLOAT32 || item.type == msgpack::type::FLOAT64) {
      const auto bits = std::bit_cast<std::uint64_t>(item.via.f64);
      std::array<char, 9> bytes{'\xCB'};
      for (std::size_t i = 1; i < bytes.size(); ++i) bytes[i] = static_cast<char>(bits >> (64 - 8 * i));
      out.write(bytes.data(), bytes.size());
    } else {
      packer.pack(item);
    }
  }

  void collect(msgpack::object& item) {
    if (items_.size() >= kMost) return;
    items_.push_back(&item);
    if (item.type == msgpack::type::ARRAY) {
      for (std::uint32_t i = 0; i < item.via.array.size; ++i) collect(item.via.array.ptr[i]);
    } else if (item.type == msgpack::type::MAP) {
      for (std::uint32_t i = 0; i < item.via.map.size; ++i) {
        collect(item.via.map.ptr[i].key);
        collect(item.via.map.ptr[i].val);
      }
    }
  }

  void change(msgpack::zone& zone) {
    msgpack::object& item = *items_[choices_.below(items_.size())];
    const bool list = item.type == msgpack::type::ARRAY && item.via.array.size > 0;
    const bool map = item.type == msgpack::type::MAP && item.via.map.size > 0;
    switch (choices_.below(4)) {
      case 0:  // as somewhere else; never a part of itself, since it is copied
        item = msgpack::object(*items_[choices_.below(items_.size())], zone);
        return;
      case 1:
        if (list) remove(item.via.array.ptr, item.via.array.size);
        if (map) remove(item.via.map.ptr, item.via.map.size);
        if (list || map) return;
        break;
      case 2:
        if (list) repeat(item.via.array.ptr, item.via.array.size, zone);
        if (map) repeat(item.via.map.ptr, item.via.map.size, zone);
        if (list || map) return;
        break;
      default:
        break;
    }
    item = value(zone);
  }

  template <class Element>
  void remove(Element* elements, std::uint32_t& size) {
    const std::size_t at = choices_.below(size);
    for (std::size_t i = at; i + 1 < size; ++i) elements[i] = elements[i + 1];
    --size;
  }
  template <class Element>
  void repeat(Element*& elements, std::uint32_t& size, msgpack::zone& zone) {
    auto* const longer = static_cast<Element*>(zone.allocate_align(sizeof(Element) * (size + 1), alignof(Element)));
    std::copy(elements, elements + size, longer);
    longer[size] = elements[choices_.below(size)];
    elements = longer;
    ++size;
  }

  // The edges of numbers, and items of every type.
  msgpack::object value(msgpack::zone& zone) {
    static constexpr std::array<std::int64_t, 8> kWhole = {0,
                                                           1,
                                                           -1,
                                                           127,
                                                           65536,
                                                           4294967296,
                                                           std::numeric_limits<std::int64_t>::max(),
                                                           std::numeric_limits<std::int64_t>::min()};
    static constexpr std::array<double, 5> kReal = {0.5, -1e308, 1e308, std::numeric_limits<double>::infinity(),
                                                    std::numeric_limits<double>::quiet_NaN()};
    static const std::array<std::string, 4> kTexts = {"", "->", "name", std::string("a\0b\xFF", 4)};
    switch (choices_.below(8)) {
      case 0:
        return msgpack::object(std::numeric_limits<std::uint64_t>::max());
      case 1:
        return msgpack::object(kReal[choices_.below(kReal.size())]);
      case 2:
        return msgpack::object(kTexts[choices_.below(kTexts.size())], zone);
      case 3:
        return msgpack::object(choices_.below(2) == 0);
      case 4:
        return msgpack::object();
      case 5:
        return msgpack::object(std::vector<int>(), zone);
      default:
        return msgpack::object(kWhole[choices_.below(kWhole.size())]);
    }
  }

  Choices choices_;
  std::vector<msgpack::object*> items_;
};

}  // namespace fathom
