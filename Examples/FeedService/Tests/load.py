#!/usr/bin/env python3
"""Measures a service under load, beside nginx as a cache in front of the same upstream.

    python3 load.py FEED_SERVICE [--seconds 8] [--rounds 3] [--minutes 0] [--photos 0]

Needs Debian's wrk and nginx, and for --photos also pillow from PyPI. It prints a table with the medians of the rounds, and fails if an
answer is an error, or if warm answers reach the upstream. Figures need a release build and a quiet machine. With --minutes, it then holds
the service at 80 % of its capacity, and prints its memory each tenth of that time. With --photos, it then converts that number of large photos.
"""
import argparse
import asyncio
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import statistics
import tempfile
import time

from harness import IMAGE_KEYS, Client, Service, ask, check, image_path, until
from upstream import Upstream

# Prints the result of wrk as JSON. With a delay, each connection waits for that time after each answer.
SCRIPT = """
local milliseconds = %f
if milliseconds > 0 then
    function delay()
        local whole = math.floor(milliseconds)
        return math.random() < milliseconds - whole and whole + 1 or whole
    end
end
function done(summary, latency)
    local errors = summary.errors
    local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    io.write(string.format('RESULT {"rate": %%f, "p50": %%f, "p99": %%f, "failed": %%d}\\n',
        summary.requests * 1e6 / summary.duration, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed))
end
"""


async def wrk(place, url, seconds, connections=32, delay=0.0, accept="*/*"):
    """Sends requests over a number of connections. Returns the rate in requests per second, and latencies in milliseconds."""
    script = place / "script.lua"
    script.write_text(SCRIPT % delay)
    arguments = ["-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-H", f"Accept: {accept}", "-s", str(script), url]
    process = await asyncio.create_subprocess_exec("wrk", *arguments, stdout=asyncio.subprocess.PIPE)
    said = (await process.communicate())[0].decode()
    found = re.search(r"RESULT (.*)", said)
    check(found, f"wrk {url}: {said}")
    result = json.loads(found[1])
    check(result["failed"] == 0, f"{url}: {result['failed']} requests failed")
    return result


async def nginx(place, upstream):
    """Starts nginx as a cache in front of the upstream. Returns the process and its port."""
    (place / "nginx").mkdir()
    configuration = place / "nginx.conf"
    configuration.write_text(f"""
        {"user root;" if os.getuid() == 0 else ""} daemon off; worker_processes 1; pid {place}/nginx.pid; error_log {place}/nginx.log;
        events {{ worker_connections 1024; }}
        http {{
            access_log off;
            proxy_cache_path {place}/nginx keys_zone=cache:10m;
            proxy_temp_path {place}/nginx-temp; client_body_temp_path {place}/body;
            fastcgi_temp_path {place}/f; uwsgi_temp_path {place}/u; scgi_temp_path {place}/s;
            server {{
                listen unix:{place}/probe; listen 127.0.0.1:PORT;
                location / {{ proxy_pass {upstream.url}; proxy_cache cache; proxy_cache_valid 200 60s; proxy_cache_lock on;
                    proxy_cache_use_stale updating; proxy_cache_background_update on; }}
            }}
        }}""")
    # The port of a closed socket is free for a moment.
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    configuration.write_text(configuration.read_text().replace("PORT", str(port)))
    process = await asyncio.create_subprocess_exec(shutil.which("nginx") or "/usr/sbin/nginx", "-c", str(configuration), "-p", str(place))
    await until(lambda: (place / "probe").exists(), 20, "nginx did not start")
    return process, port


def memory_of(pattern):
    """The memory of the processes whose command begins so, in MB."""
    total = 0
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
            if re.search(rf"^Name:\s+{pattern}", text) and (found := re.search(r"VmRSS:\s+(\d+)", text)):
                total += int(found[1])
        except OSError:
            continue
    return total / 1024


async def compare(place, service, upstream, seconds, rounds):
    """Prints a table of what is warm. Returns the median rate of the feed."""
    proxy, port = await nginx(place, upstream)
    gallery = (await ask(service.port, "GET", "/gallery")).text
    image = re.search(r'srcset="([^ "]+)', gallery)[1]
    base = f"http://127.0.0.1:{service.port}"
    subjects = {
        "a constant text (`/healthz`)": (f"{base}/healthz", "*/*"),
        "`/api/feed`": (f"{base}/api/feed", "*/*"),
        "`/posts`, a page": (f"{base}/posts", "text/html"),
        "an image, WebP": (f"{base}{image}", "image/webp"),
        "nginx `proxy_cache`, `/posts`": (f"http://127.0.0.1:{port}/posts", "*/*"),
    }
    results, asked, sizes = {name: [] for name in subjects}, {name: 0 for name in subjects}, {}
    try:
        for name, (url, accept) in subjects.items():
            number, path = re.match(r"http://127\.0\.0\.1:(\d+)(/.*)", url).groups()
            first = await ask(int(number), "GET", path, fields={"Accept": accept})
            check(first.status == 200, f"{url}: {first.status}")
            sizes[name] = len(first.body)
        for _ in range(rounds):
            for name, (url, accept) in subjects.items():
                before = sum(upstream.requests.values())
                results[name].append(await wrk(place, url, seconds, accept=accept))
                asked[name] += sum(upstream.requests.values()) - before
        print("| what | bytes | requests/s (range) | of the constant text | p50 ms | p99 ms | requests to the upstream | memory MB |")
        print("|---|---|---|---|---|---|---|---|")
        constant = None
        for name in subjects:
            rates = [result["rate"] for result in results[name]]
            rate = statistics.median(rates)
            constant = constant or rate
            p50, p99 = (statistics.median(result[key] for result in results[name]) for key in ("p50", "p99"))
            memory = memory_of("nginx") if name.startswith("nginx") else service.memory
            print(
                f"| {name} | {sizes[name]:,} | {rate:,.0f} ({min(rates):,.0f} to {max(rates):,.0f}) | {rate / constant:.2f} "
                f"| {p50:.1f} | {p99:.1f} | {asked[name]} | {memory:.0f} |", flush=True,
            )
            # The service reads stale data again in the background, once a minute.
            check(asked[name] <= 4 * (1 + rounds * seconds / 30), f"{name}: {asked[name]} requests reached the upstream")
        # One measurement of a busy machine says nothing.
        if rounds >= 3:
            for name, share in {"`/api/feed`": 0.5, "an image, WebP": 0.6}.items():
                rate = statistics.median(result["rate"] for result in results[name])
                check(rate >= share * constant, f"{name}: {rate / constant:.2f} of the constant text, and not {share}")
        return statistics.median(result["rate"] for result in results["`/api/feed`"])
    finally:
        proxy.terminate()
        await proxy.wait()


async def hold(place, service, minutes, capacity):
    """Holds the service at 80 % of its capacity."""
    url, connections, wanted = f"http://127.0.0.1:{service.port}/api/feed", 128, 0.8 * capacity
    delay = 1_000 * connections / wanted
    for _ in range(6):
        rate = (await wrk(place, url, 5, connections, delay))["rate"]
        # In milliseconds per request of a connection, of which the delay is a part.
        delay = max(0.01, delay + 1_000 * connections * (1 / wanted - 1 / rate))
    load = asyncio.create_task(wrk(place, url, int(60 * minutes), connections, delay))
    sizes = []
    for tenth in range(10):
        await asyncio.sleep(6 * minutes)
        sizes.append(service.memory)
        print(f"after {(tenth + 1) * minutes / 10:.1f} minutes: {service.memory:.1f} MB, {service.descriptors} descriptors", flush=True)
    result = await load
    check(sizes[-1] <= 1.1 * sizes[0] + 5, f"The memory grew from {sizes[0]:.0f} to {sizes[-1]:.0f} MB")
    print(f"{result['rate']:,.0f} requests/s of {capacity:,.0f}, p50 {result['p50']:.1f} ms, p99 {result['p99']:.1f} ms, no error")


async def convert(service, upstream, count):
    """Converts large photos, four at a time, which is what the authors of imgproxy published figures for."""
    from PIL import Image

    noise = Image.effect_noise((920, 614), 60).resize((7360, 4912), Image.Resampling.BICUBIC)
    gradient = Image.radial_gradient("L").resize((7360, 4912))
    photo = io.BytesIO()
    Image.merge("RGB", [noise, gradient, noise.transpose(Image.Transpose.FLIP_LEFT_RIGHT)]).save(photo, "JPEG", quality=95)
    for number in range(count):
        upstream.images[1_000 + number] = photo.getvalue()
    peak, sizes, numbers, seconds = service.memory, [], iter(range(count)), []

    async def run():
        nonlocal peak
        client = Client(service.port)
        for number in numbers:
            path = image_path(f"avatars/{1_000 + number}.jpg", "resize=500x500", int(time.time()) + 3_600)
            answer = await client.ask("GET", path, fields={"Accept": "image/jpeg"}, seconds=120)
            check(answer.status == 200, f"{path}: {answer.status} {answer.text[:200]}")
            check(answer["content-type"] == "image/jpeg", answer["content-type"])
            sizes.append(len(answer.body))
            seconds.append(answer.seconds)
            peak = max(peak, service.memory)

    waits = []

    async def read():
        """Reads the feed meanwhile, as other visitors do."""
        client = Client(service.port)
        while True:
            answer = await client.ask("GET", "/api/feed", seconds=120)
            check(answer.status == 200, f"/api/feed: {answer.status}")
            waits.append(answer.seconds)
            await asyncio.sleep(0.02)

    start, reader = time.monotonic(), asyncio.create_task(read())
    await asyncio.gather(*(run() for _ in range(4)))
    took = time.monotonic() - start
    reader.cancel()
    # Raises what the reader has found, if it is not its end.
    with contextlib.suppress(asyncio.CancelledError):
        await reader
    waits.sort()
    print(
        f"{count} photos of 7360 × 4912 pixels ({len(photo.getvalue()) / 1e6:.0f} MB) to 500 pixels: {count / took:.2f} a second, "
        f"{statistics.mean(seconds) * 1000:.0f} ms each, {peak:.0f} MB at most, {statistics.mean(sizes) / 1000:.0f} kB of JPEG"
    )
    print(
        f"/api/feed meanwhile: {1e3 * statistics.median(waits):.1f} ms, p99 {1e3 * waits[len(waits) * 99 // 100]:.0f} ms, "
        f"at most {1e3 * waits[-1]:.0f} ms, of {len(waits)}"
    )
    print("imgproxy 2.2.13, published by its authors, 4 CPUs, a photo of 29 MB: 9.67 a second, 414 ms each, 194 MB at most, 44 kB")


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", metavar="FEED_SERVICE", help="the executable of the service")
    parser.add_argument("--seconds", type=int, default=8, help="the length of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="the number of measurements of each kind")
    parser.add_argument("--minutes", type=float, default=0, help="the time at 80 %% of the capacity")
    parser.add_argument("--photos", type=int, default=0, help="the number of large photos")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place, upstream = pathlib.Path(name), Upstream()
        await upstream.start()
        service = Service(options.binary, place / "log", upstream, image_keys=IMAGE_KEYS)
        try:
            await service.start()
            capacity = await compare(place, service, upstream, options.seconds, options.rounds)
            if options.minutes:
                await hold(place, service, options.minutes, capacity)
            if options.photos:
                await convert(service, upstream, options.photos)
            status, _ = await service.stop()
            check(status == 0, f"The service ended with {status}")
        finally:
            service.kill()
            upstream.stop()


if __name__ == "__main__":
    asyncio.run(main())
