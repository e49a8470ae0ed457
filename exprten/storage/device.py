"""Devices: where tensors lie and kernels run."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import DeviceError


@dataclass(frozen=True)
class Device:
    """A device by kind and number; equal devices are one place."""

    kind: str
    index: int = 0

    def synchronize(self) -> None:
        """Wait until every kernel given to this device has ended. On the CPU an assignment has ended when it returns."""

    def __str__(self) -> str:
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.index}"

    def __repr__(self) -> str:
        return f"xt.{self.kind}({self.index if self.kind != 'cpu' else ''})"


_CPU = Device("cpu")


def cpu() -> Device:
    """The host processor and its memory.

    >>> cpu()
    xt.cpu()
    """
    return _CPU


def gpu(index: int = 0) -> Device:
    """CUDA device `index`. Raises DeviceError: this version runs on the CPU only."""
    raise DeviceError(
        f"gpu({index}): this version of exprten has no GPU backend; it will come with the extras cuda12 and cuda13 "
        '(pip install "exprten[cuda13]"); use xt.cpu()'
    )


def require_cpu(device: Device | None, operation: str) -> None:
    """Raise DeviceError for a device that this version has no memory on."""
    if device is not None and not isinstance(device, Device):
        raise TypeError(f"{operation}: {device!r} is no device; use xt.cpu()")
    if device is not None and device.kind != "cpu":
        raise DeviceError(f"{operation}: there is no device {device} in this version of exprten; use xt.cpu()")


class Stream:
    """An order of work on a device. The CPU has one: statements run when they are written."""

    __slots__ = ("device",)

    def __init__(self, device: Device) -> None:
        self.device = device

    def synchronize(self) -> None:
        """Wait until everything on this stream has ended."""
        self.device.synchronize()

    def __repr__(self) -> str:
        return f"xt.Stream({self.device!r})"


DEFAULT_STREAM = Stream(_CPU)
