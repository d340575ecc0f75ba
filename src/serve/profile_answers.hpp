// Questions about a profile: metrics, call trees, flame graphs, spread over locations.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "profile/profile.hpp"
#include "profile/views.hpp"
#include "serve/request.hpp"

namespace fathom::serve {

// MT: externally synchronised.
class ProfileAnswers {
 public:
  explicit ProfileAnswers(ProfilePtr profile) : profile_(std::move(profile)) {}

  // Columns: name, title, unit, parent, description, why it has no values.
  Result<Answer> metrics() const;
  // view=topdown|bottomup|flat, metrics=a\nb (lines), node=N (or none: the roots), locations=0-3,7, limit=N:
  // nodes below `node` in depth-first order, the heaviest first where not all fit, with both values per metric.
  Result<Answer> tree(const Request& request);
  // The same, with share: the nodes of the hot path.
  Result<Answer> hot_path(const Request& request);
  // The same, with text ("part" or "/regex/"): nodes whose region fits, with all that lies above them.
  Result<Answer> search(const Request& request);
  // view, metric, node, least (share of the total): boxes that are at least so wide.
  Result<Answer> flame(const Request& request);
  [[nodiscard]] const Profile& profile() const { return *profile_; }
  // metric, context (number of a node of the top-down view; none: all): a value per location.
  Result<Answer> spread(const Request& request);

 private:
  struct View {
    std::string key;
    std::shared_ptr<const TreeView> tree;
    double total = 0;
  };
  // Kept for the next question; the oldest goes when there are too many.
  Result<View> view(std::string_view kind, MetricId metric, const std::string& locations);
  Result<std::vector<View>> views(const Request& request, std::vector<MetricId>& metrics);
  [[nodiscard]] Result<std::vector<LocationId>> chosen_locations(std::string_view text) const;
  [[nodiscard]] Result<MetricId> metric(std::string_view name) const;
  [[nodiscard]] MetricId likely_metric() const;
  [[nodiscard]] std::string name_of(const TreeView::Node& node) const;
  Result<Answer> answer_nodes(const std::vector<View>& views, const std::vector<MetricId>& metrics,
                              const std::vector<std::uint32_t>& nodes) const;

  ProfilePtr profile_;
  std::list<View> views_;
};

}  // namespace fathom::serve
