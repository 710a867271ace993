"""Two real browsers, driven without a display by what Python's standard library has.

Chromium speaks its DevTools protocol over two pipes (--remote-debugging-pipe), Firefox speaks Marionette over a socket
of the same machine. Both offer: open(url), js(expression), size(width, height), theme(name), key(name), click(x, y),
move(x, y), screenshot() and close(). `requests` lists the addresses that Chromium asked for.
"""

import base64
import fcntl
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time

PATIENCE = 120  # seconds until a browser that says nothing counts as stuck


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise TimeoutError(f'expected {what} within {PATIENCE} s')


class Browser:
    def open(self, url):
        self.go(url)
        wait_until(lambda: self.js("document.documentElement?.dataset.ready === 'true'"), f'{url[:80]} to be drawn')

    def settled(self):
        """Two frames later: everything that was asked for is drawn."""
        self.js('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))')


class Chromium(Browser):
    name = 'chromium'
    program = shutil.which('chromium') or shutil.which('chromium-browser')

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix='headlight-chromium-')
        read, self.to = os.pipe()
        self.source, write = os.pipe()

        def take_pipes():
            # 3 and 4 are where Chromium looks; what stands there now must not be closed by the copying.
            high_read, high_write = fcntl.fcntl(read, fcntl.F_DUPFD, 20), fcntl.fcntl(write, fcntl.F_DUPFD, 20)
            os.dup2(high_read, 3)
            os.dup2(high_write, 4)

        self.process = subprocess.Popen(
            [self.program, '--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--no-first-run',
             '--remote-debugging-pipe', '--disable-background-networking', '--disable-component-update',
             f'--user-data-dir={self.profile}', 'about:blank'],
            preexec_fn=take_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read)
        os.close(write)
        self.buffer, self.number, self.events, self.session = b'', 0, [], None
        page = next(one for one in self.command('Target.getTargets')['targetInfos'] if one['type'] == 'page')
        self.session = self.command('Target.attachToTarget', targetId=page['targetId'], flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            self.command(f'{domain}.enable')

    def message(self):
        while b'\0' not in self.buffer:
            part = os.read(self.source, 1 << 20)
            if not part:
                raise EOFError('chromium ended')
            self.buffer += part
        message, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(message)

    def command(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        data = json.dumps(message).encode() + b'\0'
        while data:
            data = data[os.write(self.to, data):]
        while True:
            answer = self.message()
            if answer.get('id') != self.number:
                self.events.append(answer)
                continue
            if 'error' in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer['result']

    def go(self, url):
        self.events = []
        self.command('Page.navigate', url=url)

    def js(self, expression):
        result = self.command('Runtime.evaluate', expression=expression, awaitPromise=True, returnByValue=True)
        if 'exceptionDetails' in result:
            thrown = result['exceptionDetails']
            raise RuntimeError(thrown.get('exception', {}).get('description', thrown['text']))
        return result['result'].get('value')

    @property
    def requests(self):
        sent = [event for event in self.events if event.get('method') == 'Network.requestWillBeSent']
        return [event['params']['request']['url'] for event in sent]

    @property
    def complaints(self):
        """Exceptions, and what the console or the page's policy had to say."""
        return [json.dumps(event['params'])[:400] for event in self.events
                if event.get('method') in ('Runtime.exceptionThrown', 'Log.entryAdded', 'Runtime.consoleAPICalled')]

    def size(self, width, height):
        self.command('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1,
                     mobile=width < 500)

    def theme(self, name):
        self.command('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': name}])

    def language(self, tag):
        """The reader's, of pages that are opened from now on."""
        agent = self.command('Browser.getVersion')['userAgent']
        self.command('Emulation.setUserAgentOverride', userAgent=agent, acceptLanguage=tag)

    def key(self, key):
        codes = {'ArrowRight': 39, 'ArrowLeft': 37, 'ArrowUp': 38, 'ArrowDown': 40, 'Escape': 27, 'Enter': 13}
        text = {} if key in codes else {'text': key}
        for kind in ('keyDown', 'keyUp'):
            self.command('Input.dispatchKeyEvent', type=kind, key=key, windowsVirtualKeyCode=codes.get(key, 0), **text)

    def move(self, x, y):
        self.command('Input.dispatchMouseEvent', type='mouseMoved', x=x, y=y)

    def click(self, x, y):
        self.move(x, y)
        for kind in ('mousePressed', 'mouseReleased'):
            self.command('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', clickCount=1)

    def touch(self, kind, points):
        """touchStart, touchMove or touchEnd, with where the fingers are."""
        self.command('Input.dispatchTouchEvent', type=kind, touchPoints=[{'x': x, 'y': y, 'id': i} for i, (x, y) in enumerate(points)])

    def screenshot(self):
        return base64.b64decode(self.command('Page.captureScreenshot', format='png')['data'])

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


class Firefox(Browser):
    name = 'firefox'
    program = shutil.which('firefox-esr') or shutil.which('firefox')
    requests = None  # Marionette does not tell them
    complaints = ()

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix='headlight-firefox-')
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            port = free.getsockname()[1]
        with open(os.path.join(self.profile, 'user.js'), 'w', encoding='utf-8') as settings:
            settings.write(f'user_pref("marionette.port", {port});\n')
        environment = dict(os.environ, MOZ_HEADLESS='1', HOME=self.profile)
        self.process = subprocess.Popen(
            [self.program, '--headless', '--marionette', '--no-remote', '--profile', self.profile, 'about:blank'],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.buffer, self.number = b'', 0

        def connected():
            try:
                self.socket = socket.create_connection(('127.0.0.1', port), timeout=PATIENCE)
                return True
            except OSError:
                if self.process.poll() is not None:
                    raise EOFError('firefox ended') from None
                return False

        wait_until(connected, 'firefox to listen')
        self.packet()  # it greets
        self.command('WebDriver:NewSession', capabilities={})

    def packet(self):
        while b':' not in self.buffer:
            self.receive()
        length, self.buffer = self.buffer.split(b':', 1)
        while len(self.buffer) < int(length):
            self.receive()
        packet, self.buffer = self.buffer[:int(length)], self.buffer[int(length):]
        return json.loads(packet)

    def receive(self):
        part = self.socket.recv(1 << 20)
        if not part:
            raise EOFError('firefox ended')
        self.buffer += part

    def command(self, method, **parameters):
        self.number += 1
        message = json.dumps([0, self.number, method, parameters]).encode()
        self.socket.sendall(str(len(message)).encode() + b':' + message)
        _, _, error, result = self.packet()
        if error:
            raise RuntimeError(f"{method}: {error['message']}")
        return result

    def go(self, url):
        self.command('WebDriver:Navigate', url=url)

    def js(self, expression):
        answer = self.command('WebDriver:ExecuteAsyncScript', args=[], sandbox=None, script=(
            'const done = arguments[arguments.length - 1];'
            f'(async () => ({expression}))().then(value => done({{value}}), error => done({{error: String(error)}}));'))['value']
        if 'error' in answer:
            raise RuntimeError(answer['error'])
        return answer.get('value')

    def size(self, width, height):
        self.command('WebDriver:SetWindowRect', width=width, height=height)
        inner = self.js('[innerWidth, innerHeight]')
        self.command('WebDriver:SetWindowRect', width=2 * width - inner[0], height=2 * height - inner[1])

    def theme(self, name):
        pass  # the page has a button for it

    def actions(self, source):
        self.command('WebDriver:PerformActions', actions=[source])

    def key(self, key):
        codes = {'ArrowRight': '\ue014', 'ArrowLeft': '\ue012', 'ArrowUp': '\ue013', 'ArrowDown': '\ue015', 'Escape': '\ue00c', 'Enter': '\ue007'}
        value = codes.get(key, key)
        self.actions({'type': 'key', 'id': 'keys', 'actions': [{'type': 'keyDown', 'value': value}, {'type': 'keyUp', 'value': value}]})

    def move(self, x, y):
        self.actions({'type': 'pointer', 'id': 'mouse', 'actions': [{'type': 'pointerMove', 'x': int(x), 'y': int(y), 'duration': 0}]})

    def click(self, x, y):
        self.actions({'type': 'pointer', 'id': 'mouse', 'actions': [
            {'type': 'pointerMove', 'x': int(x), 'y': int(y), 'duration': 0}, {'type': 'pointerDown', 'button': 0}, {'type': 'pointerUp', 'button': 0}]})

    def screenshot(self):
        return base64.b64decode(self.command('WebDriver:TakeScreenshot', full=False)['value'])

    def close(self):
        self.socket.close()
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


BROWSERS = {browser.name: browser for browser in (Chromium, Firefox)}
