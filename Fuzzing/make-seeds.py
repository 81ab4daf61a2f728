"""Writes large seed inputs for a fuzz target: make-seeds.py TARGET DIRECTORY.

The inputs are generated rather than committed because of their size.
"""

import pathlib
import struct
import sys
import zlib

TOTAL = 8 * 1024 * 1024


class BitWriter:
    """Writes bits in the order of deflate: the first bit of a byte is its lowest."""

    def __init__(self):
        self.bits = 0
        self.count = 0

    def put(self, value, count):
        self.bits |= value << self.count
        self.count += count

    def repeated(self, total):
        """Returns about `total` bytes of the bits, repeated."""
        text = format(self.bits, "0%db" % self.count)[::-1]
        # Eight repetitions end at a byte boundary.
        text *= 8
        period = bytes(int(text[index : index + 8][::-1], 2) for index in range(0, len(text), 8))
        return period * max(1, total // len(period))


def dynamic_block(payload):
    """Returns a dynamic block: the literals 0 and 1 have code length 2, the end has length 1, and there is one distance."""
    block = BitWriter()
    block.put(0, 1)
    block.put(2, 2)
    block.put(0, 5)  # 257 literals and lengths
    block.put(0, 5)  # 1 distance
    block.put(14, 4)  # 18 lengths of code lengths
    # In the order 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1: codes for 18, 2 and 1.
    for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1]:
        block.put({18: 1, 2: 2, 1: 2}.get(symbol, 0), 3)
    # Canonical: 18 is 0, 1 is 10 and 2 is 11, each written from its first bit.
    two, one, zeros = (0b11, 2), (0b01, 2), (0, 1)
    block.put(*two)
    block.put(*two)
    block.put(*zeros)
    block.put(138 - 11, 7)
    block.put(*zeros)
    block.put(116 - 11, 7)
    block.put(*one)
    block.put(*one)
    for _ in range(payload):
        block.put(0b01, 2)  # the literal 0: its code is 10
    block.put(0, 1)  # the end
    return block


def deflate_seeds(total=TOTAL):
    yield "empty-dynamic", dynamic_block(0).repeated(total)
    yield "tiny-dynamic", dynamic_block(8).repeated(total)
    fixed = BitWriter()
    fixed.put(0, 1)
    fixed.put(1, 2)
    fixed.put(0, 7)
    yield "empty-fixed", fixed.repeated(total)
    yield "empty-stored", bytes([0, 0, 0, 0xFF, 0xFF]) * (total // 5)
    yield "zeros", zlib.compress(bytes(TOTAL))[2:-4]


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(data, width=64, height=64, before=b""):
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def png_seeds():
    # Each input is decoded four times.
    for name, data in deflate_seeds(TOTAL // 4):
        yield name, png(b"\x78\x9c" + data)
    yield "chunks", png(zlib.compress(bytes(65 * 64)), before=chunk(b"teXt", b"") * ((TOTAL - 1024) // 12))
    yield "large", png(zlib.compress(bytes(1025 * 1000)), width=1024, height=1000)


def jpeg_seeds():
    yield "segments", b"\xff\xd8" + b"\xff\xfe\x00\x02" * (TOTAL // 4 - 1)
    yield "filling", b"\xff\xd8" + b"\xff" * (TOTAL - 2)
    yield "tables", b"\xff\xd8" + (b"\xff\xc4\x00\x13" + bytes(17)) * ((TOTAL - 2) // 21)


PIXEL = [(256, 1), (257, 1), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, 1), (279, 1)]


def image_directory(entries, after):
    """Returns a TIFF directory. Each entry is a tag, type, count and value. `after` is the offset of the next directory."""
    packed = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return struct.pack("<H", len(entries)) + packed + struct.pack("<I", after)


def tiff_seeds():
    pixel = [(tag, 4, 1, value) for tag, value in PIXEL]
    start = b"II*\0" + struct.pack("<I", 8)
    filling = bytes(TOTAL)
    yield "repeated", (start + image_directory([(273, 4, 1900000, 800000)] * 65535, 0) + filling)[:TOTAL]
    yield "overlapping", start + image_directory(pixel + [(40000 + n, 1, 8000000, 10000) for n in range(500)], 0) + filling
    yield "unknown", start + image_directory(pixel + [(40000 + n, 1, 1, 0) for n in range(503)], 0) + filling
    yield "strips", start + image_directory(pixel[:5] + [(273, 4, 1000000, 200), (279, 4, 1000000, 4100000)], 0) + filling
    length = len(image_directory(pixel, 0))
    count = (TOTAL - 8) // length
    yield "chain", start + b"".join(image_directory(pixel, 8 + (n + 1) * length) for n in range(count - 1)) + image_directory(pixel, 8)


def vips_seeds():
    yield from tiff_seeds()
    yield from png_seeds()
    yield from jpeg_seeds()
    screen = b"GIF89a" + struct.pack("<HHBBB", 64, 64, 0x80, 0, 0) + bytes(6)
    yield "gif-comments", screen + b"\x21\xfe\x01 \0" * ((TOTAL - 64) // 5) + b"\x3b"
    yield "gif-blocks", screen + b"\x2c" + struct.pack("<HHHHB", 0, 0, 64, 64, 0) + b"\2" + b"\1\0" * ((TOTAL - 64) // 2)
    chunks = b"VP8X" + struct.pack("<II", 10, 0) + bytes([63, 0, 0, 63, 0, 0]) + b"JUNK\0\0\0\0" * ((TOTAL - 64) // 8)
    yield "webp-chunks", b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WEBP" + chunks
    brand = struct.pack(">I", 20) + b"ftypavif\0\0\0\0avif"
    yield "avif-boxes", brand + (struct.pack(">I", 8) + b"free") * ((TOTAL - 64) // 8)


def record_log_seeds(total=65535):
    # Each head claims that the rest of the file is its operations.
    heads = b"".join(
        b"RECORDS{" + struct.pack("<QQQQ", at, total - 1 - at - 40, 0, at) for at in range(0, total - 1 - 40, 40)
    )
    yield "heads", (b"\0" + heads).ljust(total, b"\0")
    yield "marks", b"\0" + b"RECORDS{" * ((total - 1) // 8)


SEEDS = {
    "fuzz-inflate": deflate_seeds,
    "fuzz-jpeg": jpeg_seeds,
    "fuzz-png": png_seeds,
    "fuzz-record-log": record_log_seeds,
    "fuzz-tiff": tiff_seeds,
    "fuzz-vips": vips_seeds,
}

target, directory = sys.argv[1:]
for name, data in SEEDS.get(target, lambda: [])():
    (pathlib.Path(directory) / name).write_bytes(data[:TOTAL])
