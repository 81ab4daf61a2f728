#!/usr/bin/env python3
"""A small upstream of the service: users, posts, comments and images, with faults that are switched at run time.

    python3 upstream.py [--port PORT]

Answers as the service expects: lists at `/users`, `/posts` and `/comments` with filters such as `?userId=7`, records below them,
entity tags, `If-Match`, images at `/avatars/7.jpg`, and tokens at `POST /token?user=ada`. A write with an `Idempotency-Key` is done
once, and repeated requests get the first answer. By hand, `POST /fault/slow?seconds=2` switches a fault, `POST /fault/none` ends it,
and `GET /counts` shows the requests and what was created.

The scripts beside this one run it in their own process, and read its counters directly.
"""
import argparse
import asyncio
import collections
import hashlib
import json
import struct
import urllib.parse
import zlib

# What the upstream does instead of a good answer:
#   slow     does its work, and answers after `seconds`
#   garbage  answers 200 with bytes that are not JSON, and does nothing
#   error    answers 500, and does nothing
#   drop     closes the connection without an answer, and does nothing
#   lost     does each write, and closes the connection in the middle of the answer
FAULTS = ("slow", "garbage", "error", "drop", "lost")
# A text that no answer of the service may show.
SECRET = "internal-text-of-the-upstream"


def png(side, shade, declared=None):
    """Returns a square image of one color. With `declared`, its header claims another side."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", declared or side, declared or side, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes([shade, 120, 200]) * side) * side
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def user(number):
    return {
        "id": number, "name": f"User {number}", "username": f"user{number}", "email": f"user{number}@example.org",
        "address": {"street": "Main Street 1", "suite": "2", "city": "Lund", "zipcode": "22222", "geo": {"lat": "55.7", "lng": "13.2"}},
        "phone": "555 0100", "website": f"user{number}.example.org", "company": {"name": "Lund Mills", "catchPhrase": "Flour", "bs": "mills"},
    }


class Upstream:
    """The upstream, which runs in the event loop of the caller."""

    def __init__(self):
        self.port = 0
        self.base = ""  # the path below which it answers
        self.fault = None
        self.seconds = 0.0  # the time before an answer with the fault `slow`
        self.only_writes = False  # whether reads are answered as usual
        self.requests = collections.Counter()  # by method and path, with the query
        self.created = collections.Counter()  # the number of posts and comments by title or body
        self.writing = 0  # the number of writes that are not answered yet
        self.images = {number: png(64, 20 * number) for number in range(1, 11)}
        self.answers = {}  # of writes, by idempotency key
        self.records = {"users": {}, "posts": {}, "comments": {}}
        self.encoded = {name: {} for name in self.records}
        self.last = collections.Counter()  # the last identity of each kind
        self.server = None
        self.connections = set()
        for number in range(1, 11):
            self.keep("users", user(number))
        for number in range(1, 101):
            author = (number - 1) // 10 + 1
            self.keep("posts", {"id": number, "userId": author, "title": f"Post {number}", "body": f"Text of post {number}."})
        for number in range(1, 21):
            post = (number - 1) // 2 + 1
            name = f"Comment {number}"
            self.keep("comments", {"id": number, "postId": post, "name": name, "email": "ada@example.org", "body": "Well said."})

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}{self.base}"

    async def start(self, port=0):
        """Listens, on the same port as before."""
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port or port, limit=1 << 20, backlog=512)
        self.port = self.server.sockets[0].getsockname()[1]

    def stop(self):
        """Refuses new connections, and closes those that are open."""
        if self.server:
            self.server.close()
        self.server = None
        for writer in list(self.connections):
            writer.transport.abort()

    def set_fault(self, fault=None, seconds=0.0, only_writes=False):
        assert fault is None or fault in FAULTS, fault
        self.fault, self.seconds, self.only_writes = fault, seconds, only_writes or fault == "lost"

    def keep(self, kind, record):
        self.last[kind] = max(self.last[kind], record["id"])
        self.records[kind][record["id"]] = record
        self.encoded[kind][record["id"]] = json.dumps(record).encode()

    async def serve(self, reader, writer):
        self.connections.add(writer)
        try:
            while await self.serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # The client has left, or the program ends.
        finally:
            self.connections.discard(writer)
            writer.close()

    async def serve_one(self, reader, writer):
        """Answers a request. Returns whether the connection goes on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(fields.get("content-length", 0)))
        path, _, query = target.removeprefix(self.base).partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        if path.startswith("/fault/"):
            name = path.removeprefix("/fault/")
            self.set_fault(None if name == "none" else name, float(query.get("seconds", 0)))
            return await self.send(writer, 200, b"{}")
        if path == "/counts":
            counts = {"requests": self.requests, "created": self.created}
            return await self.send(writer, 200, json.dumps(counts, indent=2).encode())
        self.requests[f"{method} {target}"] += 1
        is_write = method not in ("GET", "HEAD")
        fault, seconds = None if self.only_writes and not is_write else self.fault, self.seconds
        if fault == "drop":
            return False
        if fault == "error":
            return await self.send(writer, 500, json.dumps({"error": SECRET}).encode())
        if fault == "garbage":
            return await self.send(writer, 200, f"<html>{SECRET}</html>".encode() + b"\xff\xfe")
        self.writing += is_write
        try:
            status, content, tag = self.answer(method, path, query, fields, body)
            if fault == "slow":
                await asyncio.sleep(seconds)
        finally:
            self.writing -= is_write
        return await self.send(writer, status, content, tag, fields, cut=fault == "lost", is_head=method == "HEAD")

    def answer(self, method, path, query, fields, body):
        """Does what a request asks for. Returns the status, the content, and the entity tag, if there is one."""
        parts = path.strip("/").split("/")
        if parts[0] == "avatars" and len(parts) == 2:
            image = self.images.get(int(parts[1].removesuffix(".jpg"))) if parts[1].removesuffix(".jpg").isdigit() else None
            return (200, image, None) if image else (404, b"{}", None)
        if parts == ["token"] and method == "POST":
            return 200, json.dumps({"token": f"token-of-{query.get('user', '')}", "expires_in": 3600}).encode(), None
        if parts[0] not in self.records:
            return 404, b"{}", None
        if method in ("GET", "HEAD"):
            return self.read(parts, query)
        key = fields.get("idempotency-key")
        if key in self.answers:
            return self.answers[key]
        answer = self.write(method, parts, fields, body)
        if key:
            self.answers[key] = answer
        return answer

    def read(self, parts, query):
        kind = parts[0]
        if len(parts) > 1:
            content = self.encoded[kind].get(int(parts[1])) if parts[1].isdigit() else None
            return (200, content, self.tag(content)) if content else (404, b"{}", None)
        filters = [(name, value) for name, value in query.items() if not name.startswith("_")]
        found = [
            self.encoded[kind][number]
            for number, record in self.records[kind].items()
            if all(str(record.get(name)) == value for name, value in filters)
        ]
        content = b"[" + b",".join(found) + b"]"
        return 200, content, self.tag(content)

    def write(self, method, parts, fields, body):
        kind, record = parts[0], json.loads(body or b"{}")
        if method == "POST":
            if len(parts) == 3:
                kind, record["postId"] = parts[2], int(parts[1])
            record["id"] = self.last[kind] + 1
            self.keep(kind, record)
            self.created[record.get("title") or record.get("body")] += 1
            return 201, self.encoded[kind][record["id"]], None
        number = int(parts[1])
        content = self.encoded[kind].get(number)
        if content is None:
            return 404, b"{}", None
        if fields.get("if-match", "*") not in ("*", self.tag(content)):
            return 412, content, self.tag(content)
        if method == "DELETE":
            del self.records[kind][number], self.encoded[kind][number]
            return 200, b"{}", None
        self.keep(kind, {**(self.records[kind][number] if method == "PATCH" else {}), **record, "id": number})
        content = self.encoded[kind][number]
        return 200, content, self.tag(content)

    @staticmethod
    def tag(content):
        return f'"{hashlib.sha256(content).hexdigest()[:16]}"'

    async def send(self, writer, status, content, tag=None, fields={}, cut=False, is_head=False):
        """Sends an answer. Returns whether the connection goes on."""
        if tag and status == 200 and tag in fields.get("if-none-match", ""):
            status, content = 304, b""
        kind = "image/png" if content.startswith(b"\x89PNG") else "application/json"
        lines = [f"HTTP/1.1 {status} Status", f"Content-Type: {kind}"]
        lines += [f"ETag: {tag}"] if tag else []
        lines += [f"Content-Length: {len(content)}"] if status != 304 else []
        answer = "\r\n".join(lines).encode() + b"\r\n\r\n" + (b"" if is_head else content)
        if cut:
            writer.write(answer[: len(answer) // 2])
            return False
        writer.write(answer)
        await writer.drain()
        return True


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="the port to listen on (default: any that is free)")
    upstream = Upstream()
    await upstream.start(parser.parse_args().port)
    print(upstream.url, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
