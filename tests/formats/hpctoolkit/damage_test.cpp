// Databases that were cut or have bits flipped: never a crash, and a place in every message.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "formats/hpctoolkit/database.hpp"
#include "formats/hpctoolkit/hpctoolkit_format.hpp"
#include "io/file.hpp"
#include "profile/compute.hpp"

namespace fathom::hpctoolkit {
namespace {

struct Content {
  std::string description, profiles, contexts, trace;
};

Content content_of(const std::filesystem::path& directory, const char* description) {
  const auto text = [&](const char* name) {
    auto blob = map_file(directory / name);
    return blob.ok() ? std::string(blob->text()) : std::string();
  };
  return {text(description), text("profile.db"), text("cct.db"), text("trace.db")};
}

// Opens, reads everything, checks; true when it could be opened.
bool use(const Content& content, const Format& format) {
  const auto work = make_work(false, std::uint64_t{64} << 20);
  DatabaseFiles files;
  files.directory = "damaged";
  files.description = Blob::own("description", content.description);
  files.profiles = Blob::own("profile.db", content.profiles);
  files.contexts = Blob::own("cct.db", content.contexts);
  files.trace = Blob::own("trace.db", content.trace);
  auto database = Database::open(format, std::move(files), work);
  if (!database.ok()) {
    EXPECT_FALSE(database.error().place().file.empty()) << database.error().text();
    return false;
  }
  auto profile = (*database)->profile();
  EXPECT_TRUE(profile.ok());
  for (std::size_t m = 0; profile.ok() && m < (*profile)->defs().metrics.size(); ++m) {
    Selection selection;
    selection.locations = all_locations((*profile)->defs());
    selection.aggregate = true;
    (void)compute(**profile, MetricId(m), selection);
  }
  EXPECT_TRUE((*database)->check().ok());
  for (const Diagnostic& one : work->diagnostics.all()) EXPECT_FALSE(one.place.file.empty()) << one.text;
  return true;
}

class HpctoolkitDamage : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string name = GetParam();
    const auto directory = std::filesystem::path(FATHOM_SHARED_DATA) / "hpctoolkit" / name;
    if (!std::filesystem::exists(directory)) GTEST_SKIP() << "no reference data at " << directory;
    meta_ = name[0] == 'b';
    content_ = content_of(directory, meta_ ? "meta.db" : "experiment.xml");
    ASSERT_TRUE(use(content_, format()));
  }
  const Format& format() const { return meta_ ? meta_format() : xml_format(); }
  bool meta_ = true;
  Content content_;
};

TEST_P(HpctoolkitDamage, CutAtEveryByte) {
  for (std::string Content::*part : {&Content::description, &Content::profiles, &Content::contexts, &Content::trace}) {
    const std::string whole = content_.*part;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      content_.*part = whole.substr(0, size);
      use(content_, format());
    }
    content_.*part = whole;
  }
}

TEST_P(HpctoolkitDamage, BitsFlipped) {
  std::mt19937 random(20221031);
  for (std::string Content::*part : {&Content::description, &Content::profiles, &Content::contexts, &Content::trace}) {
    const std::string whole = content_.*part;
    for (int i = 0; i < 1000 && !whole.empty(); ++i) {
      content_.*part = whole;
      (content_.*part)[random() % whole.size()] ^= static_cast<char>(1U << random() % 8);
      use(content_, format());
    }
    content_.*part = whole;
  }
}

// Counts, sizes and pointers in the headers replaced by huge and odd numbers, and by none.
TEST_P(HpctoolkitDamage, LyingNumbers) {
  for (std::string Content::*part : {&Content::description, &Content::profiles, &Content::contexts, &Content::trace}) {
    const std::string whole = content_.*part;
    for (std::size_t at = 16; at + 8 <= std::min<std::size_t>(whole.size(), 1024); at += 2) {
      for (const char fill : {'\xff', '\x7f', '\x01', '\0'}) {
        content_.*part = whole;
        (content_.*part).replace(at, 8, 8, fill);
        use(content_, format());
      }
    }
    content_.*part = whole;
  }
}

INSTANTIATE_TEST_SUITE_P(Small, HpctoolkitDamage, testing::Values("b-small", "a-small"), [](const auto& one) {
  return std::string(std::string(one.param) == "b-small" ? "meta" : "xml");
});

}  // namespace
}  // namespace fathom::hpctoolkit
