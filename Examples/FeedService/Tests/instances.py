#!/usr/bin/env python3
"""Runs two instances of the service on one PostgreSQL database, with nginx in front of them, and kills one of them under load.

    python3 instances.py FEED_SERVICE_BINARY [--seconds SECONDS]

Clients publish posts through nginx, each with an `Idempotency-Key`, and repeat a request with the same key if there is no answer.
One instance is killed, and started again later. Then the other one is told to end, and started again, which no client may notice. At
the end, each accepted post must be at the upstream once, and none twice. Meanwhile, posts that are written on one instance must appear
on the other within a second, and not disappear again. Some of their authors have signed in, and guests must see their posts.

Needs Debian's nginx and postgresql. A killed instance leaves writes that nobody else may deliver for half a minute. The script waits
for them, unless it has fewer than 45 seconds. Then they must still be pending.
"""
import argparse
import asyncio
import itertools
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import uuid

import harness
from harness import Client, PostgreSQL, Service, Tally, Violation, allowed, ask, check, until
from upstream import Upstream

WRITERS = 6
READERS = 4
# Between two requests of a client, in seconds. Without it, the clients measure how busy the machine is.
PAUSE = 0.1
# Clients publish as these authors, and the posts that must appear on the other instance have another one.
AUTHORS = range(1, 7)
PROBING_AUTHORS = range(7, 11)
# Authors who publish as users who have signed in. Guests on the other instance must see their posts, too.
SIGNED_IN = {9: "ada", 10: "grace"}

NGINX = """
daemon off;
worker_processes 1;
pid {place}/nginx.pid;
error_log {place}/nginx.log;
{user}
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
    upstream instances {{
        server 127.0.0.1:{first} max_fails=1 fail_timeout=1s;
        server 127.0.0.1:{second} max_fails=1 fail_timeout=1s;
        keepalive 32;
    }}
    server {{
        listen unix:{place}/nginx.sock;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_connect_timeout 1s;
        error_page 418 = @repeatable;
        location / {{
            # Sends a request to the other instance only if it cannot have been done: reads, and what could not be sent.
            proxy_next_upstream error timeout http_503;
            if ($http_idempotency_key) {{ return 418; }}
            proxy_pass http://instances;
        }}
        location @repeatable {{
            # With a key, the service itself keeps a request from being done twice.
            proxy_next_upstream error timeout http_503 non_idempotent;
            proxy_pass http://instances;
        }}
    }}
}}
"""


class Run:
    def __init__(self, upstream, instances, address):
        self.upstream, self.instances, self.address = upstream, instances, address
        self.numbers = itertools.count(1)
        self.accepted = set()  # titles
        self.unknown = set()  # titles of posts whose outcome the service does not know
        self.writes, self.reads, self.repeats, self.probes = Tally(), Tally(), Tally(), Tally()
        self.delays = {"feed": [], "post": [], "feed, for guests": []}
        self.tokens = {}  # of the authors who have signed in
        self.doubles = []  # for how long posts were shown twice: as pending, and as the upstream has it
        self.disturbances = 0  # ends of an instance, and its starts
        self.repeating = set()  # titles whose first request was not answered
        self.is_over = False

    async def publish(self, client, author, tally=None):
        """Publishes a post, and repeats the request until it is answered. Returns the title, and the answer if the post was accepted."""
        number = next(self.numbers)
        title = f"Load {number} of {author}"
        body = json.dumps({"authorID": author, "title": title, "body": "On the engine."}).encode()
        fields = {"Idempotency-Key": str(uuid.uuid4()), **self.tokens.get(author, {})}
        deadline = time.monotonic() + 30
        try:
            while True:
                answer = await (tally or self.writes).ask(client, "POST", "/api/posts", body, fields)
                status = answer.status if answer else None
                if status in (201, 202):
                    self.accepted.add(title)
                    if number % 5 == 0:
                        await self.repeat(body, fields, answer)
                    return title, answer
                if status == 504:
                    self.unknown.add(title)
                    return title, None
                self.repeating.add(title)
                waits = answer and answer["Retry-After"]
                says = f"{status}: {answer and answer.text}"
                check(status in (None, 500, 502, 503) or status == 409 and waits, f"A post was answered with {says}")
                check(time.monotonic() < deadline, f"“{title}” was not accepted within 30 s, and not refused, but answered with {says}")
                await asyncio.sleep(min(float(waits or 0.1), 1))
        finally:
            self.repeating.discard(title)

    async def repeat(self, body, fields, first):
        """Sends a request again, as a client that has not received the answer. It must get the same one, from any instance."""
        answer = await self.repeats.ask(Client(self.address), "POST", "/api/posts", body, fields)
        if answer is None or answer.status >= 500:
            return
        check(
            (answer.status, answer.body, answer["Location"]) == (first.status, first.body, first["Location"])
            and answer["Idempotent-Replayed"] == "true",
            f"A repeated request was answered with {answer.status} {answer.text}, and the first one with {first.status} {first.text}",
        )

    async def sign_in(self):
        for author, user in SIGNED_IN.items():
            answer = await ask(self.address, "POST", "/api/session", json.dumps({"user": user}).encode())
            check(answer.status == 201, f"{user} could not sign in: {answer.status} {answer.text}")
            self.tokens[author] = {"Authorization": f"Bearer {json.loads(answer.text)['token']}"}

    async def write(self, author):
        client = Client(self.address)
        while not self.is_over:
            await self.publish(client, author)
            await asyncio.sleep(PAUSE)

    async def read(self, paths):
        client = Client(self.address)
        for path in itertools.cycle(paths):
            if self.is_over:
                return
            answer = await self.reads.ask(client, "GET", path)
            status = answer and answer.status
            check(status in (None, 200, 502, 503), f"{path} was answered with {status}: {answer and answer.text}")
            await asyncio.sleep(PAUSE)

    async def probe(self, author):
        """Writes on one instance, and looks at the other one, in turn."""
        for turn in itertools.count(author):
            if self.is_over:
                return
            here, there = self.instances[turn % 2], self.instances[1 - turn % 2]
            disturbances = self.disturbances
            try:
                if disturbances % 2 == 0:
                    await self.probe_once(here, there, author)
            except (ConnectionError, Violation):
                # Ignores requests that were in flight while an instance ended.
                if disturbances == self.disturbances:
                    raise
            await asyncio.sleep(PAUSE)

    async def probe_once(self, here, there, author):
        title, answer = await self.publish(Client(here.port), author, self.probes)
        if answer is None:
            return
        start, client = time.monotonic(), Client(there.port)
        location, feed = answer["Location"], f"/api/feed?author={author}&size=10"
        # Guests see a post of a user only when it is published, and not under the temporary identity that its author sees.
        views = {"feed, for guests": feed} if author in SIGNED_IN else {"post": location, "feed": feed}
        seen, remaining, doubled = {}, 3, None
        while remaining:
            for view, path in views.items():
                begin = time.monotonic()
                found = await client.ask("GET", path)
                if found.status == 301:
                    # The post has its final identity.
                    views[view] = found["Location"]
                    found = await client.ask("GET", views[view])
                count = found.text.count(json.dumps(title))
                # The other instance may read the post from the upstream before it learns that it is no longer pending.
                if count > 1:
                    doubled = doubled or time.monotonic()
                    check(time.monotonic() - doubled < allowed(1), f"“{title}” is {count} times in {path} for more than a second")
                elif doubled and view != "post":
                    self.doubles.append(time.monotonic() - doubled)
                    doubled = None
                if count:
                    seen.setdefault(view, time.monotonic() - start)
                else:
                    check(view not in seen, f"“{title}” disappeared from {path}, which is now {found.status}: {found.text}")
                    # On a busy machine, the answers themselves take a while.
                    late = begin - start
                    check(late < allowed(1), f"“{title}” was not on the other instance after {late:.2f} s, at {path}: {found.status}: {found.text}")
            waited = time.monotonic() - start
            if len(seen) == len(views) and not doubled and (self.upstream.created[title] or waited > 2):
                remaining -= 1
            await asyncio.sleep(0.01)
        client.close()
        for view, delay in seen.items():
            self.delays[view].append(delay)

    async def load(self, seconds):
        """Runs clients, and disturbs the instances meanwhile."""
        readers = [["/api/feed", "/posts", f"/api/users/{number}/posts", "/api/posts/7"] for number in range(1, READERS + 1)]
        tasks = [asyncio.create_task(self.write(AUTHORS[number % len(AUTHORS)])) for number in range(WRITERS)]
        tasks += [asyncio.create_task(self.read(paths)) for paths in readers]
        tasks += [asyncio.create_task(self.probe(author)) for author in PROBING_AUTHORS]
        tasks += [asyncio.create_task(self.disturb(seconds / 4))]
        end = time.monotonic() + seconds
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
        if not any(task.done() and task.exception() for task in tasks):
            await tasks[-1]
            await asyncio.sleep(max(0, end - time.monotonic()))
        self.is_over = True
        await asyncio.gather(*tasks)

    async def disturb(self, pause):
        """Kills an instance and starts it again, and then restarts the other one as an update of the service would."""
        first, second = self.instances
        await asyncio.sleep(pause)
        self.disturbances += 1
        second.kill()
        print(f"Killed an instance, with {len(self.accepted)} posts accepted.")
        await asyncio.sleep(pause)
        await second.start()
        self.disturbances += 1
        print(f"Started it again, with {len(self.accepted)} posts accepted.")
        await asyncio.sleep(pause)
        # Requests that died with the instance are no longer repeated.
        await until(lambda: not self.repeating, 20, "Requests are still repeated")
        self.disturbances += 1
        before, self.writes, self.reads = (self.writes, self.reads), Tally(), Tally()
        status, took = await first.stop()
        await first.start()
        self.disturbances += 1
        print(f"Restarted the other one, which ended after {took:.1f} s. Writes meanwhile: {self.writes}. Reads: {self.reads}.")
        check(status == 0, f"An instance ended with status {status}: {first.log.read_text()[-2000:]}")
        noticed = [tally for tally in (self.writes, self.reads) if set(tally.counts) - {"200", "202"}]
        check(not noticed, f"Clients noticed the restart: {'; '.join(str(tally) for tally in noticed)}")
        self.writes.merge(before[0])
        self.reads.merge(before[1])

    async def check_delivery(self, waits):
        """Checks that the upstream has each accepted post once. Those that a killed instance was sending may be delivered later."""
        def missing():
            return [title for title in self.accepted if not self.upstream.created[title]]

        async def are_pending():
            page = await self.instances[0].outbox()
            return all(title in page for title in missing())

        if waits:
            await until(lambda: not missing(), 90, lambda: f"{len(missing())} accepted posts were not delivered")
        else:
            await until(are_pending, 10, lambda: f"Posts were lost: they are neither pending nor delivered: {missing()}")
        doubled = {title: count for title, count in self.upstream.created.items() if count > 1}
        check(not doubled, f"Posts were published more than once: {doubled}")
        stray = set(self.upstream.created) - self.accepted - self.unknown
        check(not stray, f"Posts were published that were never accepted: {stray}")
        late = len(missing())
        print(f"{len(self.accepted)} posts were accepted: {len(self.accepted) - late} are at the upstream once, {late} are still pending.")
        there = sum(self.upstream.created[title] for title in self.unknown)
        print(f"The service did not know the outcome of {len(self.unknown)} others, of which {there} are at the upstream.")

    def report_delays(self):
        longest = max(self.doubles, default=0)
        print(f"Shown twice on the other instance, pending and published: {len(self.doubles)} posts, for at most {longest * 1e3:.0f} ms")
        for view, delays in self.delays.items():
            check(len(delays) >= 3, f"Only {len(delays)} posts were looked for on the other instance")
            delays.sort()
            p99 = delays[min(len(delays) - 1, int(len(delays) * 0.99))]
            median, last = statistics.median(delays), delays[-1]
            print(f"Seen on the other instance ({view}): median {median * 1e3:.0f} ms, p99 {p99 * 1e3:.0f} ms, max {last * 1e3:.0f} ms, of {len(delays)}")


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=90, help="the time for everything (default: 90)")
    options = parser.parse_args()
    begin = time.monotonic()
    # Longer than a lease of the outbox, during which no other instance may deliver a write.
    waits = options.seconds >= 45
    if not waits:
        harness.patience = 10
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as own:
        place, database, upstream, proxy = pathlib.Path(own), PostgreSQL(directory), Upstream(), None
        await upstream.start()
        instances = []
        try:
            database.start()
            # A short time limit, so that the outcome of a request that died with an instance is soon reported as unknown.
            instances = [
                Service(options.binary, place / f"{name}.log", upstream, database.store, time_limit=3, drain_limit=2, token_endpoint=f"{upstream.url}/token")
                for name in ("first", "second")
            ]
            await asyncio.gather(*(instance.start() for instance in instances))
            user = "user root;" if os.getuid() == 0 else ""
            first, second = (instance.port for instance in instances)
            (place / "nginx.conf").write_text(NGINX.format(place=own, user=user, first=first, second=second))
            nginx = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
            check(nginx, "nginx is not installed")
            proxy = subprocess.Popen([nginx, "-e", f"{own}/nginx.log", "-c", f"{own}/nginx.conf"])
            address = f"{own}/nginx.sock"

            async def answers():
                try:
                    return (await ask(address, "GET", "/api/feed?size=1")).status == 200
                except (ConnectionError, FileNotFoundError):
                    return False

            await until(answers, 10, "nginx does not answer")
            run = Run(upstream, instances, address)
            await run.sign_in()
            try:
                await run.load((options.seconds - 45) if waits else options.seconds * 0.4)
                await run.check_delivery(waits)
            finally:
                print(f"Writes: {run.writes}\nReads: {run.reads}\nRepeated writes: {run.repeats}\nWrites to one instance: {run.probes}")
            run.report_delays()
            for instance, (status, _) in zip(instances, await asyncio.gather(*(instance.stop() for instance in instances))):
                check(status == 0, f"An instance ended with status {status}: {instance.log.read_text()[-2000:]}")
        finally:
            for instance in instances:
                instance.kill()
            if proxy:
                proxy.send_signal(signal.SIGTERM)
                proxy.wait()
            database.stop()
            upstream.stop()
    print(f"Nothing was lost or doubled. It took {time.monotonic() - begin:.0f} s.")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except Violation as violation:
        sys.exit(f"Violated: {violation}")
