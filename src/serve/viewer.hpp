// What the page can ask: datasets that are open, and answers about them. Knows nothing of HTTP.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "formats/dataset.hpp"
#include "io/input_watch.hpp"
#include "serve/request.hpp"
#include "serve/trace_answers.hpp"

namespace fathom::serve {

class ProfileAnswers;
class ModelAnswers;
class FindingsAnswers;
class SourceFiles;
class SqlAnswers;

// One dataset and what was worked out for it so far.
struct Shown {
  Shown(DatasetPtr opened, const std::vector<std::filesystem::path>& source_roots);
  ~Shown();

  std::shared_ptr<Dataset> dataset;
  std::string name;  // last part of the path
  InputWatch watch;
  // By window of a trace, metrics derived and contexts hidden; the last used ones.
  std::vector<std::pair<std::string, std::unique_ptr<ProfileAnswers>>> profiles;
  std::unique_ptr<SourceFiles> sources;
  std::unique_ptr<FindingsAnswers> findings;
  std::unique_ptr<ModelAnswers> models;
  std::unique_ptr<TraceAnswers> trace;
};

struct ViewerOptions {
  IndexOptions index;
  // Texts of source files are shown from below these folders and from datasets that are folders, and from nowhere else.
  std::vector<std::filesystem::path> source_roots;
};

// MT: answer() may be called from several threads.
class Viewer {
 public:
  explicit Viewer(std::vector<DatasetPtr> datasets, ViewerOptions options = {});
  ~Viewer();

  Answer answer(const Request& request);

  [[nodiscard]] std::size_t size() const { return shown_.size(); }
  [[nodiscard]] Dataset& dataset(std::size_t number) { return *shown_[number]->dataset; }
  // Of a dataset that is a trace.
  Result<TraceAnswers*> trace_answers(std::size_t number);

 private:
  Answer session(const Request& request);
  Answer answered(const Request& request);
  // Of the datasets that a path is about.
  std::optional<Error> lost_input_of(std::string_view path);
  Result<Answer> about(Shown& shown, std::string_view what, const Request& request);
  // With the lock.
  Result<TraceAnswers*> trace_of(Shown& shown);
  Result<ProfileAnswers*> profile_for(Shown& shown, const Request& request);
  Result<Answer> about_trace(Shown& shown, std::string_view what, const Request& request);
  Result<Answer> about_findings(Shown& shown);
  // a, b: numbers of the datasets; tree: their call trees in one.
  Result<Answer> about_two(const Request& request, bool tree);

  std::vector<std::unique_ptr<Shown>> shown_;
  ViewerOptions options_;
  std::shared_ptr<std::mutex> mutex_;  // datasets are externally synchronised: one at a time makes or uses a level
  std::unique_ptr<SqlAnswers> sql_;
};

}  // namespace fathom::serve
