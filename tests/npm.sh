# Sourced by tests that compare with packages of npm. Without node, npm or their registry nothing is compared, which a
# line says: no machine that builds this needs a network.

skip() {
  printf 'skipped: %s\n' "$1"
  exit 0
}

# npm_folder WHAT PACKAGE… : installs the packages into a new folder and enters it; WHAT names them in the line.
npm_folder() {
  command -v node >/dev/null && command -v npm >/dev/null || skip 'node or npm is not installed'
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  cd "$folder"
  timeout 240 npm install --prefix . --no-audit --no-fund --ignore-scripts "${@:2}" >npm.log 2>&1 ||
    skip "$1 cannot be had from the registry of npm"
}
