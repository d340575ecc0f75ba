#include "serve/findings_answers.hpp"

#include "base/json.hpp"
#include "report/findings_output.hpp"

namespace fathom::serve {

Result<Answer> FindingsAnswers::findings() {
  const std::lock_guard lock(mutex_);
  if (!report_) report_ = make_report(input_);
  if (!report_->ok()) return report_->error();
  Output out;
  JsonWriter json(out);
  json.begin_object();
  write_report(json, **report_);
  json.end_object();
  return Answer::json(out.text());
}

}  // namespace fathom::serve
