#include "io/zip.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <zip.h>

#include <cstring>

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
    if (end) break;
    step = size;
  }
  if (zip_fclose(file) != 0) return Error("the member is damaged: its checksum is wrong", place);
  std::memset(held->bytes.data() + size, 0, kPadding);
  return Blob(place.file, Bytes(held->bytes.data(), size), held);
}

Result<void> write_zip(const std::filesystem::path& target, std::vector<ZipMember> members) {
  // libzip writes beside the file it is given and renames on close.
  int code = 0;
  zip_t* zip = zip_open(target.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (zip == nullptr) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    return Error(fmt::format("cannot write: {}", message(&error)), Place::in(target.string()));
  }
  for (const ZipMember& member : members) {
    zip_source_t* source = zip_source_buffer(zip, member.content.data(), member.content.size(), 0);
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(zip, member.name.c_str(), source, ZIP_FL_ENC_UTF_8 | ZIP_FL_OVERWRITE);
    if (index < 0) {
      std::string why = zip_error_strerror(zip_get_error(zip));
      if (source != nullptr) zip_source_free(source);
      zip_discard(zip);
      return Error(fmt::format("cannot write: {}", why), Place::in(target.string()));
    }
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), member.compress ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 1);
  }
  if (zip_close(zip) != 0) {
    std::string why = zip_error_strerror(zip_get_error(zip));
    zip_discard(zip);
    return Error(fmt::format("cannot write: {}", why), Place::in(target.string()));
  }
  return {};
}

}  // namespace fathom
