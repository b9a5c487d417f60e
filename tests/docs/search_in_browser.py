#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A browser opens the site as files, and its search finds a name: search_in_browser.py BROWSER SITE WORD EXPECTED-PAGE

The browser is spoken to by its debugging protocol over pipes: it shows results seconds after the page is there, and
headless printing does not wait."""

import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time

BROWSER, SITE, WORD, EXPECTED = sys.argv[1:]
PATIENCE = 90


class Browser:
    def __init__(self, folder):
        # It reads 3 and writes 4; our own ends lie above, so that neither is overwritten.
        (reads, to), (of, writes) = os.pipe(), os.pipe()
        reads, to, of, writes = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (reads, to, of, writes))
        arguments = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                     "--remote-debugging-pipe", f"--user-data-dir={folder}"]
        self.process = subprocess.Popen(arguments, pass_fds=(3, 4), stderr=subprocess.DEVNULL,
                                        preexec_fn=lambda: (os.dup2(reads, 3), os.dup2(writes, 4)))
        os.close(reads)
        os.close(writes)
        self.to, self.of, self.number, self.rest = to, of, 0, b""

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method,
                   "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                more = os.read(self.of, 1 << 16)
                if not more:
                    raise SystemExit("the browser ended")
                self.rest += more
            answer, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(answer)
            if answer.get("id") == self.number:
                return answer.get("result", {})


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            target = browser.call("Target.createTarget", url=f"file://{SITE}/index.html?q={WORD}")["targetId"]
            session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            found = []
            for _ in range(PATIENCE):
                links = ("JSON.stringify([...document.querySelectorAll('.md-search-result__link')]"
                         ".map(a => a.getAttribute('href')))")
                found = json.loads(browser.call("Runtime.evaluate", session,
                                                expression=links).get("result", {}).get("value") or "[]")
                if found:
                    break
                time.sleep(1)
        finally:
            browser.process.kill()
            browser.process.wait()
    print(f"a search for {WORD} finds {len(found)} places: {', '.join(found[:5])}")
    return 0 if any(EXPECTED in link for link in found[:10]) else 1


if __name__ == "__main__":
    sys.exit(main())
