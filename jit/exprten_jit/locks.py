"""Locks that a child after fork finds open: nobody would ever open there what another thread held."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field


def lock() -> AbstractContextManager[bool]:
    """A lock that is held while the process forks; its thread may take it twice. One taken inside of another is to be made before it."""
    one = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=one.acquire, after_in_parent=one.release, after_in_child=one.release)
    return one


@dataclass
class _Turn:
    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0


class Turns:
    """One thread at a time for each key; those with other keys go on. A child after fork begins with none taken."""

    def __init__(self) -> None:
        self._guard = lock()
        self._turns: dict[Hashable, _Turn] = {}
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._turns.clear)

    @contextmanager
    def of(self, key: Hashable) -> Iterator[None]:
        """Wait until nobody else has `key`, and have it."""
        with self._guard:
            turn = self._turns.setdefault(key, _Turn())
            turn.users += 1
        try:
            with turn.lock:
                yield
        finally:
            with self._guard:
                turn.users -= 1
                if not turn.users:
                    self._turns.pop(key, None)
