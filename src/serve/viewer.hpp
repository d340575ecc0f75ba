// What the page can ask: datasets that are open, and answers about them. Knows nothing of HTTP.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "formats/dataset.hpp"
#include "serve/request.hpp"

namespace fathom::serve {

class ProfileAnswers;
class ModelAnswers;
class TimelineAnswers;

// One dataset and what was worked out for it so far.
struct Shown {
  explicit Shown(DatasetPtr opened);
  ~Shown();

  DatasetPtr dataset;
  std::string name;  // last part of the path
  std::unique_ptr<ProfileAnswers> profile;
  std::unique_ptr<ModelAnswers> models;
  std::unique_ptr<TimelineAnswers> timeline;
};

// MT: answer() may be called from several threads.
class Viewer {
 public:
  explicit Viewer(std::vector<DatasetPtr> datasets);
  ~Viewer();

  Answer answer(const Request& request);

 private:
  Answer session();
  Result<Answer> about(Shown& shown, std::string_view what, const Request& request);
  Result<Answer> about_trace(Shown& shown, std::string_view what, const Request& request);

  std::vector<std::unique_ptr<Shown>> shown_;
  std::mutex mutex_;  // datasets are externally synchronised: one question at a time works on a level
};

}  // namespace fathom::serve
