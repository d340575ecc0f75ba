// Every valid reference profile against the results of two independent readers.
#include <cmath>
#include <limits>
#include <map>

#include "base/text.hpp"
#include "formats/cube/cube_support.hpp"
#include "profile/absent.hpp"

namespace fathom::cube::testing {
namespace {

// Numbers as the reference files have them: integers, doubles, "nan", "inf", "-inf".
double json_double(const Json& value) {
  if (!value.is_string()) return value.get<double>();
  const auto text = value.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return text == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

// `scale`: what the numbers are the difference of, whose rounding they inherit.
bool same_double(double a, double b, double tolerance, double scale = 0) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::abs(a - b) <= tolerance * std::max({std::abs(a), std::abs(b), scale});
}

// One value against its reference; tolerance 0 = bit for bit.
::testing::AssertionResult matches(const Value& value, const Json& expected, double tolerance, double scale = 0) {
  bool same = false;
  if (value.type().is_integer()) {
    // Sums stay exact here; the reference wraps them around in the type's own width.
    const auto reference =
        expected.is_number_unsigned() ? Int128{expected.get<std::uint64_t>()} : Int128{expected.get<std::int64_t>()};
    const Int128 off = value.integer() - reference;
    same = tolerance == 0 ? off == 0 : off % (Int128{1} << (8 * value.type().size())) == 0;
  } else if (value.type().is_double()) {
    same = same_double(value.scalar(), json_double(expected), tolerance, scale);
  } else {
    std::vector<double> numbers;
    static const std::vector<std::string> kOrder = {"n", "min", "max", "sum", "sum2", "re", "im", "main", "time"};
    if (expected.is_array()) {
      for (const Json& e : expected) numbers.push_back(json_double(e));
    } else {
      for (const auto& key : kOrder) {
        if (expected.contains(key)) numbers.push_back(json_double(expected[key]));
      }
    }
    const std::string text = value.text();
    const auto parts = split(text, ';');
    same = parts.size() == numbers.size();
    for (std::size_t i = 0; same && i < parts.size(); ++i) {
      same = same_double(parse_double(parts[i]).value_or(-1e300), numbers[i], tolerance);
    }
  }
  if (same) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "found " << value.text() << ", expected " << expected.dump();
}

class CubeExpected : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    dataset_ = open_or_fail(GetParam().file());
    ASSERT_NE(dataset_, nullptr);
    expected_ = Json::parse(read_text(GetParam().folder / "expected.json.gz"));
    auto profile = dataset_->profile();
    ASSERT_TRUE(profile.ok());
    profile_ = *profile;
    file_ = &dynamic_cast<CubeDataset&>(*dataset_).file();
  }
  DatasetPtr dataset_;
  Json expected_;
  std::shared_ptr<const Profile> profile_;
  const CubeFile* file_ = nullptr;
};

TEST_P(CubeExpected, Structure) {
  const Anchor& anchor = file_->anchor();
  const Definitions& defs = profile_->defs();
  EXPECT_EQ(dataset_->version(), expected_["version"].get<std::string>());
  const Json& counts = expected_["counts"];
  EXPECT_EQ(defs.metrics.size(), counts["metrics"].get<std::size_t>());
  EXPECT_EQ(defs.regions.size(), counts["regions"].get<std::size_t>());
  EXPECT_EQ(defs.contexts.size(), counts["cnodes"].get<std::size_t>());
  EXPECT_EQ(defs.contexts.roots().size(), counts["root_cnodes"].get<std::size_t>());
  EXPECT_EQ(defs.system.location_count(), counts["locations"].get<std::size_t>());
  EXPECT_EQ(defs.system.topologies.size(), counts["topologies"].get<std::size_t>());

  Json attributes = Json::array();
  for (const auto& [key, value] : anchor.attributes) attributes.push_back({key, value});
  ASSERT_EQ(attributes.size(), expected_["attrs"].size());
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const auto text = expected_["attrs"][i][1].get<std::string>();
    if (text.find("(omitted") == std::string::npos) {
      EXPECT_EQ(attributes[i], expected_["attrs"][i]);
    }
  }
  ASSERT_EQ(anchor.mirrors.size(), expected_["mirrors"].size());
  for (std::size_t i = 0; i < anchor.mirrors.size(); ++i) {
    const auto text = expected_["mirrors"][i].get<std::string>();
    if (text.find("(omitted") == std::string::npos) {
      EXPECT_EQ(anchor.mirrors[i], text);
    }
  }

  // Row numbers and the cnodes they mean.
  const auto blocks = sibling_block_order(anchor.cnodes);
  ASSERT_EQ(expected_["order_exclusive"].size(), anchor.cnodes.size());
  for (std::size_t i = 0; i < anchor.cnodes.size(); ++i) {
    EXPECT_EQ(anchor.cnodes[i].id, expected_["order_exclusive"][i].get<std::uint32_t>());
    EXPECT_EQ(anchor.cnodes[blocks[i]].id, expected_["order_inclusive"][i].get<std::uint32_t>());
  }
  ASSERT_EQ(expected_["cnodes"].size(), anchor.cnodes.size());
  for (std::size_t i = 0; i < anchor.cnodes.size(); ++i) {
    const Json& row = expected_["cnodes"][i];
    const Context& context = defs.contexts[ContextId(i)];
    EXPECT_EQ(context.file_id, row[0].get<std::uint64_t>());
    EXPECT_EQ(defs.region(context.region).file_id, row[1].get<std::uint64_t>());
    EXPECT_EQ(context.parent.valid() ? Json(defs.contexts[context.parent].file_id) : Json(), row[2]);
    const auto& name = expected_["region_names"][std::to_string(row[1].get<int>())].get_ref<const std::string&>();
    if (name.find("(omitted") == std::string::npos) {
      EXPECT_EQ(defs.region(context.region).name, name);
    }
  }
  std::size_t locations = 0;
  for (const AnchorSystemNode& node : anchor.system) {
    if (node.kind != AnchorSystemNode::Kind::location) continue;
    const Json& row = expected_["locations"][locations++];
    EXPECT_EQ(node.id, row["id"].get<std::uint32_t>());
    EXPECT_EQ(node.name, row["name"].get<std::string>());
    EXPECT_EQ(node.rank, row["rank"].get<std::string>());
    EXPECT_EQ(defs.system.location(LocationId(node.id)).name, node.name);
  }
  EXPECT_EQ(locations, expected_["locations"].size());
  const Json all_parameters = expected_.value("cnode_parameters", Json::object());
  for (const auto& [id, parameters] : all_parameters.items()) {
    const auto& found = defs.contexts.details(defs.contexts.find(std::stoull(id))).parameters;
    ASSERT_EQ(found.size(), parameters.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].key, parameters[i][1].get<std::string>());
      const auto text = parameters[i][2].get<std::string>();
      if (parameters[i][0] == "numeric") {
        EXPECT_EQ(std::get<double>(found[i].value), parse_double(text));
      } else {
        EXPECT_EQ(std::get<std::string>(found[i].value), text);
      }
    }
  }
}

TEST_P(CubeExpected, StoredValues) {
  for (std::size_t m = 0; m < file_->anchor().metrics.size(); ++m) {
    const Json& expected = expected_["metrics"][m];
    SCOPED_TRACE(expected["uniq_name"].get<std::string>());
    EXPECT_EQ(file_->anchor().metrics[m].uniq_name, expected["uniq_name"].get<std::string>());
    EXPECT_EQ(file_->anchor().metrics[m].dtype, expected["dtype"].get<std::string>());
    const bool has_data = file_->index_member(m) != nullptr && file_->data_member(m) != nullptr;
    EXPECT_EQ(has_data && !file_->anchor().metrics[m].derived(), expected["has_data"].get<bool>());
    auto values = file_->values(m);
    ASSERT_TRUE(values.ok()) << values.error().text();
    if (!expected["has_data"].get<bool>()) {
      EXPECT_EQ((*values)->rows.size(), 0U);
      continue;
    }
    const MetricData& data = (*values)->data;
    EXPECT_EQ(data.index().order == Endian::little ? "little" : "big", expected["index"]["endian"].get<std::string>());
    EXPECT_EQ(data.index().dense ? "dense" : "sparse", expected["index"]["format"].get<std::string>());
    if (expected["index"].contains("rows")) {
      EXPECT_EQ(data.row_count(), expected["index"]["rows"].get<std::size_t>());
    }
    EXPECT_EQ(data.compressed(), expected["compressed"].get<bool>());

    auto cells = compute(*profile_, MetricId(m), everything(*profile_, Flavour::Kind::stored));
    ASSERT_TRUE(cells.ok()) << cells.error().text();
    for (const Json& sample : expected.value("samples", Json::array())) {
      const Json& stored = sample.contains("stored_raw") ? sample["stored_raw"] : sample["stored"];
      const ContextId context = profile_->defs().contexts.find(sample["cnode"].get<std::uint64_t>());
      ASSERT_TRUE(context.valid());
      for (std::size_t l = 0; l < stored.size(); ++l) {
        // The number that stands for "no value" is none.
        if (!has_value(*cells, context.index(), l)) {
          EXPECT_EQ(std::abs(json_double(stored[l])), std::numeric_limits<double>::max());
          continue;
        }
        EXPECT_TRUE(matches(cells->at(context.index(), l), stored[l], 0))
            << "cnode " << sample["cnode"] << " location " << l;
      }
    }
    if (!expected.contains("stored_sum") || data.row_count() == 0) continue;
    // Over the stored rows only.
    const ValueType type = *file_->type(m);
    long double sum = 0;
    Int128 exact = 0;
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    for (const CubeFile::Row& row : (*values)->rows) {
      for (std::size_t l = 0; l < cells->columns(); ++l) {
        const Value value = cells->at(row.cnode, l);
        constexpr double kMost = std::numeric_limits<double>::max();
        const double number = has_value(value) ? value.scalar() : type.kind == ValueKind::min_f64 ? kMost : -kMost;
        exact += value.integer();
        sum += number;
        least = std::min(least, number);
        most = std::max(most, number);
      }
    }
    if (type.is_integer() && expected["stored_sum"].is_number_integer()) {
      EXPECT_EQ(exact_text(exact), expected["stored_sum"].dump());
    } else if (!expected["stored_sum"].is_string()) {
      EXPECT_TRUE(same_double(static_cast<double>(sum), json_double(expected["stored_sum"]), 1e-12))
          << static_cast<double>(sum) << " " << expected["stored_sum"];
    }
    if (!expected["stored_min"].is_string()) {
      EXPECT_EQ(least, json_double(expected["stored_min"]));
    }
    if (!expected["stored_max"].is_string()) {
      EXPECT_EQ(most, json_double(expected["stored_max"]));
    }
  }
}

TEST_P(CubeExpected, InclusiveAndExclusiveValues) {
  for (std::size_t m = 0; m < file_->anchor().metrics.size(); ++m) {
    const Json& expected = expected_["metrics"][m];
    SCOPED_TRACE(expected["uniq_name"].get<std::string>());
    const ValueType type = file_->type(m).value_or(ValueType{});
    // The reference reader has rules of its own there: minima and maxima follow the official dumps, and integers stay
    // exact where it clamps or wraps.
    if (type.kind == ValueKind::min_f64 || type.kind == ValueKind::max_f64) continue;
    if (expected.value("uint64_clamped_by_pycubexr", false) || GetParam().name == "extreme_values") continue;
    for (const auto kind : {Flavour::Kind::inclusive, Flavour::Kind::exclusive}) {
      const std::string key = kind == Flavour::Kind::inclusive ? "inclusive" : "exclusive";
      if (file_->anchor().metrics[m].derived()) continue;
      auto cells = compute(*profile_, MetricId(m), everything(*profile_, kind));
      ASSERT_TRUE(cells.ok()) << cells.error().text();
      for (const Json& sample : expected.value("samples", Json::array())) {
        if (!sample.contains(key)) continue;
        const Json& values = sample[key].is_string() ? sample["stored"] : sample[key];
        const ContextId context = profile_->defs().contexts.find(sample["cnode"].get<std::uint64_t>());
        for (std::size_t l = 0; l < values.size(); ++l) {
          const Value found = cells->at(context.index(), l);
          const double scale = type.is_double() ? std::abs(json_double(sample["stored"][l])) : 0;
          EXPECT_TRUE(matches(found, values[l], 1e-12, scale))
              << key << " cnode " << sample["cnode"] << " location " << l;
        }
      }
      const std::string total_key = key == "inclusive" ? "root_inclusive_total" : "exclusive_total";
      if (!expected.contains(total_key) || type.is_composite()) continue;
      // Summed over locations at the roots, or over everything.
      Int128 exact = 0;
      double sum = 0;
      const std::size_t rows = profile_->defs().contexts.size();
      for (std::size_t row = 0; row < rows; ++row) {
        if (key == "inclusive" && profile_->defs().contexts[ContextId(row)].parent.valid()) continue;
        for (std::size_t l = 0; l < cells->columns(); ++l) {
          exact += cells->at(row, l).integer();
          sum += cells->scalar(row, l);
        }
      }
      if (type.is_integer()) {
        if (type.size() == 1) continue;  // wrapped around in the reference
        EXPECT_EQ(exact_text(exact), expected[total_key].dump()) << total_key;
      } else {
        EXPECT_TRUE(same_double(sum, json_double(expected[total_key]), 1e-9)) << total_key << " " << sum;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Reference, CubeExpected, ::testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CubeExpected);

}  // namespace
}  // namespace fathom::cube::testing
