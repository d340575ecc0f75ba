// Inclusive and exclusive values of all cells against the dumps of the official library.
#include <cfloat>
#include <cmath>
#include <optional>

#include "base/text.hpp"
#include "formats/cube/cube_support.hpp"
#include "profile/absent.hpp"

namespace fathom::cube::testing {
namespace {

// Numbers in a piece of text, whatever stands between them.
std::vector<double> numbers_in(std::string_view text) {
  std::vector<double> out;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto end = std::min(text.find_first_of("(),:[]/ ", at), text.size());
    if (const auto number = parse_double(text.substr(at, end - at))) out.push_back(*number);
    at = end + 1;
  }
  return out;
}

// Takes one cell off the front of a line; composite texts hold commas themselves.
std::string_view take_cell(std::string_view& line, ValueType type, const Value& value) {
  std::size_t end = 0;
  const auto comma_after = [&](std::size_t from) { return std::min(line.find(',', from), line.size()); };
  switch (type.kind) {
    case ValueKind::u8:
    case ValueKind::i8: {
      // The raw character; white space comes out as nothing.
      const auto byte = static_cast<unsigned char>(value.integer());
      end = byte == ' ' || (byte >= 9 && byte <= 13) ? 0 : 1;
      break;
    }
    case ValueKind::complex:
      end = comma_after(line.find("+i"));
      break;
    case ValueKind::doubles:
      end = comma_after(line.find(')'));
      break;
    case ValueKind::histogram:
      end = comma_after(line.find("):"));
      break;
    case ValueKind::atomic:
      end = comma_after(comma_after(line.find("):")) + 1);
      break;
    default:
      end = comma_after(0);
  }
  const std::string_view cell = line.substr(0, end);
  line.remove_prefix(std::min(line.size(), end + 1));
  return cell;
}

bool near(double found, double expected) {
  if (std::isnan(found) || std::isnan(expected)) return std::isnan(found) && std::isnan(expected);
  if (found == expected) return true;
  if (std::abs(found) < 1e-14 && std::abs(expected) < 1e-14) return true;
  return std::abs(found - expected) <= 1e-5 * std::max(std::abs(found), std::abs(expected));
}

// Whether a cell shows this value; nothing when the dump cannot tell.
std::optional<bool> shows(std::string_view cell, const Value& value, double scale) {
  const ValueType type = value.type();
  if (type.size() == 1) {
    const auto byte = static_cast<char>(value.integer());
    return cell.empty() || cell[0] == byte;
  }
  if (type.is_integer()) {
    // The library computes in the type's own width and passes 64 bits through doubles.
    const auto number = parse_double(cell);
    if (!number) return false;
    double wrapped = static_cast<double>(value.integer());
    const double range = std::ldexp(1.0, static_cast<int>(8 * type.size()));
    if (type.is_unsigned() && wrapped >= range) wrapped = std::fmod(wrapped, range);
    return near(wrapped, *number);
  }
  if (type.is_double()) {
    if (cell == "-") return !has_value(value);
    const auto number = parse_double(cell == "-nan" ? "nan" : cell);
    if (!number) return false;
    return near(value.scalar(), *number) || std::abs(value.scalar() - *number) <= 1e-12 * scale;
  }
  const auto shown = numbers_in(cell);
  std::vector<double> own;
  const std::string text = value.text();
  for (const auto part : split(text, ';')) own.push_back(parse_double(part).value_or(-1e300));
  switch (type.kind) {
    case ValueKind::complex: {
      // "(re) +i(im)"
      const auto plus = cell.find("+i");
      const auto re = numbers_in(cell.substr(0, plus));
      const auto im = numbers_in(cell.substr(plus + 2));
      return re.size() == 1 && im.size() == 1 && near(own[0], re[0]) && near(own[1], im[0]);
    }
    case ValueKind::rate:  // "q[(n)/(d)]"
      return shown.size() == 3 && near(own[0], shown[1]) && near(own[1], shown[2]);
    case ValueKind::atomic:  // "(N,min,max):mean,deviation"
      return shown.size() >= 3 && near(own[0], shown[0]) && near(own[1], shown[1]) && near(own[2], shown[2]) &&
             (own[0] == 0 || (shown.size() == 5 && near(own[3] / own[0], shown[3])));
    case ValueKind::doubles: {
      bool same = shown.size() == own.size();
      for (std::size_t i = 0; same && i < own.size(); ++i) same = near(own[i], shown[i]);
      return same;
    }
    case ValueKind::histogram: {  // "min:(b0, b1, ...):max"
      bool same = shown.size() == own.size() && near(own[0], shown.front()) && near(own[1], shown.back());
      for (std::size_t i = 2; same && i < own.size(); ++i) same = near(own[i], shown[i - 1]);
      return same;
    }
    default:
      return std::nullopt;
  }
}

class CubeCsv : public ::testing::TestWithParam<Case> {};

TEST_P(CubeCsv, AgreesWithTheOfficialDump) {
  const DatasetPtr dataset = open_or_fail(GetParam().file());
  ASSERT_NE(dataset, nullptr);
  auto opened = dataset->profile();
  ASSERT_TRUE(opened.ok());
  const Profile& profile = **opened;
  const Definitions& defs = profile.defs();
  const CubeFile& file = dynamic_cast<CubeDataset&>(*dataset).file();
  for (const auto kind : {Flavour::Kind::inclusive, Flavour::Kind::exclusive}) {
    const bool inclusive = kind == Flavour::Kind::inclusive;
    // Lines end at '\n', which an 8-bit value of 10 never shows as.
    std::string text = read_text(GetParam().folder / (inclusive ? "cube_dump.incl.csv" : "cube_dump.excl.csv"));
    if (text.empty()) {
      text = read_text(GetParam().folder / (inclusive ? "cube_dump.incl.csv.gz" : "cube_dump.excl.csv.gz"));
    }
    if (text.empty()) GTEST_SKIP() << "no dump";
    const auto lines = split(text, '\n');
    std::vector<MetricId> metrics;
    const auto names = split(lines[0], ',');
    ASSERT_GT(names.size(), 2U);
    for (std::size_t i = 2; i < names.size(); ++i) {
      metrics.push_back(defs.find_metric(names[i]));
      ASSERT_TRUE(metrics.back().valid()) << names[i];
    }
    std::vector<Cells> values;
    std::vector<Cells> scales;
    for (const MetricId metric : metrics) {
      Selection selection = everything(profile, kind);
      selection.void_values = false;
      auto cells =
          defs.metric(metric).derived() ? Result<Cells>(Cells(ValueType{}, 0, 0)) : compute(profile, metric, selection);
      ASSERT_TRUE(cells.ok()) << cells.error().text();
      values.push_back(std::move(cells).value());
      selection.flavour.kind = Flavour::Kind::stored;
      auto stored =
          defs.metric(metric).derived() ? Result<Cells>(Cells(ValueType{}, 0, 0)) : compute(profile, metric, selection);
      scales.push_back(std::move(stored).value());
    }
    std::size_t compared = 0;
    std::size_t wrong = 0;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      std::string_view line = lines[i];
      if (trim(line).empty()) continue;
      const auto cnode = parse_integer<std::uint64_t>(trim(take_cell(line, {}, {})));
      const auto location = parse_integer<std::uint32_t>(trim(take_cell(line, {}, {})));
      ASSERT_TRUE(cnode && location) << lines[i].substr(0, 60);
      const ContextId context = defs.contexts.find(*cnode);
      ASSERT_TRUE(context.valid());
      // The library takes tasks out of the root's tree.
      bool has_tasks = false;
      for (const ContextId child : defs.contexts.children(context)) {
        const Region& region = defs.region_of(child);
        has_tasks |= region.name == "TASKS" && region.role == "artificial";
      }
      for (std::size_t m = 0; m < metrics.size(); ++m) {
        const Metric& metric = defs.metric(metrics[m]);
        const Value value = metric.derived() ? Value() : values[m].at(context.index(), *location);
        const std::string_view cell = take_cell(line, metric.type, value);
        if (metric.derived() || has_tasks) continue;
        const bool subtracted = !inclusive && file.anchor().metrics[metrics[m].index()].inclusive();
        const bool summed = inclusive && !file.anchor().metrics[metrics[m].index()].inclusive();
        // Known differences: integers that overflow, and the library's own way of adding histograms.
        if (metric.type.is_integer() && (GetParam().name == "extreme_values" || GetParam().name == "hwc_l3")) continue;
        if (metric.type.is_unsigned() && subtracted) continue;
        if (metric.type.kind == ValueKind::histogram && (summed || subtracted)) continue;
        const double scale = std::abs(scales[m].scalar(context.index(), *location));
        const auto same = shows(cell, value, std::isfinite(scale) ? scale : 0);
        if (!same) continue;
        ++compared;
        if (*same) continue;
        if (++wrong <= 5) {
          ADD_FAILURE() << metric.name << " cnode " << *cnode << " location " << *location << ": dump has '" << cell
                        << "', found " << value.text() << (inclusive ? " inclusive" : " exclusive");
        }
      }
    }
    EXPECT_EQ(wrong, 0U) << "of " << compared;
    EXPECT_GT(compared, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Reference, CubeCsv, ::testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CubeCsv);

}  // namespace
}  // namespace fathom::cube::testing
