"""What machine code is told of a kernel call: the kinds of tensors, the way the call is written, the options in force."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .directcall import Queued, Seen
from .scalarcode import Number


@dataclass(frozen=True)
class Operand:
    """What a kernel takes an address of: an argument of element type `key` and `layout`, `delta` bytes on; `seen` is that view."""

    argument: int
    key: object
    layout: object
    delta: int
    seen: Seen
    written: bool


@dataclass(frozen=True)
class Row:
    """Tensors of one kind, and the address of their kernel. `operands` are in its order, `again` further (argument, operand) that
    are the same view, `words` its scalars and how they travel. Without `sizes` every layout is the first one's, packed, and the
    one size is its number of elements.

    On a GPU rows of one kind are launched together: with `table` words about all of them, and then the scalars `given`, by their
    number, which are the same for all.
    """

    kernel: int
    operands: tuple[Operand, ...]
    again: tuple[tuple[int, int], ...]
    words: tuple[tuple[Number, str], ...]
    sizes: tuple[int, ...] | None
    queued: Queued | None = None  # of a kernel on a GPU
    table: int = 0
    given: tuple[int, ...] = ()


@dataclass(frozen=True)
class Scope:
    """Which options are in force: `default` where the slot at `offset` of `opened` holds 0, else the value of a context `variable`."""

    opened: object
    offset: int
    variable: object
    default: object


@dataclass(frozen=True)
class Entry:
    """A way of writing a call: `positional` many arguments, then those called `names`. `arguments` are scalars (name, argument, class,
    word `d` or `q`), `defaults` those that are not given; `statics` are (argument, object); `limits` is what has to hold of ints.

    Tensors are of one of the classes `tensor`, with their element type in the slot at `key`. The kernel runs on
    at most `threads` threads, 0 for as many as there are; from `many` elements on `pinned(words, buffers)` runs it. It is for calls under `options`.
    `previous` is the address to go to otherwise; if it is 0, `slow(names, values)` is called, with the names of keyword
    arguments, or None, and all arguments.
    """

    tensor: tuple[type, ...]
    key: int
    positional: int
    names: tuple[str, ...]
    arguments: tuple[tuple[str, int, type, str], ...]
    defaults: tuple[tuple[str, float | int], ...]
    statics: tuple[tuple[int, object], ...]
    limits: tuple[tuple[Number, int, int], ...]
    many: int
    threads: int
    pinned: Callable[[bytes, tuple[Any, ...]], None]
    scope: Scope
    options: object
    previous: int
    slow: Callable[[tuple[str, ...] | None, tuple[Any, ...]], Any]
