#!/usr/bin/python3
"""The recipes of docs/studies.md on real engines: engines.py PROGRAM

Dask (a LocalCluster), Snakemake, and a Slurm of two nodes on loopback: with a worker killed, a task requeued, a line cut, a
second writer, another model under the path. What is gathered is each time what one process prints, to the byte. An engine
that is not installed is skipped with a line."""
import contextlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, ROOT = os.path.abspath(sys.argv.pop(1)), pathlib.Path(__file__).resolve().parents[2]
HAS_DASK = all(importlib.util.find_spec(name) for name in ("dask", "distributed"))
WORDS = ("喝了", "看了", "订了")
ASKED = ["patch", "model", "--at", "heads", "--pairs", "pairs.csv", "--threads", "1"]


def recipe(name):
    """The file of that name that docs/studies.md writes."""
    text = (ROOT / "docs/studies.md").read_text(encoding="utf-8")
    return re.search(rf"<!-- file: {re.escape(name)} -->\n```\w+\n(.*?)```", text, re.S)[1]


def wait_for(what, seconds=60):
    """Until it is true."""
    end = time.monotonic() + seconds
    while not (found := what()):
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.05)
    return found


def change_weights(folder):
    """The same model trained further: its first tensor is another."""
    file = pathlib.Path(folder, "model.safetensors")
    data = bytearray(file.read_bytes())
    header = json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])
    begin = len(data) - max(one["data_offsets"][1] for name, one in header.items() if name != "__metadata__")
    for at in range(begin, begin + 4000, 4):
        data[at + 2] ^= 8
    file.write_bytes(data)


class Engines(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="headlight-engines-")))
        shutil.copytree(ROOT / "assets/models/decoder", self.folder / "model")
        people = ("我请李雷帮我", "李雷请我帮他", "他请我帮他", "我请他帮我")
        rows = [f"{who}{a}最好的,{who}{b}最好的" for who in people for a in WORDS for b in WORDS if a != b]
        (self.folder / "pairs.csv").write_text("\n".join(["clean,corrupt", *rows, ""]), encoding="utf-8")
        (self.folder / "run").symlink_to(PROGRAM)
        self.whole = self.program(*ASKED, "--format", "csv")

    def program(self, *words, status=0, **more):
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, capture_output=True, check=False, **more)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done.stdout if status == 0 else done.stderr.decode()

    def gathered(self, study):
        return self.program(*ASKED, "--format", "csv", "--gather", study)

    def write(self, name):
        """A file of the document, about the pairs and the model of these tests."""
        text = recipe(name).replace("shipped:decoder", "model")
        (self.folder / name).write_text(text, encoding="utf-8")

    def ends(self, *words, **more):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=False, timeout=300, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def spoil(self, study):
        """A line that was cut in the middle of a shard, an end that was never written; computed again by its shard."""
        first, second, *_ = sorted((self.folder / study).glob("*.jsonl"))
        lines = first.read_bytes().splitlines(keepends=True)
        first.write_bytes(lines[0] + lines[1][:100] + b"\n" + b"".join(lines[2:]))
        second.write_bytes(second.read_bytes()[:-90])
        said = self.program(*ASKED, "--format", "csv", "--gather", study, status=1)
        self.assertRegex(said, "missing")
        self.assertRegex(said, first.name + ": line 2: expected a row, found damage")

    def test_another_model_under_the_path(self):
        self.program(*ASKED, "--resume", "rows")
        shutil.copytree(self.folder / "model", self.folder / "first")
        change_weights(self.folder / "model")
        other = self.program(*ASKED, "--format", "csv")
        self.assertNotEqual(other, self.whole)
        self.assertRegex(self.program(*ASKED, "--gather", "rows", status=1), "missing")
        self.assertEqual(self.program(*ASKED, "--format", "csv", "--resume", "rows"), other)
        moved = ["first" if word == "model" else word for word in ASKED]
        self.assertEqual(self.program(*moved, "--format", "csv", "--gather", "rows"), self.whole)

    def test_a_second_writer(self):
        words = [PROGRAM, *ASKED, "--resume", "rows", "--shard", "0/1"]
        several = [subprocess.Popen(words, cwd=self.folder, stderr=subprocess.PIPE, text=True) for _ in range(3)]
        said = [one.communicate()[1] for one in several]
        self.assertIn(0, [one.returncode for one in several])
        for one, line in zip(several, said):
            self.assertTrue(one.returncode == 0 or "no other program that writes here" in line, line)
        self.assertEqual(self.gathered("rows"), self.whole)

    @unittest.skipUnless(HAS_DASK, "python3-distributed is not installed")
    def test_dask(self):
        self.write("by_dask.py")
        self.ends(sys.executable, "by_dask.py")
        self.assertEqual(self.gathered("by-dask"), self.whole)
        self.spoil("by-dask")
        self.ends(sys.executable, "by_dask.py")
        self.assertEqual(self.gathered("by-dask"), self.whole)

    @unittest.skipUnless(HAS_DASK, "python3-distributed is not installed")
    def test_dask_with_a_worker_killed(self):
        self.write("by_dask.py")
        script = (self.folder / "by_dask.py").read_text(encoding="utf-8")
        cut = "        client.gather("
        self.assertIn(cut, script)
        kill = """        import glob, os, signal, time
        workers = client.run(os.getpid)
        futures = client.map(shard, range(4))
        while not glob.glob("by-dask/*.jsonl"):
            time.sleep(0.01)
        os.kill(next(iter(workers.values())), signal.SIGKILL)
        client.gather(futures)
"""
        (self.folder / "by_dask.py").write_text(script.replace(cut, kill + cut), encoding="utf-8")
        self.ends(sys.executable, "by_dask.py")
        self.assertEqual(self.gathered("by-dask"), self.whole)

    @unittest.skipUnless(shutil.which("snakemake"), "snakemake is not installed")
    def test_snakemake(self):
        self.write("Snakefile")
        self.ends("snakemake", "-c", "2")
        self.assertEqual((self.folder / "by-snakemake.csv").read_bytes(), self.whole)
        self.spoil("by-snakemake")
        for file in (self.folder / "by-snakemake").glob("*.done"):
            file.unlink()
        self.ends("snakemake", "-c", "2")
        self.assertEqual((self.folder / "by-snakemake.csv").read_bytes(), self.whole)

    @unittest.skipUnless(all(map(shutil.which, ("slurmctld", "slurmd", "munged"))) and os.geteuid() == 0,
                         "slurm-wlm and munge are not installed, or this is not root")
    def test_slurm(self):
        """Two nodes: a task requeued while it runs, one killed, a line cut, and the step that gathers."""
        with slurm_of_two_nodes(self.folder / "slurm") as environment:
            slow = self.folder / "slow"      # computes a few rows the first time, and waits
            slow.write_text(f"""#!/bin/bash
if [[ $* == *--shard* ]] && mkdir "once-$SLURM_ARRAY_TASK_ID" 2>/dev/null; then
  timeout -s KILL 0.15 {PROGRAM} "$@"
  touch "waits-$SLURM_ARRAY_TASK_ID"
  sleep 20
fi
exec {PROGRAM} "$@"
""", encoding="utf-8")
            slow.chmod(0o755)
            environment["HEADLIGHT"] = str(slow)
            self.program(*ASKED, "--resume", "rows", "--shard", "0/12")
            batch = self.program("study", "rows", "--slurm", "4").decode()
            (self.folder / "study.sbatch").write_text(batch, encoding="utf-8")

            def slurm(*words):
                return subprocess.run(words, cwd=self.folder, env=environment, check=True, capture_output=True, text=True).stdout

            def submit(*words):
                return slurm("sbatch", "--parsable", *words, "study.sbatch").strip()

            array = submit()
            wait_for(lambda: (self.folder / "waits-0").exists() and (self.folder / "waits-1").exists())
            slurm("scontrol", "requeue", array + "_0")
            slurm("scancel", "--signal=KILL", array + "_1")
            wait_for(lambda: (self.folder / "waits-3").exists())
            for task in (2, 3):
                slurm("scancel", "--signal=KILL", f"{array}_{task}")
            wait_for(lambda: "0" in slurm("squeue", "-h", "-o", "%K", "-t", "PD"))
            with contextlib.suppress(subprocess.CalledProcessError):      # else it waits for two minutes
                slurm("scontrol", "update", f"job={array}_0", "StartTime=now")
            again = submit("--array=1-3")
            gather = submit(f"--dependency=afterany:{array}:{again}", "--array=0", "--export=ALL,GATHER=1")
            wait_for(lambda: gather not in slurm("squeue", "-h", "-o", "%F"), 240)
            self.assertEqual((self.folder / "study.csv").read_bytes(), self.whole)
            names = {file.name for file in (self.folder / "rows").glob("rows-*-of-4.jsonl")}
            self.assertEqual(len(names), 4)
            self.spoil("rows")
            for task in range(4):
                self.program(*ASKED, "--resume", "rows", "--shard", f"{task}/4")
            self.program(*ASKED, "--resume", "rows", "--shard", "0/12")
            self.assertEqual(self.gathered("rows"), self.whole)


def free_ports(count):
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@contextlib.contextmanager
def slurm_of_two_nodes(folder):
    """The environment of its commands."""
    for name in ("state", "n1", "n2", "log"):
        (folder / name).mkdir(parents=True)
    folder.chmod(0o755)
    (folder / "key").write_bytes(os.urandom(1024))
    (folder / "key").chmod(0o600)
    control, *nodes = free_ports(3)
    host = socket.gethostname().split(".")[0]
    (folder / "slurm.conf").write_text("\n".join([
        "ClusterName=loop", "SlurmctldHost=localhost(127.0.0.1)", "SlurmUser=root", "SlurmdUser=root", "AuthType=auth/munge",
        f"AuthInfo=socket={folder}/munge", "CryptoType=crypto/munge", f"StateSaveLocation={folder}/state",
        f"SlurmdSpoolDir={folder}/%n", f"SlurmctldPidFile={folder}/ctld.pid", f"SlurmdPidFile={folder}/%n.pid",
        f"SlurmctldPort={control}", "ProctrackType=proctrack/pgid", "TaskPlugin=task/none", "SwitchType=switch/none",
        "MpiDefault=none", "ReturnToService=2", "SchedulerType=sched/backfill",
        "SchedulerParameters=sched_interval=1,bf_interval=1", "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU",
        "JobAcctGatherType=jobacct_gather/none", "AccountingStorageType=accounting_storage/none",
        *(f"NodeName=n{i + 1} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 State=UNKNOWN"
          for i, port in enumerate(nodes)),
        "PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP", ""]), encoding="utf-8")
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    with contextlib.ExitStack() as running:
        def start(*words):
            log = running.enter_context(open(folder / "log" / words[0], "ab"))
            one = subprocess.Popen(words, env=environment, stdout=log, stderr=log, start_new_session=True)
            running.callback(stop, one)

        start("munged", "--foreground", "--force", f"--key-file={folder}/key", f"--socket={folder}/munge",
              f"--pid-file={folder}/munge.pid", f"--log-file={folder}/log/munge", f"--seed-file={folder}/seed")
        wait_for(lambda: (folder / "munge").exists())
        start("slurmctld", "-D")
        for node in ("n1", "n2"):
            start("slurmd", "-D", "-N", node)
        idle = ["sinfo", "-h", "-t", "idle", "-o", "%D"]
        wait_for(lambda: subprocess.run(idle, env=environment, capture_output=True, text=True, check=False).stdout.strip() == "2")
        yield environment


def stop(process):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    unittest.main(verbosity=2)
