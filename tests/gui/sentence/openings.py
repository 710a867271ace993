#!/usr/bin/env python3
"""What the window says first of each of the tests' own sentences is what was read and judged.

openings.py PROGRAM: each line of openings.txt is a judgement (true, false, bare: no relation
is said, pronoun or pronoun-wrong: the relation is asked), the opening
line and the sentence, with tabs between them; the lines are those that `claims` prints now, of every sentence of
sentences.txt. openings.py PROGRAM --write FILE writes those of now, ? where a line was not judged.
openings.py PROGRAM --table [LANGUAGE [THEME]] prints a table of them with the ink of each window of 1440 × 900: the share
of the stage's pixels that differ from the ground by more than 12 of 255.
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

FOLDER = pathlib.Path(__file__).parent
MOST_FALSE = 1  # of fifty


def opening_of(program, sentence):
    run = subprocess.run([program, "claims", "--text", sentence, "--format", "json"], capture_output=True, text=True,
                         check=True)
    return json.loads(run.stdout)["opening"]["text"]


def pixels(png):
    """The rows of a PNG of 8 bits a channel, and its channels."""
    at, data, channels, width = 8, b"", 3, 0
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            width, channels = struct.unpack(">I", png[at + 8:at + 12])[0], {2: 3, 6: 4}[png[at + 17]]
        data += png[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    raw, stride, rows = zlib.decompress(data), width * channels, []
    before = bytearray(stride)
    for begin in range(0, len(raw), stride + 1):
        how, row = raw[begin], bytearray(raw[begin + 1:begin + 1 + stride])
        for i in range(stride if how else 0):
            left, up = row[i - channels] if i >= channels else 0, before[i]
            corner = before[i - channels] if i >= channels else 0
            guess = left + up - corner
            nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            row[i] = (row[i] + (0, left, up, (left + up) // 2, nearest)[how]) & 255
        rows.append(row)
        before = row
    return rows, channels


def ink_of(program, sentence, language, theme):
    with tempfile.TemporaryDirectory() as folder:
        png, boxes = pathlib.Path(folder, "a.png"), pathlib.Path(folder, "a.json")
        subprocess.run([program, "screenshot", "--size", "1440x900", "--language", language, "--theme", theme, "--text",
                        sentence, "-o", png, "--boxes", boxes], check=True)
        stage = next(one["box"] for one in json.loads(boxes.read_text())["boxes"] if one["name"] == "stage")
        rows, channels = pixels(png.read_bytes())
    left, top, wide, high = (round(number) for number in stage)
    ground, ink = rows[top + 2][(left + 4) * channels:(left + 4) * channels + 3], 0
    for row in rows[top:top + high]:
        for at in range(left * channels, (left + wide) * channels, channels):
            ink += any(abs(row[at + c] - ground[c]) > 12 for c in range(3))
    return ink / (wide * high)


def print_table(program, judged, sentences, language="en", theme="light"):
    inks = []
    print("| sentence | opening line | judged | ink |\n| --- | --- | --- | --- |")
    for sentence in sentences:
        inks.append(ink_of(program, sentence, language, theme))
        judgement, opening = judged[sentence]
        print(f"| {sentence} | {opening} | {judgement} | {100 * inks[-1]:.1f} % |", flush=True)
    print(f"median {100 * sorted(inks)[len(inks) // 2]:.1f} %, least {100 * min(inks):.1f} %")


def main(program, option=None, *values):
    lines = (FOLDER / "openings.txt").read_text(encoding="utf-8").splitlines()
    judged = {sentence: (judgement, opening) for judgement, opening, sentence in (line.split("\t") for line in lines)}
    sentences = [line for line in (FOLDER / "sentences.txt").read_text(encoding="utf-8").splitlines() if line]
    if option == "--table":
        return print_table(program, judged, sentences, *values)
    written, status = [], 0
    for sentence in sentences:
        judgement, known = judged.get(sentence, ("?", ""))
        opening = opening_of(program, sentence)
        if opening != known and option is None:
            print(f"openings: {sentence}: expected {known!r}, found {opening!r}", file=sys.stderr)
            status = 1
        written.append("\t".join((judgement if opening == known else "?", opening, sentence)))
    if option == "--write":
        pathlib.Path(values[0]).write_text("\n".join(written) + "\n", encoding="utf-8")
        return 0
    false = [line for line in lines if line.startswith("false\t")]
    if len(false) > MOST_FALSE or len(judged) != len(sentences):
        print(f"openings: expected {len(sentences)} judged, at most {MOST_FALSE} false, found", *false, sep="\n",
              file=sys.stderr)
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
