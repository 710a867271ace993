#!/usr/bin/env python3
"""What the window says first of each of the tests' own sentences is what was read and judged.

openings.py PROGRAM: each line of openings.txt is a judgement (true, false, bare: no relation
is said, pronoun or pronoun-wrong: the relation is asked), the opening
line and the sentence, with tabs between them; the lines are those that `claims` prints now, of every sentence of
sentences.txt. openings.py PROGRAM --write FILE writes those of now, ? where a line was not judged.
"""
import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).parent
MOST_FALSE = 1  # of fifty


def opening_of(program, sentence):
    run = subprocess.run([program, "claims", "--text", sentence, "--format", "json"], capture_output=True, text=True,
                         check=True)
    return json.loads(run.stdout)["opening"]["text"]


def main(program, option=None, file=None):
    lines = (FOLDER / "openings.txt").read_text(encoding="utf-8").splitlines()
    judged = {sentence: (judgement, opening) for judgement, opening, sentence in (line.split("\t") for line in lines)}
    sentences = [line for line in (FOLDER / "sentences.txt").read_text(encoding="utf-8").splitlines() if line]
    written, status = [], 0
    for sentence in sentences:
        judgement, known = judged.get(sentence, ("?", ""))
        opening = opening_of(program, sentence)
        if opening != known and option is None:
            print(f"openings: {sentence}: expected {known!r}, found {opening!r}", file=sys.stderr)
            status = 1
        written.append("\t".join((judgement if opening == known else "?", opening, sentence)))
    if option == "--write":
        pathlib.Path(file).write_text("\n".join(written) + "\n", encoding="utf-8")
        return 0
    false = [line for line in lines if line.startswith("false\t")]
    if len(false) > MOST_FALSE or len(judged) != len(sentences):
        print(f"openings: expected {len(sentences)} judged, at most {MOST_FALSE} false, found", *false, sep="\n",
              file=sys.stderr)
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
