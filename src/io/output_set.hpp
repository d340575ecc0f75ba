// Files that appear together or not at all: written in a folder of their own, moved to their places when all are there.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "base/option.hpp"
#include "base/result.hpp"

namespace fathom {

// Says whether a file of that path, relative to the directory, belongs to what is written.
using OwnsFile = std::function<bool(const std::filesystem::path& relative)>;

// Asked for by who writes; obeyed by every writer of a directory.
inline constexpr Option<bool> kForce{"force", "",
                                     "write into a directory that holds other files, too; they are left alone"};

// Removed unless committed. A failed or interrupted commit leaves the old files; one that the system killed is finished
// or undone by the next writer to the same place.
class OutputSet {
 public:
  // How a directory that exists is treated.
  struct Directory {
    OwnsFile owns;                 // its files are replaced, or removed when the new set has none of the name
    bool force = false;            // also when the directory holds anything else, which is left alone
    std::filesystem::path source;  // what is read: it is neither replaced nor written into
  };
  // A directory that is the dataset.
  static Result<OutputSet> directory(const std::filesystem::path& target, Directory how);
  // Files that are put into a directory, which is made when it is not there; others in it do not matter.
  static Result<OutputSet> into(const std::filesystem::path& directory);
  // Files that lie beside one another, named after the target; `owns` names those of an older set, by file name. A
  // directory that it owns is looked into, its files by their path from there on.
  static Result<OutputSet> beside(const std::filesystem::path& target, OwnsFile owns);

  OutputSet(OutputSet&& other) noexcept;
  OutputSet& operator=(OutputSet&&) = delete;
  ~OutputSet();

  // Where the files are to be written, under the names that they will have.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // What `owns` found at the target, relative to its directory; it will be gone.
  [[nodiscard]] const std::vector<std::filesystem::path>& older() const { return older_; }
  Result<void> commit();

 private:
  OutputSet(std::filesystem::path staging, int lock, std::filesystem::path target, bool whole,
            std::vector<std::filesystem::path> older);
  static Result<OutputSet> make(const std::filesystem::path& shown, const std::filesystem::path& directory,
                                std::string_view name, std::filesystem::path target, bool whole,
                                std::vector<std::filesystem::path> older);
  Result<void> move_all();

  std::filesystem::path staging_;
  std::filesystem::path path_;
  int lock_;
  std::filesystem::path target_;  // the directory that the files go to
  bool whole_;                    // it does not exist yet
  std::vector<std::filesystem::path> older_;
};

// Finishes or undoes what a dead process left in the staging folder, and removes it.
void recover_output_set(const std::filesystem::path& staging);

// "-", /dev/stdout, a device or a FIFO: no place for several files.
Result<void> need_room_for_files(const std::filesystem::path& target, std::string_view what);

// True when a path is the directory or lies below it, links and dots followed.
bool lies_within(const std::filesystem::path& path, const std::filesystem::path& directory);

}  // namespace fathom
