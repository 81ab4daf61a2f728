"""A PostgreSQL server, an upstream and instances of a service, for the scripts that run `outbox-instance`."""
import asyncio
import glob
import os
import pathlib
import shutil
import signal
import subprocess
import sys

package = pathlib.Path(__file__).resolve().parent
build = pathlib.Path(os.environ.get("BUILD", package / ".build" / "release"))
binaries = pathlib.Path(max(glob.glob("/usr/lib/postgresql/*/bin"), default=os.path.dirname(shutil.which("postgres") or "/")))
user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.getuid() == 0 else []


class Server:
    """A PostgreSQL server with an empty database in a directory. It can be restarted."""

    def __init__(self, directory):
        self.directory = directory
        self.data = f"{directory}/data"
        self.info = f"host={directory} user=inward dbname=postgres"

    def start(self):
        os.chmod(self.directory, 0o777)
        subprocess.run(
            [*user, binaries / "initdb", "-D", self.data, "-U", "inward", "-A", "trust"], check=True, stdout=subprocess.DEVNULL
        )
        with open(f"{self.data}/postgresql.conf", "a") as file:
            file.write(f"unix_socket_directories = '{self.directory}'\nlisten_addresses = ''\nmax_connections = 200\n")
        subprocess.run(self.control("start"), check=True, stdout=subprocess.DEVNULL)

    def control(self, action, *options):
        """Returns the command line of pg_ctl."""
        return [*user, binaries / "pg_ctl", action, "-w", "-s", "-D", self.data, "-l", f"{self.data}/log", *options]

    async def restart(self, mode):
        process = await asyncio.create_subprocess_exec(*self.control("restart", "-m", mode), stdout=asyncio.subprocess.DEVNULL)
        if await process.wait():
            raise SystemExit("The server did not start again.")

    async def query(self, sql):
        """Returns the rows of a result, as text with `|` between the columns. Fails if the server is not there."""
        process = await asyncio.create_subprocess_exec(
            binaries / "psql", "-X", "-A", "-t", "-q", "-h", self.directory, "-U", "inward", "-d", "postgres", "-c", sql,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )
        output, _ = await process.communicate()
        if process.returncode:
            raise ConnectionError("The server is not there.")
        return output.decode().split()

    async def commits(self):
        """Returns the number of commits of records, and that of all transactions, reads among them."""
        return [
            int((await self.query(sql))[0])
            for sql in (
                "SELECT coalesce(sum(number), 0) FROM inward_sessions",
                "SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'",
            )
        ]

    async def records(self, kind):
        """Returns the number of records of the outbox, by the kind that is the second component of their keys."""
        # Each byte of a component is stored as the next one, so that 0 can end the component.
        component = bytes(byte + 1 for byte in kind.encode()).hex()
        condition = f"position('\\x{component}00'::bytea IN address) > 0"
        return int((await self.query(f"SELECT count(*) FROM inward_records WHERE {condition}"))[0])

    def stop(self):
        subprocess.run(self.control("stop", "-m", "immediate"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Journal:
    """The journal of an upstream, as far as it was read."""

    def __init__(self, path):
        self.path = path
        self.file = None
        self.rest = ""
        self.events = []  # The words of each line.

    def read(self):
        """Reads what was added. Returns the new events."""
        if self.file is None:
            self.file = open(self.path)
        *lines, self.rest = (self.rest + self.file.read()).split("\n")
        new = [line.split(" ") for line in lines]
        self.events += new
        return new


async def start_upstream(journal, latency, seed=None):
    """Starts an upstream. Returns its process and its URL."""
    arguments = [sys.executable, package / "upstream.py", journal, str(latency)] + ([str(seed)] if seed is not None else [])
    process = await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE)
    return process, f"http://127.0.0.1:{int(await process.stdout.readline())}"


class Instance:
    """A process of `outbox-instance`, and the writes that it has not answered."""

    def __init__(self, info, upstream, concurrency, skew=0):
        self.arguments = [info, upstream, str(concurrency), str(skew)]
        self.process = None
        self.is_running = False
        self.is_suspended = False
        self.waiting = {}  # futures by body
        self.letters = []
        self.listed = None  # the future of the list of dead letters
        self.reports = []  # errors that are not expected

    async def start(self, delivers=True):
        self.process = await asyncio.create_subprocess_exec(
            build / "outbox-instance", *self.arguments,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )
        self.is_running, self.is_suspended = True, False
        self.reading = asyncio.create_task(self.read(self.process))
        if delivers:
            self.say("deliver")

    def say(self, line):
        self.process.stdin.write(f"{line}\n".encode())

    async def read(self, process):
        async for line in process.stdout:
            word, _, rest = line.decode().rstrip("\n").partition(" ")
            if word in ("accepted", "failed"):
                body, _, answer = rest.partition(" ")
                future = self.waiting.pop(body, None)
                if future and not future.done():
                    future.set_result((word, answer))
            elif word == "letter":
                self.letters.append(rest)
            elif word == "end":
                self.listed.set_result(None)
            else:
                self.reports.append(f"{word} {rest}")
        self.is_running = False
        # Nobody knows whether the others were accepted.
        for future in self.waiting.values():
            if not future.done():
                future.set_result(("failed", "unanswered"))
        self.waiting = {}

    async def write(self, subject, body):
        """Returns `accepted` and the number of the entry, or `failed` and the reason."""
        if not self.is_running:
            return ("failed", "unavailable")
        future = asyncio.get_running_loop().create_future()
        self.waiting[body] = future
        self.say(f"write {subject} {body}")
        return await future

    async def dead_letters(self):
        self.letters, self.listed = [], asyncio.get_running_loop().create_future()
        self.say("letters")
        await asyncio.wait_for(self.listed, 60)
        return self.letters

    def signal(self, number):
        if self.is_running:
            self.process.send_signal(number)

    async def kill(self):
        self.signal(signal.SIGKILL)
        await self.process.wait()
        await self.reading

    async def end(self):
        """Lets the instance give its leases back, and waits for its end."""
        self.process.stdin.close()
        await self.process.wait()
        await self.reading
