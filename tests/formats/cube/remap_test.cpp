#include "formats/cube/remap.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "../../profile/memory_profile.hpp"
#include "formats/dataset.hpp"
#include "formats/registry.hpp"
#include "profile/algebra/reshape.hpp"
#include "profile/compute.hpp"

namespace fathom {
namespace {

// main (1, 2) calls MPI_Send (4, 8) and foo (16, 32).
ProfilePtr sample() {
  test::MemoryProfile make;
  const MetricId time = make.metric("time");
  const MetricId extra = make.metric("extra", ValueKind::u64);
  const MetricId part = make.metric("part", ValueKind::u64, Scope::exclusive, extra);
  make.context("main");
  make.context("main/MPI_Send");
  make.context("main/foo");
  make.values<double>(time, "main", {1, 2});
  make.values<double>(time, "main/MPI_Send", {4, 8});
  make.values<double>(time, "main/foo", {16, 32});
  make.values<std::uint64_t>(extra, "main", {7, 7});
  make.values<std::uint64_t>(part, "main", {3, 3});
  return make.build();
}

// Written as such specs are: no ids, comments, CubePL with bare '<' and '&', globals that one metric sets for others.
constexpr const char* kSpec = R"(<doc><mirrors><murl>http://example.org/</murl></mirrors></doc>
<metrics>
  <metric>
    <!-- copied -->
    <disp_name>Time</disp_name><uniq_name>time</uniq_name><dtype>FLOAT</dtype><uom>sec</uom>
    <metric type="PREDERIVED_EXCLUSIVE">
      <disp_name>Other</disp_name><uniq_name>other</uniq_name><dtype>FLOAT</dtype><uom>sec</uom>
      <cubepl> (1 - ${mpi}[${calculation::callpath::id}]) * metric::time(e) </cubepl>
      <cubeplinit>
      {
        global(mpi);
        ${i} = 0;
        ${any_io} = 0;
        while ( ${i} < ${cube::#callpaths} )
        {
          if ( ${cube::region::name}[${cube::callpath::calleeid}[${i}]] =~ /^MPI_/ ) { ${mpi}[${i}] = 1; };
          ${i} = ${i} + 1;
        };
        if ( ${any_io} == 0 ) { cube::metric::set::io("value", "VOID"); };
        return 0;
      }
      </cubeplinit>
    </metric>
    <metric type="PREDERIVED_EXCLUSIVE" convertible="false">
      <disp_name>MPI</disp_name><uniq_name>mpi</uniq_name><dtype>FLOAT</dtype>
      <cubepl rowwise=false>${mpi}[${calculation::callpath::id}] * metric::time(e)</cubepl>
    </metric>
    <metric type="POSTDERIVED">
      <disp_name>I/O</disp_name><uniq_name>io</uniq_name><dtype>FLOAT</dtype><cubepl>metric::time()</cubepl>
    </metric>
  </metric>
  <metric><disp_name>Absent</disp_name><uniq_name>absent</uniq_name><dtype>INTEGER</dtype></metric>
</metrics>
)";

double total(const Profile& profile, const char* name) {
  const auto cells = compute(profile, profile.defs().find_metric(name),
                             {{Flavour::Kind::inclusive, {}}, {ContextId(0)}, {0, 2}, true});
  EXPECT_TRUE(cells.ok()) << name << ": " << cells.error().text();
  return cells.ok() ? cells->scalar(0, 0) : -1;
}

TEST(CubeRemap, BuildsTheTreeOfTheSpec) {
  const auto result = cube::remap(sample(), Blob::own("x.spec", std::string(kSpec)));
  ASSERT_TRUE(result.ok()) << result.error().text();
  const Definitions& defs = (*result)->defs();
  const std::vector<std::string> names = defs.metric_names();
  EXPECT_EQ(names, (std::vector<std::string>{"time", "other", "mpi", "io", "absent", "extra", "part"}));
  EXPECT_EQ(defs.metric(defs.find_metric("mpi")).parent, defs.find_metric("time"));
  EXPECT_EQ(defs.metric(defs.find_metric("part")).parent, defs.find_metric("extra"));
  EXPECT_EQ(defs.mirrors, std::vector<std::string>{"http://example.org/"});
  EXPECT_EQ(defs.metric(MetricId(0)).display_name, "Time");
  // The globals are there whichever metric is asked for first.
  EXPECT_EQ(total(**result, "mpi"), 12);
  EXPECT_EQ(total(**result, "other"), 51);
  EXPECT_EQ(total(**result, "time"), 63);
  EXPECT_EQ(total(**result, "io"), 0);
  EXPECT_EQ(total(**result, "absent"), 0);
  EXPECT_EQ(total(**result, "extra"), 14);
}

TEST(CubeRemap, StoresWhatMayBeStored) {
  const auto mapped = cube::remap(sample(), Blob::own("x.spec", std::string(kSpec)));
  ASSERT_TRUE(mapped.ok());
  const auto result = algebra::materialise(*mapped);
  ASSERT_TRUE(result.ok());
  const Definitions& defs = (*result)->defs();
  EXPECT_FALSE(defs.metric(defs.find_metric("other")).derived());
  EXPECT_TRUE(defs.metric(defs.find_metric("mpi")).derived());  // convertible="false"
  EXPECT_TRUE(defs.metric(defs.find_metric("io")).switched_off);
  EXPECT_EQ(total(**result, "other"), 51);
  EXPECT_EQ(total(**result, "mpi"), 12);
  EXPECT_EQ(total(**result, "io"), 0);
}

TEST(CubeRemap, DefectsOfTheSpecAreNamed) {
  const auto error = [](const char* text) {
    const auto result = cube::remap(sample(), Blob::own("x.spec", std::string(text)));
    return result.ok() ? std::string("accepted") : result.error().text();
  };
  EXPECT_NE(error("<metrics><metric></metrics>").find("x.spec:1"), std::string::npos);
  EXPECT_NE(error("").find("no <metrics>"), std::string::npos);
  const std::string twice = "<metric><uniq_name>a</uniq_name><dtype>FLOAT</dtype></metric>";
  EXPECT_NE(error(("<metrics>" + twice + twice + "</metrics>").c_str()).find("declared twice"), std::string::npos);
}

TEST(CubeRemap, ScorepSpecSplitsTheTime) {
  const std::filesystem::path path = std::filesystem::path(FATHOM_SHARED_DATA) / "cube/hwc_l3/hwc_l3.cubex";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto dataset = open_dataset(path, make_work());
  ASSERT_TRUE(dataset.ok());
  const auto input = (*dataset)->profile();
  ASSERT_TRUE(input.ok());
  const auto spec = cube::stored_spec(**dataset);
  ASSERT_TRUE(spec.ok()) << spec.error().text();
  const auto result = cube::remap(*input, *spec);
  ASSERT_TRUE(result.ok()) << result.error().text();
  const Definitions& defs = (*result)->defs();
  const auto sum = [&](const char* name) {
    const auto cells = compute(**result, defs.find_metric(name),
                               {{Flavour::Kind::inclusive, {}}, {ContextId(0)}, all_locations(defs), true});
    EXPECT_TRUE(cells.ok()) << name << ": " << cells.error().text();
    return cells.ok() ? cells->scalar(0, 0) : -1;
  };
  // MPI time is the exclusive time of regions that say they are MPI.
  const auto time = compute(**input, (*input)->defs().find_metric("time"),
                            {{Flavour::Kind::exclusive, {}}, {}, all_locations((*input)->defs()), true});
  ASSERT_TRUE(time.ok());
  double mpi = 0;
  for (std::size_t i = 0; i < time->rows(); ++i) {
    if ((*input)->defs().region_of(ContextId(i)).paradigm == "mpi") mpi += time->scalar(i, 0);
  }
  EXPECT_GT(mpi, 1000);
  EXPECT_NEAR(sum("mpi"), mpi, 1e-9 * mpi);
  EXPECT_NEAR(sum("comp") + sum("mpi"), sum("time"), 1e-9 * sum("time"));
  EXPECT_NEAR(sum("mpi_management") + sum("mpi_communication") + sum("mpi_request_handling") +
                  sum("mpi_synchronization") + sum("mpi_io"),
              mpi, 1e-9 * mpi);
  EXPECT_EQ(sum("omp_time"), 0);  // switched off by the spec: nothing here is OpenMP
}

}  // namespace
}  // namespace fathom
