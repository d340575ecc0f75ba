#include "query/predefined_views.hpp"

#include <fmt/format.h>

namespace fathom::query {

namespace {

// Metrics whose values may be summed over contexts and locations.
constexpr std::string_view kAddsUp =
    "IN (SELECT id FROM {metric} WHERE kind IN ('stored', 'pre-derived') AND regexp_full_match(type, '[uif][0-9]+')) ";
// Exclusive values of calls have those of their loops and lines in them.
constexpr std::string_view kCalls = "(c.edge <> 'lexical' OR c.parent IS NULL) ";

}  // namespace

std::span<const PredefinedView> predefined_views() {
  static const std::vector<PredefinedView> views = {
      {"hot_region",
       "what each region costs by itself, over all contexts and locations",
       {"total", "context", "metric"},
       fmt::format(
           "SELECT t.metric, c.name AS region, sum(t.exclusive) AS exclusive, count(*) AS contexts "
           "FROM {{total}} t JOIN {{context}} c ON t.context = c.id WHERE t.exclusive <> 0 AND {} AND t.metric {} "
           "GROUP BY ALL ORDER BY t.metric, exclusive DESC",
           kCalls, kAddsUp)},
      {"rank_region",
       "the same per rank",
       // Of a profile: values of experiments have no flavours.
       {"total", "value", "context", "location", "metric"},
       fmt::format("SELECT v.metric, l.rank, c.name AS region, sum(v.value) AS exclusive "
                   "FROM {{value}}(flavour := 'exclusive') v JOIN {{context}} c ON v.context = c.id "
                   "JOIN {{location}} l ON v.location = l.id WHERE {} AND v.metric {} "
                   "GROUP BY ALL ORDER BY v.metric, l.rank, exclusive DESC",
                   kCalls, kAddsUp)},
      {"call_interval",
       "enter and leave of each call as one row, with its depth",
       {"event"},
       // The leave of a call is the next event of its location and depth; depth counts enters before it.
       "SELECT location, name, depth, time_ns AS start_ns, "
       "lead(time_ns) OVER (PARTITION BY location, depth ORDER BY number) AS end_ns, kind "
       "FROM (SELECT location, name, kind, time_ns, number, "
       "sum(CASE kind WHEN 'enter' THEN 1 ELSE -1 END) OVER (PARTITION BY location ORDER BY number) "
       "+ CASE kind WHEN 'enter' THEN 0 ELSE 1 END AS depth "
       "FROM (SELECT *, row_number() OVER (PARTITION BY location ORDER BY time_ns, record, "
       "CASE kind WHEN 'enter' THEN 0 ELSE 1 END) AS number FROM {event} WHERE kind IN ('enter', 'leave'))) "
       "QUALIFY kind = 'enter' ORDER BY location, start_ns"},
      {"message_matrix",
       "messages and bytes from rank to rank",
       {"message"},
       "SELECT src, dst, count(*) AS messages, sum(bytes)::HUGEINT AS bytes FROM {message} GROUP BY src, dst "
       "ORDER BY src, dst"},
      {"late_message",
       "messages by how long they were on their way, longest first",
       {"message"},
       "SELECT *, t_recv - t_send AS transit_ns FROM {message} WHERE t_send IS NOT NULL AND t_recv IS NOT NULL "
       "ORDER BY transit_ns DESC"},
      {"event_count",
       "events by kind and name",
       {"event"},
       "SELECT kind, name, count(*) AS events FROM {event} GROUP BY ALL ORDER BY events DESC"},
      {"worst_model",
       "models by how badly they fit",
       {"model"},
       "SELECT path, metric, function, SMAPE FROM {model} ORDER BY SMAPE DESC"},
  };
  return views;
}

}  // namespace fathom::query
