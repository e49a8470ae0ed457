"""What exprten raises: each also is the built-in exception that a NumPy user would catch."""

from __future__ import annotations


class ExprtenError(Exception):
    """The base of every error of exprten."""


class ShapeError(ExprtenError, ValueError):
    """Shapes do not fit."""


class DTypeError(ExprtenError, TypeError):
    """Element types do not fit, or are none that exprten has."""


class DeviceError(ExprtenError, RuntimeError):
    """A device does not exist, or operands lie on different ones."""


class AliasError(ExprtenError, ValueError):
    """The target is also read where no order of the stores gives the right answer."""


class ReadOnlyError(ExprtenError, ValueError):
    """The target's memory may not be written."""


class FreedSpaceError(ExprtenError, RuntimeError):
    """A tensor has no memory: not yet allocated, or freed."""


class CompileError(ExprtenError, RuntimeError):
    """A statement cannot be one kernel, or would need a compilation where none is allowed."""


class NonFiniteError(ExprtenError, FloatingPointError):
    """A statement made a NaN or an infinity of finite numbers; it has been stored."""


class MismatchError(ExprtenError, RuntimeError):
    """A statement stored something else than the interpreter computes."""


class OutOfMemoryError(ExprtenError, MemoryError):
    """The device has not enough memory."""
