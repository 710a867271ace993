#!/usr/bin/env bash
# A package is whole: package.sh BUILD_FOLDER. Makes the Debian package of this build, unpacks it into a bare root and
# runs what lies there. Without dpkg the system is of another family, and the test is skipped (77), where it may be.
set -euo pipefail

fail() {
  echo "package: $*" >&2
  exit 1
}

# package.sh --menu ROOT FOLDER, on a display: the entry of a menu opens a file in a window that belongs to the entry.
if [[ $1 == --menu ]]; then
  root=$2 entry=$2/usr/share/applications/headlight.desktop
  cp "$(dirname "$0")/start.headlight.json" "$3/menu.headlight.json"
  export HOME=$3/menu XDG_DATA_DIRS=$root/usr/share:/usr/share PATH=$root/usr/bin:$PATH LIBGL_ALWAYS_SOFTWARE=1
  unset WAYLAND_DISPLAY XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME HEADLIGHT_DATA
  gio launch "$entry" "$3/menu.headlight.json" >"$3/log" 2>&1 || fail "gio launch: $(<"$3/log")"
  window=
  for ((i = 0; i < 300; ++i)); do
    window=$(xdotool search --onlyvisible --class "^$(sed -n 's/^StartupWMClass=//p' "$entry")\$" 2>/dev/null | head -n 1) && [[ -n $window ]] && break
    sleep 0.2
  done
  [[ -n $window ]] || fail "the entry of the menu: expected a window, found none: $(<"$3/log")"
  process=$(xdotool getwindowpid "$window")
  for ((i = 0; i < 100; ++i)); do
    [[ $(xdotool getwindowname "$window") != *menu.headlight.json* ]] || break
    sleep 0.2
  done
  title=$(xdotool getwindowname "$window")
  kill -TERM "$process"
  for ((i = 0; i < 100; ++i)); do kill -0 "$process" 2>/dev/null || break; sleep 0.1; done
  [[ $title == *menu.headlight.json* ]] || fail "the entry of the menu: expected a window of menu.headlight.json, found '$title'"
  exit
fi

here=$(readlink -f "$0")
build=$1
command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null || {
  echo 'package: dpkg-deb and dpkg-shlibdeps are not installed'
  [[ -z ${HEADLIGHT_NO_SKIP-}${CI-} ]] || exit 1
  exit 77
}
folder=$(mktemp -d "${TMPDIR:-/tmp}/headlight-package-XXXXXX")
trap 'rm -rf "$folder"' EXIT

cpack -G DEB --config "$build/CPackConfig.cmake" -B "$folder/out" >"$folder/log" 2>&1 || {
  cat "$folder/log" >&2
  fail 'cpack -G DEB failed'
}
# The same bytes at another time.
sleep 1
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$folder/again" >"$folder/log" 2>&1 || fail 'cpack -G DEB failed again'
cmp "$folder"/out/headlight_*.deb "$folder"/again/headlight_*.deb || fail 'expected the same package twice, found another'
package=$(find "$folder/out" -maxdepth 1 -name 'headlight_*.deb')
[[ -n $package ]] || fail "expected headlight_*.deb, found $(ls "$folder/out")"

depends=$(dpkg-deb -f "$package" Depends)
for name in libc6 libcairo2 libicu libzip fonts-wqy-microhei python3; do
  [[ $depends == *"$name"* ]] || fail "Depends: expected $name among them, found $depends"
done

root=$folder/root
dpkg-deb -x "$package" "$root"
for file in bin/headlight share/man/man1/headlight.1.gz share/bash-completion/completions/headlight \
  share/zsh/vendor-completions/_headlight share/fish/vendor_completions.d/headlight.fish \
  share/applications/headlight.desktop share/metainfo/headlight.metainfo.xml share/mime/packages/headlight-mime.xml \
  share/icons/hicolor/scalable/apps/headlight.svg share/doc/headlight/copyright share/doc/headlight/changelog.gz lib/python3/dist-packages/headlight/__init__.py \
  lib/python3/dist-packages/headlight/__init__.pyi; do
  [[ -s $root/usr/$file ]] || fail "expected /usr/$file, found $(cd "$root" && find . -type f | head -n 40 | tr '\n' ' ')"
done

gunzip "$root/usr/share/man/man1/headlight.1.gz"

cd /
run() { env -i PATH=/usr/bin:/bin HOME="$folder/home" LC_ALL=C.UTF-8 "$@"; }
[[ $(run "$root/usr/bin/headlight" --version) =~ ^headlight\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail '--version: no version'
run "$root/usr/bin/headlight" export --text '我请李雷帮我订了去北京的机票' >"$folder/export.json" || fail 'export failed'
grep -q '"text":"机票"' "$folder/export.json" || fail 'export: expected the token 机票'

# The module asks in process.
[[ $(run HEADLIGHT="$root/usr/bin/headlight" PYTHONPATH="$root/usr/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1 \
  /usr/bin/python3 -c 'import headlight; print(headlight.library.library() is not None, headlight.open()("我请李雷").tokens)') == \
  "True ['我', '请', '李雷']" ]] || fail 'the module: expected three tokens, in process'

# What the window is drawn of is there: its shaders, models, lessons and fonts.
run "$root/usr/bin/headlight" screenshot --lesson masks -o "$folder/window.png" >/dev/null || fail 'the window cannot be drawn'
[[ $(wc -c <"$folder/window.png") -gt 20000 ]] || fail 'the picture of the window is empty'

# Every command is in the manual page and in each of the completions.
commands=$(run "$root/usr/bin/headlight" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]\+\) .*/\1/p')
[[ -n $commands ]] || fail '--help: expected a list of commands'
for command in $commands; do
  for file in share/man/man1/headlight.1 share/bash-completion/completions/headlight \
    share/zsh/vendor-completions/_headlight share/fish/vendor_completions.d/headlight.fish; do
    grep -qw "$command" "$root/usr/$file" || fail "/usr/$file: expected the command $command"
  done
done
# … and each option with what it does.
awk '/^\.TP/ { head = NR + 1 } NR == head { text = $0 } head && NR == head + 1 && /^\./ { print text; bad = 1 } END { exit bad }' \
  "$root/usr/share/man/man1/headlight.1" >"$folder/bare" || fail "the manual page: no description of $(head -n 1 "$folder/bare")"
[[ $(grep -c "' -l " "$root/usr/share/fish/vendor_completions.d/headlight.fish") == \
   $(grep -c "^\.TP" "$root/usr/share/man/man1/headlight.1") ]] || fail 'the completions of fish: expected every option'
bash -n "$root/usr/share/bash-completion/completions/headlight" || fail 'the completions of bash cannot be read'
completed=$(bash -c 'source "$1"; COMP_WORDS=(headlight export --form); COMP_CWORD=2; _headlight; echo "${COMPREPLY[*]}"' \
  _ "$root/usr/share/bash-completion/completions/headlight")
[[ $completed == --format ]] || fail "completion of --form: expected --format, found '$completed'"
if command -v man >/dev/null; then
  warned=$(man --warnings=w -E UTF-8 -l "$root/usr/share/man/man1/headlight.1" 2>&1 >/dev/null)
  [[ -z $warned ]] || fail "the manual page: $warned"
fi
if command -v appstreamcli >/dev/null; then
  appstreamcli validate --no-net "$root/usr/share/metainfo/headlight.metainfo.xml" >"$folder/log" ||
    fail "the AppStream metadata: $(tr '\n' ' ' <"$folder/log")"
fi
if command -v desktop-file-validate >/dev/null; then
  desktop-file-validate "$root/usr/share/applications/headlight.desktop" || fail 'the desktop file is not valid'
fi
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning --display-info "$package" >"$folder/log" 2>&1 || fail "lintian: $(tr '\n' ' ' <"$folder/log")"
fi
if command -v gio >/dev/null && command -v xvfb-run >/dev/null && command -v xdotool >/dev/null; then
  xvfb-run -a -s '-screen 0 1280x1024x24 -noreset' "$here" --menu "$root" "$folder"
fi
