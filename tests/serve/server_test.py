#!/usr/bin/env python3
"""Asks a running `fathom view` as a raw client would: who gets an answer, who does not, and what every answer carries."""
import http.client
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

FATHOM, EXAMPLE = sys.argv[1:3]
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print("FAILED:", text)


def start(*options):
    child = subprocess.Popen([FATHOM, "view", EXAMPLE, "--json", *options], stdout=subprocess.PIPE, text=True)
    text = ""
    while not text.rstrip().endswith("}"):
        line = child.stdout.readline()
        if not line:
            raise SystemExit("fathom view ended")
        text += line
    return child, json.loads(text)


class Trickle(threading.Thread):
    """Sends a request a byte a second, which no timeout between bytes ends; measures how long it is borne."""

    def __init__(self, port, opening):
        super().__init__(daemon=True)
        self.port, self.opening, self.lasted, self.sent = port, opening, None, 0
        self.start()

    def run(self):
        client = socket.create_connection(("127.0.0.1", self.port))
        client.settimeout(1)
        begin = time.time()
        client.send(self.opening)
        while time.time() - begin < 40:
            try:
                client.send(b"x")
                self.sent += 1
                if client.recv(1000) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        self.lasted = time.time() - begin
        client.close()


class SlowReader(threading.Thread):
    """Asks for a large answer and takes a byte a second of it; measures how long it is borne."""

    def __init__(self, port, key):
        super().__init__(daemon=True)
        self.port, self.key, self.lasted, self.taken, self.status = port, key, None, 0, b""
        self.start()

    def run(self):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", self.port))
        query = b"SELECT repeat('x', 2000) AS text FROM range(10000)"
        client.send(b"POST /api/sql HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Fathom-Key: %s\r\nContent-Length: %d\r\n\r\n%s" %
                    (self.port, self.key.encode(), len(query), query))
        self.status = client.recv(12)
        begin = time.time()
        # The answer is given up when the other end is closed: a byte that is sent is then answered with a reset.
        while time.time() - begin < 90:
            time.sleep(1)
            try:
                got = client.recv(1)
                self.taken += len(got)
                client.send(b"x")
                if not got:
                    break
            except OSError:
                break
        self.lasted = time.time() - begin
        client.close()


# A server of its own, so that nothing else is in the way; looked at when the other tests are done.
trickled, there = start("--idle", "120s")
trickles = [Trickle(there["port"], b"GET /api/session HTTP/1.1\r\nX: "),
            Trickle(there["port"], b"POST /api/sql HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")]
slow_reader = SlowReader(there["port"], there["address"].split("#k=")[1])

child, where = start("--idle", "60s")
port = where["port"]
key = where["address"].split("#k=")[1]
HOST = f"127.0.0.1:{port}"


def ask(path, method="GET", headers=(), host=HOST, send_key=True, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    if host is not None:
        for name in host if isinstance(host, list) else [host]:
            connection.putheader("Host", name)
    if send_key:
        connection.putheader("X-Fathom-Key", key)
    for name, value in headers:
        connection.putheader(name, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    response = connection.getresponse()
    return response.status, dict((k.lower(), v) for k, v in response.getheaders()), response.read()


status, headers, body = ask("/api/session")
check(status == 200 and json.loads(body)["datasets"], f"the session answers: {status}")
for name, part in {"content-security-policy": "default-src 'none'", "x-content-type-options": "nosniff",
                   "referrer-policy": "no-referrer", "cross-origin-opener-policy": "same-origin",
                   "cross-origin-resource-policy": "same-origin", "cache-control": "no-store"}.items():
    check(part in headers.get(name, ""), f"{name}: {headers.get(name)}")
check("set-cookie" not in headers and not any(h.startswith("access-control") for h in headers), f"headers: {headers}")

bodies = set()
for wrong in [None, "", "x" * 22, key[:-1], key + "x", key.swapcase()]:
    status, _, body = ask("/api/session", send_key=False, headers=[("X-Fathom-Key", wrong)] if wrong is not None else [])
    check(status == 403, f"key {wrong!r}: {status}")
    bodies.add(body)
check(len(bodies) == 1, "a wrong key has one answer")
for host in [None, "evil.example", f"evil.example:{port}", "127.0.0.1", [HOST, HOST], [HOST, "evil.example"]]:
    status = ask("/api/session", host=host)[0]
    check(status in (400, 403), f"host {host}: {status}")
check(ask("/api/session", host=f"localhost:{port}")[0] == 200, "localhost is ours")
for origin in ["http://evil.example", "null", "http://127.0.0.1:1"]:
    check(ask("/api/session", headers=[("Origin", origin)])[0] == 403, f"origin {origin}")
check(ask("/api/session", headers=[("Sec-Fetch-Site", "cross-site")])[0] == 403, "cross-site")
for method in ["OPTIONS", "PUT", "DELETE", "PATCH"]:
    status, headers, _ = ask("/api/session", method=method)
    check(status == 405 and "access-control-allow-origin" not in headers, f"{method}: {status}")
check(ask("/api/session", method="POST", body=b"x" * (2 << 20))[0] in (400, 413), "a body of 2 MB")

# Without the key there is the page and nothing of the data.
name = os.path.basename(EXAMPLE).encode()
for path in ["/", "/index.html", "/app.js", "/app.css"]:
    status, headers, body = ask(path, send_key=False)
    check(status in (200, 404) and name not in body, f"{path}: {status}")
    check("content-security-policy" in headers, f"{path} has its policy")
# Built without the page (FATHOM_WEB=OFF): whoever opens it, starts it or wants a report is told so.
status, headers, body = ask("/", send_key=False)
with tempfile.TemporaryDirectory() as folder:
    report = subprocess.run([FATHOM, "report", EXAMPLE, "-o", os.path.join(folder, "report.html")], capture_output=True,
                            text=True, timeout=60)
    told = subprocess.run([FATHOM, "view", EXAMPLE, "--idle", "1s"], capture_output=True, text=True, timeout=60)
    if status == 200:
        check(headers.get("content-type", "").startswith("text/html"), f"the page is {headers.get('content-type')}")
        check(report.returncode == 0 and os.path.getsize(os.path.join(folder, "report.html")) > 10000, "a report is written")
        check("without the viewer's page" not in told.stderr, f"view: {told.stderr}")
    else:
        print("SKIPPED: built without the page, the tests of the page are not there")
        check(status == 404 and b"FATHOM_WEB=OFF" in body, f"without a page: {status} {body}")
        check("without the viewer's page" in told.stderr, f"view without a page: {told.stderr}")
        check(report.returncode != 0 and "FATHOM_WEB=OFF" in report.stderr, f"report without a page: {report.stderr}")
        check(not os.path.exists(os.path.join(folder, "report.html")), "no half report is left")
for path in ["/../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/assets/../../etc/passwd", "/api/../etc/passwd",
             "/etc/passwd", "/api/0/../../etc/passwd", "/api/9/tree", "/api/0/nothing", "/api/-1/tree",
             "/api/99999999999999999999/tree"]:
    status, _, body = ask(path)
    check(status in (400, 403, 404) and b"root:" not in body, f"{path}: {status}")
# Numbers out of range are refused, not believed.
for query in ["tree?node=999999999", "tree?node=x", "spread?context=99999999999", "tree?limit=-5", "flame?least=0",
              "tree?locations=0-4000000000", "tree?metrics=nothing", "tile?r=-1", "tile?k=99", "tile?i=9223372036854775807"]:
    status = ask("/api/0/" + query)[0]
    check(status in (200, 400) and status != 500, f"{query}: {status}")
check(ask("/api/session")[0] == 200, "and the server lives")

# A header that never ends, and many connections: others are still answered.
slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
for s in slow:
    s.send(b"GET /api/session HTTP/1.1\r\nX: ")
check(ask("/api/session")[0] == 200, "slow clients do not stop others")
for s in slow:
    s.close()
huge = socket.create_connection(("127.0.0.1", port))
huge.send(b"GET / HTTP/1.1\r\nHost: " + HOST.encode() + b"\r\nX: " + b"a" * 100000 + b"\r\n\r\n")
huge.settimeout(5)
try:
    answer = huge.recv(100)
except OSError:
    answer = b""
check(b"200" not in answer.split(b"\r\n")[0], f"a header of 100 KB: {answer[:40]}")
huge.close()

# A thousand connections that say nothing: no more than 64 are let in, and once they are gone others are answered.
crowd = []
for _ in range(1000):
    s = socket.socket()
    s.settimeout(0.02)
    try:
        s.connect(("127.0.0.1", port))
    except OSError:
        pass
    crowd.append(s)
with open(f"/proc/{child.pid}/status") as text:
    threads = int(next(line for line in text if line.startswith("Threads")).split()[1])
sockets = sum(1 for fd in os.listdir(f"/proc/{child.pid}/fd")
              if os.path.exists(f"/proc/{child.pid}/fd/{fd}") is False and
              os.readlink(f"/proc/{child.pid}/fd/{fd}").startswith("socket"))
check(threads < 120, f"{threads} threads for a thousand connections")
check(sockets <= 70, f"{sockets} sockets are open of a thousand")
for s in crowd:
    s.close()
check(ask("/api/session")[0] == 200, "a thousand connections later it answers")

# SQL: reads the data, nothing else, and never for long.
def sql(text):
    status, _, body = ask("/api/sql", method="POST", body=text.encode())
    return status, json.loads(body)


status, tables = ask("/api/tables")[0], None
if status == 200:
    check(sql("SELECT count(*) AS n FROM metric")[1]["rows"][0][0] > 0, "a query counts metrics")
    for refused in ["SELECT * FROM read_csv('/etc/passwd')", "COPY metric TO '/tmp/fathom-out.csv'", "INSTALL httpfs",
                    "LOAD httpfs", "ATTACH '/tmp/fathom-x.db'", "SET enable_external_access = true", "PRAGMA database_list; nonsense",
                    "SELECT * FROM '/etc/passwd'", ""]:
        status, answer = sql(refused)
        check(status == 400 and "root:" not in json.dumps(answer), f"{refused!r}: {status} {answer}")
    status, answer = sql("SELECT * FROM range(1000000)")
    check(status == 200 and len(answer["rows"]) == 10000 and answer["more"], "a large result is cut, and says so")
    check(not os.path.exists("/tmp/fathom-out.csv") and not os.path.exists("/tmp/fathom-x.db"), "nothing was written")
else:
    print("SKIPPED: no DuckDB, SQL is not asked")

child.send_signal(signal.SIGTERM)
check(child.wait(10) is not None, "SIGTERM ends it")

# --open: the browser gets a file that is its user's alone; the address is no argument; the file is gone afterwards.
with tempfile.TemporaryDirectory() as folder:
    seen = os.path.join(folder, "seen")
    script = os.path.join(folder, "browser")
    with open(script, "w") as out:
        out.write(f"#!/bin/sh\nstat -c %a \"$1\" > {seen}.new\nstat -c %a \"$(dirname \"$1\")\" >> {seen}.new\n"
                  f"echo \"$*\" >> {seen}.new\ncat \"$1\" >> {seen}.new\nmv {seen}.new {seen}\n")
    os.chmod(script, 0o755)
    os.environ["BROWSER"] = script
    child, where = start("--idle", "60s", "--open")
    for _ in range(100):
        if os.path.exists(seen):
            break
        time.sleep(0.1)
    with open(seen) as text:
        mode, folder_mode, argument, page = text.read().split("\n", 3)
    check(mode == "600" and folder_mode == "700", f"--open: modes {mode} {folder_mode}")
    check("#k=" not in argument and os.path.exists(argument), f"--open: the argument is {argument}")
    check(where["address"].split("#k=")[1] in page, "--open: the file leads to the address")
    child.send_signal(signal.SIGTERM)
    child.wait(10)
    check(not os.path.exists(argument), "--open: the file is removed")
    del os.environ["BROWSER"]

# A unix socket: for its owner alone, gone afterwards, never stolen.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "view.sock")
    child, where = start("--socket", path, "--idle", "60s")
    check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, f"mode {oct(os.stat(path).st_mode)}")
    second = subprocess.run([FATHOM, "view", EXAMPLE, "--socket", path], capture_output=True, text=True, timeout=20)
    check(second.returncode == 2 and "another server" in second.stderr, f"a live socket is not stolen: {second.stderr}")
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    client.send(b"GET /api/session HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    check(b"403" in client.recv(1000).split(b"\r\n")[0], "the socket asks for the key, too")
    client.close()
    child.send_signal(signal.SIGTERM)
    child.wait(10)
    check(not os.path.exists(path), "the socket is removed")

# A file that becomes shorter while it is shown: an error that names it instead of what zeros in its place look like. The
# other dataset is shown as before.
with tempfile.TemporaryDirectory() as folder:
    shown = os.path.join(folder, "ring")
    shutil.copytree(os.path.join(os.path.dirname(EXAMPLE), "ring"), shown)
    begin = subprocess.Popen([FATHOM, "view", shown, EXAMPLE, "--json", "--idle", "60s"], stdout=subprocess.PIPE, text=True)
    where = json.loads(begin.stdout.readline() + "".join(iter(begin.stdout.readline, "}\n")) + "}")
    port, key = where["port"], where["address"].split("#k=")[1]
    here = f"127.0.0.1:{port}"
    check(ask("/api/0/metrics", host=here)[0] == 200, "a ring is shown")
    os.truncate(os.path.join(shown, "ring-0002.bin"), 100)
    time.sleep(0.2)  # sizes are not looked at all the time where that takes long
    for question in ("0/tree?metric=time", "0/findings", "0/messages"):
        status, _, body = ask("/api/" + question, host=here)
        check(status == 500 and b"became shorter" in body and b"ring-0002.bin" in body, f"{question}: {status} {body[:200]}")
    check(ask("/api/1/metrics", host=here)[0] == 200, "others are shown")
    check(ask("/api/session", host=here)[0] == 200, "the session is shown")
    begin.send_signal(signal.SIGTERM)
    begin.wait(10)

# It ends by itself.
child, where = start("--idle", "1s")
begin = time.time()
check(child.wait(20) == 0 and time.time() - begin >= 0.5, "idle")

weak = subprocess.run([FATHOM, "view", EXAMPLE, "--key-env", "WEAK"], env={**os.environ, "WEAK": "short"},
                      capture_output=True, text=True, timeout=20)
check(weak.returncode == 2, "a short key is refused")

# A header and a body that come a byte a second: both are given up after a quarter of a minute.
for trickle, what in zip(trickles, ("header", "body")):
    trickle.join(60)
    check(trickle.sent >= 5, f"a trickling {what}: {trickle.sent} bytes were sent")
    check(trickle.lasted and 10 <= trickle.lasted <= 25, f"a trickling {what} lasts {trickle.lasted} s")
# An answer that is taken a byte a second: given up after its time, twenty seconds and one for each 64 KB on the way.
if b" 200" in slow_reader.status:
    slow_reader.join(100)
    check(slow_reader.taken >= 5, f"a slow reader: {slow_reader.taken} bytes were taken")
    check(slow_reader.lasted and 15 <= slow_reader.lasted <= 60, f"a slow reader lasts {slow_reader.lasted} s")
else:
    print("SKIPPED: no DuckDB, no answer is large enough to be read slowly")
trickled.send_signal(signal.SIGTERM)
trickled.wait(10)
print(f"server: {'failed' if failures else 'ok'}, {len(failures)} failures")
sys.exit(1 if failures else 0)
