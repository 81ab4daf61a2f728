#!/usr/bin/env python3
"""An HTTP upstream that honours idempotency keys: `upstream.py JOURNAL LATENCY [SEED]`. It prints its port.

A request takes the latency in seconds, without using the processor. With a seed, one in five requests meets a fault: 503, a
lost request or response, a delay on the way or during the work, or a refusal (422). The endpoint `storing` stores refusals under
the key and repeats them, `plain` does not.

The journal has one line for each event, in the order in which they happen, since one thread does everything:

    request TIME KEY BODY       a request has arrived
    effect TIME KEY BODY        a write has taken effect
    refusal TIME KEY BODY       a write was refused, so it has not taken effect
"""
import asyncio
import os
import random
import sys
import time


class Upstream:
    def __init__(self, journal, latency, seed):
        self.journal = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.latency = latency
        self.random = random.Random(seed) if seed is not None else None
        self.responses = {}  # by key
        self.in_progress = set()

    def note(self, event, key, body):
        os.write(self.journal, f"{event} {time.monotonic():.6f} {key} {body}\n".encode())

    def chance(self, percent):
        return self.random is not None and self.random.random() * 100 < percent

    async def answer(self, path, key, body):
        """Returns the status of a response, or None if the connection is dropped instead."""
        self.note("request", key, body)
        if self.chance(4):
            return None  # The request is lost.
        if self.chance(3):
            await asyncio.sleep(self.random.uniform(0.2, 4))  # It arrives late, perhaps after its sender gave up.
        if self.chance(4):
            return 503
        if key in self.in_progress:
            return 409
        if key not in self.responses:
            self.in_progress.add(key)
            await asyncio.sleep(self.random.uniform(0.2, 4) if self.chance(3) else self.latency)
            self.in_progress.remove(key)
            if self.chance(2):
                self.note("refusal", key, body)
                if not path.startswith("/storing/"):
                    return None if self.chance(20) else 422
                self.responses[key] = 422
            else:
                self.note("effect", key, body)
                self.responses[key] = 201
        return None if self.chance(4) else self.responses[key]

    async def serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                fields = dict(line.lower().split(": ", 1) for line in head[1:] if line)
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                status = await self.answer(head[0].split(" ")[1], fields["idempotency-key"], body.decode())
                if status is None:
                    break
                writer.write(b"HTTP/1.1 %d Status\r\nContent-Length: 0\r\n\r\n" % status)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # The client has closed the connection.
        finally:
            writer.close()

    async def run(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=1024)
        print(server.sockets[0].getsockname()[1], flush=True)
        async with server:
            await server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    try:
        asyncio.run(Upstream(sys.argv[1], float(sys.argv[2]), sys.argv[3] if len(sys.argv) == 4 else None).run())
    except KeyboardInterrupt:
        pass
