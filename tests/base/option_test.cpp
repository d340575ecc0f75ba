#include "base/option.hpp"

#include <gtest/gtest.h>

#include "formats/registry.hpp"

namespace fathom {
namespace {

constexpr Option<bool> kLoud{"loud", "", "say more"};
constexpr Option<std::string> kColour{"colour", "C", "of what", "red green"};
constexpr Option<std::vector<std::string>> kNames{"names", "N", "several"};
constexpr Option<std::uint64_t> kHowMany{"how-many", "N", "a number"};
constexpr Option<double> kShare{"share", "S", "a part"};

TEST(Option, TextsBecomeTheDeclaredType) {
  OptionValues values;
  EXPECT_FALSE(values.flag(kLoud));
  EXPECT_FALSE(values.get(kHowMany).has_value());
  EXPECT_TRUE(values.set_text(kLoud, "Yes").ok());
  EXPECT_TRUE(values.set_text(kColour, "green").ok());
  EXPECT_TRUE(values.set_text(kNames, "a").ok());
  EXPECT_TRUE(values.set_text(kNames, "b,c").ok());
  EXPECT_TRUE(values.set_text(kHowMany, "18446744073709551615").ok());
  EXPECT_TRUE(values.set_text(kShare, "0.25").ok());
  EXPECT_TRUE(values.flag(kLoud));
  EXPECT_EQ(values.text(kColour), "green");
  EXPECT_EQ(values.get(kNames), (std::vector<std::string>{"a", "b,c"}));
  EXPECT_EQ(values.get(kHowMany), 18446744073709551615U);
  EXPECT_EQ(values.get(kShare), 0.25);
  EXPECT_TRUE(values.set_text(kLoud, "off").ok());
  EXPECT_FALSE(values.flag(kLoud));
}

TEST(Option, WrongTextsNameWhatIsExpected) {
  OptionValues values;
  EXPECT_EQ(values.set_text(kLoud, "maybe").error().text(), "loud: expected true or false, got 'maybe'");
  EXPECT_EQ(values.set_text(kColour, "blue").error().text(), "colour: expected one of red, green, got 'blue'");
  EXPECT_EQ(values.set_text(kHowMany, "-1").error().text(), "how-many: expected a whole number, got '-1'");
  EXPECT_EQ(values.set_text(kShare, "half").error().text(), "share: expected a number, got 'half'");
  EXPECT_FALSE(values.get(kShare).has_value());
}

TEST(Option, UnknownNamesAreErrorsWithASuggestion) {
  const auto found = find_option({&kLoud, &kColour}, "color", "paint");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().text(), "paint has no option 'color' (did you mean 'colour'?)");
  EXPECT_EQ(found.error().hint(), "it has: loud, colour");
}

// Two declarations of one name would overwrite each other's values.
TEST(Option, EveryNameIsDeclaredOnce) {
  std::map<std::string_view, const OptionDeclaration*> reading;
  for (const Format* format : all_formats()) {
    for (const OptionDeclaration* option : format->options.reading) {
      EXPECT_EQ(reading.emplace(option->name, option).first->second, option) << option->name;
      EXPECT_FALSE(option->help.empty()) << option->name;
      EXPECT_EQ(option->placeholder.empty(), option->type == OptionType::flag) << option->name;
    }
  }
  EXPECT_TRUE(reading.contains("scaling"));
}

TEST(Option, ReadingTakesWhatFormatsDeclare) {
  const Work work = make_work();
  EXPECT_TRUE(set_reading_option(*work, "scaling", "strong").ok());
  EXPECT_FALSE(set_reading_option(*work, "scaling", "sideways").ok());
  const auto unknown = set_reading_option(*work, "scalin", "weak");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().kind(), ErrorKind::usage);
}

}  // namespace
}  // namespace fathom
