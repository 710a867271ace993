#!/usr/bin/env bash
# Headlight beside what others would use, on this machine, round by round:
#   tests/bench/peers.sh [--threads N] [--rounds R] [--only TEXT] [--program FILE] [SUITE…]
# SUITE: attention, model, train, sweep, export, draw; all of them by default. N: 1 by default. Our column, theirs, and the
# ratio of each round's pair: median, lowest and highest. --only takes the rows whose names contain TEXT.
#
# Needs: the benchmark of a release build (./run bench --help makes it; --program names another), Debian's packages
# python3-torch, libopenblas0-openmp, python3-onnx and python3-numpy, and npm, which brings ONNX Runtime's library into
# build/peers. Nothing is installed on the system. A peer that is not there is named and left out.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
library=$root/build/peers/node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1

python=python3
python3 -c 'import torch' 2>/dev/null || python=/usr/bin/python3  # another Python may stand before the system's

# ONNX Runtime is a peer of attention and model alone.
[[ " $* " =~ " "(train|sweep|export|draw)" " && ! " $* " =~ " "(attention|model)" " ]] && alone=1 || alone=
if [[ ! $alone && ! -e $library && " $* " != *" --help "* ]] && command -v npm >/dev/null; then
  mkdir -p "$root/build/peers"
  # Without its script, which would fetch the parts for graphics cards.
  npm install --prefix "$root/build/peers" --ignore-scripts --no-audit --no-fund --loglevel=error \
    onnxruntime-node@1.30.0 >&2 || true
fi

# PyTorch at its best: OpenBLAS on OpenMP, as PyTorch itself, and its AVX-512 loops where there is AVX-512.
openmp=/usr/lib/$(uname -m)-linux-gnu/openblas-openmp
[[ -d $openmp ]] && export LD_LIBRARY_PATH=$openmp${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
grep -qw avx512f /proc/cpuinfo && export OPENBLAS_CORETYPE=SkylakeX

ONNXRUNTIME_LIBRARY=$library exec "$python" "$here/peers.py" --root "$root" "$@"
