#!/usr/bin/env python3
"""How far two PNGs of the window (8 bits, RGB) are apart: pixels.py A B. Fails where more than a thousandth of the pixels
differ by more than 8 of 255."""
import struct
import sys
import zlib


def pixels(path):
    data = open(path, "rb").read()
    at, packed, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            size = struct.unpack(">II", data[at + 8:at + 16])
            if data[at + 16:at + 18] != b"\x08\x02":
                sys.exit(f"{path}: expected 8 bits of RGB")
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    raw, (width, height) = zlib.decompress(packed), size
    row, stride, out = bytearray(width * 3), width * 3, []
    for y in range(height):
        kind = raw[y * (stride + 1)]
        line = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        if kind == 2:
            line = bytearray((a + b) & 255 for a, b in zip(line, row))
        elif kind:
            for i in range(stride):
                left, up, corner = line[i - 3] if i > 2 else 0, row[i], row[i - 3] if i > 2 else 0
                if kind == 1:
                    guess = left
                elif kind == 3:
                    guess = (left + up) // 2
                else:
                    near = left + up - corner
                    guess = min((left, up, corner), key=lambda c: abs(near - c))
                line[i] = (line[i] + guess) & 255
        row = line
        out.append(bytes(line))
    return size, b"".join(out)


def main():
    if open(sys.argv[1], "rb").read() == open(sys.argv[2], "rb").read():
        print("the same bytes")
        return
    (size, a), (other, b) = pixels(sys.argv[1]), pixels(sys.argv[2])
    if size != other:
        sys.exit(f"sizes {size} and {other}")
    most, far = 0, set()
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            most = max(most, abs(x - y))
            if abs(x - y) > 8:
                far.add(i // 3)
    print(f"{len(far)} of {size[0] * size[1]} pixels differ by more than 8 of 255; the largest difference is {most}")
    sys.exit(len(far) * 1000 > size[0] * size[1])


main()
