"""Headlight and its peers in turn, and the ratio of each pair; see peers.sh, which sets the peers up.

A peer is a process of its own for each row (peer_onnx.py, peer_torch.py, peer_json.py): it makes its model, says the
names of what it measures, and for every line that it reads runs once, then for at least fifty milliseconds, and writes
the seconds of one run. `headlight_bench --only ROW --rounds 1` does the same. Between its turns a peer sleeps."""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ATTENTION = [(10, 64, 4), (10, 512, 8), (128, 768, 12), (512, 768, 12), (1024, 1024, 16), (2048, 1024, 16)]
LENGTHS = [10, 128, 512]


def rows_of(suite):
    """Name of our row, and the peers: label, script, arguments."""
    if suite == "attention":
        for t, d, h in ATTENTION:
            words = ["attention", t, d, h]
            peers = [("ONNX Runtime", "peer_onnx.py", words), ("PyTorch", "peer_torch.py", words)]
            if t >= 128:
                peers.append(("products alone", "peer_torch.py", ["products", t, d]))
            yield (f"attention/T={t}/d={d}/h={h}", peers)
    elif suite == "model":
        for name in ["bert-base", "gpt2-small"]:
            for t in LENGTHS:
                words = ["model", name, t]
                yield (f"model/{name}/T={t}", [("ONNX Runtime", "peer_onnx.py", words),
                                               ("PyTorch", "peer_torch.py", words)])
    elif suite == "train":
        yield ("train/d=64/h=4/layers=2/batch=64x16", [("PyTorch", "peer_torch.py", ["train"])])
    elif suite == "sweep":
        yield ("sweep/gpt2-small/patch/T=64", [("PyTorch, batched", "peer_torch.py", ["sweep", 64])])
    elif suite == "export":
        yield ("export/json/heads=144/T=256", [("Python's json", "peer_json.py", [144, 256])])


class Peer:
    def __init__(self, label, script, words, threads):
        self.label, self.seconds, self.problem = label, [], None
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, script), str(threads), *map(str, words)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.read()

    def read(self):
        line = self.process.stdout.readline().strip()
        try:
            return float(line)
        except ValueError:
            if line != "ready":
                self.problem = line or f"ended with status {self.process.wait()}"
            return None

    def turn(self):
        if self.problem:
            return
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        seconds = self.read()
        if seconds is not None:
            self.seconds.append(seconds)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def bench(options, suite, only, rounds):
    done = subprocess.run([options.program, suite, "--only", only, "--rounds", str(rounds), "--threads",
                           str(options.threads), "--format", "json"], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def ours(options, suite, name):
    rows = [row for row in bench(options, suite, name, 1)["rows"] if row["name"] == name]
    return rows[0]["median_us"] * 1e-6


def spread(values, scale=1.0, digits=3):
    values = [value * scale for value in values]
    return f"{statistics.median(values):10.{digits}f} ({min(values):.{digits}f}…{max(values):.{digits}f})"


def print_line(name, seconds, peer="", theirs=None):
    line = f"{name:38} {spread(seconds, 1e3):32}"
    if theirs:
        ratios = [mine / other for mine, other in zip(seconds, theirs)]
        line += f" {peer:16} {spread(theirs, 1e3):32} {spread(ratios, 1, 2)}"
    print(line, flush=True)


def beside(options, suite, name, peers):
    running = [Peer(*peer, options.threads) for peer in peers]
    seconds = []
    for _ in range(options.rounds):
        seconds.append(ours(options, suite, name))
        for peer in running:
            peer.turn()
    for peer in running:
        peer.end()
        if peer.problem:
            print(f"{name:38} {peer.label}: {peer.problem}", file=sys.stderr)
    there = [peer for peer in running if not peer.problem]
    for peer in there:
        print_line(name, seconds, peer.label, peer.seconds)
    if not there:
        print_line(name, seconds)


def beside_each_other(options, suite, pairs):
    """Peers that `headlight_bench` measures itself, a round of all its rows at a time."""
    pairs = [pair for pair in pairs if options.only in pair[0]]
    if not pairs:
        return
    only = "" if suite == "draw" else "T=256"
    taken, worst = {}, {}
    for _ in range(options.rounds):
        for row in bench(options, suite, only, 1)["rows"]:
            taken.setdefault(row["name"], []).append(row["median_us"] * 1e-6)
            worst[row["name"]] = max(worst.get(row["name"], 0), row["high_us"] * 1e-6)
    for name, peer, label in pairs:
        print_line(name, taken[name], label, taken.get(peer))
        if not label:
            print(f"{'':38} {worst[name] * 1e3:10.3f} at worst")


OWN_PEERS = {
    "export": [("export/json/heads=144/T=256", "export/nlohmann-dump/heads=144/T=256", "nlohmann dump")],
    "draw": [("draw/frame/heads=144/T=128", "draw/frame/empty", "the window empty"),
             ("draw/frame/heads=144/T=128", "draw/rectangles/heads=144/T=128", "a rectangle a cell"),
             ("draw/frame/head/T=2048", "draw/rectangles/head/T=2048", "a rectangle a cell"),
             ("draw/own/heads=144/T=128", "draw/rectangles-own/heads=144/T=128", "a rectangle a cell"),
             ("draw/frame/heads=48/T=64", "draw/frame/empty", "the window empty"),
             ("draw/key/shipped/T=10", "", ""), ("draw/key/gpt2-small/T=128", "", "")],
}


def main():
    parser = argparse.ArgumentParser(prog="tests/bench/peers.sh")
    parser.add_argument("--root", help=argparse.SUPPRESS)
    parser.add_argument("--program", help="default: build/release/headlight_bench")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose names contain this")
    suites = ["attention", "model", "train", "sweep", "export", "draw"]
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(suites))
    options = parser.parse_args()
    options.program = options.program or os.path.join(options.root, "build/release/headlight_bench")
    wrong = [suite for suite in options.suites if suite not in suites]
    if wrong:
        parser.error(f"suite: expected one of {', '.join(suites)}, found {wrong[0]}")
    if options.threads < 1 or options.rounds < 1:
        parser.error("--threads and --rounds: expected at least 1")
    if not os.access(options.program, os.X_OK):
        parser.error(f"{options.program}: expected the benchmark, found none (./run bench --help builds it)")

    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
               platform.machine())
    print(f"{cpu}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; {options.threads} thread(s), "
          f"{options.rounds} rounds in turn; milliseconds, median (lowest…highest); "
          "ratio: ours / theirs, pair by pair, below 1 we are quicker")
    if os.getloadavg()[0] > 0.5:
        print("the machine is busy: two threads that wait for each other (PyTorch's do so by spinning) show what it "
              "leaves them, not what they can do", file=sys.stderr)
    print(f"{'':38} {'Headlight':32} {'peer':16} {'':32} ratio")
    for suite in options.suites or suites:
        for name, peers in rows_of(suite):
            if options.only in name:
                beside(options, suite, name, peers)
        if suite in OWN_PEERS:
            beside_each_other(options, suite, OWN_PEERS[suite])


main()
