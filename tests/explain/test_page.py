"""The page of a report in headless Chromium: it opens, folds, searches and explains, by mouse and
by keys, without an error or a request. TERRAZZO_PICTURES=DIR keeps pictures of it."""
import os
import pathlib

import pytest

from browser import CHROMIUM, Browser
from support import CORPUS, ROOT, terrazzo

pytestmark = pytest.mark.slow
PROGRAMS = sorted(CORPUS.glob("*/global.mlirbc"))
MODEL = ROOT / "tests" / "corpus" / "xf_train_adam" / "global.mlirbc"
LINKS = ROOT / "examples" / "topologies" / "gpus.txt"
PICTURES = os.environ.get("TERRAZZO_PICTURES")
TABS = ("program", "collectives", "memory", "mesh", "check")


@pytest.fixture(scope="module", name="browser")
def fixture_browser():
    assert CHROMIUM, "no Chromium: tools/setup libraries installs it"
    browser = Browser()
    yield browser
    browser.close()


def opened(browser, path, folder, *options):
    page = folder / "report.html"
    done = terrazzo("report", path, "-o", page, *options)
    assert done.returncode == 0, done.stderr
    browser.open(page)
    assert browser.run("document.documentElement.dataset.ready"), browser.errors
    return page


def fine(browser):
    assert not browser.errors and all(url.startswith("file:") for url in browser.requests)


def count(browser, what):
    return browser.run(f"document.querySelectorAll({what!r}).length")


def text(browser, what):
    return browser.run(f"document.querySelector({what!r}).textContent")


def click(browser, what):
    browser.run(f"document.querySelector({what!r})"
                ".dispatchEvent(new MouseEvent('click', {bubbles: true}))")


def keep(browser, name):
    if PICTURES:
        pathlib.Path(PICTURES).mkdir(parents=True, exist_ok=True)
        browser.picture(f"{PICTURES}/{name}.png")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.parent.name)
def test_corpus(path, browser, tmp_path):
    opened(browser, path, tmp_path, "--topology", LINKS)
    assert count(browser, "#graph .node") and count(browser, "#outline [role=treeitem]")
    keep(browser, path.parent.name)
    for _ in range(3):
        click(browser, "#unfold-all")
    for tab in TABS:
        click(browser, f"#tab-{tab}")
        assert browser.run(f"document.getElementById('panel-{tab}').offsetHeight") > 0
        keep(browser, f"{path.parent.name}-{tab}")
    for choice in ("when", "fold"):
        browser.run(f"document.querySelectorAll('[name={choice}]').forEach(e => e.click())")
    assert count(browser, "#graph .node") and browser.printed().startswith(b"%PDF")
    fine(browser)


def test_folds(browser, tmp_path):
    opened(browser, MODEL, tmp_path)
    click(browser, "#fold-all")
    folded = count(browser, "#graph .node")
    click(browser, "#unfold-all")
    assert count(browser, "#graph .node") > folded
    click(browser, "#fold-all")
    assert count(browser, "#graph .node") == folded
    click(browser, "#graph .node.folds")
    assert count(browser, "#graph .node.open") == 1 and count(browser, "#outline .row") > folded
    fine(browser)


def test_searches_and_explains(browser, tmp_path):
    opened(browser, MODEL, tmp_path, "--tries", 1)
    browser.run("document.getElementById('query').focus()")
    browser.send("Input.insertText", text="dot_general")
    assert "found" in text(browser, "#found") and count(browser, ".hit")
    browser.key("ArrowDown")
    assert browser.run("document.activeElement.className") == "hit"
    browser.key("Enter")
    assert text(browser, "#detail h2") == "dot_general" and "tensor" not in text(browser, "#detail")
    assert count(browser, "#graph .node.selected") == 1 == count(browser, ".row.selected")
    box = browser.run("(r => [r.left, r.top, r.right, r.bottom])(document.querySelector("
                      "'.node.selected').getBoundingClientRect())")
    around = browser.run("(r => [r.left, r.top, r.right, r.bottom])(document.querySelector("
                         "'#graph').getBoundingClientRect())")
    assert around[0] <= box[0] and around[1] <= box[1] and box[3] <= around[3]
    keep(browser, "found")
    click(browser, "#tab-collectives")
    click(browser, "#panel-collectives tbody button")
    why = text(browser, "#panel-collectives .why")
    assert "because" in why and "which is annotated" in why and "What would send less" in why
    keep(browser, "why")
    click(browser, "#panel-collectives .why .link")
    assert text(browser, "#detail .why h3").startswith("#")
    fine(browser)


def test_keys(browser, tmp_path):
    """From the outline to an op and its detail without a mouse; the focus is never lost."""
    opened(browser, MODEL, tmp_path)
    browser.run("document.querySelector('#outline [tabindex=\"0\"]').focus()")
    rows = count(browser, ".row")
    browser.key("End")
    browser.key("Home")
    for _ in range(3):
        browser.key("ArrowDown")
    browser.key("ArrowUp")
    assert browser.run("document.activeElement.getAttribute('role')") == "treeitem"
    for _ in range(rows):
        if browser.run("document.activeElement.getAttribute('aria-expanded')") == "false":
            break
        browser.key("ArrowDown")
    browser.key("ArrowRight")
    assert browser.run("document.activeElement.getAttribute('aria-expanded')") == "true"
    assert count(browser, ".row") > rows
    browser.key("ArrowRight")
    browser.key("Enter")
    assert browser.run("document.activeElement.getAttribute('aria-selected')") == "true"
    browser.run("document.querySelector('#graph [tabindex=\"0\"]').focus()")
    before = text(browser, "#detail h2")
    browser.key("ArrowDown")
    assert browser.run("document.activeElement.closest('#graph') !== null")
    assert text(browser, "#detail h2") and before
    browser.run("document.getElementById('tab-program').focus()")
    browser.key("ArrowRight")
    assert browser.run("document.activeElement.id") == "tab-collectives"
    fine(browser)


def test_names_for_screen_readers(browser, tmp_path):
    """Everything that can be pressed has a name and can be reached."""
    opened(browser, MODEL, tmp_path, "--before", MODEL)
    for tab in TABS[1:] + ("diff", "program"):
        click(browser, f"#tab-{tab}")
    tree = browser.send("Accessibility.getFullAXTree")["nodes"]
    roles = {"button", "treeitem", "tab", "radio", "slider", "searchbox", "textbox"}
    found = [n for n in tree if not n["ignored"] and n["role"]["value"] in roles]
    assert {"tab", "button"} <= {n["role"]["value"] for n in found}
    assert all(n.get("name", {}).get("value") for n in found)
    assert not browser.run("[...document.querySelectorAll('[onclick]')].length")
    fine(browser)


def test_large(browser, tmp_path):
    """Of 20,000 ops in scopes that repeat only what is unfolded is drawn."""
    value, kind, body = "%x", "tensor<8x8xf32>", []
    for layer in range(100):
        for i in range(200):
            name = f"%v{layer}_{i}"
            body.append(f'{name} = stablehlo.add {value}, %x : {kind} '
                        f'loc("jit(f)/layer{layer}/part{i // 20}/add")')
            value = name
    path = tmp_path / "large.mlir"
    path.write_text('sdy.mesh @mesh = <["x"=4]>\nfunc.func @main(%x: ' + kind +
                    ' {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> ' + kind + " {\n" +
                    "\n".join(body) + f"\nreturn {value} : {kind}\n}}\n")
    opened(browser, path, tmp_path)
    assert count(browser, "#graph .node") < 50
    click(browser, "#unfold-all")
    assert 100 <= count(browser, "#graph .node") < 400
    keep(browser, "large")
    fine(browser)


def test_difference(browser, tmp_path):
    path = ROOT / "tests" / "corpus" / "mlp_2d" / "global.mlir"
    other = tmp_path / "before.mlir"
    other.write_text(path.read_text().replace('[{"x"}, {"y"}]', "[{}, {}]"))
    opened(browser, path, tmp_path, "--before", other)
    click(browser, "#tab-diff")
    assert count(browser, "#panel-diff tbody tr") > 4 and count(browser, "#graph .changed")
    browser.dark()
    keep(browser, "difference")
    browser.dark(False)
    fine(browser)
