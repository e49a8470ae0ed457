"""Memory between pages that nobody may touch: what is read or written beside it is a fault."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

ROOM = 1 << 18  # bytes of one memory
NOBODY = 0  # PROT_NONE


class Memories:
    """Such memories, used again after each `clear`."""

    def __init__(self) -> None:
        self._rooms: list[Array] = []
        self._used = 0

    def clear(self) -> None:
        self._used = 0

    def take(self, count: int, dtype: np.dtype, at_end: bool) -> Array:
        if self._used == len(self._rooms):
            self._rooms.append(_room())
        room = self._rooms[self._used].view(dtype)
        assert count <= len(room), "a memory is too small"
        self._used += 1
        return room[len(room) - count :] if at_end else room[:count]


def _room() -> Array:
    page, libc = mmap.PAGESIZE, ctypes.CDLL(None)
    mapped = mmap.mmap(-1, ROOM + 2 * page)
    base = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
    for address in (base, base + page + ROOM):
        assert libc.mprotect(ctypes.c_void_p(address), page, NOBODY) == 0
    return np.frombuffer(mapped, np.uint8, ROOM, page)
