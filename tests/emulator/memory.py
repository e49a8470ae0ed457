"""Memory as a device gives it: addresses, and nothing around them that may be touched."""

import ctypes


class Memory:
    """Blocks at multiples of 256 bytes, filled with NaNs. What a kernel writes beside one is found; far beside it, at once."""

    def __init__(self, runtime: ctypes.CDLL) -> None:
        self._runtime = runtime
        self._sizes: dict[int, int] = {}

    @property
    def blocks(self) -> dict[int, int]:
        """Sizes of the blocks that are not freed, by address."""
        return dict(self._sizes)

    def allocate(self, nbytes: int) -> int:
        """The address of a new block."""
        address: int | None = self._runtime.emulator_allocate(nbytes)
        if address is None:
            raise MemoryError(f"emulator: no {nbytes} bytes")
        self._sizes[address] = nbytes
        return address

    def free(self, address: int) -> None:
        """Give a block back, after a look at what surrounds it."""
        self._verify(address)
        self._runtime.emulator_free(address, self._sizes.pop(address))

    def verify(self) -> None:
        """Raise AssertionError if bytes beside a block were written."""
        for address in self._sizes:
            self._verify(address)

    def _verify(self, address: int) -> None:
        size = self._sizes[address]
        where = self._runtime.emulator_written_beside(address, size)
        assert not where, f"emulator: byte {where} of a block of {size} bytes at {address:#x} was written"
