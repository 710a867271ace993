#!/usr/bin/env bash
# Is the notebook's widget one of anywidget's? anywidget.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
command -v chromium >/dev/null || { echo 'skipped: chromium is not installed'; exit 0; }
# shellcheck source=tests/npm.sh
. "$here/../npm.sh"
npm_folder 'anywidget' anywidget@0.9.21 @jupyter-widgets/base@6 @jupyter-widgets/base-manager@1 esbuild@0.25
cat >manager.mjs <<'JS'
import { ManagerBase } from '@jupyter-widgets/base-manager';
import * as base from '@jupyter-widgets/base';
window.jupyter = { ManagerBase, base };
JS
node_modules/.bin/esbuild manager.mjs --bundle --log-level=error --outfile=manager.js
python3 "$here/widget_front.py" "$program" "$here/../golden" "$PWD"
