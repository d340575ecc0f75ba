#include "io/zip.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <zip.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>

#include "base/text.hpp"
#include "io/growth.hpp"
#include "io/output_file.hpp"

namespace fathom {

namespace {

constexpr std::size_t kPadding = 64;  // so that vector code may read past the end

std::string message(zip_error_t* error) {
  std::string text = zip_error_strerror(error);
  zip_error_fini(error);
  return text;
}

}  // namespace

bool is_zip(Bytes bytes) {
  const std::string_view text = as_text(bytes.first(std::min<std::size_t>(bytes.size(), 4)));
  return text == std::string_view("PK\x03\x04", 4) || text == std::string_view("PK\x05\x06", 4);
}

struct ZipReader::Archive {
  Blob blob;
  zip_t* zip = nullptr;
  ~Archive() {
    if (zip != nullptr) zip_discard(zip);
  }
};

ZipReader::ZipReader(std::unique_ptr<Archive> archive) : archive_(std::move(archive)) {}
ZipReader::ZipReader(ZipReader&&) noexcept = default;
ZipReader::~ZipReader() = default;

Result<ZipReader> ZipReader::open(const Blob& archive) {
  auto state = std::make_unique<Archive>();
  state->blob = archive;
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(archive.bytes().data(), archive.size(), 0, &error);
  if (source == nullptr) return Error(message(&error), Place::in(archive.name()));
  state->zip = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (state->zip == nullptr) {
    zip_source_free(source);
    return Error(fmt::format("File is not a zip file: {}", message(&error)), Place::in(archive.name()));
  }
  zip_error_fini(&error);
  return ZipReader(std::move(state));
}

std::vector<std::string> ZipReader::names() const {
  std::vector<std::string> names;
  const zip_int64_t count = zip_get_num_entries(archive_->zip, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    if (const char* name = zip_get_name(archive_->zip, static_cast<zip_uint64_t>(i), 0)) names.emplace_back(name);
  }
  return names;
}

bool ZipReader::has(const std::string& name) const { return zip_name_locate(archive_->zip, name.c_str(), 0) >= 0; }

Result<Blob> ZipReader::read(const std::string& name, const Work& work) const {
  const Place place = Place::in(archive_->blob.name() + "/" + name);
  // What says itself that it is a bomb need not go off; one that does not is found while it is unpacked.
  zip_stat_t about{};
  if (zip_stat(archive_->zip, name.c_str(), 0, &about) == 0 && (about.valid & ZIP_STAT_SIZE) != 0) {
    FATHOM_CHECK(check_growth(archive_->blob.size(), about.size, place, work));
  }
  zip_file_t* file = zip_fopen(archive_->zip, name.c_str(), 0);
  if (file == nullptr) {
    return Error(fmt::format("cannot read the member: {}", zip_error_strerror(zip_get_error(archive_->zip))), place);
  }
  struct Held {
    std::vector<std::byte> bytes;
    std::vector<Budget::Reservation> reserved;
  };
  auto held = std::make_shared<Held>();
  std::size_t size = 0;
  std::size_t step = 1 << 16;
  while (true) {
    auto reservation = work->budget.reserve(step, "unpacked zip member");
    if (!reservation) {
      zip_fclose(file);
      return std::move(reservation).error().where(place);
    }
    held->reserved.push_back(std::move(*reservation));
    held->bytes.resize(size + step + kPadding);
    std::size_t filled = 0;
    bool end = false;
    while (filled < step) {
      const zip_int64_t got = zip_fread(file, held->bytes.data() + size + filled, step - filled);
      if (got < 0) {
        std::string why = zip_error_strerror(zip_file_get_error(file));
        zip_fclose(file);
        return Error(fmt::format("the member is damaged: {}", why), place);
      }
      if (got == 0) {
        end = true;
        break;
      }
      filled += static_cast<std::size_t>(got);
    }
    size += filled;
    if (auto sane = check_growth(archive_->blob.size(), size, place, work); !sane) {
      zip_fclose(file);
      return std::move(sane).error();
    }
    if (end) break;
    step = size;
  }
  if (zip_fclose(file) != 0) return Error("the member is damaged: its checksum is wrong", place);
  std::memset(held->bytes.data() + size, 0, kPadding);
  return Blob(place.file, Bytes(held->bytes.data(), size), held);
}

namespace {

// The date of all members: that of SOURCE_DATE_EPOCH, or the first that the format can tell. What is written depends on
// what is in it alone.
struct DosDate {
  zip_uint16_t time = 0;
  zip_uint16_t date = (1U << 5U) | 1U;
};

DosDate member_date() {
  const char* const given = std::getenv("SOURCE_DATE_EPOCH");
  const auto seconds = given == nullptr ? std::nullopt : parse_integer<std::int64_t>(given);
  std::tm day{};
  const std::time_t time = seconds.value_or(0);
  constexpr int kFirstYear = 80;
  if (!seconds || gmtime_r(&time, &day) == nullptr || day.tm_year < kFirstYear || day.tm_year >= kFirstYear + 128) {
    return {};
  }
  return {static_cast<zip_uint16_t>(day.tm_hour << 11 | day.tm_min << 5 | day.tm_sec / 2),
          static_cast<zip_uint16_t>((day.tm_year - kFirstYear) << 9 | (day.tm_mon + 1) << 5 | day.tm_mday)};
}

struct ZipSourceCloser {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};

}  // namespace

Result<void> write_zip(const std::filesystem::path& target, std::vector<ZipMember> members) {
  FATHOM_TRY(OutputFile out, OutputFile::create(target));
  // Packed in memory, which is less than the members take; then the way of every other file.
  zip_error_t error;
  zip_error_init(&error);
  const auto failed = [&](const std::string& why) {
    return Error(fmt::format("cannot write: {}", why), Place::in(target.string()));
  };
  const std::unique_ptr<zip_source_t, ZipSourceCloser> packed(zip_source_buffer_create(nullptr, 0, 0, &error));
  if (packed == nullptr) return failed(message(&error));
  zip_t* zip = zip_open_from_source(packed.get(), ZIP_TRUNCATE, &error);
  if (zip == nullptr) return failed(message(&error));
  zip_source_keep(packed.get());
  const DosDate date = member_date();
  for (const ZipMember& member : members) {
    zip_source_t* source = zip_source_buffer(zip, member.content.data(), member.content.size(), 0);
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(zip, member.name.c_str(), source, ZIP_FL_ENC_UTF_8 | ZIP_FL_OVERWRITE);
    if (index < 0) {
      std::string why = zip_error_strerror(zip_get_error(zip));
      if (source != nullptr) zip_source_free(source);
      zip_discard(zip);
      return failed(why);
    }
    const auto at = static_cast<zip_uint64_t>(index);
    zip_set_file_compression(zip, at, member.compress ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 1);
    zip_file_set_dostime(zip, at, date.time, date.date, 0);
  }
  if (zip_close(zip) != 0) {
    std::string why = zip_error_strerror(zip_get_error(zip));
    zip_discard(zip);
    return failed(why);
  }
  if (zip_source_open(packed.get()) != 0) return failed("the packed members cannot be read back");
  std::vector<std::byte> block(std::size_t{1} << 20);
  zip_int64_t got = 0;
  while ((got = zip_source_read(packed.get(), block.data(), block.size())) > 0) {
    out.write(Bytes(block.data(), static_cast<std::size_t>(got)));
  }
  zip_source_close(packed.get());
  if (got < 0) return failed("the packed members cannot be read back");
  return out.commit();
}

}  // namespace fathom
