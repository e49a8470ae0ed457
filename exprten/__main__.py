"""`python -m exprten info [--json]`, and `python -m exprten cache path|size|clear|warm`."""

from __future__ import annotations

import argparse
import json
import runpy
import sys
from pathlib import Path

from exprten_jit.store import Store, cap, folder, store

from .info import info, stats
from .storage.device import gpu


def main() -> int:
    """The command line. Returns the exit status."""
    asked = _parser().parse_args()
    match asked.command, getattr(asked, "action", None):
        case "info", _:
            _show(as_json=asked.json)
        case _, "path":
            print(folder())
        case _, "warm":
            return _warm(asked.script, asked.args)
        case _, action:
            try:
                print(_entries(clear=action == "clear"))
            except OSError as error:
                print(f"cache {action}: {error}", file=sys.stderr)
                return 1
    return 0


def _entries(*, clear: bool) -> str:
    """What the folder holds, or held."""
    if clear:
        return f"{Store(folder()).clear()} kernels removed from {folder()}"
    count, used = Store(folder()).size()
    return f"{count} kernels, {used / 1e6:.2f} MB of {cap() / 1e6:.0f} MB, in {folder()}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m exprten", description="exprten on this machine")
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("info", help="versions, processor, settings")
    show.add_argument("--json", action="store_true", help="as JSON")
    actions = commands.add_parser("cache", help="compiled kernels on disk").add_subparsers(dest="action", required=True)
    actions.add_parser("path", help="the folder they are in")
    actions.add_parser("size", help="how many there are, and their bytes")
    actions.add_parser("clear", help="remove them all")
    warm = actions.add_parser("warm", help="run a script, so that the next one who runs it compiles nothing")
    warm.add_argument("script", type=Path)
    warm.add_argument("args", nargs=argparse.REMAINDER, help="the script's own arguments")
    return parser


def _show(*, as_json: bool) -> None:
    gpu.count()  # whoever asks by a command may wait for CuPy
    facts = info()
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        print(f"{name:<{width}}  {shown if shown not in ({}, '') else '-'}")


def _warm(script: Path, args: list[str]) -> int:
    """Run a script as Python would, and say on the error stream what that added."""
    disk = store()
    if disk is None or not disk.writes:
        print(f"cache warm: there is no cache to warm: EXPRTEN_CACHE=0, or {folder()} cannot be used", file=sys.stderr)
        return 1
    sys.argv = [str(script), *args]
    sys.path[0] = str(script.resolve().parent)
    status = 0
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if end.code is not None and end.code is not status:
            print(end.code, file=sys.stderr)  # as Python does
    found, (count, used) = stats(), disk.size()
    print(
        f"{found.compiles} kernels compiled, {found.loads} loaded; {count} entries, {used / 1e6:.2f} MB, in {disk.folder}",
        file=sys.stderr,
    )
    return status


if __name__ == "__main__":
    sys.exit(main())
