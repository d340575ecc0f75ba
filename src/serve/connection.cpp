#include "serve/connection.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace fathom::serve {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kSlice{50};    // between looks at whether the server ends
constexpr std::size_t kSlowest = 64;  // bytes per ms that a large answer must be taken with

// A connection as the library reads and writes it. Nothing can be read once the time of the request is over, nothing
// written once that of the answer is: a client that takes it byte by byte would hold a thread for ever.
class LimitedStream final : public httplib::Stream {
 public:
  LimitedStream(socket_t sock, milliseconds read_time, milliseconds write_time)
      : sock_(sock), read_time_(read_time), write_time_(write_time) {}

  // The next request has so much time to arrive.
  void begin(milliseconds time) { deadline_ = Clock::now() + time; }
  // Something that was wanted did not come.
  [[nodiscard]] bool broken() const { return broken_; }
  [[nodiscard]] bool buffered() const { return at_ < filled_; }
  [[nodiscard]] bool ready(short what, milliseconds time) const {
    pollfd waiting{sock_, what, 0};
    while (true) {
      const int found = poll(&waiting, 1, static_cast<int>(time.count()));
      if (found < 0 && errno == EINTR) continue;
      return found > 0;
    }
  }

  [[nodiscard]] bool is_readable() const override { return buffered() || ready(POLLIN, in_time()); }
  [[nodiscard]] bool is_writable() const override { return ready(POLLOUT, write_time_); }

  ssize_t read(char* to, std::size_t size) override {
    writing_ = false;
    broken_ = broken_ || Clock::now() >= deadline_ || (!buffered() && (!is_readable() || receive() <= 0));
    if (broken_) return -1;
    const std::size_t count = std::min(size, filled_ - at_);
    std::memcpy(to, &buffer_[at_], count);
    at_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    if (!writing_) {
      writing_ = true;
      answer_end_ = Clock::now() + write_time_;
    }
    while (true) {
      // Never more than what there is room for: a send that waits knows nothing of our clock.
      const auto left = std::chrono::duration_cast<milliseconds>(answer_end_ - Clock::now());
      if (left.count() <= 0 || !ready(POLLOUT, left)) {
        broken_ = true;
        return -1;
      }
      const ssize_t sent = send(sock_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      // A large answer has more time.
      if (sent > 0) answer_end_ += milliseconds(static_cast<std::size_t>(sent) / kSlowest);
      return sent;
    }
  }
  // Nobody asks who is at the other end: the secret says who may.
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  [[nodiscard]] socket_t socket() const override { return sock_; }

 private:
  [[nodiscard]] milliseconds in_time() const {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now());
    return std::clamp(left, milliseconds(0), read_time_);
  }
  ssize_t receive() {
    at_ = filled_ = 0;
    while (true) {
      const ssize_t got = recv(sock_, buffer_.data(), buffer_.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got > 0) filled_ = static_cast<std::size_t>(got);
      return got;
    }
  }

  socket_t sock_;
  milliseconds read_time_;
  milliseconds write_time_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point answer_end_;
  bool writing_ = false;
  bool broken_ = false;
  std::array<char, 4096> buffer_{};
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace

bool LimitedServer::process_and_close_socket(socket_t sock) {
  LimitedStream stream(sock, std::chrono::seconds(read_timeout_sec_), std::chrono::seconds(write_timeout_sec_));
  const auto next_comes = [&] {
    const auto patience = Clock::now() + std::chrono::seconds(keep_alive_timeout_sec_);
    while (svr_sock_ != INVALID_SOCKET && Clock::now() < patience) {
      if (stream.buffered() || stream.ready(POLLIN, kSlice)) return true;
    }
    return false;
  };
  bool answered = false;
  for (std::size_t left = keep_alive_max_count_; left > 0 && next_comes(); --left) {
    stream.begin(request_time_);
    bool closed = false;
    answered = process_request(stream, left == 1, closed, nullptr);
    // What could not be read is answered with an error; more of it would begin the next request.
    if (!answered || closed || stream.broken()) break;
  }
  shutdown(sock, SHUT_RDWR);
  close(sock);
  return answered;
}

}  // namespace fathom::serve
