"""Computes the expected results of the image plugins for small images, and prints Expected.swift:

    pip install numpy pillow thumbhash
    python3 expected.py > Expected.swift && swift format -i Expected.swift

Everything is computed from the definitions, with 64-bit floating-point numbers and plain sums over all pixels.
"""

import base64

import numpy as np
import thumbhash
from PIL import Image


def sample(width, height, opaque=False):
    """The same image as Image.sample of the tests."""
    i = np.arange(width * height * 4, dtype=np.int64)
    pixels = ((i * i * 3 + i * 73 + i // 5 * 29) % 256).astype(np.uint8).reshape(height, width, 4)
    if opaque:
        pixels[..., 3] = 255
    return pixels


def smooth(width, height, opaque=True):
    """The same image as Image.smooth of the tests."""
    y, x = np.mgrid[0:height, 0:width]
    pixels = np.zeros((height, width, 4), np.uint8)
    pixels[..., 0] = x * x * 255 // (width * width)
    pixels[..., 1] = (y * y + x) * 255 // (height * height + width)
    pixels[..., 2] = x * y * 200 // (width * height) + 30
    pixels[..., 3] = 255 if opaque else 255 - (x * x * 3 + y * y * 5 + x * y * 7) % 160
    return pixels


def light(level):
    value = level / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def encoded(value):
    value = np.clip(value, 0, 1)
    return 255 * np.where(value <= 0.0031308, value * 12.92, 1.055 * value ** (1 / 2.4) - 0.055)


def levels(value):
    return np.floor(np.clip(value, 0, 255) + 0.5).astype(np.uint8)


def keys(x):
    x = np.abs(x)
    a = -0.5
    inner = (a + 2) * x**3 - (a + 3) * x**2 + 1
    outer = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x < 1, inner, np.where(x < 2, outer, 0))


def matrix(source, start, length, count):
    scale = length / count
    width = max(1, scale)
    centers = start + (np.arange(count) + 0.5) * scale
    weights = keys((np.arange(source)[None, :] + 0.5 - centers[:, None]) / width)
    return weights / weights.sum(axis=1, keepdims=True)


def premultiplied(pixels, transfer):
    alpha = pixels[..., 3:] / 255
    return np.concatenate([transfer(pixels[..., :3].astype(float)) * alpha, alpha], axis=2)


def straight(parts, transfer):
    alpha = np.clip(parts[..., 3:], 0, 1)
    color = transfer(parts[..., :3] / np.where(parts[..., 3:] == 0, 1, parts[..., 3:]))
    pixels = np.concatenate([levels(color), levels(alpha * 255)], axis=2)
    pixels[pixels[..., 3] == 0] = 0
    return pixels


def resize(pixels, columns, rows, size):
    across = matrix(pixels.shape[1], columns[0], columns[1] - columns[0], size[0])
    down = matrix(pixels.shape[0], rows[0], rows[1] - rows[0], size[1])
    parts = np.einsum("yj,xi,jic->yxc", down, across, premultiplied(pixels, light))
    return straight(parts, encoded)


def blur(pixels, radius):
    width = int(np.floor(radius * 3 * np.sqrt(2 * np.pi) / 4 + 0.5))
    half = width // 2
    boxes = [(half, half)] * 3 if width % 2 else [(half, half - 1), (half - 1, half), (half, half)]
    parts = premultiplied(pixels, lambda value: value / 255)
    for axis in (0, 1):
        for before, after in boxes:
            count = parts.shape[axis]
            padded = np.pad(parts, [(before, after) if k == axis else (0, 0) for k in range(3)], mode="edge")
            total = sum(np.take(padded, range(k, k + count), axis=axis) for k in range(before + after + 1))
            parts = total / (before + after + 1)
    return straight(parts, lambda value: value * 255)


def over(above, below, opacity):
    share = above[..., 3:] / 255 * opacity
    under = below[..., 3:] / 255 * (1 - share)
    alpha = share + under
    color = (above[..., :3] * share + below[..., :3] * under) / np.where(alpha == 0, 1, alpha)
    pixels = np.concatenate([levels(color), levels(alpha * 255)], axis=2)
    return np.where(above[..., 3:] > 0, pixels, below)


def watermark(image, mark, x, y, opacity):
    result = image.copy()
    height, width = mark.shape[:2]
    part = result[y : y + height, x : x + width]
    result[y : y + height, x : x + width] = over(mark, part, opacity)
    return result


def grayscale(pixels):
    sums = light(pixels[..., :3].astype(float)) @ np.array([0.2126, 0.7152, 0.0722])
    gray = levels(encoded(sums))
    return np.stack([gray, gray, gray, pixels[..., 3]], axis=2)


def background(pixels, color):
    below = np.broadcast_to(np.array([*color, 255], np.uint8), pixels.shape)
    return np.where(pixels[..., 3:] > 0, over(pixels, below, 1), below)


def corners(width, height, radius, steps=64):
    """The coverage of each pixel, from 0 to 255, by counting points."""
    y, x = np.mgrid[0 : height * steps, 0 : width * steps]
    x, y = (x + 0.5) / steps, (y + 0.5) / steps
    across = np.maximum(0, np.maximum(radius - x, x - (width - radius)))
    down = np.maximum(0, np.maximum(radius - y, y - (height - radius)))
    inside = across**2 + down**2 <= radius**2
    return levels(inside.reshape(height, steps, width, steps).mean(axis=(1, 3)) * 255)


def oriented(pixels, tag):
    turn = {
        1: None, 2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }[tag]
    image = Image.fromarray(pixels)
    return np.asarray(image if turn is None else image.transpose(turn))


LETTERS = {
    "A": [".###.", "#...#", "#...#", "#####", "#...#", "#...#", "#...#", ".....", "....."],
    "g": [".....", ".....", ".####", "#...#", "#...#", "#...#", ".####", "....#", ".###."],
}


def lettering(text, width, height):
    """The coverage of each pixel, from 0 to 255, in an image that is enlarged by whole factors first."""
    rows = [".".join(LETTERS[letter][row] for letter in text) for row in range(9)]
    bits = np.array([[cell == "#" for cell in row] for row in rows], float)
    fine = np.kron(bits, np.ones((height, width)))
    return levels(fine.reshape(height, fine.shape[0] // height, width, fine.shape[1] // width).mean(axis=(1, 3)) * 255)


def array(name, comment, values, kind="UInt8"):
    numbers = ", ".join(str(int(value)) for value in np.asarray(values).reshape(-1))
    print(f"\n    /// {comment}\n    static let {name}: [{kind}] = [\n        {numbers},\n    ]")


def nearest(value):
    return int(np.floor(value + 0.5))


def triangle(columns, rows):
    return [(cx, cy) for cy in range(rows) for cx in range(columns) if cx * rows < columns * (rows - cy)][1:]


def waves(side, count):
    return np.cos(np.pi * np.arange(side)[:, None] * (np.arange(count)[None, :] + 0.5) / count)


def thumb_hash(pixels):
    height, width = pixels.shape[:2]
    alpha = pixels[..., 3] / 255
    color = pixels[..., :3] / 255
    mean = (color * alpha[..., None]).sum(axis=(0, 1)) / alpha.sum() if alpha.sum() > 0 else np.zeros(3)
    r, g, b = np.moveaxis(mean * (1 - alpha[..., None]) + color * alpha[..., None], 2, 0)
    has_alpha = (alpha < 1).any()
    longest = 5 if has_alpha else 7
    lx, ly = (max(1, nearest(longest * side / max(width, height))) for side in (width, height))

    def channel(values, columns, rows):
        table = waves(7, height) @ values @ waves(7, width).T / (width * height)
        parts = np.array([table[cy, cx] for cx, cy in triangle(columns, rows)])
        scale = np.abs(parts).max()
        # Values halfway between two steps could be rounded either way, so the samples must avoid them.
        assert scale == 0 or (np.abs((15 * (0.5 + 0.5 * parts / scale)) % 1 - 0.5) > 1e-4).all()
        return table[0, 0], scale, [nearest(15 * (0.5 + 0.5 * part / scale)) if scale > 0 else 0 for part in parts]

    l_mean, l_scale, nibbles = channel((r + g + b) / 3, max(3, lx), max(3, ly))
    p_mean, p_scale, p_nibbles = channel((r + g) / 2 - b, 3, 3)
    q_mean, q_scale, q_nibbles = channel(r - g, 3, 3)
    nibbles = nibbles + p_nibbles + q_nibbles
    head = nearest(63 * l_mean) | nearest(31.5 + 31.5 * p_mean) << 6 | nearest(31.5 + 31.5 * q_mean) << 12
    head |= nearest(31 * l_scale) << 18 | int(has_alpha) << 23
    tail = (ly if width > height else lx) | nearest(63 * p_scale) << 3 | nearest(63 * q_scale) << 9
    tail |= int(width > height) << 15
    result = [head & 255, head >> 8 & 255, head >> 16, tail & 255, tail >> 8]
    if has_alpha:
        a_mean, a_scale, a_nibbles = channel(alpha, 5, 5)
        result.append(nearest(15 * a_mean) | nearest(15 * a_scale) << 4)
        nibbles = nibbles + a_nibbles
    nibbles = nibbles + [0] * (len(nibbles) % 2)
    return result + [low | high << 4 for low, high in zip(nibbles[::2], nibbles[1::2])]


def shown(parts):
    l, p, q, a = np.moveaxis(np.asarray(parts, float), -1, 0)
    b = l - 2 / 3 * p
    r = (3 * l - b + q) / 2
    return levels(np.clip(np.stack([r, r - q, b, a], axis=-1), 0, 1) * 255)


def thumb_blur(data, size=None):
    head = data[0] | data[1] << 8 | data[2] << 16
    tail = data[3] | data[4] << 8
    has_alpha = head >> 23
    longest, shortest = (5 if has_alpha else 7), tail & 7
    lx, ly = (longest, shortest) if tail >> 15 else (shortest, longest)
    start = 6 if has_alpha else 5
    means = [(head & 63) / 63, (head >> 6 & 63) / 31.5 - 1, (head >> 12 & 63) / 31.5 - 1]
    means.append((data[5] & 15) / 15 if has_alpha else 1)
    scales = [(head >> 18 & 31) / 31, (tail >> 3 & 63) / 63 * 1.25, (tail >> 9 & 63) / 63 * 1.25]
    scales.append((data[5] >> 4) / 15 if has_alpha else 0)
    shapes = [(max(3, lx), max(3, ly)), (3, 3), (3, 3)] + ([(5, 5)] if has_alpha else [])
    nibbles = [part for byte in data[start:] for part in (byte & 15, byte >> 4)]
    ratio = lx / ly
    width, height = size or (nearest(32 if ratio > 1 else 32 * ratio), nearest(32 / ratio if ratio > 1 else 32))
    parts = np.zeros((height, width, 4)) + means
    for index, (columns, rows) in enumerate(shapes):
        for cx, cy in triangle(columns, rows):
            share = (nibbles.pop(0) / 7.5 - 1) * scales[index] * 2
            parts[..., index] += share * waves(7, height)[cy][:, None] * waves(7, width)[cx][None, :]
    return shown(parts), shown(means), lx, ly


print("/// The expected results of the plugins for small images, computed by expected.py.")
print("enum Expected {", end="")
array("light", "The linear light of the levels 0, 10, 11, 50, 128, 200 and 255, in billionths.",
      np.round(light(np.array([0, 10, 11, 50, 128, 200, 255])) * 1e9), "Int")
array("reduced", "A sample of 24 by 18, resized to 9 by 7.", resize(sample(24, 18), (0, 24), (0, 18), (9, 7)))
array("enlarged", "An opaque sample of 5 by 4, resized to 9 by 7.", resize(sample(5, 4, True), (0, 5), (0, 4), (9, 7)))
array("filled", "The right part of a sample of 24 by 18, filling 7 by 9.", resize(sample(24, 18), (10, 24), (0, 18), (7, 9)))
array("point", "An opaque sample of 8 by 6, resized to 1 by 1.", resize(sample(8, 6, True), (0, 8), (0, 6), (1, 1)))
array("gray", "A sample of 8 by 6 in gray.", grayscale(sample(8, 6)))
array("blurred", "A sample of 12 by 7, blurred with a radius of 1.5: boxes of three pixels.", blur(sample(12, 7), 1.5))
array("blurredWider", "An opaque sample of 12 by 7, blurred with a radius of 2.1: boxes of four and five pixels.",
      blur(sample(12, 7, True), 2.1))
array("background", "A sample of 8 by 6 on the color (10, 200, 90).", background(sample(8, 6), (10, 200, 90)))
array("marked", "A sample of 8 by 6 with the smooth image of 4 by 3 at the bottom right, with an opacity of 0.6.",
      watermark(sample(8, 6), smooth(4, 3, False), 4, 3, 0.6))
array("corners", "The alpha of a white image of 13 by 11 with corners of a radius of 4.5.", corners(13, 11, 4.5))
array("circle", "The alpha of a white circle of 9 by 9.", corners(9, 9, 4.5))
array("lettering", "The coverage of 7 by 6 pixels by \"Ag\".", lettering("Ag", 7, 6))
array("enlargedLettering", "The coverage of 25 by 20 pixels by \"Ag\".", lettering("Ag", 25, 20))
for tag in range(1, 9):
    array(f"orientation{tag}", f"A sample of 3 by 2, displayed with the orientation {tag}.", oriented(sample(3, 2), tag))
for name, pixels in [
    ("landscape", smooth(40, 22)), ("portrait", smooth(9, 31)), ("clear", smooth(20, 24, False)),
    ("noise", sample(13, 10, True)), ("clearNoise", sample(10, 13)), ("square", sample(11, 11, True)),
]:
    height, width = pixels.shape[:2]
    hash_bytes = thumb_hash(pixels)
    if (pixels[..., 3] == 255).all():
        # Compare with the published package, which fails for images with transparency.
        assert hash_bytes == thumbhash.rgba_to_thumb_hash(width, height, pixels.reshape(-1).tolist()), name
    blurred, mean, lx, ly = thumb_blur(hash_bytes)
    array(f"{name}Hash", f'The ThumbHash of the image "{name}".', hash_bytes)
    text = base64.b64encode(bytes(hash_bytes)).decode()
    print(f'\n    /// The hash in Base64.\n    static let {name}Base64 = "{text}"')
    array(f"{name}Blur", f"Every fourth pixel of every fourth row of the {blurred.shape[1]}×{blurred.shape[0]} preview.",
          blurred[::4, ::4])
    array(f"{name}Mean", "The average color that the hash stores.", mean)
array("wideBlur", 'The 11×5 preview of the image "clear".', thumb_blur(thumb_hash(smooth(20, 24, False)), (11, 5))[0])
print("}")
