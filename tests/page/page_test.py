#!/usr/bin/env python3
"""Pages in real browsers: do they say what the program says, and nothing else?

    page_test.py PROGRAM GOLDEN [--browser chromium|firefox] [--only NAME] [--pictures FOLDER]

Exit status 77 where the browser is not installed, with a line that says so; 1 for Chromium where CI or
HEADLIGHT_NO_SKIP forbids skips.
"""

import argparse
import os
import pathlib
import sys
import traceback

import agree_tests
import browsers
import live_tests
import reader_tests
import site_tests
import source_tests
import trust_tests
import widget_tests
from page_setting import Setting

PARTS = agree_tests, live_tests, trust_tests, source_tests, reader_tests, site_tests, widget_tests


def main():
    options = argparse.ArgumentParser()
    options.add_argument('program')
    options.add_argument('golden')
    options.add_argument('--browser', default='chromium', choices=list(browsers.BROWSERS))
    options.add_argument('--only')
    options.add_argument('--pictures', type=pathlib.Path)
    options = options.parse_args()
    kind = browsers.BROWSERS[options.browser]
    if not kind.program:
        print(f'page: {options.browser} is not installed: skipped')
        # Where skips are forbidden, Chromium has been installed; Firefox is one more, where it is there.
        forbidden = options.browser == 'chromium' and (os.environ.get('CI') or os.environ.get('HEADLIGHT_NO_SKIP'))
        return 1 if forbidden else 77
    setting = Setting(options.program, options.golden, kind())
    setting.pictures = options.pictures
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    failed = 0
    try:
        setting.browser.size(1280, 800)
        for name, test in [found for part in PARTS for found in vars(part).items()]:
            if not name.startswith('test_') or (options.only and options.only not in name):
                continue
            try:
                note = test(setting)
                print(f'ok      {name[5:]}{": " + note if note else ""}', flush=True)
            except Exception:  # one failure must not hide the others
                failed += 1
                print(f'FAILED  {name[5:]}\n{traceback.format_exc(limit=-2)}', flush=True)
    finally:
        setting.browser.close()
        setting.server.shutdown()
    print(f'{kind.name}: {failed} failed' if failed else f'{kind.name}: all passed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
