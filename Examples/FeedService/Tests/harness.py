"""Clients, processes of the service, and a PostgreSQL server, for the scripts beside this one."""
import asyncio
import base64
import collections
import glob
import hashlib
import hmac
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time


# How much longer than on a quiet machine everything may take. The short runs of the checks share their machine.
patience = 1


def allowed(seconds):
    return patience * seconds


class Violation(Exception):
    """An invariant that does not hold."""


def check(holds, message):
    if not holds:
        raise Violation(message)


async def until(condition, seconds, what):
    """Waits for a condition, which may be a coroutine function. Returns how long that took. `what` is a text, or returns one."""
    start = time.monotonic()
    while True:
        holds = condition()
        if asyncio.iscoroutine(holds):
            holds = await holds
        if holds:
            return time.monotonic() - start
        if time.monotonic() - start > allowed(seconds):
            raise Violation(f"{what() if callable(what) else what}: not within {allowed(seconds)} s")
        await asyncio.sleep(0.02)


class CutAnswer(ConnectionError):
    """A connection that was closed in the middle of an answer."""


class Answer:
    def __init__(self, status, fields, body, seconds):
        self.status, self.fields, self.body, self.seconds = status, fields, body, seconds

    def __getitem__(self, name):
        """Returns the value of a header field, or an empty text."""
        return self.fields.get(name.lower(), "")

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")


class Client:
    """A client with one connection at a time, which it keeps open."""

    def __init__(self, address):
        self.address = address  # a port of this machine, or the path of a socket
        self.reader = self.writer = None

    async def connect(self):
        if isinstance(self.address, int):
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.address, limit=1 << 22)
        else:
            self.reader, self.writer = await asyncio.open_unix_connection(self.address, limit=1 << 22)

    def close(self):
        if self.writer:
            self.writer.transport.abort()
        self.reader = self.writer = None

    async def ask(self, method, path, body=None, fields={}, seconds=30):
        """Sends a request. Raises a `CutAnswer` if only a part of the answer arrives, and another `ConnectionError` for none."""
        start = time.monotonic()
        try:
            return await asyncio.wait_for(self.exchange(method, path, body, fields, start), seconds)
        except asyncio.TimeoutError:
            self.close()
            raise Violation(f"{method} {path} was not answered within {seconds} s") from None
        except BaseException:
            self.close()
            raise

    async def exchange(self, method, path, body, fields, start):
        is_reused = self.writer is not None
        if not is_reused:
            await self.connect()
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in fields.items())]
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            if error.partial:
                raise CutAnswer("in the head") from None
            # Servers close connections that are not in use.
            if is_reused and method in ("GET", "HEAD"):
                self.close()
                return await self.exchange(method, path, body, fields, start)
            raise ConnectionResetError("no answer") from None
        first, *rest = head.decode("latin-1").split("\r\n")
        status = int(first.split(" ")[1])
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest if line)}
        try:
            body = await self.content(method, status, fields)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise CutAnswer("in the body") from None
        if fields.get("connection") == "close":
            self.close()
        return Answer(status, fields, body, time.monotonic() - start)

    async def content(self, method, status, fields):
        if method == "HEAD" or status in (204, 304):
            return b""
        if "content-length" in fields:
            return await self.reader.readexactly(int(fields["content-length"]))
        body = b""
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            body += (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readexactly(2)
        return body


async def ask(address, method, path, body=None, fields={}, seconds=30):
    """Sends a request over a connection of its own."""
    client = Client(address)
    try:
        return await client.ask(method, path, body, fields, seconds)
    finally:
        client.close()


class Tally:
    """What clients saw: how often each status or failure, and the slowest answer."""

    def __init__(self):
        self.counts = collections.Counter()
        self.slowest = 0.0
        self.answers = []  # those that are not 2xx

    def add(self, answer):
        self.counts[str(answer.status)] += 1
        self.slowest = max(self.slowest, answer.seconds)
        if not 200 <= answer.status < 300:
            self.answers.append(answer)
        return answer

    async def ask(self, client, *request, **more):
        """Sends a request, and returns the answer, or `None` if the connection was closed instead."""
        try:
            return self.add(await client.ask(*request, **more))
        except ConnectionError as error:
            self.counts["cut off" if isinstance(error, CutAnswer) else "no answer"] += 1
            return None

    def merge(self, other):
        self.counts += other.counts
        self.slowest = max(self.slowest, other.slowest)
        self.answers += other.answers

    def __str__(self):
        seen = ", ".join(f"{name}: {count}" for name, count in sorted(self.counts.items())) or "nothing"
        return f"{seen}; slowest {self.slowest:.2f} s"


class Service:
    """A process of the service. It can be killed and started again, on the same ports and with the same store."""

    def __init__(self, binary, log, upstream, store=None, **settings):
        self.binary, self.log, self.process = binary, pathlib.Path(log), None
        self.arguments = ["--upstream", upstream.url] + (["--store", str(store)] if store else [])
        # The settings have names such as `timeLimit`.
        self.settings = self.log.with_suffix(".json")
        self.settings.write_text(json.dumps({re.sub(r"_(.)", lambda found: found[1].upper(), name): value for name, value in settings.items()}))
        self.port = self.operator_port = 0

    async def start(self, seconds=20):
        """Starts the process, and waits until it listens. Something else may have its port for a moment."""
        deadline = time.monotonic() + seconds
        while True:
            start = self.log.stat().st_size if self.log.exists() else 0
            with open(self.log, "a") as log:
                ports = ["--port", str(self.port), "--operator-port", str(self.operator_port)]
                self.process = subprocess.Popen(
                    [self.binary, "serve", *ports, *self.arguments, "--config", self.settings],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                )
            while self.is_running and not self.find_ports(self.log.read_text()[start:]):
                check(time.monotonic() < deadline, f"The service did not start: {self.log.read_text()[start:]}")
                await asyncio.sleep(0.02)
            if self.is_running:
                return self
            said = self.log.read_text()[start:]
            check(" in use" in said and time.monotonic() < deadline, f"The service ended: {said}")

    def find_ports(self, said):
        port = re.search(r"Listening on http://127\.0\.0\.1:(\d+)", said)
        ports = set(re.findall(r"listening on 127\.0\.0\.1:(\d+)", said))
        if not port or len(ports) < 2:
            return False
        self.port = int(port[1])
        self.operator_port = int((ports - {port[1]}).pop())
        return True

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.is_running:
            self.process.kill()
            self.process.wait()

    async def stop(self, seconds=60):
        """Asks the process to end. Returns its exit status, and how long it took."""
        self.process.send_signal(signal.SIGTERM)
        took = await until(lambda: not self.is_running, seconds, "The service did not end after SIGTERM")
        return self.process.returncode, took

    @property
    def memory(self):
        """The memory in use, in MB."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024

    @property
    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    async def outbox(self):
        """The page for operators with the writes that are pending or were refused."""
        return (await ask(self.operator_port, "GET", "/outbox")).text


class PostgreSQL:
    """A PostgreSQL server with an empty database in a directory. As root, it runs as the user `postgres`."""

    def __init__(self, directory):
        self.directory = str(directory)
        self.store = f"postgresql://inward@/postgres?host={directory}"
        found = max(glob.glob("/usr/lib/postgresql/*/bin"), default=os.path.dirname(shutil.which("postgres") or "/"))
        self.binaries = pathlib.Path(found)
        self.user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.getuid() == 0 else []

    def run(self, program, *arguments):
        subprocess.run([*self.user, self.binaries / program, *arguments], check=True, stdout=subprocess.DEVNULL, cwd=self.directory)

    def start(self):
        os.chmod(self.directory, 0o777)
        data = f"{self.directory}/data"
        self.run("initdb", "--no-sync", "-D", data, "-U", "inward", "-A", "trust")
        with open(f"{data}/postgresql.conf", "a") as file:
            file.write(f"unix_socket_directories = '{self.directory}'\nlisten_addresses = ''\n")
        self.restart()

    def restart(self):
        """Starts the server again after `stop`."""
        data = f"{self.directory}/data"
        self.run("pg_ctl", "start", "-w", "-s", "-D", data, "-l", f"{self.directory}/log")

    def stop(self):
        if pathlib.Path(f"{self.directory}/data/postmaster.pid").exists():
            self.run("pg_ctl", "stop", "-s", "-D", f"{self.directory}/data", "-m", "immediate")


# A key of the test, with which it can sign image addresses that the service itself would never sign.
IMAGE_KEY = bytes(range(32))
IMAGE_KEYS = "test:" + base64.b64encode(IMAGE_KEY).decode()


def text_of(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def image_path(address, recipe="resize=240x240,mode=fill,enlarge=yes", expiry=None, secret=IMAGE_KEY):
    """Returns the path of an image, signed as the service signs."""
    expiry = str(int(time.time()) + 600 if expiry is None else expiry)
    encoded = text_of(address.encode())
    parts = [b"inward image url 1", b"test", expiry.encode(), recipe.encode(), encoded.encode()]
    message = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    code = text_of(hmac.new(secret, message, hashlib.sha256).digest())
    return f"/images/test.{code}.{expiry}/{recipe}/{encoded}"
