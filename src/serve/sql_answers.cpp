#include "serve/sql_answers.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <thread>

#include "base/json.hpp"
#include "base/text.hpp"
#include "serve/wire.hpp"

namespace fathom::serve {

namespace {

// Stops a query that takes too long, and every query when the server ends.
class Watch {
 public:
  Watch(std::shared_ptr<std::atomic<bool>> cancel, std::int64_t milliseconds)
      : cancel_(std::move(cancel)), execution_(&Execution::current()), thread_([this, milliseconds] {
          std::unique_lock lock(mutex_);
          for (std::int64_t waited = 0; !over_; waited += kStep) {
            if (waited >= milliseconds || execution_->cancelled()) {
              late_ = waited >= milliseconds;
              *cancel_ = true;
              return;
            }
            changed_.wait_for(lock, std::chrono::milliseconds(kStep));
          }
        }) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
    *cancel_ = false;
  }
  [[nodiscard]] bool late() const { return late_; }

 private:
  static constexpr std::int64_t kStep = 50;
  std::shared_ptr<std::atomic<bool>> cancel_;
  const Execution* execution_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::atomic<bool> late_{false};
  std::thread thread_;
};

Result<Answer> answer_rows(const query::QueryResult& result, std::size_t limit) {
  Output out;
  JsonWriter json(out);
  json.begin_object().key("columns").begin_array();
  if (result.any_columns) {
    for (const ColumnSpec& column : result.rows->schema().columns) {
      json.begin_object().member("name", std::string_view(shown_text(column.name)));
      json.member("type", to_string(column.type)).member("unit", std::string_view(column.unit)).end_object();
    }
  }
  json.end_array().key("rows").begin_array();
  std::size_t rows = 0;
  bool more = false;
  for (std::size_t part = 0; result.any_columns && !more && part < result.rows->parts(); ++part) {
    FATHOM_TRY(const auto reader, result.rows->open(part, {}));
    for (Batch batch; !more;) {
      FATHOM_TRY(const bool any, reader->next(batch));
      if (!any) break;
      for (std::size_t row = 0; row < batch.rows; ++row) {
        more = rows == limit;
        if (more) break;
        ++rows;
        json.begin_array();
        for (const Column& column : batch.columns) write_wire(json, column, row);
        json.end_array();
      }
    }
  }
  json.end_array().member("more", more).end_object();
  return Answer::json(out.text());
}

}  // namespace

SqlAnswers::SqlAnswers(std::vector<std::shared_ptr<Dataset>> datasets, std::shared_ptr<std::mutex> levels,
                       SqlLimits limits)
    : datasets_(std::move(datasets)),
      levels_(std::move(levels)),
      limits_(limits),
      cancel_(std::make_shared<std::atomic<bool>>(false)) {}

Result<void> SqlAnswers::opened() {
  if (database_) return {};
  query::DatabaseOptions options;
  options.max_memory = limits_.max_memory;
  options.execution = Execution(Execution::current().threads(), cancel_);
  FATHOM_TRY(const auto database, query::Database::open(std::move(options)));
  std::vector<std::string> schemas;
  for (const auto& dataset : datasets_) {
    if (datasets_.size() > 1) schemas.push_back(query::schema_name(dataset->path(), schemas));
    FATHOM_CHECK(database->add(dataset, schemas.empty() ? "" : schemas.back(), levels_));
  }
  FATHOM_CHECK(database->seal());
  database_ = database;
  return {};
}

Result<Answer> SqlAnswers::tables() {
  const std::lock_guard lock(mutex_);
  FATHOM_CHECK(opened());
  Output out;
  JsonWriter json(out);
  json.begin_object().key("tables").begin_array();
  for (const auto& table : database_->names()) {
    json.begin_object().member("name", std::string_view(table.name)).member("title", std::string_view(table.title));
    json.key("columns").begin_array();
    for (const std::string& column : table.columns) json.value(std::string_view(column));
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return Answer::json(out.text());
}

Result<Answer> SqlAnswers::query(const Request& request) {
  if (trim(request.body).empty()) return Error::usage("there is no query");
  const std::lock_guard lock(mutex_);
  FATHOM_CHECK(opened());
  const Watch watch(cancel_, limits_.milliseconds);
  auto answer = [&]() -> Result<Answer> {
    FATHOM_TRY(const query::QueryResult result, database_->query(request.body));
    return answer_rows(result, limits_.rows);
  }();
  if (!answer.ok() && watch.late()) {
    return Error::usage(fmt::format("the query was stopped: it took longer than {} s", limits_.milliseconds / 1000))
        .hint("fathom sql has no such limit");
  }
  if (!answer.ok()) return std::move(answer).error().as(ErrorKind::usage);
  return answer;
}

}  // namespace fathom::serve
