"""Launches that are recorded: functions, how they are launched, and copies of their arguments."""

import ctypes
import re
from collections.abc import Callable

BYTES = {
    "bool": 1, "char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "__half": 2, "int": 4, "unsigned int": 4,
    "float": 4, "double": 8, "long long": 8, "unsigned long long": 8, "size_t": 8,
}  # fmt: skip


def argument_bytes(source: str, name: str) -> list[int]:
    """How many bytes each argument of a kernel has."""
    found = re.search(rf"\b{name}\s*\(([^)]*)\)\s*\{{", source)
    assert found is not None, f"there is no {name}"
    index = re.search(r"typedef ([\w ]+) idx;", source)
    known = BYTES | {"idx": BYTES[index[1]]} if index else BYTES
    return [_bytes(parameter.strip(), known) for parameter in found[1].split(",") if parameter.strip()]


def _bytes(parameter: str, known: dict[str, int]) -> int:
    if "*" in parameter:
        return 8
    kind = re.sub(r"\b(const|__restrict__|__grid_constant__)\b", "", parameter)
    return known[" ".join(kind.split()[:-1])]


class Graph:
    """What was recorded on a stream: each step takes what works as cuLaunchKernel, and a stream."""

    def __init__(self) -> None:
        self.steps: list[Callable[[Callable[..., int], int], int]] = []

    def launch(self, function: int, how: tuple[int, ...], given: int, sizes: list[int]) -> None:
        """Record a launch; `given` is the address of the addresses of the arguments."""
        at = (ctypes.c_void_p * len(sizes)).from_address(given)
        held = [ctypes.create_string_buffer(ctypes.string_at(a, size), size) for a, size in zip(at, sizes, strict=True)]
        table = (ctypes.c_void_p * len(held))(*map(ctypes.addressof, held))
        self.steps.append(lambda run, stream, _=held: run(function, *how, stream, ctypes.addressof(table), None))  # type: ignore[misc]

    def run(self, launch: Callable[..., int], stream: int) -> list[int]:
        """Do everything."""
        return [step(launch, stream) for step in self.steps]
