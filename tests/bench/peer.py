"""What the peers of peers.py have in common."""
import sys
import time


def serve(run, shortest=0.05, times=1):
    """For every line read: once untimed, then until `shortest` seconds are over; writes the seconds of so many runs."""
    run()
    print("ready", flush=True)
    for _ in sys.stdin:
        run()
        begin, runs = time.perf_counter(), 0
        while True:
            run()
            runs += 1
            seconds = time.perf_counter() - begin
            if seconds >= shortest:
                break
        print(seconds / runs * times, flush=True)
