"""What a thread records: inside of `graph_capture` launches go to its graph, and nothing may wait for a device."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ..errors import DeviceError


class Graph(Protocol):
    """Where launches go instead of to the streams of their operands."""

    def place(
        self, buffers: Sequence[Any], nbytes: int, more: object
    ) -> AbstractContextManager[Any]:  # Any: floors above
        """The queue to launch on inside the block, with so much scratch memory. `more` is kept."""


class _Local(threading.local):
    graph: Graph | None = None


_local = _Local()


def recording() -> Graph | None:
    """The graph of this thread, inside of `graph_capture`."""
    return _local.graph


def record(graph: Graph | None) -> None:
    """Let launches of this thread go to a graph, or no longer."""
    _local.graph = graph


def refuse(operation: str) -> None:
    """Raise DeviceError inside of `graph_capture`, for what is no launch."""
    if _local.graph is not None:
        raise DeviceError(
            f"{operation}: not inside of graph_capture, which records launches and runs nothing; do it before the block, or behind it"
        )
