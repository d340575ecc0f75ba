// The local HTTP server: where it listens, what every answer carries, when it ends.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "serve/viewer.hpp"

namespace fathom::serve {

struct ServerOptions {
  std::string address = "127.0.0.1";
  int port = 0;                                 // 0 = any free one
  std::optional<std::filesystem::path> socket;  // a unix socket instead of a port
  std::vector<std::string> allowed_hosts;       // further names by which a proxy calls us
  std::string base = "/";                       // path in front of everything, where a proxy keeps it
  std::string key;                              // the secret
  bool allow_frame = false;                     // may be shown inside a page of the same origin
  std::chrono::seconds idle{0};                 // ends by itself after that long without a request; 0 = never
};

class Server {
 public:
  // Listens from now on; answers once run() is called.
  static Result<std::unique_ptr<Server>> listen(Viewer& viewer, ServerOptions options);
  ~Server();

  [[nodiscard]] int port() const;
  // With the secret in the fragment, which is part of no request; of a port only.
  [[nodiscard]] std::string address() const;
  // Answers until Ctrl-C, SIGTERM, idleness or stop().
  Result<void> run();
  void stop();

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace fathom::serve
