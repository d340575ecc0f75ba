// tar archives, as lenient in reading as the profiles of twenty years need, and strict in writing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/work.hpp"
#include "io/blob.hpp"
#include "io/output_file.hpp"

namespace fathom {

struct TarMember {
  std::string name;
  Blob content;  // named "archive(member)"
  std::uint64_t header_offset = 0;
};

// Regular files of an archive in file order; directories, links and devices are left out.
class TarArchive {
 public:
  static bool looks_like(Bytes bytes);
  static Result<TarArchive> read(const Blob& blob, const Work& work);

  [[nodiscard]] const std::vector<TarMember>& members() const { return members_; }
  // The last member of that name: it is the one that counts.
  [[nodiscard]] const TarMember* find(std::string_view name) const;

 private:
  std::vector<TarMember> members_;
};

// How the room behind a member is filled up.
enum class TarPadding {
  standard,
  // One more block than needed when a size is a multiple of 512, holding the header of an empty member: readers that
  // expect that block (the Cube family) skip it, all others see an empty file.
  slack_block,
};

// Writes members one after another; a member's size need not be known when it begins. Output is deterministic.
class TarWriter {
 public:
  TarWriter(OutputFile& out, TarPadding padding) : out_(out), padding_(padding) {}

  void add(std::string_view name, Bytes content);
  // `may_reach` is an upper bound of its size: above 8 GiB the size needs a pax header, for which room is left here.
  void begin(std::string_view name, std::uint64_t may_reach = 0);
  void write(Bytes bytes) { out_.write(bytes); }
  void end();
  // The two closing zero blocks.
  void finish();

 private:
  void fill_reserved(std::uint64_t size);

  OutputFile& out_;
  TarPadding padding_;
  std::string name_;
  std::uint64_t header_at_ = 0;
  bool pax_reserved_ = false;
};

}  // namespace fathom
