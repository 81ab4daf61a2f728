"""Creates the JPEG files for the tests, and the pixels that Pillow decodes from each of them.

Needs Pillow with libjpeg-turbo. Run it in this folder. For each name.jpg it writes name.rgb, with three bytes per pixel, and for
some also name.2.rgb, name.4.rgb and name.8.rgb, decoded at a reduced size.
"""

import math
import pathlib
import random

from PIL import Image

FOLDER = pathlib.Path("JPEG")
FOLDER.mkdir(exist_ok=True)
for old in FOLDER.iterdir():
    old.unlink()

numbers = random.Random(2026)


def sketch(width, height):
    """An image with gradients, waves and noise, like a photograph."""
    image = Image.new("RGB", (width, height))
    for y in range(height):
        for x in range(width):
            levels = (
                255 * x / max(1, width - 1),
                255 * y / max(1, height - 1),
                128 + 100 * math.sin(x / 5) * math.cos(y / 7),
            )
            image.putpixel((x, y), tuple(min(max(0, round(level + numbers.gauss(0, 10))), 255) for level in levels))
    return image


def keep(name, data=None, image=None, reductions=(), **options):
    path = FOLDER / f"{name}.jpg"
    if data is None:
        image.save(path, quality=85, **options)
    else:
        path.write_bytes(data)
    with Image.open(path) as decoded:
        (FOLDER / f"{name}.rgb").write_bytes(decoded.convert("RGB").tobytes())
    for reduction in reductions:
        with Image.open(path) as decoded:
            width, height = decoded.size
            decoded.draft(None, (width // reduction, height // reduction))
            assert decoded.size == (width // reduction, height // reduction)
            (FOLDER / f"{name}.{reduction}.rgb").write_bytes(decoded.convert("RGB").tobytes())


def resampled(name, factors, width, height):
    """A file with other sampling factors in its header. The number of blocks is the same, so it is valid, but looks odd."""
    data = bytearray((FOLDER / f"{name}.jpg").read_bytes())
    frame = next(i for i in range(len(data)) if data[i] == 0xFF and data[i + 1] in (0xC0, 0xC2))
    data[frame + 5 : frame + 9] = bytes([height >> 8, height & 255, width >> 8, width & 255])
    data[frame + 11] = factors
    return bytes(data)


photo = sketch(67, 45)
for progressive in (False, True):
    kind = "progressive" if progressive else "baseline"
    for subsampling in ("4:4:4", "4:2:2", "4:2:0"):
        label = subsampling.replace(":", "")
        keep(f"{kind}-{label}", image=photo, subsampling=subsampling, progressive=progressive)
        keep(
            f"{kind}-{label}-restarts",
            image=photo,
            subsampling=subsampling,
            progressive=progressive,
            restart_marker_blocks=3,
        )
        keep(
            f"{kind}-{label}-whole",
            image=sketch(64, 48),
            subsampling=subsampling,
            progressive=progressive,
            reductions=(2, 4, 8),
        )
    keep(f"{kind}-440", resampled(f"{kind}-422-whole", 0x12, 32, 96))
    keep(f"{kind}-411", resampled(f"{kind}-420-whole", 0x41, 128, 24))
    keep(f"{kind}-gray", image=photo.convert("L"), progressive=progressive)
    keep(f"{kind}-cmyk", image=photo.convert("CMYK"), progressive=progressive)
    keep(f"{kind}-rgb", image=photo, keep_rgb=True, progressive=progressive)
keep("baseline-440-odd", resampled("baseline-422", 0x12, 37, 91))
keep("baseline-411-odd", resampled("baseline-420", 0x41, 157, 21))

# Adobe's transform 2 marks the inks of a CMYK file as YCbCr.
inks = (FOLDER / "baseline-cmyk.jpg").read_bytes()
place = inks.index(b"Adobe")
keep("baseline-ycck", inks[: place + 11] + b"\x02" + inks[place + 12 :])

for width, height in ((1, 1), (2, 3), (7, 9), (16, 17), (5, 40)):
    for progressive in (False, True):
        kind = "progressive" if progressive else "baseline"
        keep(f"{kind}-{width}x{height}", image=sketch(width, height), progressive=progressive, optimize=True)

for orientation in range(1, 9):
    exif = Image.Exif()
    exif[0x0112] = orientation
    sketch(3, 2).save(FOLDER / f"orientation-{orientation}.jpg", exif=exif)

# One scan per component: each is encoded as a gray image, and the scans are combined under one header.
planes = [FOLDER / f"plane-{index}.jpg" for index in range(3)]
tables, scans = b"", []
for index, (path, plane) in enumerate(zip(planes, sketch(24, 16).split())):
    plane.save(path, quality=85)
    data = path.read_bytes()
    path.unlink()
    scan = data.index(b"\xff\xda")
    frame = data.index(b"\xff\xc0")
    tables = data[2:frame] + data[frame + 13 : scan]
    scans.append(b"\xff\xda\x00\x08\x01" + bytes([index + 1, 0]) + data[scan + 7 : -2])
header = b"\xff\xc0\x00\x11\x08\x00\x10\x00\x18\x03" + b"".join(bytes([n, 0x11, 0]) for n in (1, 2, 3))
keep("baseline-scans", b"\xff\xd8" + tables + header + b"".join(scans) + b"\xff\xd9")
