// Values of a database, by context from cct.db and by profile from profile.db, whichever is less work for what is
// asked; found by binary search in the mapped bytes.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "formats/hpctoolkit/cct_db.hpp"
#include "formats/hpctoolkit/mapping.hpp"
#include "formats/hpctoolkit/profile_db.hpp"
#include "profile/source.hpp"

namespace fathom::hpctoolkit {

enum class Via : std::uint8_t { either, profile_db, cct_db };

class DatabaseSource : public ValueSource {
 public:
  DatabaseSource(std::shared_ptr<const ProfileDb> profiles, std::shared_ptr<const CctDb> contexts,
                 std::shared_ptr<const Mapping> mapping, Work work);

  [[nodiscard]] Axis cheap_axis() const override { return contexts_ ? Axis::context : Axis::location; }
  [[nodiscard]] bool reads_well_by(Axis axis) const override {
    return axis == Axis::context ? has_contexts() : axis == Axis::location && has_profiles();
  }
  Result<void> scan(const Box& box, const RunVisitor& visit) const override { return scan(box, visit, Via::either); }
  // The same from one of the two files, for comparing them.
  Result<void> scan(const Box& box, const RunVisitor& visit, Via via) const;

  [[nodiscard]] bool has_profiles() const { return profiles_ != nullptr; }
  [[nodiscard]] bool has_contexts() const { return contexts_ != nullptr; }

 private:
  [[nodiscard]] Via choose(const Box& box) const;
  Result<void> scan_contexts(const Box& box, const RunVisitor& visit) const;
  Result<void> scan_shared(const ContextBlock& block, std::uint32_t context, const Box& box,
                           const RunVisitor& visit) const;
  Result<void> scan_profiles(const Box& box, const RunVisitor& visit) const;

  std::shared_ptr<const ProfileDb> profiles_;
  std::shared_ptr<const CctDb> contexts_;
  std::shared_ptr<const Mapping> mapping_;
  std::vector<std::uint32_t> location_of_profile_;
  Work work_;
};

}  // namespace fathom::hpctoolkit
