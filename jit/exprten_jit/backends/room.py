"""Room for machine code. Linux gives a process a number of memory mappings, a kernel takes three or four of them, and LLVM ends the
process where there are none left: to be asked before a kernel is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

MARGIN = 1_024  # mappings left to everything else: direct calls of the kernels there are, threads, arrays, libraries
MOST = 16  # mappings that a kernel and its direct calls may take

_MAPPINGS, _LIMIT = Path("/proc/self/maps"), Path("/proc/sys/vm/max_map_count")


@dataclass
class _Room:
    unasked: int = 0  # kernels that may be made before the mappings are counted again


_room = _Room()


class RoomError(MemoryError):
    """A process has no memory mappings left for another kernel."""


def take() -> None:
    """Room for one kernel more. Raises RoomError where there is none."""
    if _room.unasked > 0:
        _room.unasked -= 1
        return
    limit = _limit()
    if limit is None:
        return
    taken = _taken()
    if taken + MARGIN + MOST > limit:
        raise RoomError(
            f"this process has {taken:,} memory mappings of {limit:,} (vm.max_map_count), and each kernel takes three or four: there is "
            f"no room for another one. Statements that differ in numbers only share a kernel; a program that draws new ones without "
            f"end does so in several processes"
        )
    _room.unasked = min((limit - taken - MARGIN) // MOST, MARGIN // MOST) - 1  # others may take mappings, too


@cache
def _limit() -> int | None:
    """None: this system has no such limit."""
    try:
        return int(_LIMIT.read_text()) if _MAPPINGS.exists() else None
    except (OSError, ValueError):
        return None


def _taken() -> int:
    return _MAPPINGS.read_bytes().count(b"\n")
