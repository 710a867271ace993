#!/usr/bin/env python3
"""A wheel of an installed tree: wheel.py TREE OUT [PLATFORM]

TREE has bin/headlight and lib/ (Linux, as `cpack -G TGZ` makes it), or headlight.com and headlight.exe (Windows, as
packaging/windows/build.sh makes it), or bin/headlight of macOS; and share/headlight. The wheel is written into OUT: the
program is a script of it, which pip puts where commands are, and its data goes to share/headlight beside that folder,
where the program looks for it. PLATFORM is the tag of the platform; without one it is read from the files: of Linux the
glibc that they ask for.
"""
import base64
import hashlib
import re
import subprocess
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


def is_elf(file: Path) -> bool:
    return file.read_bytes()[:4] == b"\x7fELF"


def linux_tag(files) -> str:
    """manylinux of the newest glibc that one of the files asks for."""
    asked = {(2, 17)}
    for file in files:
        text = subprocess.run(["objdump", "-p", str(file)], check=True, capture_output=True, text=True).stdout
        asked |= {(int(a), int(b)) for a, b in re.findall(r"\bGLIBC_(\d+)\.(\d+)", text)}
    return "manylinux_%d_%d_x86_64" % max(asked)


def with_rpath(file: Path, rpath: str) -> bytes:
    copy = Path(sys.argv[2]) / "patched"
    copy.write_bytes(file.read_bytes())
    subprocess.run(["patchelf", "--set-rpath", rpath, str(copy)], check=True)
    content = copy.read_bytes()
    copy.unlink()
    return content


def main() -> None:
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    tree, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    version = re.search(r"project\(headlight VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    programs = [tree / name for name in ("bin/headlight", "headlight.com", "headlight.exe") if (tree / name).is_file()]
    if not programs or not (tree / "share/headlight/assets").is_dir():
        sys.exit(f"wheel.py: {tree}: expected a program and share/headlight, found {sorted(p.name for p in tree.iterdir())}")
    of_linux = is_elf(programs[0])
    libraries = sorted((tree / "lib").glob("*.so*")) if of_linux else []
    platform = sys.argv[3] if len(sys.argv) == 4 else linux_tag(programs + libraries) if of_linux else "win_amd64"
    name, data = f"headlight-{version}", f"headlight-{version}.data"
    members = {}
    for file in sorted((ROOT / "python/headlight").glob("*.py")):
        members[f"headlight/{file.name}"] = file.read_bytes()
    for file in programs:
        content = with_rpath(file, "$ORIGIN/../share/headlight/lib") if of_linux else file.read_bytes()
        members[f"{data}/scripts/{file.name}"] = content
    for file in libraries:  # by their names; a link would be a second copy
        if not file.is_symlink():
            soname = re.search(r"SONAME +(\S+)", subprocess.run(["objdump", "-p", str(file)], check=True, text=True,
                                                                capture_output=True).stdout)
            members[f"{data}/data/share/headlight/lib/{soname[1] if soname else file.name}"] = file.read_bytes()
    for file in sorted((tree / "share/headlight").rglob("*")):
        if file.is_file():
            members[f"{data}/data/share/headlight/{file.relative_to(tree / 'share/headlight').as_posix()}"] = file.read_bytes()
    info = f"{name}.dist-info"
    members[f"{info}/METADATA"] = METADATA.format(version=version).encode()
    members[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: packaging/wheel.py\nRoot-Is-Purelib: false\n"
                                f"Tag: py3-none-{platform}\n").encode()
    members[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
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
