"""What must be known of a processor."""

from __future__ import annotations

from dataclasses import dataclass

LINE = 64  # bytes


@dataclass(frozen=True)
class Machine:
    """What must be known of a processor: register width, element widths of which some can be loaded and stored, whether it has stores that pass the caches by,
    registers for masks, AVX-512's instructions that multiply by powers of two, add products of integers of 16 bits, take the greater or the lesser of two, and AVX2's that permutes lanes;
    whether it `waits` for each line, so that those to be stored are to be claimed, and those to be read to be brought into the first cache before; whether it `assists` where numbers are too small to be normal;
    and how many rows in turns it `follows`: so many that it sees how they go on in memory.
    """

    vector_bits: int
    masked_bits: frozenset[int]
    streams: bool = False
    masks: bool = False
    scales: bool = False
    dots: bool = False
    permutes: bool = False
    ranges: bool = False
    waits: bool = False
    assists: bool = False
    follows: int = 128

    @property
    def small(self) -> bool:
        """Whether registers are smaller than a line: loops over a few elements fill them less, and take longer than what is done in them."""
        return self.vector_bits < 8 * LINE

    @property
    def words(self) -> int:
        """Numbers of 32 bits in a register."""
        return self.vector_bits // 32
