#!/usr/bin/env python3
"""Reports of real models in a real browser, as their readers see them.

usage: report_browser_test.py FIDELIO FIDELIO_SERVER [--keep DIR]

Fits models of one, two and five inputs, writes their reports, and opens them in headless Chromium at the width of a
phone and of a screen: everything is drawn, nothing is wider than the page, words in pictures are whole and of a size to
read, and the console stays empty. Exits with 77, which ctest calls skipped, where there is no Chromium. --keep leaves
reports and screenshots, light and dark, in DIR.
"""

import html
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
WIDTHS = (375, 1100)
LEAST_TEXT, MOST_TEXT = 8.5, 18  # pixels of letters in pictures; the page's own have 16


def halton(index, base):
    value, scale = 0.0, 1.0
    while index:
        index, digit = divmod(index, base)
        scale /= base
        value += digit * scale
    return value


def simulate(level, x):
    """A wave whose cheap version is tilted."""
    y = math.sin(6 * x[0]) + sum((i + 1) * 0.5 * v for i, v in enumerate(x[1:]))
    return y if level == 1 else 0.7 * y + 0.8 * x[0] - 0.4


def names(inputs):
    """Of inputs: the model of two has names of its own, one of them the longest that there may be."""
    return ["thickness", "n" * 63] if inputs == 2 else [f"x{j + 1}" for j in range(inputs)]


def variables(inputs):
    """Flags that create such a model."""
    if inputs != 2:
        return ["--inputs", str(inputs)]
    return ["--input", "thickness[mm]=0:1", "--input", names(2)[1] + "=0:1", "--output", "deflection[mm]"]


def runs(inputs):
    """Observations as CSV: 20 cheap and 9 expensive runs."""
    lines = ["level," + ",".join(names(inputs)) + ",y"]
    for level, count, first in ((0, 20, 1), (1, 9, 50)):
        for i in range(first, first + count):
            x = [halton(i, (2, 3, 5, 7, 11)[j]) for j in range(inputs)]
            lines.append(",".join(map(str, [level, *x, simulate(level, x)])))
    return "\n".join(lines) + "\n"


class Chromium:
    def __init__(self, program, scratch):
        self.program, self.scratch, self.number = program, scratch, 0

    def run(self, page, *flags):
        """Opens a page; answers what it prints and what its console says."""
        self.number += 1
        path = self.scratch / f"page{self.number}.html"
        path.write_text(page, encoding="utf-8")
        command = [
            self.program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            "--disable-dev-shm-usage", f"--user-data-dir={self.scratch / f'profile{self.number}'}", "--enable-logging=stderr",
            "--virtual-time-budget=5000", "--hide-scrollbars", *flags, path.as_uri(),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        return done.stdout, console

    def measure(self, report, width):
        """The report in a frame of that width: what it takes, as a dictionary, and what the console says."""
        script = """onload = () => {
          const page = document.getElementById('f').contentDocument, root = page.documentElement;
          const boxes = [...page.querySelectorAll('.panel > svg:not(.bar)')].map(s => s.getBoundingClientRect());
          const sizes = [], cut = [];
          for (const text of page.querySelectorAll('.panel > svg text')) {
            const picture = text.closest('.panel > svg'), frame = picture.getBoundingClientRect();
            sizes.push(parseFloat(page.defaultView.getComputedStyle(text).fontSize) * frame.width / picture.viewBox.baseVal.width);
            const box = text.getBoundingClientRect();
            if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
              cut.push(text.textContent);
            else if (text.parentNode !== picture && box.right > text.parentNode.viewportElement.getBoundingClientRect().left +
                     (parseFloat(text.parentNode.getAttribute('x')) + parseFloat(text.parentNode.getAttribute('width'))) *
                     frame.width / picture.viewBox.baseVal.width + 1)
              cut.push(text.textContent);
          }
          const touching = [];
          for (const picture of page.querySelectorAll('.panel > svg')) {
            const numbers = [...picture.querySelectorAll('text.number')].map(t => [t.textContent, t.getBoundingClientRect()]);
            numbers.forEach(([one, a], i) => numbers.slice(0, i).forEach(([other, b]) => {
              const margin = 0.2 * a.height;  // letters are lower than their boxes
              if (a.left < b.right && b.left < a.right && a.top + margin < b.bottom - margin && b.top + margin < a.bottom - margin)
                touching.push(other + ' and ' + one);
            }));
          }
          document.title = JSON.stringify({touching: touching, width: root.scrollWidth, pictures: boxes.length,
            least: Math.min(...boxes.map(b => Math.min(b.width, b.height))),
            small: Math.min(...sizes), large: Math.max(...sizes), cut: cut});
        }"""
        page = (f"<!DOCTYPE html><title>waiting</title><script>{script}</script>"
                f'<iframe id="f" width="{width}" height="900" style="border:0" srcdoc="{html.escape(report)}"></iframe>')
        dom, console = self.run(page, "--dump-dom", "--window-size=1300,1000")
        title = re.search(r"<title>([^<]*)</title>", dom)
        if not title or title.group(1) == "waiting":
            raise AssertionError(f"the browser did not render the page: {dom[:500]}")
        return json.loads(html.unescape(title.group(1))), console

    def screenshot(self, report, width, height, dark, path):
        page = (f"<!DOCTYPE html><style>body{{margin:0}}iframe{{border:0;display:block}}</style>"
                f'<iframe width="{width}" height="{height}" srcdoc="{html.escape(report)}"></iframe>')
        flags = ["--blink-settings=preferredColorScheme=0"] if dark else ["--blink-settings=preferredColorScheme=1"]
        self.run(page, f"--screenshot={path}", f"--window-size={width},{height}", *flags)


def check(name, report, chromium):
    """What is wrong with a report, as a list."""
    problems = []
    for width in WIDTHS:
        seen, console = chromium.measure(report, width)
        print(f"{name} at {width} px: {seen}")
        if seen["width"] > width:
            problems.append(f"{name} at {width} px: {seen['width']:.0f} px wide")
        if seen["pictures"] < 5:
            problems.append(f"{name} at {width} px: only {seen['pictures']} pictures")
        if seen["least"] < 60:
            problems.append(f"{name} at {width} px: a picture of {seen['least']:.0f} px")
        if seen["small"] < LEAST_TEXT or seen["large"] > MOST_TEXT:
            problems.append(f"{name} at {width} px: letters of {seen['small']:.1f} to {seen['large']:.1f} px")
        problems += [f"{name} at {width} px: \"{words}\" is cut off" for words in seen["cut"]]
        problems += [f"{name} at {width} px: numbers {words} touch" for words in seen["touching"]]
        problems += [f"{name} at {width} px: console: {line}" for line in console]
    return problems


def main():
    fidelio, server = sys.argv[1:3]
    keep = pathlib.Path(sys.argv[4]) if sys.argv[3:4] == ["--keep"] else None
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        print("SKIPPED: there is no Chromium on this machine, so that nobody looked at the report in a browser")
        return SKIPPED
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="fidelio-report."))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("FIDELIO_")}
    process = subprocess.Popen(
        [server, "--listen", "127.0.0.1:0", "--port-file", scratch / "port", "--data-dir", scratch / "data",
         "--metrics-address", "off"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while not (scratch / "port").exists() or not (scratch / "port").read_text():
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError("the server did not start")
            time.sleep(0.05)
        environment["FIDELIO_SERVER"] = "127.0.0.1:" + (scratch / "port").read_text().strip()

        def run(*arguments, text=None):
            subprocess.run([fidelio, *arguments], env=environment, input=text, text=True, check=True,
                           stdout=subprocess.DEVNULL)

        chromium = Chromium(program, scratch)
        problems = []
        for inputs in (1, 2, 5):
            name = f"wave-{inputs}"
            run("model", "create", name, *variables(inputs), "--fidelities", "cheap,fine", "--costs", "1,10",
                "--description", "a wave & its <cheap> version")
            run("observe", name, "-", text=runs(inputs))
            run("fit", name, "--watch")
            run("report", name, "-o", str(scratch / f"{name}.html"))
            report = (scratch / f"{name}.html").read_text(encoding="utf-8")
            problems += check(name, report, chromium)
            if keep:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{name}.html").write_text(report, encoding="utf-8")
                for look in ("light", "dark"):
                    chromium.screenshot(report, 1100, 3200, look == "dark", keep / f"{name}-{look}.png")
                    chromium.screenshot(report, 375, 5200, look == "dark", keep / f"{name}-phone-{look}.png")
        for problem in problems:
            print("PROBLEM:", problem)
        return 1 if problems else 0
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
