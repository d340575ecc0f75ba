#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ovni/runtime.hpp"

namespace fathom::ovni_runtime {

thread_local Thread thread __attribute__((tls_model("initial-exec")));

Details& details(const char* function) {
  if (!thread.ready) die("%s: the thread is not initialised", function);
  return *thread.details;
}

}  // namespace fathom::ovni_runtime

using namespace fathom::ovni_runtime;

#pragma GCC visibility push(default)
extern "C" {

void ovni_thread_init(pid_t tid) {
  if (thread.ready) {
    warn("ovni_thread_init: thread %d is initialised already", static_cast<int>(tid));
    return;
  }
  if (thread.finished) die("ovni_thread_init: thread %d has finished already", static_cast<int>(tid));
  if (tid == 0) die("ovni_thread_init: the thread id 0 is none");
  if (process.stage.load() != Stage::ready) die("ovni_thread_init: the process is not initialised");
  // Room behind the end for the one copy that is larger than its event, and for the two events of a flush.
  thread.buffer = static_cast<unsigned char*>(std::malloc(kBuffer + 128));
  if (thread.buffer == nullptr) die("ovni_thread_init: no memory for the buffer");
  thread.details = new Details;
  Details& mine = *thread.details;
  thread.tid = tid;
  thread.used = 0;

  const std::string name = "thread." + std::to_string(tid);
  if (process.layout == Layout::v1) {
    mine.folder = process.folder;
    mine.final_folder = process.final_folder;
    mine.stream_name = name;
  } else {
    mine.folder = join(process.folder, name);
    mine.final_folder = join(process.final_folder, name);
    mine.stream_name = "stream.obs";
    make_folders(mine.folder);
    if (process.moves) make_folders(mine.final_folder);
  }
  const std::string path = join(mine.folder, mine.stream_name);
  thread.descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (thread.descriptor < 0) die("%s: %s", path.c_str(), std::strerror(errno));
  if (process.layout == Layout::current) {
    ovni_stream_header header = {};
    std::memcpy(header.magic, OVNI_STREAM_MAGIC, 4);
    header.version = OVNI_STREAM_VERSION;
    write_bytes(thread.descriptor, reinterpret_cast<const unsigned char*>(&header), sizeof header);
  }

  Json& metadata = mine.metadata;
  metadata["version"] = OVNI_METADATA_VERSION;
  Json& about = metadata["ovni"];
  about["lib"]["version"] = OVNI_LIB_VERSION;
  about["lib"]["commit"] = OVNI_GIT_COMMIT;
  about["part"] = "thread";
  about["tid"] = tid;
  about["pid"] = process.pid;
  about["loom"] = process.loom;
  about["app_id"] = process.app;
  thread.ready = true;
  thread.limit = kBuffer;
  ovni_thread_require("ovni", OVNI_MODEL_VERSION);
  store_metadata(mine);
}

int ovni_thread_isready(void) { return thread.ready ? 1 : 0; }

void ovni_thread_free(void) {
  if (thread.finished) die("ovni_thread_free: the thread has finished already");
  Details& mine = details("ovni_thread_free");
  Json& about = mine.metadata["ovni"];
  if (mine.rank >= 0) {
    about["rank"] = mine.rank;
    about["nranks"] = mine.ranks;
  }
  if (!mine.cpus.empty()) about["loom_cpus"] = mine.cpus;
  about["finished"] = 1;
  store_metadata(mine);
  if (process.layout == Layout::v1) keep_for_process(mine);
  if (::close(thread.descriptor) != 0) warn("cannot close the stream: %s", std::strerror(errno));
  thread.descriptor = -1;
  if (process.moves) {
    move_file(join(mine.folder, mine.stream_name), join(mine.final_folder, mine.stream_name));
    if (process.layout == Layout::current) {
      move_file(join(mine.folder, "stream.json"), join(mine.final_folder, "stream.json"));
      ::rmdir(mine.folder.c_str());
    }
  }
  std::free(thread.buffer);
  thread.buffer = nullptr;
  delete thread.details;
  thread.details = nullptr;
  thread.ready = false;
  thread.limit = 0;
  thread.finished = true;
}
}
#pragma GCC visibility pop
