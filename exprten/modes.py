"""Request modes: what an assignment does with the value. One row a mode."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import DTypeError


@dataclass(frozen=True)
class Mode:
    """`op` combines the target with the value; None: the value is stored as it is. `symbol` is how it is written."""

    name: str
    symbol: str
    op: str | None = None
    alias: str | None = None  # MXNet's name
    method: str = ""  # of a tensor: the operator that assigns in this mode
    hint: str = ""  # for a result that the target's type cannot hold


# fmt: off
ROWS = (
    Mode("null", "null", alias="kNullOp"),
    Mode("write", "[...] =", alias="kWriteTo"),
    Mode("inplace", "[...] =", alias="kWriteInplace"),
    Mode("add", "+=", "add", "kAddTo", "__iadd__"),
    Mode("sub", "-=", "subtract", method="__isub__"),
    Mode("mul", "*=", "multiply", method="__imul__"),
    Mode("div", "/=", "divide", method="__itruediv__", hint="; use //= to divide integers"),
)
# in-place operators beyond the seven request modes: the same assignment, without a name for `assign`
OPERATORS = (
    Mode("floordiv", "//=", "floor_divide", method="__ifloordiv__"),
    Mode("mod", "%=", "remainder", method="__imod__"),
    Mode("and", "&=", "bitwise_and", method="__iand__"),
    Mode("or", "|=", "bitwise_or", method="__ior__"),
    Mode("xor", "^=", "bitwise_xor", method="__ixor__"),
    Mode("lshift", "<<=", "left_shift", method="__ilshift__"),
    Mode("rshift", ">>=", "right_shift", method="__irshift__"),
)
# fmt: on

MODES: dict[str, Mode] = {row.name: row for row in ROWS}
MODES |= {row.alias: row for row in ROWS if row.alias}


class req:  # noqa: N801  # a namespace of constants, spelled as the argument is: req=xt.req.WRITE
    """The request modes as constants."""

    NULL, WRITE, INPLACE, ADD, SUB, MUL, DIV = (row.name for row in ROWS)


def mode_of(name: str) -> Mode:
    """The mode of a name. Raises ValueError, listing them, for a name that is none."""
    try:
        return MODES[name]
    except (KeyError, TypeError):
        raise ValueError(
            f"assign: {name!r} is no request mode; there are {', '.join(row.name for row in ROWS)}"
        ) from None


def mode_error(mode: Mode, target: str, value: str, result: str) -> DTypeError:
    """The error for a result that does not go into the target's type."""
    hint = mode.hint or f"; convert the value with xt.cast(e, '{target}')"
    what = f"{target} {mode.symbol} {value}"
    return DTypeError(f"{what}: the result is {result}, which {target} cannot hold (same-kind rule){hint}")


kNullOp, kWriteTo, kWriteInplace, kAddTo = "null", "write", "inplace", "add"  # noqa: N816  # MXNet's names
