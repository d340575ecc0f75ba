#include "trace/analysis/instances_exchange.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include "base/pack.hpp"
#include "trace/analysis/team_lists.hpp"

namespace fathom::analysis {

namespace {

struct Key {
  std::uint32_t group = 0;
  std::uint32_t instance = 0;

  friend auto operator<=>(const Key&, const Key&) = default;
};
struct Told {
  Key key;
  KnownOfInstance known;
};
// A root that nobody who named it has.
struct MissingRoot {
  Key key;
  std::uint32_t process = 0;
};
struct FoundRoot {
  Key key;
  CallPlace place;
  std::int64_t entry = 0;
};
struct ScanPart {
  Key key;
  ScanBefore of;
};

class Together {
 public:
  explicit Together(const RunCalls& run) : run_(run), out_(run.groups.size()) {}

  Result<std::vector<GroupInstances>> find() {
    FATHOM_TRY(auto told, exchange_lists(known_by_owner()));
    FATHOM_CHECK(put_together(told));
    FATHOM_TRY(const auto answers, exchange_lists(std::move(told)));
    for (const auto& list : answers) {
      for (const Told& one : list) out_[one.key.group].instances[one.key.instance] = one.known.instance;
    }
    FATHOM_CHECK(find_scans());
    return std::move(out_);
  }

 private:
  [[nodiscard]] static unsigned owner(Key key) { return (key.group + key.instance) % team().size(); }

  Lists<Told> known_by_owner() {
    Lists<Told> to(team().size());
    for (std::uint32_t g = 0; g < run_.groups.size(); ++g) {
      const Group& group = run_.groups[g];
      out_[g].instances.resize(group.instances);
      for (std::uint32_t k = 0; k < group.instances; ++k) {
        const KnownOfInstance known = known_here(run_, group, k);
        to[owner({g, k})].push_back({{g, k}, known});
      }
    }
    return to;
  }

  // Those who told of an instance are told what it is: in the same places of the same lists.
  Result<void> put_together(Lists<Told>& told) {
    std::vector<Told*> all;
    for (auto& list : told) {
      for (Told& one : list) all.push_back(&one);
    }
    std::sort(all.begin(), all.end(), [](const Told* a, const Told* b) {
      return std::tie(a->key, a->known.first_member) < std::tie(b->key, b->known.first_member);
    });
    Lists<MissingRoot> missing(team().size());
    std::int64_t many = 0;
    each_instance(all, [&](std::span<Told*> members) {
      Instance whole = joined(members);
      const std::uint32_t root = members[0]->known.root_process;
      if (root != kNone && whole.root.call == kNone) {
        missing[run_.owners[root]].push_back({members[0]->key, root});
        ++many;
      }
      for (Told* one : members) one->known.instance = whole;
    });
    FATHOM_TRY(const auto sum, team().sum({many}));
    if (sum[0] == 0) return {};
    FATHOM_TRY(const auto asked, exchange_lists(std::move(missing)));
    FATHOM_TRY(const auto found, exchange_lists(roots(asked)));
    for (const auto& list : found) {
      for (const FoundRoot& root : list) {
        const auto first = std::lower_bound(all.begin(), all.end(), root.key,
                                            [](const Told* one, const Key& key) { return one->key < key; });
        for (auto at = first; at != all.end() && (*at)->key == root.key; ++at) {
          (*at)->known.instance.root = root.place;
          (*at)->known.instance.root_entry = root.entry;
        }
      }
    }
    return {};
  }

  template <class Body>
  static void each_instance(std::vector<Told*>& all, const Body& body) {
    for (std::size_t begin = 0; begin < all.size();) {
      std::size_t end = begin;
      while (end < all.size() && all[end]->key == all[begin]->key) ++end;
      body(std::span(all).subspan(begin, end - begin));
      begin = end;
    }
  }

  // The one with the first member comes first: its root counts.
  [[nodiscard]] Instance joined(std::span<Told* const> members) const {
    const KnownOfInstance& first = members[0]->known;
    Instance whole = first.instance;
    for (const Told* one : members.subspan(1)) {
      const Instance& more = one->known.instance;
      if (more.kind != whole.kind) whole.kind = CallKind::none;
      whole.symmetric = whole.symmetric && more.symmetric;
      whole.first_exit = std::min(whole.first_exit, more.first_exit);
      if (later(run_, {0, more.last, more.last_entry}, {0, whole.last, whole.last_entry})) {
        whole.last = more.last;
        whole.last_entry = more.last_entry;
      }
      const bool has_root = whole.root.call == kNone && more.root.call != kNone &&
                            run_.locations[more.root.location].process == first.root_process;
      if (has_root) {
        whole.root = more.root;
        whole.root_entry = more.root_entry;
      }
    }
    return whole;
  }

  [[nodiscard]] Lists<FoundRoot> roots(const Lists<MissingRoot>& asked) const {
    Lists<FoundRoot> found(asked.size());
    for (std::size_t i = 0; i < asked.size(); ++i) {
      for (const MissingRoot& one : asked[i]) {
        const Group& group = run_.groups[one.key.group];
        const CallPlace place = group.call(group.position(one.process), one.key.instance);
        if (place.call != kNone) found[i].push_back({one.key, place, run_.at(place).entry});
      }
    }
    return found;
  }

  Result<void> find_scans() {
    Lists<ScanPart> to(team().size());
    std::int64_t many = 0;
    for (std::uint32_t g = 0; g < out_.size(); ++g) {
      const Group& group = run_.groups[g];
      for (std::uint32_t k = 0; k < out_[g].instances.size(); ++k) {
        if (out_[g].instances[k].kind != CallKind::scan) continue;
        for (std::uint32_t m = 0; m < group.calls.size(); ++m) {
          const CallPlace place = group.call(m, k);
          if (place.call == kNone) continue;
          to[owner({g, k})].push_back({{g, k}, {m, place, run_.at(place).entry}});
          ++many;
        }
      }
    }
    FATHOM_TRY(const auto sum, team().sum({many}));
    if (sum[0] == 0) return {};
    FATHOM_TRY(auto parts, exchange_lists(std::move(to)));
    set_latest_before(parts);
    FATHOM_TRY(const auto answers, exchange_lists(std::move(parts)));
    std::vector<ScanPart> all;
    for (const auto& list : answers) all.insert(all.end(), list.begin(), list.end());
    std::sort(all.begin(), all.end(), [](const ScanPart& a, const ScanPart& b) {
      return std::tie(a.key, a.of.member) < std::tie(b.key, b.of.member);
    });
    for (const ScanPart& part : all) {
      if (part.of.latest.call == kNone) continue;
      auto& scans = out_[part.key.group].scans;
      if (scans.empty() || scans.back().first != part.key.instance) scans.emplace_back(part.key.instance, ScanPrefix{});
      scans.back().second.push_back(part.of);
    }
    return {};
  }

  // Every part becomes the latest one before it.
  void set_latest_before(Lists<ScanPart>& parts) const {
    std::vector<ScanPart*> all;
    for (auto& list : parts) {
      for (ScanPart& part : list) all.push_back(&part);
    }
    std::sort(all.begin(), all.end(), [](const ScanPart* a, const ScanPart* b) {
      return std::tie(a->key, a->of.member) < std::tie(b->key, b->of.member);
    });
    ScanBefore last;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i == 0 || all[i]->key != all[i - 1]->key) last = {};
      const ScanBefore here = all[i]->of;
      all[i]->of = {here.member, last.latest, last.entry};
      if (later(run_, here, last)) last = here;
    }
  }

  const RunCalls& run_;
  std::vector<GroupInstances> out_;
};

}  // namespace

Result<std::vector<GroupInstances>> find_instances_together(const RunCalls& run) { return Together(run).find(); }

}  // namespace fathom::analysis
