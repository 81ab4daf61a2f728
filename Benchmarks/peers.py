"""Runs the image operations of the Swift benchmark with Pillow and libvips, and compares them in one run.

    peers.py make DIRECTORY                    generates the images
    peers.py PEER TASK DIRECTORY TIMES         repeats a task: prints the nanoseconds of each, and the peak memory in KiB
    peers.py compare DIRECTORY BINARY [BINARY] prints the table; the second binary is built with libvips and has its own rows
"""

import io
import pathlib
import resource
import statistics
import subprocess
import sys
import time

FILES = {
    "decode-png": "600x600.png",
    "decode-jpeg": "6-megapixels.jpg",
    "decode-jpeg-progressive": "6-megapixels-progressive.jpg",
    "encode-png": "6-megapixels.jpg",
    "encode-png-graphic": "graphic.png",
    "encode-jpeg": "6-megapixels.jpg",
    "thumbnail": "2725x2225.jpg",
    "thumbnail-vips": "2725x2225.jpg",
    "watermark": "720x588.png",
}
# Task, peer, repetitions per round, and the minimum speed that we want relative to the peer.
ROWS = [
    ("decode-png", "pillow", 40, 1.0),
    ("decode-jpeg", "pillow", 5, 0.75),
    ("decode-jpeg-progressive", "pillow", 5, 0.6),
    ("encode-png", "pillow", 3, 1.0),
    ("encode-png-graphic", "pillow", 3, 1.0),
    ("encode-jpeg", "pillow", 5, 0.5),
    ("thumbnail", "pyvips", 8, 0.5),
    ("watermark", "pillow", 40, None),
]
# The same with libvips on both sides. The second peer scales in linear light, as we do.
VIPS_ROWS = [
    ("thumbnail-vips", "pyvips", 8, 0.95),
    ("thumbnail-vips", "pyvips-linear", 8, None),
]
ROUNDS = 7


def make(directory):
    import numpy

    from PIL import Image, ImageDraw, ImageFont

    random = numpy.random.default_rng(7)

    def photograph(width, height):
        # Smooth shapes with grain, like a photograph.
        y, x = numpy.mgrid[0:height, 0:width].astype(numpy.float32)
        planes = []
        for channel in range(3):
            plane = numpy.full((height, width), 120.0, dtype=numpy.float32)
            for wave in range(1, 7):
                angle = random.uniform(0, 6.28)
                pitch = wave * wave * 0.0011
                shift = x * numpy.cos(angle) + y * numpy.sin(angle)
                plane += 60 / wave * numpy.sin(shift * pitch + random.uniform(0, 6.28))
            planes.append(plane + random.normal(0, 4, (height, width)))
        return Image.fromarray(numpy.clip(numpy.dstack(planes), 0, 255).astype(numpy.uint8))

    def graphic(width, height):
        # Flat panels and lines of smooth text, like a screenshot.
        image = Image.new("RGB", (width, height), (246, 247, 249))
        draw = ImageDraw.Draw(image)
        for top in range(40, height - 240, 250):
            for left in range(40, width - 440, 490):
                color = tuple(int(part) for part in random.integers(140, 255, 3))
                draw.rounded_rectangle((left, top, left + 450, top + 210), 16, color, (90, 90, 110), 2)
                for line in range(6):
                    text = "".join(random.choice(list("etaoin shrdlu cmfwyp vbgkjq")) for _ in range(34))
                    font = ImageFont.load_default(20)
                    draw.text((left + 20, top + 20 + 28 * line), text, (40, 40, 60), font)
        return image

    graphic(3000, 2000).save(directory / "graphic.png")
    photograph(600, 600).save(directory / "600x600.png")
    picture = photograph(3000, 2000)
    picture.save(directory / "6-megapixels.jpg", quality=85)
    picture.save(directory / "6-megapixels-progressive.jpg", quality=85, progressive=True)
    photograph(8000, 5000).save(directory / "40-megapixels.jpg", quality=85)
    photograph(2725, 2225).save(directory / "2725x2225.jpg", quality=85)
    photograph(720, 588).save(directory / "720x588.png")


def pillow(task, data):
    from PIL import Image

    if task in ("decode-png", "decode-jpeg", "decode-jpeg-progressive"):
        return lambda: Image.open(io.BytesIO(data)).load()
    if task.startswith("encode-"):
        image = Image.open(io.BytesIO(data)).convert("RGB")
        options = {"format": "JPEG", "quality": 80} if task == "encode-jpeg" else {"format": "PNG"}
        return lambda: image.save(io.BytesIO(), **options)
    if task == "watermark":
        image = Image.open(io.BytesIO(data)).convert("RGBA")
        mark = Image.new("RGBA", (200, 80), (200, 30, 30, 128))

        def watermark():
            copy = image.copy()
            scaled = mark.resize((144, 58), Image.Resampling.BICUBIC)
            copy.alpha_composite(scaled, (554, 508))

        return watermark
    raise SystemExit(f"There is no Pillow version of {task}.")


def pyvips_task(task, data, linear):
    import pyvips

    pyvips.cache_set_max(0)
    if task in ("thumbnail", "thumbnail-vips"):
        def thumbnail():
            image = pyvips.Image.thumbnail_buffer(data, 720, height=588, size="force", linear=linear)
            return image.jpegsave_buffer(Q=80)

        return thumbnail
    raise SystemExit(f"There is no libvips version of {task}.")


def measure(peer, task, directory, times):
    data = (directory / FILES[task]).read_bytes()
    work = pillow(task, data) if peer == "pillow" else pyvips_task(task, data, linear=peer == "pyvips-linear")
    work()
    durations = []
    for _ in range(times):
        start = time.process_time_ns()
        work()
        durations.append(time.process_time_ns() - start)
    print(*durations)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def run(command):
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [int(figure) for figure in lines[0].split()], int(lines[1])


def compare(directory, binary, vips_binary=None):
    rows = [(binary, *row) for row in ROWS]
    if vips_binary:
        rows += [(vips_binary, *row) for row in VIPS_ROWS]
    print("| task | peer | ours, ms | peer, ms | ratio | at least | ours, MiB | peer, MiB |")
    print("|---|---|---|---|---|---|---|---|")
    for binary, task, peer, times, target in rows:
        ours, theirs, ratios, memory = [], [], [], [0, 0]
        for _ in range(ROUNDS):
            mine, my_memory = run([binary, task, str(directory), str(times)])
            other, other_memory = run([sys.executable, __file__, peer, task, str(directory), str(times)])
            ours.append(statistics.median(mine) / 1e6)
            theirs.append(statistics.median(other) / 1e6)
            ratios.append(theirs[-1] / ours[-1])
            memory = [max(memory[0], my_memory), max(memory[1], other_memory)]
        figures = [statistics.median(ours), statistics.median(theirs), statistics.median(ratios)]
        wanted = "" if target is None else f"{target:.2f}"
        print(
            f"| {task} | {peer} | " + " | ".join(f"{figure:.2f}" for figure in figures)
            + f" | {wanted} | {memory[0] // 1024} | {memory[1] // 1024} |"
        )


def main(arguments):
    match arguments:
        case ["make", directory]:
            make(pathlib.Path(directory))
        case ["compare", directory, *binaries] if 1 <= len(binaries) <= 2:
            compare(pathlib.Path(directory), *binaries)
        case [peer, task, directory, times]:
            measure(peer, task, pathlib.Path(directory), int(times))
        case _:
            raise SystemExit(__doc__)


main(sys.argv[1:])
