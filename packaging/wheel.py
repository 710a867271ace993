#!/usr/bin/env python3
"""A wheel of an installed tree: wheel.py TREE OUT PLATFORM

TREE has bin/headlight (Linux), MacOS/headlight (macOS) or headlight.com and headlight.exe (Windows), as build.sh and
macos.sh make it, share/headlight, the licences of the libraries and the list (SPDX) of what is inside; of macOS the
libraries in Frameworks too. The wheel is written into OUT: the program is a script of it, which pip puts where commands
are, and its data goes to share/headlight beside that folder, where the program looks for it; of Linux so does the library
of the module, to lib/headlight. PLATFORM is the tag of the platform: win_amd64, manylinux_2_31_x86_64, macosx_15_0_arm64.
"""
import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
METADATA = """Metadata-Version: 2.1
Name: headlight
Version: {version}
Summary: Attention of transformers as live heatmaps, and of your own code
License: MIT
Requires-Python: >=3.9
Requires-Dist: numpy
Description-Content-Type: text/markdown

The program `headlight` with its window, and the Python module that runs it. Nothing is downloaded when it runs.
"""


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    tree, out, platform = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    out.mkdir(parents=True, exist_ok=True)
    version = re.search(r"project\(headlight VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    names = ("bin/headlight", "MacOS/headlight", "headlight.com", "headlight.exe")
    programs = [tree / name for name in names if (tree / name).is_file()]
    if not programs or not (tree / "share/headlight/assets").is_dir():
        sys.exit(f"wheel.py: {tree}: expected a program and share/headlight, found {sorted(p.name for p in tree.iterdir())}")
    name, data = f"headlight-{version}", f"headlight-{version}.data"
    members = {}
    for pattern in ("*.py", "*.js", "*.json", "*.pyi", "py.typed"):
        for file in sorted((ROOT / "python/headlight").glob(pattern)):
            members[f"headlight/{file.name}"] = file.read_bytes()
    for file in programs:
        members[f"{data}/scripts/{file.name}"] = file.read_bytes()
    for folder in ("share/headlight", "Frameworks"):
        for file in sorted((tree / folder).rglob("*")):
            if file.is_file():
                members[f"{data}/data/{file.relative_to(tree).as_posix()}"] = file.read_bytes()
    library = tree / "lib/headlight/libheadlight.so.1"  # beside the program, where the module looks
    if library.is_file():
        members[f"{data}/data/lib/headlight/{library.name}"] = library.read_bytes()
    info = f"{name}.dist-info"
    members[f"{info}/METADATA"] = METADATA.format(version=version).encode()
    members[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: packaging/wheel.py\nRoot-Is-Purelib: false\n"
                                f"Tag: py3-none-{platform}\n").encode()
    members[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    documents = tree / "share/doc/headlight"
    for folder in (tree / "licenses", documents / "licences"):  # of the libraries inside
        for file in sorted(folder.glob("*")):
            members[f"{info}/licenses/{file.name}"] = file.read_bytes()
    for file in (tree / "headlight.spdx.json", documents / "headlight.spdx.json"):
        if file.is_file():
            members[f"{info}/sboms/{file.name}"] = file.read_bytes()
    record = "".join(f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},"
                     f"{len(content)}\n" for path, content in members.items())
    members[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = out / f"{name}-py3-none-{platform}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in members.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in path else 0o100644) << 16
            archive.writestr(entry, content)
    print(wheel)


main()
