"""The engine in process beside threads, Ctrl C, forks and interpreters: nothing of it ends or stops the host."""
import contextlib
import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest

import common  # noqa: F401  (where the module is)
import headlight


class Threads(unittest.TestCase):
    def test_threads_share_a_model(self):
        model, wrong = headlight.open(threads=1), []
        expected = {text: model(text).attentions.tobytes() for text in ("我请李雷", "the cat sat")}

        def ask():
            for _ in range(20):
                wrong.extend(text for text in expected if model(text).attentions.tobytes() != expected[text])
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_threads_share_an_answer_whose_arrays_are_made_when_they_are_looked_at(self):
        model, barrier, seen = headlight.open("shipped:decoder"), threading.Barrier(4), []
        names = ("attentions", "scores", "ffn.hidden", "logits")
        answer, alone = model("我请李雷帮我"), model("我请李雷帮我")

        def look():
            barrier.wait()
            seen.append([answer[name].tobytes() for name in names])
        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(seen, [[alone[name].tobytes() for name in names]] * 4)

    def test_control_c_ends_a_long_call_and_nothing_else(self):
        model = headlight.open("shipped:decoder")
        printed, begin = io.StringIO(), time.monotonic()
        pressed = [0.0]

        def press():
            pressed[0] = time.monotonic()
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.2, press).start()
        with contextlib.redirect_stderr(printed), self.assertRaises(KeyboardInterrupt):
            while time.monotonic() < begin + 60:
                model(ids=[5] * 8000)
        self.assertLess(time.monotonic() - pressed[0], 3)      # 0.3 s where nothing else runs
        self.assertEqual(printed.getvalue(), "")
        self.assertEqual(len(model("我请李雷").tokens), len(model("我请李雷").tokens))

    def test_control_c_ends_patches_and_a_metric_that_raises_too(self):
        model = headlight.open("shipped:decoder")
        clean, corrupt, asked = model("我请李雷"), model("我爱北京"), []

        def metric(logits):
            asked.append(logits)
            if len(asked) == 2:
                os.kill(os.getpid(), signal.SIGINT)
            return 0.0
        with self.assertRaises(KeyboardInterrupt):
            model.patch(clean, corrupt, metric)
        self.assertLess(len(asked), 4)      # of 16
        asked.clear()

        def raising(logits):
            asked.append(logits)
            raise ZeroDivisionError("once")

        def patch():
            with self.assertRaisesRegex(ZeroDivisionError, "once"):
                model.patch(clean, corrupt, raising)
        patch()
        elsewhere = threading.Thread(target=patch)
        elsewhere.start()
        elsewhere.join()
        self.assertEqual(len(asked), 2)

    def run_alone(self, code):
        """In an interpreter of its own, which must end by itself: what it prints."""
        path = os.pathsep.join(sys.path[:1] + [os.path.join(common.ROOT, "python")])
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)], env={**os.environ, "PYTHONPATH": path},
                              timeout=120, check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_forked_process_asks_and_ends(self):
        self.run_alone("""
            import os, sys, headlight
            model = headlight.open('shipped:decoder')
            first = model('我请李雷').attentions.tobytes()
            child = os.fork()
            same = model('我请李雷').attentions.tobytes() == first
            sys.exit(not same if child == 0 else os.waitpid(child, 0)[1] != 0 or not same)""")

    def test_forked_while_a_thread_is_in_a_call_it_says_so_and_ends(self):
        said = self.run_alone("""
            import os, sys, threading, time, headlight
            model = headlight.open('shipped:decoder', threads=1)
            answer = model('我请李雷')
            thread = threading.Thread(target=lambda: model(ids=[5] * 3000))
            thread.start()
            while not headlight.library._running:
                time.sleep(0.001)
            child = os.fork()
            if child == 0:
                for ask in (lambda: model('我请李雷'), lambda: answer.tokens, lambda: headlight.open()):
                    try:
                        ask()
                    except headlight.Error as error:
                        print(error, flush=True)
                print(len(headlight.export('我请李雷', 'shipped:decoder')['attentions']), flush=True)      # by a process
                sys.exit(0)
            status = os.waitpid(child, 0)[1]
            thread.join()
            child = os.fork()      # now no thread is
            if child == 0:
                sys.exit(model('我请李雷').tokens != answer.tokens)
            sys.exit(status or os.waitpid(child, 0)[1] != 0)""")
        line = "fork: expected no thread inside a call while a process is forked, found 1"
        self.assertEqual(said.splitlines(), [line, line, line, "2"])

    def test_the_one_interpreter_that_numpy_is_in_may_be_a_subinterpreter(self):
        said = self.run_alone("""
            try:
                import _interpreters as made      # Python 3.13
                one, run = made.create('legacy'), made.exec
            except ImportError:
                import _xxsubinterpreters as made
                one, run = made.create(), made.run_string
            run(one, '''if True:
                import headlight
                model = headlight.open('shipped:decoder')
                answer = model('我请李雷')
                print(answer.tokens, answer.attentions.sum(), flush=True)
                try:
                    model('我请李雷', scale='much')
                except headlight.Error as error:
                    print(error, flush=True)''')
            made.destroy(one)""").splitlines()
        answer = headlight.open("shipped:decoder")("我请李雷")
        self.assertEqual(said[0], f"{answer.tokens} {answer.attentions.sum()}")
        self.assertIn("much", said[1])


if __name__ == "__main__":
    unittest.main()
