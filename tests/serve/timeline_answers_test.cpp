#include "serve/timeline_answers.hpp"

#include <gtest/gtest.h>

#include "../trace/made_tasks.hpp"

namespace fathom::serve {
namespace {

// What was clicked belongs to the task that runs there, and ends where that task leaves it, whatever others do
// meanwhile.
TEST(TimelineAnswers, AMomentIsTheRunningTasks) {
  TimelineAnswers answers(std::make_shared<test::MadeTrace>(test::with_tasks()), make_work(), "made", {});
  const auto at = [&](int time) {
    Request request;
    request.query["t"] = std::to_string(time);
    const auto answer = answers.at(request);
    EXPECT_TRUE(answer.ok());
    std::string out;
    const std::string& body = answer->body;
    const auto value = [&](std::size_t from, const char* key) {
      const std::size_t found = body.find(key, from);
      const std::size_t begin = found + std::string_view(key).size();
      return body.substr(begin, body.find_first_of(",\"}", begin) - begin);
    };
    for (std::size_t i = body.find("{\"name\": \""); i != std::string::npos; i = body.find("{\"name\": \"", i + 1)) {
      out += value(i, "\"name\": \"") + " " + value(i, "\"begin_ns\": ") + "-" + value(i, "\"end_ns\": ") + ";";
    }
    return out;
  };
  EXPECT_EQ(at(50), "main 0-1000;");
  EXPECT_EQ(at(120), "first 100-500;");
  EXPECT_EQ(at(170), "first 100-500;inner 150-450;");
  EXPECT_EQ(at(250), "second 200-300;");
  EXPECT_EQ(at(350), "main 0-1000;");
  EXPECT_EQ(at(420), "first 100-500;inner 150-450;");
  EXPECT_EQ(at(700), "main 0-1000;");
}

}  // namespace
}  // namespace fathom::serve
