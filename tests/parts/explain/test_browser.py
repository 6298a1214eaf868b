"""The page of an explanation in a real browser, where one is installed: chromium without a screen."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from gradcli import Function
from gradcli.report import rendered
from gradcli.report.document import Screen

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

PROBE = """
<script>
const found = {errors: [], lit: [], pixels: innerWidth};
addEventListener("error", event => found.errors.push(event.message));
addEventListener("load", () => {
  const lit = () => document.querySelectorAll("svg.graph .lit").length;
  found.lit.push(lit());
  for (let n = 0; n <= steps.length; n++) {
    dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
    found.lit.push(lit());
  }
  document.querySelectorAll("nav button")[0].click();
  found.lit.push(lit());
  found.wide = [...document.querySelectorAll("main *")].filter(
    one => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(".wide, .picture, details:not([open])")
  ).map(one => one.outerHTML.slice(0, 80));
  found.scrolls = document.documentElement.scrollWidth > innerWidth;
  parent.postMessage(JSON.stringify(found), "*");
});
</script>
"""
"""Walks through the steps by the keys, and tells the page around it what it sees."""

PHONE = """
<iframe src="page.html" style="width: 360px; height: 800px; border: 0"></iframe><pre></pre>
<script>addEventListener("message", event => document.querySelector("pre").textContent = event.data)</script>
"""
"""A frame as wide as a phone: a window of chromium without a screen is never narrower than 500 pixels."""


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")
def test_the_steps_light_up_and_nothing_overflows_a_phone(tmp_path: Path) -> None:
    """All is lit, then a value or an adjoint more at each step; no error, and no scrolling sideways at 360 pixels."""
    answer = Function("step = sigmoid(A@x); sum(step**2)*x[0]").explain({"A": [[1, 2], [3, 4]], "x": [0.5, -0.6]})
    page = tmp_path / "page.html"
    page.write_text(rendered(answer, "html", Screen()).replace("<script>", f"{PROBE}<script>"), encoding="utf-8")
    (tmp_path / "phone.html").write_text(PHONE, encoding="utf-8")
    words = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"]
    asked = [*words, (tmp_path / "phone.html").as_uri()]
    shown = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True).stdout
    found = json.loads(shown.split("<pre>")[1].split("</pre>")[0])
    steps = page.read_text(encoding="utf-8").count("<li data-box")
    assert found["pixels"] == 360
    assert found["errors"] == found["wide"] == []
    assert not found["scrolls"]
    assert found["lit"] == [steps, *range(steps + 1), 0]
