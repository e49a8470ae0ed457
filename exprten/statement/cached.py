"""Kernels in the disk cache: the text that names one, and what a launch has to know of it besides its machine code.

A name is made of structure alone: operations, types, strides and index maps as they read, operations of one's own as their
definitions read. So it is the same in the next process, and a kernel that is found needs no lowering.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from exprten_jit import Code, Source, load_kernel
from exprten_jit.backends import llvm_run
from exprten_jit.derived import TABLE, OwnName
from exprten_jit.dtypes import DTYPES, DType
from exprten_jit.ir import Value
from exprten_jit.ops import PRIMITIVE
from exprten_jit.reducers import TABLE as REDUCERS
from exprten_jit.store import LOG, digest_of, store
from exprten_jit.text import Namer, show, text
from exprten_jit.work import shared

from ..expression.key import Key
from ..expression.remap import IndexMap
from ..options import Options
from ..storage.device import Device
from .lower import Made
from .positions import elsewhere, settled
from .recompute import Row, rows
from .signature import Signature

SOURCES = Path(__file__).parents[1]  # of exprten: any of its modules may decide what a kernel is
VERIFY = os.environ.get("EXPRTEN_VERIFY_CACHE", "0") not in ("", "0")
NEUTRAL = ("max_recompute", "num_threads", "blas", "check", "interpret")  # options that decide no machine code
# Settings that decide none. Any other is in the name, also one that nobody thought of here: that costs time at most.
NEUTRAL_SETTINGS = frozenset(
    f"EXPRTEN_{name}"
    for name in (
        "BLAS",
        "CACHE",
        "CHECK",
        "CACHE_DIR",
        "CACHE_SIZE",
        "CTYPES",
        "INTERPRET",
        "NUM_THREADS",
        "VERIFY_CACHE",
    )
)


_TABLES: tuple[dict[str, Any], ...] = (TABLE, PRIMITIVE, REDUCERS, DTYPES)
_SHIPPED = [dict(table) for table in _TABLES]  # the rows that the digest of the sources speaks of


@dataclass(frozen=True)
class Facts:
    """What is known of a kernel without its IR, of which `source` is a digest. `moved` are the operands that are read at other places
    than where they are stored, `settled` those of them for which that is right whatever the sizes, but in the mode `inplace`.
    """

    source: str
    phases: int
    scratch: int
    stored: tuple[int, ...]  # operands
    moved: tuple[int, ...]
    settled: tuple[int, ...]
    rows: tuple[tuple[Row, ...], ...]  # of each part: its operations


def facts_of(source: Source, made: Sequence[Sequence[Made]]) -> Facts:
    """The facts of a new kernel, whose operations became `made` in each of its parts."""
    kernel, nest = source.kernel, source.nest
    number = {leaf: n for n, leaf in enumerate(kernel.leaves)}
    parts = zip(made, nest.parts, strict=True)
    reads = elsewhere(kernel)
    moved = {number[read.load.leaf] for read in reads}
    open_ = {number[read.load.leaf] for read in reads if not settled(read, kernel, nest)}
    return Facts(
        _digest(source),
        max(1, *(sum(len(shared(one)) for one in (*part.first, part)) for part in nest.parts)),
        nest.scratch_bytes,
        tuple(sorted({number[store.leaf] for part in kernel.parts for store in part.stores})),
        tuple(sorted(moved)),
        tuple(sorted(moved - open_)),
        tuple(rows(one, part) for one, part in parts),
    )


def load(signature: Signature, rebuild: Callable[[], Source]) -> tuple[Code, Facts] | None:
    """The kernel of a signature, where the disk cache has it."""
    name = _name(signature)
    found = None if name is None else load_kernel(name, rebuild)
    if name is None or found is None:
        return None
    about, code = found
    facts = _read(about)
    if VERIFY and facts.source != _digest(code.source):
        LOG.error("cache: %s was made from other IR than its name stands for; it is compiled again", name)
        return None
    return code, facts


def keep(signature: Signature, code: Code, facts: Facts) -> None:
    """Let other processes have a kernel."""
    name = _name(signature)
    if name is not None:
        llvm_run.write(name, json.dumps([getattr(facts, f.name) for f in fields(Facts)], default=_listed), code.object)


def _listed(row: Row) -> list[Any]:
    return [getattr(row, f.name) for f in fields(Row)]


def _read(about: str) -> Facts:
    source, phases, scratch, stored, moved, known, parts = json.loads(about)
    made = tuple(tuple(map(_row, part)) for part in parts)
    return Facts(source, phases, scratch, tuple(stored), tuple(moved), tuple(known), made)


def _row(listed: Sequence[Any]) -> Row:
    columns: list[Any] = [tuple(x) if isinstance(x, list) else x for x in listed]
    return Row(*columns)


def _digest(source: Source) -> str:
    return hashlib.sha256(f"{text(source.kernel)}\n{source.llvm}".encode()).hexdigest()


# Names.


class UnstableError(Exception):
    """A part of a structure that reads differently in every process."""


def _name(signature: Signature) -> str | None:
    """The name of a signature's kernel; None where there is no cache, or no text for all of it."""
    sources = digest_of(SOURCES)
    if store() is None or not sources or any(now != then for now, then in zip(_TABLES, _SHIPPED, strict=True)):
        return None
    try:
        return llvm_run.name_of("kernel", sources, _settings(), text_of(signature))
    except UnstableError as error:
        LOG.debug("cache: a kernel is not kept: it holds %s", error)
        return None


@cache
def _settings() -> str:
    return repr(sorted((k, v) for k, v in os.environ.items() if k.startswith("EXPRTEN_") and k not in NEUTRAL_SETTINGS))


def text_of(x: Any) -> str:
    """A structure as text, equal for equal structures in all processes. Raises UnstableError for what it does not know."""
    match x:
        case Key():
            return _of_key(x)
        case OwnName():
            return f"own({x.definition()})"
        case np.generic():
            return f"{x.dtype.str}{x.tobytes().hex()}"
        case tuple():
            return f"({','.join(map(text_of, x))})"
        case DType():
            return x.name
        case None | bool() | int() | str() | Device():
            return repr(x)
        case float():
            return x.hex()
        case IndexMap():
            return _of_map(x)
        case Options():
            return _of_fields(x, [f.name for f in fields(x) if f.name not in NEUTRAL])
        case type() if x in (int, float, complex):  # a Python number in the tree
            return x.__name__
    if is_dataclass(x) and not isinstance(x, type):
        return _of_fields(x, [f.name for f in fields(x)])
    raise UnstableError(f"a {type(x).__name__}")


def _of_fields(x: Any, names: Sequence[str]) -> str:
    return f"{type(x).__qualname__}({','.join(f'{name}={text_of(getattr(x, name))}' for name in names)})"


@cache  # keys are interned, and live for ever
def _of_key(key: Key) -> str:
    """An operation. Its operands are entries of the structure; of a Python number only its class is known here."""
    numbers = tuple(a if isinstance(a, type) else None for a in key.args)
    return f"{text_of(key.op)}{text_of((key.types, key.dtype, key.device, numbers, key.map))}"


@cache
def _of_map(where: IndexMap) -> str:
    roots = [*where.index, *([] if where.valid is None else [where.valid])]
    return f"map({where.count},{where.valid is not None},{_of_values(roots)})"


def _of_values(roots: Sequence[Value]) -> str:
    """Index arithmetic; a value that is used more than once is written once."""
    namer = Namer(*roots)
    lines = [line for root in roots for line in namer.lines(root, whole=True)]
    return ";".join([*lines, *(show(root, namer.names) for root in roots)])
