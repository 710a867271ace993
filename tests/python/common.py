"""What the tests share: where the module is, and that they are skipped where packages are missing."""
import importlib.util
import os
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "python"), os.path.join(HERE, "classes"), HERE, os.path.join(ROOT, "tests", "bench")]


def need(*packages):
    """Ends a test as skipped, with a line, where one of these cannot be imported; as failed where none may skip."""
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        may_skip = not (os.environ.get("HEADLIGHT_NO_SKIP") or os.environ.get("CI"))
        print(("skipped: " if may_skip else "expected to be installed: ") + ", ".join(missing))
        sys.exit(77 if may_skip else 1)


need("numpy", "torch")

import torch  # noqa: E402

warnings.filterwarnings("ignore", message=".*nested tensor.*")
torch.set_num_threads(1)
