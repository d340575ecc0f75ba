// fathom view: the viewer in a browser, served to this machine alone.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text.hpp"
#include "cli/browser.hpp"
#include "cli/commands.hpp"
#include "cli/session.hpp"
#include "cli/view_session.hpp"
#include "formats/reading_options.hpp"
#include "serve/assets.hpp"
#include "serve/guard.hpp"
#include "serve/server.hpp"

namespace fathom::cli {

namespace {

std::string user_at_host() {
  char host[256] = "host";
  gethostname(host, sizeof host - 1);
  const char* user = std::getenv("USER");
  return fmt::format("{}@{}", user == nullptr ? "user" : user, host);
}

// "12h", "30m", "90s", "90": seconds.
Result<std::chrono::seconds> idle_time(const std::string& text) {
  static constexpr std::pair<char, std::int64_t> kUnits[] = {{'h', 3600}, {'m', 60}, {'s', 1}};
  std::string_view number = text;
  std::int64_t unit = 1;
  for (const auto& [letter, seconds] : kUnits) {
    if (!number.ends_with(letter)) continue;
    number.remove_suffix(1);
    unit = seconds;
    break;
  }
  const auto value = parse_integer<std::int64_t>(number);
  if (!value || *value < 0 || *value > 366 * 86400) {
    return Error::usage(fmt::format("--idle takes a time like 12h, 30m or 90s, found '{}'", text));
  }
  return std::chrono::seconds(*value * unit);
}

class ViewCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("PATH", paths_, "datasets of any format", false)
        .value("--session", "FILE", &session_file_, "open the datasets and the view that the page saved there")
        .value("--port", "N", &port_, "listen on this port (default: any free one)")
        .value("--socket", "PATH", &socket_, "listen on a unix socket instead of a port")
        .value("--bind", "ADDR", &bind_, "listen on this address (default: 127.0.0.1, this machine alone)")
        .values("--allow-host", "NAME", hosts_, "a further name, with its port, by which a proxy calls the server")
        .value("--base", "PATH", &base_, "path in front of all addresses, where a proxy keeps it")
        .value("--key-env", "NAME", &key_env_, "take the secret from this environment variable")
        .flag("--allow-frame", allow_frame_, "may be shown inside another page of the same origin")
        .flag("--waits", waits_, "traces: with wait states, delay costs and the critical path as metrics")
        .values("--source", "DIR", sources_,
                "show texts of source files from below this folder (those inside of a database are shown anyway)")
        .flag("--open", open_, "open the page in the browser ($BROWSER, xdg-open)")
        .value("--idle", "T", &idle_, "end after that long without a request (default: 12h; 0: never)")
        .value("--index", "DIR", &index_,
               "keep indexes of timelines here (default: ~/.cache/fathom, large traces only)")
        .flag("--index-beside", index_beside_, "keep them beside the data")
        .example("fathom view run.cubex", "prints an address to open in a browser, and how to reach it from a laptop")
        .example("fathom view before.cubex after.cubex", "two datasets, compared")
        .example("fathom view run.meta --socket ~/.fathom/view.sock", "no port that other users could try")
        .about(
            "The server answers this machine alone and only whoever has the secret in the printed address. On a login "
            "node, forward the port with the printed ssh command and open the address on your own machine.");
  }

  Result<int> run(Session& session) override {
    if (session_file_) {
      FATHOM_TRY(const ViewSession saved, read_view_session(*session_file_));
      paths_.insert(paths_.begin(), saved.paths.begin(), saved.paths.end());
      view_ = saved.view;
    }
    if (paths_.empty()) return Error::usage("view needs a PATH, or a file that its page saved (--session)");
    std::vector<DatasetPtr> datasets;
    if (waits_) session.work()->options.set(kWaits, true);
    for (const std::string& path : paths_) {
      FATHOM_TRY(DatasetPtr dataset, session.open(path));
      datasets.push_back(std::move(dataset));
    }
    if (serve::assets().empty()) {
      session.warn(
          "this fathom was built without the viewer's page (FATHOM_WEB=OFF, or npm was missing): only the data "
          "interface answers, a browser shows nothing");
    }
    FATHOM_TRY(serve::ServerOptions options, server_options());
    serve::Viewer viewer(std::move(datasets), {index_options(), {sources_.begin(), sources_.end()}});
    FATHOM_TRY(const auto server, serve::Server::listen(viewer, std::move(options)));
    announce(session, *server);
    std::optional<BrowserDoor> door;
    if (open_) {
      if (socket_) return Error::usage("--open needs a port: a browser reaches a socket through ssh only");
      if (auto opened = BrowserDoor::open(server->address() + shown_view()); opened.ok()) {
        door.emplace(std::move(*opened));
      } else {
        session.show_error(opened.error());
      }
    }
    FATHOM_CHECK(server->run());
    return kDone;
  }

 private:
  serve::IndexOptions index_options() const {
    serve::IndexOptions options;
    options.directory = index_ ? std::filesystem::path(*index_) : summary::index_directory();
    options.always = index_.has_value();
    options.beside = index_beside_;
    return options;
  }

  Result<serve::ServerOptions> server_options() const {
    serve::ServerOptions options;
    if (port_ && *port_ > 65535) return Error::usage("a port is a number up to 65535");
    options.port = static_cast<int>(port_.value_or(0));
    if (bind_) options.address = *bind_;
    if (socket_) options.socket = *socket_;
    options.allowed_hosts = hosts_;
    if (base_) options.base = *base_;
    options.allow_frame = allow_frame_;
    FATHOM_TRY(options.idle, idle_time(idle_));
    if (key_env_) {
      const char* key = std::getenv(key_env_->c_str());
      if (key == nullptr || std::string_view(key).size() < serve::kShortestKey) {
        return Error::usage(fmt::format("the environment variable {} must hold a secret of at least {} characters",
                                        *key_env_, serve::kShortestKey));
      }
      options.key = key;
    } else {
      FATHOM_TRY(options.key, serve::make_key());
    }
    key_ = options.key;
    return options;
  }

  [[nodiscard]] std::string shown_view() const { return view_.empty() ? "" : "&" + view_; }

  void announce(Session& session, const serve::Server& server) const {
    const std::string forward = socket_ ? fmt::format("ssh -L 8080:{} {}", *socket_, user_at_host())
                                        : fmt::format("ssh -L {0}:127.0.0.1:{0} {1}", server.port(), user_at_host());
    const std::string address =
        (socket_ ? fmt::format("http://127.0.0.1:8080/#k={}", key_) : server.address()) + shown_view();
    if (session.json()) {
      JsonWriter json(session.out());
      json.begin_object().member("address", std::string_view(address)).member("forward", std::string_view(forward));
      json.member("port", server.port()).end_object();
      session.out().write("\n");
    } else {
      session.out().write(fmt::format("Open    {}\nFrom a laptop first: {}\nCtrl-C ends it.\n", address, forward));
    }
    session.out().flush();
  }

  std::vector<std::string> paths_;
  std::optional<std::uint64_t> port_;
  std::optional<std::string> socket_;
  std::optional<std::string> session_file_;
  std::string view_;  // what the page shows first, as its address has it
  std::optional<std::string> bind_;
  std::vector<std::string> hosts_;
  std::vector<std::string> sources_;
  std::optional<std::string> base_;
  std::optional<std::string> key_env_;
  bool allow_frame_ = false;
  bool waits_ = false;
  std::optional<std::string> index_;
  bool index_beside_ = false;
  bool open_ = false;
  std::string idle_ = "12h";
  mutable std::string key_;
};

}  // namespace

std::unique_ptr<Command> make_view_command() { return std::make_unique<ViewCommand>(); }

}  // namespace fathom::cli
