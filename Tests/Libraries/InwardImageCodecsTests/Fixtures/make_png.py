#!/usr/bin/env python3
"""Creates the PNG files of this directory, and expected.txt with the size and the pixels of each.

Needs Pillow. The script encodes the files itself, because Pillow does not write all kinds of PNG. It computes the pixels according
to ISO/IEC 15948, and compares them with those that Pillow decodes. It prints the names of files where the two differ: Pillow
truncates 16-bit colors instead of rounding them, and ignores that tRNS states a gray with as many bits as a pixel.

expected.txt contains the pixels as the 64-bit FNV-1a hash of red, green, blue and alpha, row by row.
"""
import io
import os
import random
import struct
import zlib

from PIL import Image

SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
DEPTHS = {0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16]}
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
HERE = os.path.dirname(os.path.abspath(__file__))


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def packed(row, depth):
    """Returns the bytes of a row of samples."""
    if depth == 16:
        return b"".join(struct.pack(">H", number) for number in row)
    bits = "".join(format(number, "0%db" % depth) for number in row)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def paeth(a, b, c):
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def filtered(row, above, kind, distance):
    result = bytearray([kind])
    for i, byte in enumerate(row):
        a = row[i - distance] if i >= distance else 0
        b = above[i]
        c = above[i - distance] if i >= distance else 0
        result.append((byte - [0, a, b, (a + b) // 2, paeth(a, b, c)][kind]) & 0xFF)
    return bytes(result)


def png(width, height, kind, depth, numbers, interlaced=False, before=(), pieces=1, level=9, strategy=0, first=1):
    """Returns a file whose pixels have these samples, row by row."""
    samples = SAMPLES[kind]
    data = b""
    for x0, y0, dx, dy in (ADAM7 if interlaced else [(0, 0, 1, 1)]):
        columns = range(x0, width, dx)
        if not columns:
            continue
        above = None
        for count, y in enumerate(range(y0, height, dy)):
            row = packed([n for x in columns for n in numbers[y][x]], depth)
            above = above or bytes(len(row))
            data += filtered(row, above, (count + first) % 5, max(1, samples * depth // 8))
            above = row
    compressor = zlib.compressobj(level, zlib.DEFLATED, 15, 9, strategy)
    data = compressor.compress(data) + compressor.flush()
    step = -(-len(data) // pieces)
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, int(interlaced))
    body = b"".join(chunk(b"IDAT", data[i:i + step]) for i in range(0, len(data), step))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + b"".join(before) + body + chunk(b"IEND", b"")


def pixels(kind, depth, numbers, palette=(), alphas=(), clear=None):
    """Returns the RGBA pixels for the samples, according to ISO/IEC 15948."""
    most = (1 << depth) - 1
    result = bytearray()
    for row in numbers:
        for pixel in row:
            scaled = [(n * 255 + most // 2) // most for n in pixel]
            alpha = 0 if pixel == clear else 255
            if kind == 0:
                result += bytes(scaled * 3 + [alpha])
            elif kind == 2:
                result += bytes(scaled + [alpha])
            elif kind == 3:
                number = pixel[0]
                result += bytes(list(palette[number]) + [alphas[number] if number < len(alphas) else 255])
            elif kind == 4:
                result += bytes(scaled[:1] * 3 + scaled[1:])
            else:
                result += bytes(scaled)
    return bytes(result)


def main():
    generator = random.Random(1)
    expected = []

    def write(name, file, width, height, meant):
        read = Image.open(io.BytesIO(file)).convert("RGBA").tobytes()
        if read != meant:
            print("Pillow decodes other pixels:", name)
        with open(os.path.join(HERE, name + ".png"), "wb") as output:
            output.write(file)
        expected.append("%s %d %d %016x" % (name, width, height, fnv1a(meant)))

    def numbers(width, height, kind, depth, limit=None):
        most = (1 << depth) - 1 if limit is None else limit - 1
        rows, last = [], [0] * SAMPLES[kind]
        for _ in range(height):
            row = []
            for _ in range(width):
                if generator.random() < 0.6:
                    last = [generator.randint(0, most) for _ in last]
                row.append(last)
            rows.append(row)
        return rows

    for kind, depths in DEPTHS.items():
        for depth in depths:
            for interlaced in (False, True):
                for transparent in (False, True) if kind in (0, 2, 3) else (False,):
                    width, height = (21, 13) if interlaced else (19, 11)
                    count = min(1 << depth, 200)
                    values = numbers(width, height, kind, depth, count if kind == 3 else None)
                    before, palette, alphas, clear = [], [], [], None
                    if kind == 3:
                        palette = [tuple(generator.randrange(256) for _ in range(3)) for _ in range(count)]
                        before.append(chunk(b"PLTE", b"".join(map(bytes, palette))))
                    if transparent and kind == 3:
                        alphas = [generator.randrange(256) for _ in range((count + 1) // 2)]
                        before.append(chunk(b"tRNS", bytes(alphas)))
                    elif transparent:
                        clear = values[2][3]
                        before.append(chunk(b"tRNS", b"".join(struct.pack(">H", n) for n in clear)))
                    name = {0: "gray", 2: "color", 3: "palette", 4: "grayalpha", 6: "coloralpha"}[kind] + str(depth)
                    name += ("-clear" if transparent else "") + ("-interlaced" if interlaced else "")
                    file = png(width, height, kind, depth, values, interlaced, before, pieces=1 + depth % 3)
                    write(name, file, width, height, pixels(kind, depth, values, palette, alphas, clear))

    # Sizes that leave some of the seven passes empty.
    for width in range(1, 9):
        for height in (1, 2, 3, 5, 8):
            values = numbers(width, height, 2, 8)
            file = png(width, height, 2, 8, values, True)
            write("passes-%dx%d" % (width, height), file, width, height, pixels(2, 8, values))

    # Every compression strategy, each with another filter in the first row.
    for name, level, strategy in (
        ("stored", 0, 0), ("fixed", 9, zlib.Z_FIXED), ("runs", 9, zlib.Z_RLE), ("codes", 9, zlib.Z_HUFFMAN_ONLY),
        ("fast", 1, 0), ("best", 9, 0),
    ):
        width, height = 37, 29
        values = [[[(x * y) >> 2 & 255, x * 5 & 255, 255 - y] for x in range(width)] for y in range(height)]
        file = png(width, height, 2, 8, values, pieces=3, level=level, strategy=strategy, first=level)
        write("deflate-" + name, file, width, height, pixels(2, 8, values))
    width, height = 400, 150
    values = [[[x // 16 * 9 & 255, y // 8 * 17 & 255, (x // 50 + y // 50) * 40 & 255, 255 - x // 64] for x in range(width)]
              for y in range(height)]
    write("large", png(width, height, 6, 8, values, first=0), width, height, pixels(6, 8, values))

    # A file written by Pillow.
    image = Image.radial_gradient("L").resize((60, 40)).convert("RGB")
    output = io.BytesIO()
    image.save(output, "PNG")
    write("pillow", output.getvalue(), 60, 40, image.convert("RGBA").tobytes())

    with open(os.path.join(HERE, "expected.txt"), "w") as output:
        output.write("\n".join(expected) + "\n")


main()
