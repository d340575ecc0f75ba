#include "serve/server.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>

#include "base/cancel.hpp"
#include "base/execution.hpp"
#include "io/inflate.hpp"
#include "serve/assets.hpp"
#include "serve/connection.hpp"
#include "serve/guard.hpp"

namespace fathom::serve {

namespace {

constexpr std::size_t kLargestBody = 1U << 20;
constexpr std::size_t kConnections = 64;
constexpr std::chrono::seconds kRequestTime{15};  // for a request to arrive
constexpr std::chrono::seconds kAnswerTime{20};   // for an answer to be taken, and a second more for each 64 KB of it
constexpr int kSendBuffer = 256 << 10;            // what is on the way of one connection
constexpr std::size_t kPackedFrom = std::size_t{32} << 10;
constexpr std::size_t kLargestCount = 64;  // of query parameters

// At most so many connections are open: further ones wait outside until one ends. A thread each, since a slow client
// holds one until it is timed out.
class Connections final : public httplib::TaskQueue {
 public:
  explicit Connections(const std::atomic<bool>& ending) : ending_(ending), threads_(kConnections) {}

  void enqueue(std::function<void()> answer) override {
    {
      std::unique_lock lock(mutex_);
      // The one who accepts waits here; it looks up now and then, in case the server ends.
      while (open_ >= kConnections && !ending_) ended_.wait_for(lock, std::chrono::milliseconds(50));
      ++open_;
    }
    threads_.enqueue([this, answer = std::move(answer)] {
      answer();
      const std::lock_guard lock(mutex_);
      --open_;
      ended_.notify_one();
    });
  }
  void shutdown() override { threads_.shutdown(); }

 private:
  const std::atomic<bool>& ending_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t open_ = 0;
  httplib::ThreadPool threads_;
};

std::vector<std::string> all_of(const httplib::Request& request, const char* header) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < request.get_header_value_count(header); ++i) {
    out.push_back(request.get_header_value(header, i));
  }
  return out;
}

Credentials credentials_of(const httplib::Request& request) {
  return {request.method, all_of(request, "Host"), all_of(request, "Origin"), all_of(request, "Sec-Fetch-Site"),
          all_of(request, "X-Fathom-Key")};
}

}  // namespace

struct Server::Parts {
  Parts(Viewer& v, ServerOptions o) : viewer(v), options(std::move(o)) {}

  Viewer& viewer;
  ServerOptions options;
  GuardRules rules;
  LimitedServer http{kRequestTime};
  int port = 0;
  const Execution* execution = &Execution::current();  // of whoever runs the server: holds for its threads, too
  std::atomic<std::int64_t> last_request_ms{0};
  std::atomic<bool> ending{false};

  void headers(httplib::Response& response, bool data) const {
    response.set_header(
        "Content-Security-Policy",
        fmt::format("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
                    "connect-src 'self'; font-src 'self'; worker-src 'self'; base-uri 'none'; "
                    "form-action 'none'; frame-ancestors {}",
                    options.allow_frame ? "'self'" : "'none'"));
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_header("Cross-Origin-Opener-Policy", "same-origin");
    response.set_header("Cross-Origin-Resource-Policy", "same-origin");
    response.set_header("Cache-Control", data ? "no-store" : "no-cache");
  }

  void refuse(httplib::Response& response, int status, const char* text) const {
    response.status = status;
    response.set_content(text, "text/plain; charset=utf-8");
  }

  // The path behind the base, without its first slash; nothing when it lies elsewhere.
  [[nodiscard]] std::optional<std::string> inside(const std::string& path) const {
    if (!path.starts_with(options.base)) return std::nullopt;
    return path.substr(options.base.size());
  }

  void handle(const httplib::Request& request, httplib::Response& response) {
    const ExecutionScope scope(*execution);
    last_request_ms = now_ms();
    const std::optional<std::string> path = inside(request.path);
    const bool data = path && path->starts_with("api/");
    headers(response, data);
    const Credentials credentials = credentials_of(request);
    switch (data ? judge_data(rules, credentials) : judge_page(rules, credentials)) {
      case Verdict::wrong_method:
        refuse(response, 405, "only GET and POST\n");
        return;
      case Verdict::forbidden:
        refuse(response, 403, "forbidden\n");
        return;
      case Verdict::allowed:
        break;
    }
    if (!path) {
      refuse(response, 404, "not found\n");
    } else if (data) {
      give_data(path->substr(4), request, response);
    } else {
      give_page(path->empty() ? "index.html" : *path, response);
    }
  }

  void give_data(std::string path, const httplib::Request& request, httplib::Response& response) {
    Request question;
    question.path = std::move(path);
    question.body = request.body;
    if (request.params.size() > kLargestCount) {
      refuse(response, 400, "too many parameters\n");
      return;
    }
    for (const auto& [name, value] : request.params) question.query[name] = value;
    Answer answer = viewer.answer(question);
    response.status = answer.status;
    // The library would pack what it knows as text, as tightly as it can: seconds for a megabyte. A type with its
    // character set is none of those; what is large is packed here, quickly.
    const std::string type = answer.type == "application/json" ? "application/json; charset=utf-8" : answer.type;
    const bool packs = request.get_header_value("Accept-Encoding").find("gzip") != std::string::npos;
    if (packs && answer.body.size() > kPackedFrom) {
      const std::vector<std::byte> packed = gzip(as_bytes(answer.body), 1);
      response.set_header("Content-Encoding", "gzip");
      response.set_content(reinterpret_cast<const char*>(packed.data()), packed.size(), type);
      return;
    }
    response.set_content(std::move(answer.body), type);
  }

  void give_page(const std::string& path, httplib::Response& response) {
    for (const Asset& asset : assets()) {
      if (asset.path != path) continue;
      response.set_header("Content-Encoding", "gzip");
      response.set_content(asset.content.data(), asset.content.size(), std::string(asset.type));
      return;
    }
    refuse(response, 404,
           assets().empty() ? "this fathom was built without its page (FATHOM_WEB=OFF)\n" : "not found\n");
  }

  static std::int64_t now_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Server::~Server() {
  if (parts_->options.socket) {
    std::error_code ignored;
    std::filesystem::remove(*parts_->options.socket, ignored);
  }
}

namespace {

// A socket that somebody answers on is not ours to take; a dead one is removed.
Result<void> make_room(const std::filesystem::path& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode)) return Error("exists and is no socket", Place::in(path.string()));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool alive = probe >= 0 && connect(probe, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  if (probe >= 0) close(probe);
  if (alive) return Error("another server listens there", Place::in(path.string()));
  std::error_code failed;
  std::filesystem::remove(path, failed);
  if (failed) return Error("cannot be replaced: " + failed.message(), Place::in(path.string()));
  return {};
}

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(Viewer& viewer, ServerOptions options) {
  if (options.key.size() < kShortestKey) {
    return Error::usage(fmt::format("the key must have at least {} characters", kShortestKey));
  }
  if (options.base.empty() || options.base.front() != '/') options.base.insert(0, "/");
  if (options.base.back() != '/') options.base += '/';
  auto parts = std::make_unique<Parts>(viewer, std::move(options));
  Parts& p = *parts;
  p.http.set_payload_max_length(kLargestBody);
  p.http.set_read_timeout(std::chrono::seconds(5));
  p.http.set_write_timeout(kAnswerTime);
  p.http.set_socket_options([](socket_t sock) {
    const int yes = 1;
    setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    setsockopt(sock, SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
  });
  p.http.set_keep_alive_timeout(5);
  p.http.set_tcp_nodelay(true);
  p.http.new_task_queue = [&p] { return new Connections(p.ending); };
  p.http.set_pre_routing_handler([&p](const httplib::Request& request, httplib::Response& response) {
    // The body of a POST is only read behind this point: everything else is answered here.
    if (request.method == "POST") return httplib::Server::HandlerResponse::Unhandled;
    p.handle(request, response);
    return httplib::Server::HandlerResponse::Handled;
  });
  p.http.Post(".*",
              [&p](const httplib::Request& request, httplib::Response& response) { p.handle(request, response); });
  p.rules.key = p.options.key;
  if (p.options.socket) {
    FATHOM_CHECK(make_room(*p.options.socket));
    const mode_t before = umask(0177);
    p.http.set_address_family(AF_UNIX);
    const bool bound = p.http.bind_to_port(p.options.socket->string(), 80);
    umask(before);
    if (!bound)
      return Error(std::string("cannot listen: ") + std::strerror(errno), Place::in(p.options.socket->string()));
    p.rules.check_hosts = false;
  } else {
    p.port = p.options.port == 0                                      ? p.http.bind_to_any_port(p.options.address)
             : p.http.bind_to_port(p.options.address, p.options.port) ? p.options.port
                                                                      : -1;
    if (p.port <= 0) {
      return Error(fmt::format("cannot listen on {}:{}: {}", p.options.address, p.options.port, std::strerror(errno)))
          .hint("leave out --port, and a free one is taken");
    }
    for (const std::string_view name : {"127.0.0.1", "localhost", "[::1]"}) {
      p.rules.hosts.push_back(fmt::format("{}:{}", name, p.port));
    }
    p.rules.hosts.insert(p.rules.hosts.end(), p.options.allowed_hosts.begin(), p.options.allowed_hosts.end());
  }
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

int Server::port() const { return parts_->port; }

std::string Server::address() const {
  return fmt::format("http://127.0.0.1:{}{}#k={}", parts_->port, parts_->options.base, parts_->options.key);
}

Result<void> Server::run() {
  Parts& p = *parts_;
  p.last_request_ms = Parts::now_ms();
  p.execution = &Execution::current();
  std::atomic<bool> over{false};
  // The library's loop ends only when told to; this is who looks at the clock and at Ctrl-C.
  std::thread watch([&] {
    while (!over) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const bool idle = p.options.idle.count() > 0 &&
                        Parts::now_ms() - p.last_request_ms > std::chrono::milliseconds(p.options.idle).count();
      if ((p.execution->cancelled() || idle) && p.http.is_running()) {
        p.ending = true;
        p.http.stop();
      }
    }
  });
  const bool ended = p.http.listen_after_bind();
  over = true;
  watch.join();
  if (!ended && !cancelled()) return Error("the server ended: it can accept no more connections");
  return {};
}

void Server::stop() {
  parts_->ending = true;
  parts_->http.stop();
}

}  // namespace fathom::serve
