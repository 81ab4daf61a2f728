#!/usr/bin/env python3
"""Measures how many writes one and two instances of a service deliver from a shared outbox.

    swift build --package-path Benchmarks -c release --traits PostgreSQL --product outbox-instance
    Benchmarks/shared-outbox.py [WRITES] [ROUNDS] [CONCURRENCY] [LATENCY]

The writes, two of each subject, are accepted beforehand. The upstream answers after a latency, without using the processor, and
takes any number of requests at once. The concurrency of an instance is therefore its limit, as long as the machine is not. Each
round delivers all writes with one instance and with two, and the medians are compared. Rates are those of the middle 80 % of the
writes. Needs a PostgreSQL server; as root, also `setpriv`.
"""
import asyncio
import signal
import statistics
import sys
import tempfile

from instances import Instance, Journal, Server, start_upstream


class Round:
    """A delivery of all writes by a number of instances, from an empty database."""

    def __init__(self, count, writes, concurrency, latency):
        self.count, self.writes, self.concurrency, self.latency = count, writes, concurrency, latency

    async def run(self):
        """Returns the deliveries per second, and the commits and transactions per delivery."""
        with tempfile.TemporaryDirectory() as directory:
            server = Server(directory)
            server.start()
            journal = Journal(f"{directory}/journal")
            upstream, url = await start_upstream(journal.path, self.latency)
            instances = [Instance(server.info, url, self.concurrency) for _ in range(self.count)]
            try:
                for instance in instances:
                    await instance.start(delivers=False)
                await self.accept(instances)
                before = await server.commits()
                for instance in instances:
                    instance.say("deliver")
                while sum(event[0] == "effect" for event in journal.events) < self.writes:
                    await asyncio.sleep(0.2)
                    journal.read()
                for instance in instances:
                    await instance.end()
                # The server's statistics are a second late.
                await asyncio.sleep(1.5)
                costs = [(now - then) / self.writes for then, now in zip(before, await server.commits())]
            finally:
                for instance in instances:
                    if instance.is_running:
                        await instance.kill()
                upstream.kill()
                server.stop()
            times = [float(event[1]) for event in journal.events if event[0] == "effect"]
            first, last = len(times) // 10, len(times) * 9 // 10
            return [(last - first) / (times[last] - times[first]), *costs]

    async def accept(self, instances):
        subjects = self.writes // 2

        async def accept(number):
            outcome, reason = await instances[number % len(instances)].write(f"plain.{number % subjects}", f"{number}")
            if outcome != "accepted":
                raise SystemExit(f"A write was not accepted: {reason}.")

        await asyncio.gather(*(accept(number) for number in range(self.writes)))


async def main(writes=1_000, rounds=3, concurrency=4, latency=0.05):
    results = {1: [], 2: []}
    for _ in range(rounds):
        for count in results:
            results[count].append(await Round(count, writes, concurrency, latency).run())
    print(
        f"{writes:,} writes to an upstream that answers after {latency * 1000:.0f} ms. Each instance sends {concurrency} at a "
        f"time, so it delivers at most {concurrency / latency:.0f} a second. Medians of {rounds} rounds."
    )
    print("\n| instances | deliveries/s | commits per delivery | transactions per delivery |\n|--:|--:|--:|--:|")
    for count, figures in results.items():
        rate, commits, transactions = (statistics.median(column) for column in zip(*figures))
        print(f"| {count} | {rate:.0f} | {commits:.2f} | {transactions:.2f} |")
    ratio = statistics.median(two[0] / one[0] for one, two in zip(results[1], results[2]))
    print(f"\nTwo instances deliver {ratio:.2f} times what one does. At least 1.6 is wanted.")


if __name__ == "__main__":
    # Ends as after an interrupt, so that nothing that was started remains.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("The measurement was ended."))
    asyncio.run(main(*(kind(word) for kind, word in zip((int, int, int, float), sys.argv[1:]))))
