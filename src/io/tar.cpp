#include "io/tar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace fathom {

namespace {

constexpr std::size_t kBlock = 512;

// Header fields: offset and width (POSIX ustar).
struct Field {
  std::size_t at;
  std::size_t width;
};
constexpr Field kName{0, 100};
constexpr Field kMode{100, 8};
constexpr Field kOwner{108, 8};
constexpr Field kGroup{116, 8};
constexpr Field kSize{124, 12};
constexpr Field kTime{136, 12};
constexpr Field kChecksum{148, 8};
constexpr Field kType{156, 1};
constexpr Field kMagic{257, 5};
constexpr Field kVersion{263, 2};
constexpr Field kOwnerName{265, 32};
constexpr Field kGroupName{297, 32};
constexpr Field kPrefix{345, 155};

// Largest size that eleven octal digits hold.
constexpr std::uint64_t kMaxOctalSize = 077777777777;

// From this size on the writers of the Cube family announce a member's size in a pax header.
constexpr std::uint64_t kPaxThreshold = 0x1FFFFFFFF;

std::string_view field_text(std::string_view header, Field field) {
  std::string_view text = header.substr(field.at, field.width);
  return text.substr(0, text.find('\0'));
}

std::optional<std::uint64_t> octal(std::string_view text) {
  text = trim(text.substr(0, text.find('\0')));
  if (text.empty()) return 0;
  return parse_integer<std::uint64_t>(text, 8);
}

// A size: octal digits, or base 256 when the first bit is set (GNU).
std::optional<std::uint64_t> number_field(std::string_view header, Field field) {
  const std::string_view raw = header.substr(field.at, field.width);
  const auto first = static_cast<unsigned char>(raw[0]);
  if ((first & 0x80) == 0) return octal(raw);
  if (first != 0x80) return std::nullopt;  // negative, or larger than 64 bits by far
  std::uint64_t value = 0;
  for (const char c : raw.substr(1)) {
    if (value >> 56 != 0) return std::nullopt;
    value = value << 8 | static_cast<unsigned char>(c);
  }
  return value;
}

// Sum of all header bytes with the checksum field taken as blanks.
std::uint64_t checksum(std::string_view header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const bool own = i >= kChecksum.at && i < kChecksum.at + kChecksum.width;
    sum += own ? static_cast<std::uint64_t>(' ') : static_cast<unsigned char>(header[i]);
  }
  return sum;
}

bool all_zero(std::string_view block) {
  return std::all_of(block.begin(), block.end(), [](char c) { return c == '\0'; });
}

struct PaxOverrides {
  std::optional<std::uint64_t> size;
  std::optional<std::string> path;
};

// Records "LENGTH KEY=VALUE\n", LENGTH counting the whole record.
Result<PaxOverrides> parse_pax(const Blob& content) {
  PaxOverrides out;
  std::string_view text = content.text();
  std::size_t at = 0;
  while (at < text.size() && text[at] != '\0') {
    const auto bad = [&] { return Error("pax header record is malformed", content.place(at)); };
    const auto blank = text.find(' ', at);
    if (blank == std::string_view::npos) return bad();
    const auto length = parse_integer<std::uint64_t>(text.substr(at, blank - at));
    if (!length || *length > text.size() - at || *length <= blank - at + 1) return bad();
    std::string_view record = text.substr(blank + 1, *length - (blank - at) - 1);
    if (!record.ends_with('\n')) return bad();
    record.remove_suffix(1);
    const auto equals = record.find('=');
    if (equals == std::string_view::npos) return bad();
    const auto key = record.substr(0, equals);
    const auto value = record.substr(equals + 1);
    if (key == "size") {
      out.size = parse_integer<std::uint64_t>(value);
      if (!out.size) return bad();
    } else if (key == "path") {
      out.path = std::string(value);
    }
    at += *length;
  }
  return out;
}

}  // namespace

bool TarArchive::looks_like(Bytes bytes) {
  return bytes.size() >= kBlock && as_text(bytes).substr(kMagic.at, kMagic.width) == "ustar";
}

Result<TarArchive> TarArchive::read(const Blob& blob, const Work& work) {
  TarArchive archive;
  PaxOverrides pending;
  const std::string_view text = blob.text();
  std::uint64_t at = 0;
  while (at + kBlock <= text.size()) {
    const std::string_view header = text.substr(at, kBlock);
    // Zero blocks close an archive, but Cube writers also leave one behind members of 512·n bytes: go on to the end.
    if (all_zero(header)) {
      at += kBlock;
      continue;
    }
    if (field_text(header, kMagic) != "ustar" && header.substr(kMagic.at, kMagic.width) != "ustar") {
      return Error("tar header expected: no 'ustar' mark", blob.place(at + kMagic.at));
    }
    const auto stored_sum = octal(header.substr(kChecksum.at, kChecksum.width));
    if (stored_sum != checksum(header)) {
      FATHOM_CHECK(work->diagnostics.warn(
          "tar.checksum", blob.place(at + kChecksum.at),
          fmt::format("tar header of '{}': checksum does not match its bytes (CubeW 4.8.0 writes such headers)",
                      field_text(header, kName))));
    }
    auto size = number_field(header, kSize);
    if (pending.size) size = pending.size;
    if (!size) {
      return Error(fmt::format("tar header of '{}': size field is not a number", field_text(header, kName)),
                   blob.place(at + kSize.at));
    }
    const std::uint64_t content_at = at + kBlock;
    const std::uint64_t room = text.size() - content_at;
    if (*size > room) {
      return Error(fmt::format("tar member '{}' of {} bytes does not fit: {} bytes left in the file",
                               field_text(header, kName), *size, room),
                   blob.place(at + kSize.at));
    }
    const char type = header[kType.at];
    std::string name(field_text(header, kName));
    if (header[kVersion.at - 1] == '\0') {  // POSIX magic: the prefix field is one
      const auto prefix = field_text(header, kPrefix);
      if (!prefix.empty()) name = std::string(prefix) + "/" + name;
    }
    if (pending.path) name = *pending.path;

    const auto content = [&](const std::string& shown) {
      return blob.member(fmt::format("{}({})", blob.name(), shown), content_at, *size);
    };
    if (type == 'x') {
      FATHOM_TRY(pending, parse_pax(content(name)));
    } else if (type == 'L') {
      const Blob long_name = content(name);
      pending.path = std::string(long_name.text().substr(0, long_name.text().find('\0')));
    } else {
      pending = {};
      if (type == '0' || type == '\0' || type == '7') archive.members_.push_back({name, content(name), at});
    }
    at = content_at + (*size + kBlock - 1) / kBlock * kBlock;
  }
  if (at < text.size() && !all_zero(text.substr(at))) {
    return Error(fmt::format("tar header needs {} bytes, {} left", kBlock, text.size() - at), blob.place(at));
  }
  return archive;
}

const TarMember* TarArchive::find(std::string_view name) const {
  const auto found =
      std::find_if(members_.rbegin(), members_.rend(), [&](const TarMember& m) { return m.name == name; });
  return found == members_.rend() ? nullptr : &*found;
}

namespace {

using Header = std::array<char, kBlock>;

void put(Header& header, Field field, std::string_view text) {
  std::copy_n(text.data(), std::min(text.size(), field.width), header.data() + field.at);
}

Header make_header(std::string_view name, std::uint64_t size, char type) {
  Header header{};
  put(header, kName, name);
  put(header, kMode, "0000600");
  put(header, kOwner, "0000000");
  put(header, kGroup, "0000000");
  put(header, kSize, fmt::format("{:011o}", size & kMaxOctalSize));
  put(header, kTime, "00000000000");
  put(header, kType, std::string_view(&type, 1));
  put(header, kMagic, "ustar");
  put(header, kVersion, "00");
  put(header, kOwnerName, "nouser");
  put(header, kGroupName, "users");
  put(header, kChecksum, fmt::format("{:06o}", checksum({header.data(), header.size()})));
  header[kChecksum.at + 6] = '\0';
  header[kChecksum.at + 7] = ' ';
  return header;
}

void write_header(OutputFile& out, const Header& header) { out.write(std::string_view(header.data(), header.size())); }

void pad(OutputFile& out, std::uint64_t size) {
  static constexpr std::array<char, kBlock> kZeros{};
  if (size % kBlock != 0) out.write(std::string_view(kZeros.data(), kBlock - size % kBlock));
}

}  // namespace

void TarWriter::begin(std::string_view name, std::uint64_t may_reach) {
  name_ = name;
  pax_reserved_ = may_reach >= kPaxThreshold;
  if (name.size() > kName.width) {  // GNU long name, understood everywhere
    write_header(out_, make_header("././@LongLink", name.size() + 1, 'L'));
    out_.write(name);
    out_.write(std::string_view("\0", 1));
    pad(out_, name.size() + 1);
  }
  if (pax_reserved_) {
    write_header(out_, Header{});
    write_header(out_, Header{});
  }
  header_at_ = out_.offset();
  write_header(out_, make_header(name_, 0, '0'));
}

void TarWriter::fill_reserved(std::uint64_t size) {
  std::string record;
  if (size >= kPaxThreshold) {
    const std::string body = fmt::format(" size={}\n", size);
    std::size_t length = body.size() + 2;  // a record of two-digit length, which this always is
    record = fmt::format("{}{}", length, body);
  } else {
    record = "\n";
  }
  const Header header = size >= kPaxThreshold ? make_header("PaxHeader/" + name_, record.size(), 'x')
                                              : make_header(".slack", record.size(), '0');
  out_.overwrite(header_at_ - 2 * kBlock, as_bytes({header.data(), header.size()}));
  out_.overwrite(header_at_ - kBlock, as_bytes(record));
}

void TarWriter::end() {
  const std::uint64_t size = out_.offset() - header_at_ - kBlock;
  const Header header = make_header(name_, size, '0');
  out_.overwrite(header_at_, as_bytes({header.data(), header.size()}));
  if (pax_reserved_) fill_reserved(size);
  pad(out_, size);
  if (padding_ == TarPadding::slack_block && size % kBlock == 0) {
    write_header(out_, size == 0 ? Header{} : make_header(".slack", 0, '0'));
  }
}

void TarWriter::add(std::string_view name, Bytes content) {
  begin(name);
  write(content);
  end();
}

void TarWriter::finish() {
  write_header(out_, Header{});
  write_header(out_, Header{});
}

}  // namespace fathom
