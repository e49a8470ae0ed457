"""Locks that a child after fork finds open: nobody would ever open there what another thread held."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager


def lock() -> AbstractContextManager[bool]:
    """A lock that is held while the process forks; its thread may take it twice. One taken inside of another is to be made before it."""
    one = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=one.acquire, after_in_parent=one.release, after_in_child=one.release)
    return one
