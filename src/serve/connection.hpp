// The HTTP library's server with a limit of its own: a request must arrive within a time, however it trickles in. The
// library only limits how long it waits for the next byte, so that a client could hold a connection for hours.
#pragma once

#include <httplib.h>

#include <chrono>

namespace fathom::serve {

class LimitedServer final : public httplib::Server {
 public:
  explicit LimitedServer(std::chrono::milliseconds request_time) : request_time_(request_time) {}

 private:
  // What the library does with a connection that was accepted: its requests one after the other.
  bool process_and_close_socket(socket_t sock) override;

  std::chrono::milliseconds request_time_;
};

}  // namespace fathom::serve
