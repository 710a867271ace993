#!/usr/bin/env python3
"""Pictures and what Pillow makes of them (python3-pil, python3-numpy).

    pillow.py FOLDER                          writes small pictures of every kind, each with its pixels (FILE.ppm), and one of
                                              them in other sizes
    pillow.py --compare PROGRAM [SEED [COUNT]]  draws pictures of all kinds, sizes and orientations, and compares what PROGRAM
                                              (tests/pictures) reads, and what it makes of them in other sizes and by drawn
                                              preprocessor_config.json, to the byte
"""
import io
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import warnings
import zlib

try:
    import numpy as np
    from PIL import Image, ImageOps
except ImportError as error:
    print(f"pillow.py: {error}: skipped")
    sys.exit(77)
warnings.simplefilter("ignore")
Image.MAX_IMAGE_PIXELS = None

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def chunk(kind, data=b""):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def exif_of(orientation, order=">"):
    return struct.pack(order + "2sHIHHHIHHI", b"MM" if order == ">" else b"II", 42, 8, 1, 0x112, 3, 1, orientation, 0, 0)


def filtered(rows, size, draw):
    """The bytes of rows, each behind the filter that it is drawn with: none, left or above."""
    result, above = [], np.zeros(rows.shape[1] if rows.size else 0, np.uint8)
    for row in rows:
        kind = draw.choice((0, 1, 2))
        left = np.concatenate([np.zeros(size, np.uint8), row[:-size]]) if len(row) >= size else np.zeros_like(row)
        result.append(bytes([kind]) + (row - (0, left, above)[kind]).astype(np.uint8).tobytes())
        above = row
    return b"".join(result)


def png(values, depth, kind, draw, interlaced=False, before=b"", behind=b""):
    """A PNG of values (height, width, channels), as they are stored."""
    height, width, channels = values.shape
    data = b""
    for x, y, dx, dy in PASSES if interlaced else ((0, 0, 1, 1),):
        part = values[y::dy, x::dx]
        if not part.size:
            continue
        if depth == 16:
            rows = part.reshape(len(part), -1).astype(">u2").view(np.uint8).reshape(len(part), -1)
        elif depth == 8:
            rows = part.reshape(len(part), -1).astype(np.uint8)
        else:
            bits = (part.reshape(len(part), -1, 1) >> np.arange(depth - 1, -1, -1)) & 1
            rows = np.packbits(bits.reshape(len(part), -1).astype(np.uint8), axis=1)
        data += filtered(rows, max(1, depth * channels // 8), draw)
    packed = zlib.compress(data, 1)
    cut = draw.randrange(len(packed))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlaced)) +
            before + chunk(b"IDAT", packed[:cut]) + chunk(b"IDAT", packed[cut:]) + behind + chunk(b"IEND"))


def photo(width, height, channels, rng):
    """Smooth colours with some noise: what cameras see, roughly."""
    y, x = np.mgrid[0:height, 0:width]
    waves = [127 + 90 * np.sin(x / rng.uniform(3, 60) + y / rng.uniform(3, 60) + rng.uniform(0, 6)) for _ in range(channels)]
    noise = rng.normal(0, rng.choice([0, 8, 40]), (height, width, channels))
    return np.clip(np.stack(waves, 2) + noise, 0, 255).astype(np.uint8)


def stated_orientation(orientation, draw):
    """Chunks of a PNG that state an orientation, each way that Pillow looks for it."""
    exif = exif_of(orientation, draw.choice("<>"))
    digits = "\nexif\n%8d\n" % len(exif) + exif.hex() + "\n"
    xmp = b"XML:com.adobe.xmp\0\0\0\0\0<x tiff:Orientation=\"%d\"/>" % orientation
    return draw.choice((chunk(b"eXIf", exif), chunk(b"iTXt", xmp),
                        chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(digits.encode()))))


def drawn_png(width, height, draw, rng):
    kind = draw.choice(tuple(DEPTHS))
    depth = draw.choice(DEPTHS[kind])
    values = rng.integers(0, 2**depth, (height, width, CHANNELS[kind]))
    if draw.random() < 0.3:
        values = np.minimum(values, 300)  # 16 bits of grey that are not all white
    before = b""
    if kind == 3:
        count = draw.randint(1, 2**depth)
        before = chunk(b"PLTE", rng.integers(0, 256, 3 * count, np.uint8).tobytes())
        if draw.random() < 0.5:
            before += chunk(b"tRNS", rng.integers(0, 256, draw.randint(1, count), np.uint8).tobytes())
    elif kind in (0, 2) and draw.random() < 0.3:
        before = chunk(b"tRNS", struct.pack(">H", draw.randrange(2**depth)) * CHANNELS[kind])
    if draw.random() < 0.3:
        before = chunk(b"gAMA", struct.pack(">I", 45455)) + before
    stated = stated_orientation(draw.randint(1, 8), draw) if draw.random() < 0.6 else b""
    ends = (before + stated, b"") if draw.random() < 0.5 else (before, stated)
    return png(values, depth, kind, draw, draw.random() < 0.4, *ends), f"png {kind}:{depth}"


def drawn_jpeg(width, height, draw, rng):
    mode = draw.choice(("L", "RGB", "RGB", "CMYK", "YCCK", "as RGB"))
    channels = {"L": 1, "RGB": 3, "as RGB": 3}.get(mode, 4)
    values = photo(width, height, channels, rng)
    image = Image.fromarray(values[:, :, 0] if channels == 1 else values, "CMYK" if channels == 4 else None)
    options = {"quality": draw.randint(20, 100), "progressive": draw.random() < 0.4}
    if channels == 3:
        options["subsampling"] = draw.choice((0, 1, 2))
    if draw.random() < 0.7:
        options["exif"] = b"Exif\0\0" + exif_of(draw.randint(0, 9), draw.choice("<>"))
    out = io.BytesIO()
    image.save(out, "JPEG", **options)
    data = bytearray(out.getvalue())
    if mode == "YCCK":  # the same numbers in another space: what the Adobe marker says
        at = data.index(b"Adobe")
        data[at + 11] = 2
    if mode == "as RGB":  # no JFIF marker, and components that are called R, G and B
        del data[2:20]
        for marker, step, first in ((b"\xff\xc0", 3, 10), (b"\xff\xc2", 3, 10), (b"\xff\xda", 2, 5)):
            at = -1
            while (at := data.find(marker, at + 1)) >= 0:
                for i in range(data[at + first - 1]):
                    number = data[at + first + i * step]
                    data[at + first + i * step] = b"?RGB"[number] if number < 4 else number
    return bytes(data), f"jpeg {mode}"


def drawn_webp(width, height, draw, rng):
    channels = draw.choice((3, 4))
    options = {"lossless": draw.random() < 0.5, "exact": draw.random() < 0.5, "quality": draw.randint(10, 100), "method": 1}
    if draw.random() < 0.6:
        options["exif"] = draw.choice((b"", b"Exif\0\0")) + exif_of(draw.randint(1, 8), draw.choice("<>"))
    out = io.BytesIO()
    Image.fromarray(photo(width, height, channels, rng)).save(out, "WEBP", **options)
    return out.getvalue(), f"webp {channels} {'lossless' if options['lossless'] else 'lossy'}"


def shown(data):
    return ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")


def cropped(values, width, height):
    """The middle, black where there is none, as transformers' center_crop has it."""
    result = np.zeros((height, width, 3), np.uint8)
    top, left = (values.shape[0] - height) // 2, (values.shape[1] - width) // 2
    for y in range(height):
        for x in range(width):
            if 0 <= y + top < values.shape[0] and 0 <= x + left < values.shape[1]:
                result[y, x] = values[y + top, x + left]
    return result


CLASSES = ("ViTImageProcessor", "ViTImageProcessorFast", "DeiTImageProcessor", "BitImageProcessor", "CLIPImageProcessor",
           "SiglipImageProcessor", "BeitImageProcessor", "DINOv3ViTImageProcessorFast")


def drawn_config(draw):
    """A preprocessor_config.json, and its steps: (size or edge, resampling, crop, factor, less one, blue first, mean, std)."""
    def side():
        return draw.choice((1, 14, 16, 31, 32, 56, 97))

    name = draw.choice(CLASSES)
    config = {draw.choice(("image_processor_type", "feature_extractor_type")): name, "do_pad": False, "crop_pct": None}
    to = crop = None
    resampling = draw.randrange(6)
    if draw.random() < 0.9:
        kind, n = draw.choice(("sides", "edge", "number", "list")), side()
        m = side()
        config["size"] = {"sides": {"height": n, "width": m}, "edge": {"shortest_edge": n}, "number": n, "list": [n, m]}[kind]
        on_edge = name.startswith(("CLIP", "Bit"))
        if kind == "number" and draw.random() < 0.3:
            on_edge = draw.random() < 0.5
            config["default_to_square"] = not on_edge
        to = {"sides": (n, m), "edge": n, "number": n if on_edge else (n, n), "list": (n, m)}[kind]
        if draw.random() < 0.2:
            resampling = 2 if name.startswith(("ViT", "DINO")) else 3
        else:
            config["resample"] = resampling
    else:
        config["do_resize"] = False
    crops = name.startswith(("CLIP", "Bit", "DeiT", "Beit"))
    if not isinstance(to, tuple) or draw.random() < 0.5:
        crops = config["do_center_crop"] = True
    elif draw.random() < 0.5:
        crops = config["do_center_crop"] = False
    if crops:
        n, m = side(), side()
        config["crop_size"], crop = draw.choice((({"height": n, "width": m}, (n, m)), (n, (n, n))))
    factor, less_one = 1 / 255, False
    if draw.random() < 0.5:
        factor = config["rescale_factor"] = draw.choice((0.00392156862745098, 1 / 127.5, 0.5))
        less_one = config["offset"] = draw.random() < 0.5
    if draw.random() < 0.2:
        config["do_rescale"], factor, less_one = False, None, False
    blue = draw.random() < 0.2
    if blue:
        config["do_flip_channel_order"] = True
    mean = std = None
    if not blue and draw.random() < 0.8:
        mean = config["image_mean"] = draw.choice(([0.485, 0.456, 0.406], [0.5] * 3, 0.25))
        std = config["image_std"] = draw.choice(([0.229, 0.224, 0.225], [0.5] * 3, 2))
    elif not blue:
        config["do_normalize"] = False
    return config, (to, resampling, crop, factor, less_one, blue, mean, std)


def resized_unrounded(image, size, resampling):
    bands = [band.convert("F").resize(size, resampling) for band in image.split()]
    return np.stack([np.asarray(band) for band in bands], 2)


def preprocessed(image, unrounded, to, resampling, crop, factor, less_one, blue, mean, std):
    """What the image processors of transformers do (image_transforms.py), in NumPy."""
    width, height = image.size
    if isinstance(to, int):
        shorter, longer = sorted(image.size)
        other = int(to * longer / shorter)
        to = (other, to) if width <= height else (to, other)
        if other > 65500:
            return None, 0
    unrounded = unrounded and to is not None and crop is None and resampling != 0
    resized = resized_unrounded if unrounded else type(image).resize
    values = np.asarray(image if to is None else resized(image, to[::-1], resampling))
    if crop is not None:  # padded first where it is smaller, the odd line above and on the left
        for axis in (0, 1):
            missing = max(0, crop[axis] - values.shape[axis])
            before = -(-missing // 2)
            values = np.pad(values, [(before, missing - before) if a == axis else (0, 0) for a in range(3)])
        top, left = (values.shape[0] - crop[0]) // 2, (values.shape[1] - crop[1]) // 2
        values = values[top:top + crop[0], left:left + crop[1]]
    values = (values.astype(np.float64) * factor).astype(np.float32) if factor is not None else values.astype(np.float32)
    if less_one:
        values = values - 1
    if blue:
        values = values[:, :, ::-1]
    if mean is not None:
        values = (values - np.array(mean, np.float32)) / np.array(std, np.float32)
    return values, 2e-6 if unrounded else 0


class Program:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def answer(self, *words):
        self.process.stdin.write("\t".join(map(str, words)).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline().decode().rstrip("\n")
        try:
            width, height = map(int, line.split())
        except ValueError:
            return line
        kind = np.dtype(np.float32 if isinstance(words[-1], str) and words[-1].startswith("{") else np.uint8)
        numbers = self.process.stdout.read(width * height * 3 * kind.itemsize)
        return np.frombuffer(numbers, kind).reshape(height, width, 3)


def size_of(i, draw):
    if i % 60 == 59:
        return draw.choice(((4000, 3000), (3000, 4000), (2999, 2001), (4000, 1), (1, 3000)))
    return draw.choice((1, 2, 3, 7, 8, 9, 16, 17, 33, 64, 100, 257, 640)), draw.choice((1, 2, 3, 5, 8, 15, 16, 31, 99, 128, 480))


def compare(path, seed, count):
    program, wrong, kinds = Program(path), 0, {}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "picture"
        for i in range(count):
            draw, rng = random.Random(f"{seed}/{i}"), np.random.default_rng([seed, i])
            width, height = size_of(i, draw)
            data, kind = draw.choice((drawn_png, drawn_png, drawn_jpeg, drawn_webp))(width, height, draw, rng)
            kinds[kind] = kinds.get(kind, 0) + 1
            file.write_bytes(data)
            image = shown(data)
            to, resampling = (draw.randint(1, 400), draw.randint(1, 400)), draw.randrange(6)
            config, steps = drawn_config(draw)
            prepared, near = preprocessed(image, "DINO" in str(config), *steps)
            for words, right in (((), image), ((" ".join(map(str, (*to, resampling))),), image.resize(to, resampling)),
                                 ((json.dumps(config),), prepared)):
                found = program.answer(file, *words)
                if right is None and isinstance(found, str) and "expected 1 to 65,500 pixels" in found:
                    continue
                if isinstance(found, str) or found.shape != np.asarray(right).shape or (
                        not np.allclose(found, right, rtol=near, atol=near)):
                    wrong += 1
                    print(f"{seed}/{i}: {kind} {width}×{height} {words}: expected the pixels of Pillow, found",
                          found if isinstance(found, str) else f"others ({found.shape[1]}×{found.shape[0]})")
    print(f"{count} pictures, each as it is, in another size and as a model takes it, {wrong} others than Pillow's:",
          ", ".join(f"{kinds[kind]} {kind}" for kind in sorted(kinds)))
    return wrong != 0


def write_golden(folder):
    folder.mkdir(parents=True, exist_ok=True)

    def keep(name, data, image=None):
        if data is not None:
            (folder / name).write_bytes(data)
        (image or shown(data)).save(folder / f"{name}.ppm")

    for kind, depths in DEPTHS.items():
        for depth in depths:
            draw, rng = random.Random(depth), np.random.default_rng(kind * 100 + depth)
            values = rng.integers(0, 2**depth, (5, 9, CHANNELS[kind]))
            values[:3] = np.minimum(values[:3], 300)
            palette = chunk(b"PLTE", rng.integers(0, 256, 3 * max(2, 2**depth // 2), np.uint8).tobytes()) if kind == 3 else b""
            clear = chunk(b"tRNS", b"\0\1" * CHANNELS[kind]) if kind in (0, 2) else chunk(b"tRNS", b"\x80\0") if kind == 3 else b""
            for interlaced in (False, True):
                keep(f"{kind}-{depth}{'-interlaced' * interlaced}.png",
                     png(values, depth, kind, draw, interlaced, palette + clear))
    for i in range(1, 9):
        draw, rng = random.Random(i), np.random.default_rng(i)
        values = photo(6, 4, 3, rng)
        stated = stated_orientation(i, draw)
        keep(f"turned-{i}.png", png(values, 8, 2, draw, False, *(stated, b"") if i % 2 else (b"", stated)))
        out = io.BytesIO()
        Image.fromarray(photo(19, 10, 3, rng)).save(out, "JPEG", exif=b"Exif\0\0" + exif_of(i, "<>"[i % 2]), quality=80)
        keep(f"turned-{i}.jpeg", out.getvalue())
    seen = set()
    for i in range(400):
        draw, rng = random.Random(i), np.random.default_rng(i)
        data, kind = draw.choice((drawn_jpeg, drawn_webp))(21, 18, draw, rng)
        kind += " progressive" * (kind.startswith("jpeg") and b"\xff\xc2" in data)
        if kind not in seen:
            seen.add(kind)
            keep(f"{kind.replace(' ', '-')}.{'jpeg' if kind.startswith('jpeg') else 'webp'}", data)
    source = Image.fromarray(photo(31, 22, 3, np.random.default_rng(3)))
    keep("source.png", png(np.asarray(source), 8, 2, random.Random(3)))
    for resampling in range(6):
        for to in ((31, 22), (9, 7), (40, 22), (31, 50), (62, 3), (1, 1)):
            keep(f"source-{resampling}-{to[0]}-{to[1]}", None, source.resize(to, resampling))
    for to in ((31, 22), (16, 15), (40, 9), (12, 33), (50, 41), (1, 1)):
        keep(f"source-cut-{to[0]}-{to[1]}", None, Image.fromarray(cropped(np.asarray(source), *to)))
    frames = [Image.fromarray(photo(8, 6, 3, np.random.default_rng(i))) for i in range(2)]
    for ending in ("png", "webp", "gif"):
        frames[0].save(folder / f"moving.{ending}", save_all=True, append_images=frames[1:])


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--compare":
        sys.exit(compare(sys.argv[2], int((sys.argv[3:] or [1])[0]), int((sys.argv[4:] or [300])[0])))
    write_golden(pathlib.Path(sys.argv[1]))
