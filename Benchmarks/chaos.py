#!/usr/bin/env python3
"""Lets three instances of a service share an outbox while everything fails, and checks that no write is lost, doubled or reordered.

    swift build --package-path Benchmarks -c release --traits PostgreSQL --product outbox-instance
    Benchmarks/chaos.py [WRITES] [SEED]
    Benchmarks/chaos.py --check-self

All instances accept and deliver the writes of 50 subjects. The writes of a subject are numbered. The next one follows when the
previous one was acknowledged, or when its instance was killed before it answered. Meanwhile, instances are killed and suspended
for up to three lease durations, the server is restarted, and connections are cut. The clock of one instance is seven minutes
fast. The upstream refuses, delays, loses and drops requests, and remembers idempotency keys.

The seed determines which faults are chosen, but not how the processes are scheduled. Needs a PostgreSQL server; as root, also
`setpriv`. If a check fails, the script exits with 1 and keeps its directory.
"""
import asyncio
import collections
import pathlib
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time

from instances import Instance, Journal, Server, start_upstream

SUBJECTS = [f"{'plain' if number % 2 else 'storing'}.{number}" for number in range(50)]
LEASE = 5  # seconds, as in OutboxInstance.swift
# Enough for each instance to have work, and few enough for faults to meet writes of all ages.
MOST_PENDING = 200


def subject_of(body):
    return body.rpartition("-")[0]


def number_of(body):
    return int(body.rpartition("-")[2])


def check(events, acknowledged, letters):
    """Returns the violations by kind. A write is lost if it was acknowledged, but neither took effect nor became a dead letter."""
    wrong = collections.defaultdict(list)
    effects, keys = collections.Counter(), {}
    last = {}
    for event, _, key, body in events:
        if keys.setdefault(body, key) != key:
            wrong["two keys"].append(body)
        if event != "effect":
            continue
        effects[body] += 1
        subject, number = subject_of(body), number_of(body)
        if effects[body] > 1:
            wrong["doubled"].append(body)
        elif number < last.get(subject, -1):
            wrong["out of order"].append(body)
        last[subject] = max(number, last.get(subject, -1))
    wrong["lost"] = [body for body in acknowledged if body not in effects and body not in letters]
    wrong["dead, but done"] = [body for body in letters if body in effects]
    wrong["dead twice"] = [body for body, count in collections.Counter(letters).items() if count > 1]
    wrong["dead, but not refused"] = list(set(letters) - {body for event, _, _, body in events if event == "refusal"})
    return {kind: bodies for kind, bodies in wrong.items() if bodies}


def check_self():
    """Fails unless the checker finds each kind of violation in a journal that has it."""
    def journal(*lines):
        return [[event, "0", key, body] for event, key, body in (line.split(" ") for line in lines)]

    first, second = journal("request k1 s-1", "effect k1 s-1"), journal("request k2 s-2", "effect k2 s-2")
    refused, repeat = journal("request k3 s-3", "refusal k3 s-3"), journal("request k1 s-1")
    cases = [
        ([], first + repeat + second + refused, ["s-1", "s-2", "s-3"], ["s-3"]),
        ([], first + second, ["s-1"], []),  # Nobody knows whether the second one was accepted.
        (["lost"], first, ["s-1", "s-2"], []),
        (["lost"], first + refused, ["s-1", "s-3"], []),
        (["doubled"], first + second + first, ["s-1", "s-2"], []),
        (["out of order"], second + first, ["s-1", "s-2"], []),
        (["doubled", "two keys"], first + journal("request k9 s-1", "effect k9 s-1"), ["s-1"], []),
        (["two keys"], first + journal("request k9 s-1"), ["s-1"], []),
        (["dead, but done"], refused + journal("effect k3 s-3"), ["s-3"], ["s-3"]),
        (["dead twice"], refused, ["s-3"], ["s-3", "s-3"]),
        (["dead, but not refused"], first, ["s-1", "s-2"], ["s-2"]),
    ]
    for expected, events, acknowledged, letters in cases:
        found = sorted(check(events, acknowledged, letters))
        if found != expected:
            raise SystemExit(f"The checker found {found}, not {expected}, in {events}.")
    print(f"The checker judges {len(cases)} journals correctly.")


class Chaos:
    def __init__(self, directory, writes, seed):
        self.directory, self.writes, self.seed = directory, writes, seed
        self.server = Server(directory)
        self.journal = Journal(f"{directory}/journal")
        self.acknowledged = {}  # the times of acknowledgments, by write
        self.unknown = []  # writes whose acceptance nobody acknowledged
        self.settled = set()  # writes of which the upstream has done or refused an attempt
        self.counts = collections.Counter()
        self.faults_end = asyncio.Event()
        self.restarting = asyncio.Lock()

    async def run(self):
        self.server.start()
        upstream, url = await start_upstream(self.journal.path, 0.005, self.seed)
        self.instances = [Instance(self.server.info, url, 16, skew) for skew in (0, 0, 7 * 60)]
        try:
            for instance in self.instances:
                await instance.start()
            await self.deliver()
            letters = await self.instances[0].dead_letters()
            remaining = [f"{await self.server.records(kind)} {kind}" for kind in ("heads", "pending", "notes")]
            for instance in self.instances:
                await instance.end()
        finally:
            for instance in self.instances:
                instance.signal(signal.SIGKILL)
            upstream.kill()
            self.server.stop()
        self.journal.read()
        return self.report(letters, [text for text in remaining if not text.startswith("0 ")])

    async def deliver(self):
        start = time.monotonic()
        following = asyncio.create_task(self.follow())
        faults = asyncio.create_task(self.fail())
        share = [self.writes // len(SUBJECTS) + (place < self.writes % len(SUBJECTS)) for place in range(len(SUBJECTS))]
        await asyncio.gather(*(self.write(subject, count) for subject, count in zip(SUBJECTS, share)))
        self.seconds_to_accept = time.monotonic() - start
        self.faults_end.set()
        await faults
        end = time.monotonic() + 120
        while await self.server.records("heads"):
            if time.monotonic() > end:
                raise SystemExit(f"Writes are still pending. The seed was {self.seed}.")
            await asyncio.sleep(0.2)
        self.seconds = time.monotonic() - start
        following.cancel()

    async def follow(self):
        """Reads the journal while it grows, and prints the progress."""
        last = 0
        while True:
            self.settled |= {event[3] for event in self.journal.read() if event[0] != "request"}
            if time.monotonic() > last + 10:
                last = time.monotonic()
                print(f"{len(self.acknowledged)} accepted, {len(self.settled)} settled, {dict(self.counts)}", file=sys.stderr)
            await asyncio.sleep(0.05)

    # Writes

    async def write(self, subject, count):
        chance = random.Random(f"{self.seed} {subject}")
        number = 0
        while count > 0:
            body = f"{subject}-{number}"
            while len(self.acknowledged) - len(self.settled) >= MOST_PENDING:
                await asyncio.sleep(0.05)
            outcome, reason = await self.choose(chance).write(subject, body)
            if outcome == "accepted":
                self.acknowledged[body] = time.monotonic()
                count -= 1
            elif reason in ("unanswered", "outcomeUnknown"):
                self.unknown.append(body)
            else:
                # Nothing was accepted, so the same write is sent again.
                self.counts[f"writes repeated ({reason})"] += 1
                await asyncio.sleep(0.1)
                continue
            number += 1

    def choose(self, chance):
        """Returns the instance for a write. As with a load balancer, one that does not answer gets few of them."""
        instances = [instance for instance in self.instances if instance.is_running and not instance.is_suspended]
        return chance.choice(instances if instances and chance.random() < 0.98 else self.instances)

    # Faults

    async def fail(self):
        chance = random.Random(self.seed)
        faults = [(self.kill, 30), (self.suspend, 18), (self.cut, 30), (self.restart, 12)]
        under_way = set()
        while not self.faults_end.is_set():
            fault = chance.choices([fault for fault, _ in faults], [weight for _, weight in faults])[0]
            task = asyncio.create_task(fault(random.Random(chance.random())))
            under_way.add(task)
            try:
                await asyncio.wait_for(self.faults_end.wait(), chance.uniform(0.3, 2))
            except TimeoutError:
                pass
        await asyncio.gather(*under_way)

    async def pause(self, seconds):
        """Waits, but not after the end of the faults."""
        try:
            await asyncio.wait_for(self.faults_end.wait(), seconds)
        except TimeoutError:
            pass

    async def kill(self, chance):
        instance = chance.choice(self.instances)
        if not instance.is_running:
            return
        self.counts["kills"] += 1
        process = instance.process
        await instance.kill()
        await self.pause(chance.uniform(0, 2))
        if instance.process is process:
            await instance.start()

    async def suspend(self, chance):
        instance = chance.choice(self.instances)
        if not instance.is_running or instance.is_suspended:
            return
        self.counts["stops"] += 1
        process = instance.process
        instance.signal(signal.SIGSTOP)
        instance.is_suspended = True
        await self.pause(chance.uniform(0.2, 3 * LEASE))
        if instance.process is process:
            instance.is_suspended = False
            instance.signal(signal.SIGCONT)

    async def cut(self, chance):
        try:
            rows = await self.server.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'inward %'"
            )
            self.counts["cuts"] += 1
            self.counts["connections cut"] += len(rows)
        except ConnectionError:
            pass  # The server is being restarted.

    async def restart(self, chance):
        if self.restarting.locked():
            return
        async with self.restarting:
            mode = chance.choice(["fast", "immediate"])
            self.counts[f"restarts ({mode})"] += 1
            await self.server.restart(mode)

    # Result

    def report(self, letters, remaining):
        wrong = check(self.journal.events, self.acknowledged, letters)
        if remaining:
            wrong["remaining"] = remaining
        known = {*self.acknowledged, *self.unknown}
        wrong.update({"never written": strangers} if (strangers := {event[3] for event in self.journal.events} - known) else {})
        if reports := [report for instance in self.instances for report in instance.reports]:
            wrong["reported"] = reports
        events = collections.Counter(event[0] for event in self.journal.events)
        requested = len({event[3] for event in self.journal.events})
        waits = [
            float(moment) - self.acknowledged[body]
            for event, moment, _, body in self.journal.events
            if event == "effect" and body in self.acknowledged
        ]
        rows = {
            "writes acknowledged": len(self.acknowledged),
            "writes without an answer": len(self.unknown),
            "of these, accepted": len(set(self.unknown) & {event[3] for event in self.journal.events}),
            "effects": events["effect"],
            "dead letters": len(letters),
            "requests": events["request"],
            "of these, repeats": events["request"] - requested,
            **{name: self.counts[name] for name in sorted(self.counts)},
            "seconds until the last was acknowledged": round(self.seconds_to_accept),
            "seconds until all were delivered": round(self.seconds),
            "seconds from acknowledgment to effect, median": round(statistics.median(waits), 2),
            "seconds from acknowledgment to effect, longest": round(max(waits), 2),
            "lost": 0,
            "doubled": 0,
            "out of order": 0,
            **{kind: len(bodies) for kind, bodies in wrong.items()},
        }
        print(f"| seed {self.seed} | |\n|---|--:|")
        for name, count in rows.items():
            print(f"| {name} | {count:,} |")
        for kind, bodies in wrong.items():
            print(f"{kind}: {', '.join(sorted(bodies)[:20])}", file=sys.stderr)
        return not wrong


def main(arguments):
    if arguments == ["--check-self"]:
        return check_self()
    writes = int(arguments[0]) if arguments else 10_000
    seed = int(arguments[1]) if len(arguments) > 1 else random.randrange(1 << 32)
    print(f"The seed is {seed}.", flush=True)
    directory = tempfile.mkdtemp()
    # Ends as after an interrupt, so that nothing that was started remains.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("The run was ended."))
    is_right = False
    try:
        is_right = asyncio.run(Chaos(directory, writes, seed).run())
    finally:
        if is_right:
            shutil.rmtree(directory)
        elif pathlib.Path(directory, "journal").exists():
            print(f"The journal and the server's log are in {directory}.", file=sys.stderr)
    sys.exit(0 if is_right else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
