"""The documentation is a program: its code runs, prints what stands below it, and leaves nothing public unsaid.

`python tests/test_docs.py PAGE...` runs pages by hand. Of a page every ```python block is run, in order, in one namespace, in a process
of its own. A ```text block directly below is what it prints, where a line `...` stands for any lines and `…` for any text
within one. A block that raises is followed by its error, type and message, wrapped at will.
"""

import ast
import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import subprocess
import sys
import traceback
from pathlib import Path
from typing import NamedTuple

import pytest
from emulator.driver import emulated

ROOT = Path(__file__).parents[1]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", *DOCS]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


class Block(NamedTuple):
    """A ```python block, the line of its first statement, and what has to come out (None: nothing is said)."""

    line: int
    code: str
    expected: str | None


def blocks(text):
    found = list(FENCE.finditer(text))
    shown = set()
    for fence, below in zip(found, [*found[1:], None], strict=True):
        if fence[1] != "python":
            continue
        follows = below is not None and below[1] == "text" and not text[fence.end() : below.start()].strip()
        if follows:
            shown.add(below.start())
        yield Block(text.count("\n", 0, fence.start(2)) + 1, fence[2], below[2] if follows else None)
    lost = [text.count("\n", 0, f.start()) + 1 for f in found if f[1] == "text" and f.start() not in shown]
    assert not lost, f"a text block belongs directly below a python block: line {lost}"


def run(block, page, names):
    """(what a block prints, and last the error that it raises; whether it raises)."""
    out = io.StringIO()
    source = "\n" * (block.line - 1) + block.code  # so that a traceback names the page's line
    error = ""
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(source, page, "exec"), names)
        except Exception as caught:
            if block.expected is None:
                raise
            error = traceback.format_exception_only(caught)[-1]
    return out.getvalue() + error, bool(error)


def matches(expected, got, raised):
    if raised:
        return re.fullmatch(_any_text(" ".join(expected.split())), " ".join(got.split())) is not None
    lines = [
        r"(?:.*\n)*?" if line.strip() == "..." else _any_text(line.rstrip()) + r"\n" for line in expected.splitlines()
    ]
    return re.fullmatch("".join(lines), "".join(f"{line.rstrip()}\n" for line in got.rstrip().splitlines())) is not None


def _any_text(line):
    return ".*?".join(map(re.escape, line.split("…")))


GPUS = {
    "gpu.md",
    "errors.md",
    "0019-gpu-folds.md",
    "0021-gpu-launches.md",
    "0029-gpu-transposes.md",
    "0043-gpu-measured.md",
}  # pages that have two GPUs, emulated


def check(page):
    """Run a page, and exit with what differs."""
    names = {"__name__": "__main__"}
    with emulated(devices=2) if page.name in GPUS else contextlib.nullcontext():
        for block in blocks(page.read_text(encoding="utf-8")):
            got, raised = run(block, str(page), names)
            if block.expected is not None and not matches(block.expected, got, raised):
                sys.exit(f"{page}:{block.line}: this prints\n{got}\nnot\n{block.expected}")


if __name__ == "__main__":
    for given in sys.argv[1:]:
        check(Path(given))
    sys.exit()


def outside_of_code(text):
    return FENCE.sub("", text)


def text_of(pages):
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


NEEDS = {"docs/dtypes.md": "ml_dtypes", "docs/decisions/0014-half-types.md": "ml_dtypes"}  # bfloat16 is its


@pytest.mark.parametrize("name", NAMES)
def test_page_runs_and_prints_what_it_shows(name, tmp_path):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"no {NEEDS[name]}, which the page uses")
    # Without settings of the caller's: they change what plans and counters print.
    plain = {key: value for key, value in os.environ.items() if not key.startswith("EXPRTEN_")} | {"EXPRTEN_CACHE": "0"}
    given = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))  # where this process found its libraries
    path = [str(ROOT), str(ROOT / "jit"), *(str(Path(p).resolve()) for p in given)]
    plain |= {"PYTHONPATH": os.pathsep.join(path), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-W", "error", __file__, str(ROOT / name)]
    done = subprocess.run(command, cwd=tmp_path, env=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("expected", "got", "raised", "same"),
    [
        ("a\nb\n", "a\nb\n", False, True),
        ("a\n", "a\nb\n", False, False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", False, True),
        ("a\n...\nd\n", "a\nd\n", False, True),
        ("a\n...\nd\n", "a\nb\nc\n", False, False),
        ("by 4, a … tail\n", "by 4, a masked tail\n", False, True),
        ("by 4, a … tail\n", "by 8, a masked tail\n", False, False),
        ("TypeError: one\ntwo\n", "TypeError: one two\n", True, True),
        ("TypeError: x[...]\n", "TypeError: x[1]\n", True, False),
    ],
)
def test_output_is_compared(expected, got, raised, same):
    assert matches(expected, got, raised) is same


def modules():
    for package in map(importlib.import_module, ("exprten", "exprten_jit")):
        yield package.__name__
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                yield module.name


@pytest.mark.parametrize("name", list(modules()))
def test_examples_in_docstrings_are_right(name):
    if name == "exprten.gpu.cupy_driver":
        pytest.importorskip("cupy")
    module = importlib.import_module(name)
    assert not doctest.testmod(module, verbose=False).failed


@pytest.mark.parametrize("name", [*NAMES, "CONTRIBUTING.md"])
def test_relative_links_lead_somewhere(name):
    page = ROOT / name
    broken = []
    for link in LINK.findall(outside_of_code(page.read_text(encoding="utf-8"))):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(link)
    assert not broken


def anchors(page):
    """The names of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", outside_of_code(page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_page_is_linked_from_the_index():
    linked = set(LINK.findall((ROOT / "docs" / "index.md").read_text(encoding="utf-8")))
    missing = {str(page.relative_to(ROOT / "docs")) for page in DOCS} - linked - {"index.md"}
    assert not missing


def test_every_example_is_linked():
    linked = {link.rpartition("/")[2] for page in DOCS for link in LINK.findall(page.read_text(encoding="utf-8"))}
    assert not {path.name for path in (ROOT / "examples").glob("*.py")} - linked


def test_every_public_name_is_documented():
    import exprten

    text = text_of(DOCS)
    missing = [name for name in exprten.__all__ if not re.search(rf"(xt\.|`){name}\b", text)]
    assert not missing


def test_every_function_stands_in_the_table_with_its_docstring():
    from exprten import functions

    own = set(functions.__all__) - set(functions.ALIASES)
    page = (ROOT / "docs/expressions.md").read_text(encoding="utf-8").replace("\\|", "|")
    table = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE))
    wanted = {name: getattr(functions, name).__doc__.splitlines()[0] for name in own}
    assert {name: table.get(name) for name in wanted} == wanted


def test_every_error_is_shown_raised():
    import exprten

    shown = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    errors = [c.__name__ for c in vars(exprten).values() if isinstance(c, type) and issubclass(c, exprten.ExprtenError)]
    raised = [name for name in errors if name != "ExprtenError"]
    assert raised
    assert not [name for name in raised if f"\nexprten.errors.{name}: " not in shown]


def test_every_option_mode_and_environment_variable_is_documented():
    from dataclasses import fields

    from exprten.modes import ROWS
    from exprten.options import Options

    text = text_of(DOCS)
    source = ast.parse((ROOT / "exprten/options.py").read_text(encoding="utf-8"))
    strings = {
        node.value for node in ast.walk(source) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    wanted = [f.name for f in fields(Options)] + [row.name for row in ROWS] + [row.alias for row in ROWS if row.alias]
    wanted += [s for s in strings if re.fullmatch(r"EXPRTEN_\w+", s)]
    assert not [name for name in wanted if f"`{name}" not in text and f"`xt.{name}`" not in text]


def test_floors_on_the_page_are_the_floors():
    from test_floors import FLOORS

    page = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    shown = re.findall(r"^`(\w+)`:\n\n```\n(.*?)```$", page, re.MULTILINE | re.DOTALL)
    assert {package: " ".join(body.split()).split(" | ") for package, body in shown} == FLOORS
