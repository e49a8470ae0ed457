"""`python -m exprten info [--json]`."""

from __future__ import annotations

import argparse
import json

from .info import info


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m exprten", description="exprten on this machine")
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("info", help="versions, processor, settings")
    show.add_argument("--json", action="store_true", help="as JSON")
    facts = info()
    if parser.parse_args().json:
        print(json.dumps(facts, indent=2))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        print(f"{name:<{width}}  {shown if shown not in ({}, '') else '-'}")


if __name__ == "__main__":
    main()
