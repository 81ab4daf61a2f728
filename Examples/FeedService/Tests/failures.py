#!/usr/bin/env python3
"""Runs the service through failures of its upstream, its disk and itself, and against hostile clients.

    python3 failures.py FEED_SERVICE_BINARY [--seconds SECONDS] [--only NAME]

Each scenario has its own upstream and instance, prints what its clients saw, and checks what must hold. With fewer than 60 seconds,
it uses fewer clients. As root, it mounts a small file system to fill it. Needs Debian's postgresql.
"""
import argparse
import asyncio
import base64
import json
import os
import pathlib
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import uuid

import harness
from harness import IMAGE_KEYS, Client, PostgreSQL, Service, Tally, Violation, allowed, ask, check, image_path, text_of, until
from upstream import SECRET, Upstream, png

SCENARIOS = {}
PATHS = ["/api/feed", "/api/users", "/api/posts/7", "/api/users/7/posts", "/posts", "/users/3", "/api/posts/7/comments"]


def scenario(function):
    SCENARIOS[function.__name__.replace("_", "-")] = function
    return function


class Stage:
    """What a scenario uses: upstreams, instances, and a directory, which are gone at its end."""

    def __init__(self, binary, directory, seconds):
        self.binary, self.directory = binary, pathlib.Path(directory)
        self.is_short = seconds < 60
        self.load = min(max(seconds / 40, 1), 10)  # how long a scenario sends requests, in seconds
        self.lines, self.closing, self.count = [], [], 0

    def say(self, line):
        self.lines.append(f"    {line}")

    async def upstream(self):
        upstream = Upstream()
        await upstream.start()
        self.closing.append(upstream.stop)
        return upstream

    async def service(self, upstream, store=None, **settings):
        self.count += 1
        service = Service(self.binary, self.directory / f"{self.count}.log", upstream, store, **settings)
        self.closing.append(service.kill)
        return await service.start()

    def close(self):
        for close in reversed(self.closing):
            close()


def post(title, author=7, body="On the engine."):
    return json.dumps({"authorID": author, "title": title, "body": body}).encode()


def key():
    return {"Idempotency-Key": str(uuid.uuid4())}


async def publish(address, title, tally=None, author=7, fields=None):
    """Publishes a post over a connection of its own, with a key of its own."""
    client = Client(address)
    try:
        return await (tally or Tally()).ask(client, "POST", "/api/posts", post(title, author), fields or key())
    finally:
        client.close()


async def warm(service):
    for path in PATHS:
        answer = await ask(service.port, "GET", path)
        check(answer.status == 200, f"{path} was answered with {answer.status} before anything failed: {answer.text}")


async def read_all(service, tally, seconds=0):
    """Reads each path, and again until the time is over."""
    async def read(path):
        client, end = Client(service.port), time.monotonic() + seconds
        while True:
            await tally.ask(client, "GET", path)
            if time.monotonic() >= end:
                return client.close()

    await asyncio.gather(*(read(path) for path in PATHS))


def check_only(tally, statuses, what):
    strange = {name: count for name, count in tally.counts.items() if name not in {str(status) for status in statuses}}
    texts = [f"{answer.status} {answer.text[:200]}" for answer in tally.answers if str(answer.status) in strange][:3]
    check(not strange, f"{what}: {strange}, such as {texts}")


def check_problems(tally, upstream):
    """Checks that errors say nothing of the upstream, and that 503 says when to come back."""
    for answer in tally.answers:
        check(SECRET not in answer.text and str(upstream.port) not in answer.text, f"An answer shows the upstream: {answer.text}")
        check(answer["Content-Type"].startswith(("application/problem+json", "text/html", "image/")), f"An error is {answer['Content-Type']}")


def check_retry_after(tally):
    missing = [answer.text for answer in tally.answers if answer.status == 503 and not answer["Retry-After"]]
    check(not missing, f"{len(missing)} answers with 503 had no Retry-After, such as {missing[:1]}")


async def check_delivered(upstream, titles, seconds=75):
    """Waits until the upstream has each post, and checks that it has none twice."""
    took = await until(
        lambda: all(upstream.created[title] for title in titles), seconds,
        lambda: f"{sum(not upstream.created[title] for title in titles)} of {len(titles)} accepted posts were not delivered",
    )
    doubled = {title: count for title, count in upstream.created.items() if count > 1}
    check(not doubled, f"Posts were published more than once: {doubled}")
    return took


async def check_end(service, seconds):
    status, took = await service.stop()
    check(status == 0, f"The service ended with status {status} after {took:.1f} s: {service.log.read_text()[-1500:]}")
    check(took < allowed(seconds), f"The service took {took:.1f} s to end, and not at most {allowed(seconds)} s")
    return took


@scenario
async def outage(stage):
    """The upstream stops, and starts again. The service has no store."""
    upstream = await stage.upstream()
    # Nothing is fresh, so each read asks the upstream.
    service = await stage.service(upstream, stale_after=0)
    await warm(service)
    upstream.stop()
    reads, writes = Tally(), Tally()
    # The first failures, before the circuit opens.
    await publish(service.port, "Without", writes)
    await asyncio.gather(
        read_all(service, reads, stage.load),
        *(publish(service.port, f"Without {number}", writes) for number in range(20)),
    )
    stage.say(f"reads while it was stopped: {reads}")
    stage.say(f"writes while it was stopped: {writes}")
    await upstream.start()

    async def works():
        return (await publish(service.port, f"Again {uuid.uuid4()}")).status == 201

    took = await until(works, 40, "Posts are not published although the upstream is back")
    stage.say(f"writes succeeded {took:.1f} s after it was back")
    check_only(reads, [200], "Reads of what was known")
    check_only(writes, [503], "Writes without a store")
    check(not any(title.startswith("Without") for title in upstream.created), "A refused post was published")
    check_problems(writes, upstream)
    check_retry_after(writes)
    await check_end(service, 5)


@scenario
async def outage_with_store(stage):
    """The upstream stops, and starts again. The service has a store."""
    upstream = await stage.upstream()
    service = await stage.service(upstream, stage.directory / "store", stale_after=0)
    await warm(service)
    upstream.stop()
    reads, writes, titles = Tally(), Tally(), [f"Later {number}" for number in range(20)]
    await asyncio.gather(read_all(service, reads, stage.load), *(publish(service.port, title, writes) for title in titles))
    stage.say(f"reads while it was stopped: {reads}")
    stage.say(f"writes while it was stopped: {writes}")
    check_only(reads, [200], "Reads of what was known")
    check_only(writes, [202], "Writes with a store")
    feed = await ask(service.port, "GET", "/api/users/7/posts")
    check(all(json.dumps(title) in feed.text for title in titles), "A pending post is not shown")
    await upstream.start()
    took = await check_delivered(upstream, titles)
    stage.say(f"all were delivered {took:.1f} s after it was back, each once")
    await check_end(service, 5)


@scenario
async def slow_upstream(stage):
    """The upstream does not answer in time. Reads get what is known, and a store accepts writes."""
    async def run(name, store, statuses):
        upstream = await stage.upstream()
        service = await stage.service(upstream, store, stale_after=0, time_limit=4, drain_limit=1)
        await warm(service)
        upstream.set_fault("slow", 60)
        known, cold, writes = Tally(), Tally(), Tally()
        await asyncio.gather(
            read_all(service, known),
            *(cold.ask(Client(service.port), "GET", f"/api/posts/{number}/comments") for number in range(11, 21)),
            *(publish(service.port, f"Slow {number}", writes) for number in range(20)),
        )
        upstream.set_fault()
        for kind, tally in (("reads of what was known", known), ("reads of what was not", cold), ("writes", writes)):
            stage.say(f"{name}, {kind}: {tally}")
            check(tally.slowest < allowed(6), f"An answer took {tally.slowest:.1f} s, with a limit of 4 s")
            check_problems(tally, upstream)
            check_retry_after(tally)
        check_only(known, [200], f"{name}: reads of what was known, which is stale")
        check_only(cold, [503], f"{name}: reads of what was not known")
        check_only(writes, statuses, f"{name}: writes")
        if store:
            await check_delivered(upstream, [f"Slow {number}" for number in range(20)])
        doubled = {title: count for title, count in upstream.created.items() if count > 1}
        check(not doubled, f"Posts were published more than once: {doubled}")
        await check_end(service, 10)

    await asyncio.gather(run("without a store", None, [503, 504]), run("with a store", stage.directory / "store", [202]))


@scenario
async def unhurried_upstream(stage):
    """The upstream takes a while for each request, but answers in time. As many requests as it may get at once succeed."""
    upstream = await stage.upstream()
    service = await stage.service(upstream)
    upstream.set_fault("slow", 1.5)
    reads = Tally()
    await asyncio.gather(*(reads.ask(Client(service.port), "GET", f"/api/posts/{number}") for number in range(1, 65)))
    stage.say(f"64 different reads at once: {reads}")
    check_only(reads, [200], "Reads that the upstream answers in time")
    upstream.set_fault()
    await check_end(service, 5)


@scenario
async def hanging_writes(stage):
    """The upstream answers reads, but no writes. Deliveries that hang must not keep reads waiting."""
    upstream = await stage.upstream()
    service = await stage.service(upstream, stage.directory / "store", stale_after=0, drain_limit=1)
    await warm(service)
    upstream.set_fault("slow", 60, only_writes=True)
    writes, reads = Tally(), Tally()
    await asyncio.gather(*(publish(service.port, f"Hanging {number}", writes) for number in range(30)))
    await until(lambda: upstream.writing >= 10, 20, lambda: f"Only {upstream.writing} writes are sent at once")
    await asyncio.gather(*(reads.ask(Client(service.port), "GET", f"/api/posts/{number}") for number in range(20, 40)))
    stage.say(f"writes: {writes}")
    stage.say(f"reads while {upstream.writing} writes hung: {reads}")
    check_only(writes, [202], "Writes with a store")
    check_only(reads, [200], "Reads that the upstream answers")
    check(reads.slowest < allowed(2), f"A read waited for {reads.slowest:.1f} s")
    await check_end(service, 5)


@scenario
async def bad_upstream(stage):
    """The upstream answers garbage, errors, or nothing."""
    for fault in ("garbage", "error", "drop", "lost"):
        upstream = await stage.upstream()
        service = await stage.service(upstream, stale_after=0)
        await warm(service)
        upstream.set_fault(fault)
        known, cold, writes = Tally(), Tally(), Tally()
        await asyncio.gather(
            read_all(service, known), *(cold.ask(Client(service.port), "GET", f"/api/posts/{number}/comments") for number in range(11, 16))
        )
        # After a write whose outcome is unknown, lists have to be read again, so the writes come last.
        await asyncio.gather(*(publish(service.port, f"Bad {number}", writes) for number in range(5)))
        for name, tally in (("known", known), ("cold", cold), ("writes", writes)):
            stage.say(f"{fault}, {name}: {tally}")
            check_problems(tally, upstream)
            check_retry_after(tally)
        check_only(known, [200], f"{fault}: reads of what was known")
        check_only(cold, [200] if fault == "lost" else [502, 503], f"{fault}: reads of what was not known")
        # If the answer is lost, the post may have been published.
        check_only(writes, [502, 503, 504], f"{fault}: writes")
        check(max(upstream.created.values(), default=0) <= 1, f"{fault}: a post was published twice")
        await check_end(service, 5)


@scenario
async def lost_answers(stage):
    """The upstream does each write, and closes the connection before its answer. The service has a store."""
    upstream = await stage.upstream()
    service = await stage.service(upstream, stage.directory / "store")
    await warm(service)
    upstream.set_fault("lost")
    writes, titles = Tally(), [f"Lost {number}" for number in range(8)]
    await asyncio.gather(*(publish(service.port, title, writes, author=number + 1) for number, title in enumerate(titles)))
    stage.say(f"writes: {writes}")
    check_only(writes, [202], "Writes with a store")
    await until(lambda: upstream.created, 10, "Nothing was sent")
    upstream.set_fault()
    took = await check_delivered(upstream, titles)

    async def is_empty():
        return "No writes are pending or refused" in await service.outbox()

    await until(is_empty, 75, "The outbox is not empty")
    doubled = {title: count for title, count in upstream.created.items() if count > 1}
    check(not doubled, f"Posts were published more than once: {doubled}")
    sent = sum(count for name, count in upstream.requests.items() if name.startswith("POST"))
    stage.say(f"all were delivered after {took:.1f} s, each once, with {sent} requests")
    await check_end(service, 5)


@scenario
async def full_disk(stage):
    """The disk of the store is full, and then it is not."""
    mount = stage.directory / "mount"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(mount)]
    if os.getuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        return stage.say("skipped: mounting a small file system is not permitted")
    stage.closing.insert(0, lambda: subprocess.run(["umount", "-l", str(mount)], check=True))
    upstream = await stage.upstream()
    service = await stage.service(upstream, mount / "store", stale_after=0)
    await warm(service)
    before, during, reads, after = Tally(), Tally(), Tally(), Tally()
    titles = [f"Before {number}" for number in range(5)]
    for title in titles:
        await publish(service.port, title, before)
    check_only(before, [202], "Writes before the disk was full")
    filler = open(mount / "filler", "wb", buffering=0)
    for size in (65_536, 4_096, 1):
        try:
            while filler.write(bytes(size)) == size:
                pass
        except OSError:
            pass
    refused = [f"During {number}" for number in range(20)]
    accepted = [title for title in refused if (await publish(service.port, title, during)).status == 202]
    await read_all(service, reads)
    stage.say(f"writes while it was full: {during}")
    stage.say(f"reads while it was full: {reads}")
    filler.truncate(0)
    filler.close()
    late = [f"After {number}" for number in range(5)]

    async def works():
        return (await publish(service.port, f"Probe {uuid.uuid4()}")).status == 202

    took = await until(works, 10, "No write is accepted although there is space again")
    for title in late:
        await publish(service.port, title, after)
    stage.say(f"writes after it: {after}; the first one was accepted {took:.1f} s later")
    # The last bytes may hold the record of the key or of the post, hence two statuses.
    check_only(during, [202, 503, 507], "Writes while the disk was full")
    check(during.counts["503"] + during.counts["507"] > 10, "The disk was not full")
    check_only(reads, [200], "Reads while the disk was full")
    check_only(after, [202], "Writes after the disk was full")
    await check_delivered(upstream, titles + accepted + late)
    stray = [title for title in refused if title not in accepted and upstream.created[title]]
    check(not stray, f"Refused posts were published: {stray}")
    await check_end(service, 5)


@scenario
async def lost_store(stage):
    """The PostgreSQL server of the store stops, and starts again."""
    upstream = await stage.upstream()
    # The server may run as another user, who cannot enter the directory of the scenario.
    with tempfile.TemporaryDirectory() as directory:
        database = PostgreSQL(directory)
        database.start()
        try:
            service = await stage.service(upstream, database.store, stale_after=0)
            await warm(service)
            before, during, reads = Tally(), Tally(), Tally()
            await asyncio.gather(*(publish(service.port, f"Before {number}", before) for number in range(5)))
            check_only(before, [202], "Writes before the server stopped")
            database.stop()
            refused = [f"During {number}" for number in range(10)]
            await asyncio.gather(read_all(service, reads, stage.load), *(publish(service.port, title, during) for title in refused))
            stage.say(f"reads while it was stopped: {reads}")
            stage.say(f"writes while it was stopped: {during}")
            check_only(reads, [200], "Reads without the store")
            check_only(during, [503], "Writes without the store")
            check_retry_after(during)
            database.restart()

            async def works():
                return (await publish(service.port, f"Probe {uuid.uuid4()}")).status == 202

            took = await until(works, 20, "No write is accepted although the server is back")
            stage.say(f"a write was accepted {took:.1f} s after it was back")
            await check_delivered(upstream, [f"Before {number}" for number in range(5)])
            stray = [title for title in refused if upstream.created[title]]
            check(not stray, f"Refused posts were published: {stray}")
            await check_end(service, 5)
        finally:
            database.stop()


@scenario
async def killed(stage):
    """The service is killed during writes, and started again with the same store."""
    upstream = await stage.upstream()
    # Some writes are on their way when the service is killed.
    upstream.set_fault("slow", 1, only_writes=True)
    service = await stage.service(upstream, stage.directory / "store", time_limit=3)
    accepted, known, tally, is_over = [], [], Tally(), False

    async def write(writer):
        number = 0
        while not is_over:
            title = f"Killed {turn} {writer} {number}"
            known.append(title)
            answer = await publish(service.port, title, tally, author=writer + 1)
            if answer and answer.status == 202:
                accepted.append(title)
            elif answer is None:
                return
            number += 1

    for turn in range(1 if stage.is_short else 3):
        is_over = False
        goal = len(accepted) + (40 if stage.is_short else 200)
        tasks = [asyncio.create_task(write(writer)) for writer in range(8)]
        await until(lambda: len(accepted) >= goal, 60, lambda: f"{goal} writes were not accepted: {tally}")
        service.kill()
        is_over = True
        await asyncio.gather(*tasks)
        delivered = sum(upstream.created[title] > 0 for title in accepted)
        await service.start()
    stage.say(f"writes: {tally}; {delivered} of {len(accepted)} accepted ones were sent before the last restart")
    upstream.set_fault()
    check_only(tally, [202, "no answer", "cut off"], "Writes until the service was killed")
    # The writes that were on their way belong to the killed process for half a minute.
    took = await check_delivered(upstream, accepted)
    check(set(upstream.created) <= set(known), "A post was published that nobody has written")
    stage.say(f"all were delivered {took:.1f} s after the restart, each once")
    await check_end(service, 5)


@scenario
async def ended(stage):
    """The service is told to end while it answers requests."""
    upstream = await stage.upstream()
    service = await stage.service(upstream, time_limit=5, drain_limit=5)
    await warm(service)
    upstream.set_fault("slow", 1, only_writes=True)
    count = 12
    writes, reads = Tally(), Tally()
    tasks = [asyncio.create_task(publish(service.port, f"Ended {number}", writes, number % 10 + 1)) for number in range(count)]

    async def read(path):
        client = Client(service.port)
        while await reads.ask(client, "GET", path):
            pass

    readers = [asyncio.create_task(read(path)) for path in PATHS for _ in range(4)]
    await until(lambda: upstream.writing >= count, 20, lambda: f"{count} writes do not reach the upstream at once: {upstream.writing}, {writes}")
    status, took = await service.stop()
    await asyncio.wait_for(asyncio.gather(*tasks, *readers), 10)
    stage.say(f"{count} writes in flight: {writes}")
    stage.say(f"reads until the end: {reads}")
    stage.say(f"it ended with status {status} after {took:.1f} s")
    check_only(writes, [201], "Writes in flight")
    check(not reads.counts["cut off"], "An answer was cut off")
    check_only(reads, [200, 304, "no answer"], "Reads until the end")
    check(status == 0, f"It ended with status {status}: {service.log.read_text()[-1500:]}")
    check(took < allowed(10), f"It took {took:.1f} s to end")


@scenario
async def ended_with_store(stage):
    """The service is told to end while writes are pending, and delivers as many as it can."""
    upstream = await stage.upstream()
    store = stage.directory / "store"
    service = await stage.service(upstream, store, time_limit=5, drain_limit=1)
    await warm(service)
    upstream.set_fault("slow", 1.5, only_writes=True)
    writes, titles = Tally(), [f"Drained {number}" for number in range(100)]
    for group in range(0, 100, 20):
        await asyncio.gather(*(publish(service.port, title, writes, n % 10 + 1) for n, title in enumerate(titles[group:group + 20])))
    check_only(writes, [202], "Writes with a store")
    before = len(upstream.created)
    status, took = await service.stop()
    stage.say(f"{100 - before} writes were not sent before SIGTERM, {100 - len(upstream.created)} after {took:.1f} s, with status {status}")
    check(status == 0, f"It ended with status {status}: {service.log.read_text()[-1500:]}")
    check(took < allowed(4), f"It took {took:.1f} s to end, with a limit of 1 s")
    upstream.set_fault()
    await service.start()
    took = await check_delivered(upstream, titles)
    stage.say(f"the others were delivered {took:.1f} s after the restart, each once")
    await check_end(service, 5)


async def crowd(stage, service, path, count):
    """Sends a request from each of many connections at the same moment."""
    tally, clients, room = Tally(), [Client(service.port) for _ in range(count)], asyncio.Semaphore(128)

    async def connect(client):
        async with room:
            await asyncio.wait_for(client.connect(), 30)

    await asyncio.gather(*(connect(client) for client in clients))
    await asyncio.gather(*(tally.ask(client, "GET", path, seconds=60) for client in clients))
    for client in clients:
        client.close()
    return tally


@scenario
async def crowds(stage):
    """Thousands of clients ask for what nobody has asked for before."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    count = min(1_000 if stage.is_short else 10_000, limit - 1_000)
    upstream = await stage.upstream()
    images = {"image_keys": IMAGE_KEYS}
    service = await stage.service(upstream, connections=20_000, concurrent_requests=20_000, time_limit=30, **images)
    # Not longer than the service waits for an answer, even if this script is late because it is busy.
    upstream.set_fault("slow", 1 if stage.is_short else 2)
    users = await crowd(stage, service, "/api/users", count)
    stage.say(f"{count} for a list: {users}; memory {service.memory:.0f} MB")
    path = image_path("avatars/3.jpg")
    image = await crowd(stage, service, path, count)
    stage.say(f"{count} for an image: {image}; memory {service.memory:.0f} MB")
    asked = {name: upstream.requests[name] for name in ("GET /users", "GET /avatars/3.jpg")}
    check_only(users, [200], "A list, with room for all")
    check_only(image, [200], "An image, with room for all")
    check(set(asked.values()) == {1}, f"The upstream was asked more than once: {asked}")
    await until(lambda: service.descriptors < 100, 10, "Connections stay open")
    await check_end(service, 5)
    # With the limits of a service that nobody has configured, some are refused at once.
    other = await stage.upstream()
    service = await stage.service(other, **images)
    other.set_fault("slow", 1)
    # More connections than that would wait until others close.
    users = await crowd(stage, service, "/api/users", 2_000 if stage.is_short else 4_000)
    stage.say(f"{sum(users.counts.values())} with the default limits: {users}")
    check_only(users, [200, 503], "A list, with the default limits")
    check_retry_after(users)
    check(other.requests["GET /users"] == 1, f"The upstream was asked {other.requests['GET /users']} times")
    health = await ask(service.port, "GET", "/healthz")
    check(health.status == 200, "The service is not well afterwards")
    await check_end(service, 5)


async def stalled(port, request, receives=4_096):
    """Opens a connection that sends a request, and has little room for its answer."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
    connection.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(connection, ("127.0.0.1", port))
    # The service may stop reading before it has everything.
    try:
        await asyncio.wait_for(loop.sock_sendall(connection, request), 2)
    except asyncio.TimeoutError:
        pass
    return connection


@scenario
async def slow_clients(stage):
    """Clients that read a byte a second, or send one."""
    upstream = await stage.upstream()
    service = await stage.service(upstream, time_limit=2, idle_timeout=2)
    await warm(service)
    memory = service.memory
    # More answers than fit into the buffers of the system.
    request = b"GET /api/feed?size=100 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2_000
    slow = await asyncio.gather(*(stalled(service.port, request) for _ in range(5 if stage.is_short else 20)))
    loop = asyncio.get_running_loop()
    is_over = False

    async def read_slowly(connection):
        try:
            while not is_over and await loop.sock_recv(connection, 1):
                await asyncio.sleep(1)
        except ConnectionError:
            pass

    readers = [asyncio.create_task(read_slowly(connection)) for connection in slow]
    # A request that never ends, a byte at a time.
    closed = []

    async def send_slowly(head):
        reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
        start = time.monotonic()
        try:
            for byte in head:
                writer.write(bytes([byte]))
                await writer.drain()
                try:
                    if not await asyncio.wait_for(reader.read(1_000), 0.3):
                        break
                except asyncio.TimeoutError:
                    pass
                if time.monotonic() - start > 8:
                    break
        except ConnectionError:
            pass
        closed.append(time.monotonic() - start)
        writer.transport.abort()

    head = b"GET /api/users HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 1_000
    content = b"POST /api/posts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n" + b" " * 1_000
    senders = asyncio.gather(send_slowly(head), send_slowly(content))
    others = Tally()
    await read_all(service, others, stage.load)
    await senders
    stage.say(f"other clients: {others}; memory {memory:.0f} MB before, {service.memory:.0f} MB now")
    stage.say(f"a head that arrives slowly was closed after {closed[0]:.1f} s, content after {closed[1]:.1f} s (at most 8 s)")
    check_only(others, [200], "Other clients")
    check(others.slowest < allowed(3), f"Another client waited {others.slowest:.1f} s")
    check(service.memory - memory < 150, f"Slow clients take {service.memory - memory:.0f} MB")
    took = await check_end(service, 15)
    stage.say(f"it ended {took:.1f} s after SIGTERM")
    is_over = True
    for connection in slow:
        connection.close()
    await asyncio.gather(*readers, return_exceptions=True)


@scenario
async def live_feed(stage):
    """Many pages follow the feed. Some do not read what they get."""
    upstream = await stage.upstream()
    limit = 100 if stage.is_short else 1_000
    service = await stage.service(upstream, live_connections=limit, time_limit=20 if stage.is_short else 2)
    await warm(service)
    memory = service.memory
    request = b"GET /live/posts HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
    deaf = await asyncio.gather(*(stalled(service.port, request) for _ in range(limit // 10)))
    seen, ends, streams = {}, [], []

    async def follow(number):
        reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
        streams.append(writer)
        writer.write(request)
        rest = b""
        try:
            while data := await reader.read(65_536):
                seen[number] = seen.get(number, b"")[-100_000:] + data
                rest = data
            ends.append(rest.endswith(b"0\r\n\r\n"))
        except ConnectionError:
            ends.append(False)

    followers = [asyncio.create_task(follow(number)) for number in range(limit - len(deaf))]
    await until(lambda: len(seen) == len(followers) and all(b"event: posts" in text for text in seen.values()), 20, "Not all pages got the feed")
    extra = await ask(service.port, "GET", "/live/posts")
    check(extra.status == 503 and extra["Retry-After"], f"One page too many was answered with {extra.status}")
    for number in range(5):
        start = time.monotonic()
        answer = await publish(service.port, f"Live {number}", author=number + 1)
        check(answer.status == 201, f"A post was answered with {answer.status}")
        title = f"Live {number}".encode()
        await until(lambda: all(title in text for text in seen.values()), 10, "Not all pages got the new post")
    stage.say(f"{len(followers)} pages got the last post {time.monotonic() - start:.2f} s later; {len(deaf)} read nothing")
    stage.say(f"memory {memory:.0f} MB before, {service.memory:.0f} MB now")
    # Those that leave make room for others.
    for writer in streams[: limit // 2]:
        writer.transport.abort()

    async def has_room():
        reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
        writer.write(request)
        head = await reader.readuntil(b"\r\n")
        writer.transport.abort()
        return b" 200 " in head

    took = await until(has_room, 20, "There is no room although pages have left")
    stage.say(f"there was room {took:.2f} s after half of the pages had left")
    ends.clear()
    status, took = await service.stop()
    await asyncio.gather(*followers)
    stage.say(f"it ended {took:.1f} s after SIGTERM, with status {status}; {sum(ends)} of {len(ends)} streams ended completely")
    for connection in deaf:
        connection.close()
    check(status == 0, f"It ended with status {status}: {service.log.read_text()[-1500:]}")
    check(all(ends), "A stream was cut off")
    check(took < allowed(10), f"It took {took:.1f} s to end")


@scenario
async def hostile_images(stage):
    """Image addresses and recipes that the service has not signed, or should not answer."""
    upstream, inside = await stage.upstream(), await stage.upstream()
    upstream.base = "/base"
    upstream.images[4] = png(64, 80, declared=60_000)
    upstream.images[5] = b"\x89PNG\r\n\x1a\n" + os.urandom(10_000)
    service = await stage.service(upstream, image_keys=IMAGE_KEYS)
    good = image_path("avatars/3.jpg")
    answer = await ask(service.port, "GET", good)
    check(answer.status == 200 and answer["Content-Type"] == "image/jpeg", f"A good image was answered with {answer.status}")
    # The service signs in the same way, or the rest of this scenario would say nothing.
    gallery = (await ask(service.port, "GET", "/gallery")).text
    own = re.search(r'src="(/images/[^"]+)"', gallery)[1]
    _, _, signature, recipe, address = own.split("/")
    address = base64.urlsafe_b64decode(address + "=" * (-len(address) % 4)).decode()
    check(image_path(address, recipe, int(signature.split(".")[2])) == own, f"The service signs in another way: {own}")
    asked = sum(upstream.requests.values())
    memory = service.memory
    signature, recipe, address = good.removeprefix("/images/").split("/")
    tally = Tally()
    forged = [
        image_path("avatars/3.jpg", secret=b"another key that is long enough."), good + "A", good[:-2], good + "/", good + "%00",
        f"/images/{signature}/resize=8000x8000/{address}", f"/images/{signature}/{recipe}/{text_of(b'http://127.0.0.1/')}",
        f"/images/{signature}//{address}", f"/images/../images/{signature}/{recipe}/../{address}", "/images/..%2f..%2fetc%2fpasswd/a/b",
        f"/images/{signature}/{recipe}/../../../../etc/passwd", f"/images/test.{'A' * 43}/{recipe}/{address}", f"/images/{'a' * 5000}/b/c",
        f"/images/{signature.replace('test', 'none')}/{recipe}/{address}", f"/images/{signature}/{'blur=1,' * 500}/{address}", "/images/a/b",
    ]
    for path in forged:
        answer = tally.add(await ask(service.port, "GET", path))
        check(answer.status in (301, 403, 404, 414), f"{path[:200]} was answered with {answer.status}")
    answer = tally.add(await ask(service.port, "GET", "/images/" + "a" * 60_000))
    check(answer.status in (400, 403, 414, 431), f"A very long path was answered with {answer.status}")
    expired = tally.add(await ask(service.port, "GET", image_path("avatars/3.jpg", expiry=int(time.time()) - 1)))
    check(expired.status == 410, f"An expired image was answered with {expired.status}")
    check(sum(upstream.requests.values()) == asked, "The upstream was asked for an image that nobody has signed")
    # What somebody could do who has got hold of a key. They may read images at public addresses, but neither files nor images inside.
    signed = {
        "traversal": ["../secret.jpg", "avatars/../../secret.jpg", "avatars/%2e%2e/%2e%2e/secret.jpg", "avatars/..%2fsecret.jpg", "//127.0.0.1/a.jpg"],
        "files and other addresses": [f"{inside.url}/avatars/1.jpg", f"{inside.url}/users", "file:///etc/passwd", "http://[::1]:1/a.jpg"],
        "recipe": [("avatars/2.jpg", recipe) for recipe in (
            "resize=100000x100000", "resize=20000x20000,mode=fill,enlarge=yes", "resize=0x0", "resize=-1x5", "resize=9999999999999999999x1",
            "blur=1e300", "blur=nan", ",".join(["blur=5"] * 200), "nonsense", "resize=240x240," * 100,
        )],
        "content": ["avatars/4.jpg", "avatars/5.jpg", "avatars/99.jpg"],
    }
    for kind, images in signed.items():
        seen = Tally()
        for image in images:
            path = image_path(*image) if isinstance(image, tuple) else image_path(image)
            answer = seen.add(await ask(service.port, "GET", path))
            if os.environ.get("VERBOSE"):
                stage.say(f"{kind}: {str(image)[:60]}: {answer.status} {answer.seconds:.2f} s")
            check(answer.seconds < allowed(11), f"{image} took {answer.seconds:.1f} s")
            check(b"root:" not in answer.body, "The service has read a file")
        stage.say(f"signed, {kind}: {seen}")
        if kind != "recipe":
            check("200" not in seen.counts, f"An image was served: {kind}")
    stage.say(f"forged, expired or too long: {tally}; memory {memory:.0f} MB before, {service.memory:.0f} MB now")
    outside = [name for name in upstream.requests if not name.startswith("GET /base/") or "secret" in name]
    check(not outside, f"The upstream was asked for what is not below its base address: {outside}")
    check(not inside.requests, f"A server inside, which is not the upstream, was asked: {dict(inside.requests)}")
    check(service.memory < 900, f"The service takes {service.memory:.0f} MB")
    check((await ask(service.port, "GET", good)).status == 200, "A good image is not served any more")
    await check_end(service, 5)


async def perform(name, binary, seconds):
    """Runs a scenario, and prints its lines. Returns whether everything held."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        stage = Stage(binary, directory, seconds)
        failure = None
        try:
            await SCENARIOS[name](stage)
        except Violation as violation:
            failure = f"Violated: {violation}"
        except Exception:
            failure = traceback.format_exc()
        finally:
            stage.close()
    print(f"{name}: {SCENARIOS[name].__doc__} ({time.monotonic() - begin:.1f} s)")
    print("\n".join(stage.lines + ([f"    {failure}"] if failure else [])), flush=True)
    return failure is None


# These mostly wait, such as for the end of a lease, so they run at the same time as the others.
PATIENT = ["killed", "full-disk", "lost-store", "slow-upstream", "outage", "outage-with-store", "lost-answers", "live-feed", "slow-clients"]


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=240, help="the time for everything, about (default: 240)")
    parser.add_argument("--only", choices=sorted(SCENARIOS), help="the only scenario to run")
    options = parser.parse_args()
    if options.seconds < 60:
        harness.patience = 10
    if options.only:
        return [] if await perform(options.only, options.binary, options.seconds) else [options.only]
    waiting = {name: asyncio.create_task(perform(name, options.binary, options.seconds)) for name in PATIENT}
    held = {name: await perform(name, options.binary, options.seconds) for name in SCENARIOS if name not in PATIENT}
    held |= {name: await task for name, task in waiting.items()}
    return [name for name, result in held.items() if not result]


if __name__ == "__main__":
    failed = asyncio.run(main())
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}")
    print("Everything held.")
