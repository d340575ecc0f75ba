#include "formats/hpctoolkit/profile_head.hpp"

#include "formats/hpctoolkit/magic.hpp"

namespace fathom::hpctoolkit {

ProfileHead::ProfileHead(Generation generation, const std::vector<std::vector<Identifier>>& tuples)
    : generation_(generation), out_(order_of(generation)) {
  ByteBuffer out(order_of(generation));
  const std::size_t count = tuples.size() + 1;
  if (generation == Generation::meta) {
    records_at_ = 0x40;
    const std::uint64_t infos_end = records_at_ + 48 * count;
    out.put_text(kMetaProfileMagic);
    out.put<std::uint8_t>(kMetaMajor);
    out.put<std::uint8_t>(0);
    out.put<std::uint64_t>(infos_end - 0x30);
    out.put<std::uint64_t>(0x30);
    const std::size_t tuple_section = out.size();
    out.put<std::uint64_t>(0);
    out.put<std::uint64_t>(infos_end);
    out.put<std::uint64_t>(records_at_);
    out.put<std::uint32_t>(static_cast<std::uint32_t>(count));
    out.put<std::uint8_t>(48);
    out.pad_to(infos_end);
    for (std::size_t i = 0; i < tuples.size(); ++i) {
      out.align(8);
      tuple_at_.push_back(out.size());
      out.put<std::uint16_t>(static_cast<std::uint16_t>(tuples[i].size()));
      out.zeros(6);
      for (const Identifier& id : tuples[i]) {
        out.put<std::uint8_t>(static_cast<std::uint8_t>(id.kind));
        out.zeros(1);
        out.put<std::uint16_t>(id.flags);
        out.put<std::uint32_t>(static_cast<std::uint32_t>(id.logical));
        out.put<std::uint64_t>(id.physical);
      }
    }
    out.replace<std::uint64_t>(tuple_section, out.size() - infos_end);
    out.align(4);
  } else {
    records_at_ = kXmlHeaderSize;
    const std::uint64_t infos_size = 52 * count;
    const std::uint64_t tuples_at = records_at_ + (infos_size + 7) / 8 * 8;
    out.put_text(kXmlProfileMagic);
    out.put<std::uint8_t>(1);
    out.put<std::uint8_t>(0);
    out.put<std::uint32_t>(static_cast<std::uint32_t>(count));
    out.put<std::uint16_t>(2);
    out.put<std::uint64_t>(infos_size);
    out.put<std::uint64_t>(records_at_);
    const std::size_t tuple_section = out.size();
    out.put<std::uint64_t>(0);
    out.put<std::uint64_t>(tuples_at);
    out.pad_to(tuples_at);
    const auto put_tuple = [&](const std::vector<Identifier>& tuple) {
      tuple_at_.push_back(out.size());
      out.put<std::uint16_t>(static_cast<std::uint16_t>(tuple.size()));
      for (const Identifier& id : tuple) {
        out.put<std::uint16_t>(static_cast<std::uint16_t>(id.kind | id.flags << 14));
        out.put<std::uint64_t>(id.physical);
        out.put<std::uint64_t>(id.logical);
      }
    };
    put_tuple({Identifier{}});
    for (const auto& tuple : tuples) put_tuple(tuple);
    out.replace<std::uint64_t>(tuple_section, out.size() - tuples_at);
    out.align(8);
  }
  out_ = std::move(out);
}

ByteBuffer ProfileHead::records(const std::vector<ProfileRecord>& records) const {
  ByteBuffer out(order_of(generation_));
  for (std::size_t i = 0; i < records.size(); ++i) {
    const ProfileRecord& record = records[i];
    if (generation_ == Generation::meta) {
      out.put<std::uint64_t>(record.value_count);
      out.put<std::uint64_t>(record.values_at);
      out.put<std::uint32_t>(static_cast<std::uint32_t>(record.context_count));
      out.zeros(4);
      out.put<std::uint64_t>(record.indices_at);
      out.put<std::uint64_t>(i == 0 ? 0 : tuple_at_[i - 1]);
      out.put<std::uint32_t>(i == 0 ? 1 : 0);
      out.zeros(4);
    } else {
      out.put<std::uint64_t>(tuple_at_[i]);
      out.zeros(24);
      out.put<std::uint64_t>(record.value_count);
      out.put<std::uint32_t>(static_cast<std::uint32_t>(record.context_count));
      out.put<std::uint64_t>(record.values_at);
    }
  }
  return out;
}

}  // namespace fathom::hpctoolkit
