"""The call of a kernel with lists of tensors as machine code: a row of tensors at a time, all of them checked before the first is run.

A row is written into memory that is kept from call to call: its kernel, its words, and the spans of its operands. Where no address
or size differs from the last call's, no two rows are compared again.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .backends.llvm_run import compile_text
from .backends.llvm_text import Text
from .directcall import Reader, queue_of, within
from .entries import Entry, Row
from .hostcall import c_api, keep
from .methods import TYPE
from .objects import item, items
from .reading import C_API, LEVEL, Read, Reading

# The spans of n rows, `width` of each from word `at` on, are sorted; then one that starts before an earlier one ends shares memory
# with it. A span is (first byte, the one after the last twice, plus 1 where it is written).
_APART = """
declare void @qsort(ptr, i64, i64, ptr)
define internal i32 @order(ptr %a, ptr %b) {
  %x = load i64, ptr %a
  %y = load i64, ptr %b
  %less = icmp ult i64 %x, %y
  %more = icmp ugt i64 %x, %y
  %l = sext i1 %less to i32
  %m = zext i1 %more to i32
  %r = add i32 %l, %m
  ret i32 %r
}
define internal i1 @apart(ptr %rows, i64 %n, i64 %stride, i64 %at, i64 %width, ptr %spans) {
entry:
  %bytes = mul i64 %width, 16
  %first = getelementptr i64, ptr %rows, i64 %at
  br label %copy
copy:
  %i = phi i64 [ 0, %entry ], [ %i1, %copy ]
  %from = mul i64 %i, %stride
  %source = getelementptr i64, ptr %first, i64 %from
  %to = mul i64 %i, %bytes
  %target = getelementptr i8, ptr %spans, i64 %to
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %bytes, i1 false)
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %copy, label %sort
sort:
  %count = mul i64 %n, %width
  call void @qsort(ptr %spans, i64 %count, i64 16, ptr @order)
  br label %look
look:
  %k = phi i64 [ 0, %sort ], [ %k1, %next ]
  %all = phi i64 [ 0, %sort ], [ %all1, %next ]
  %stored = phi i64 [ 0, %sort ], [ %stored1, %next ]
  %span = getelementptr { i64, i64 }, ptr %spans, i64 %k
  %low = load i64, ptr %span
  %second = getelementptr i64, ptr %span, i64 1
  %packed = load i64, ptr %second
  %high = lshr i64 %packed, 1
  %written = trunc i64 %packed to i1
  %limit = select i1 %written, i64 %all, i64 %stored
  %clear = icmp uge i64 %low, %limit
  %empty = icmp uge i64 %low, %high
  %fine = or i1 %clear, %empty
  br i1 %fine, label %next, label %shared
next:
  %all1 = call i64 @llvm.umax.i64(i64 %all, i64 %high)
  %reached = call i64 @llvm.umax.i64(i64 %stored, i64 %high)
  %stored1 = select i1 %written, i64 %reached, i64 %stored
  %k1 = add i64 %k, 1
  %again = icmp ult i64 %k1, %count
  br i1 %again, label %look, label %done
done:
  ret i1 true
shared:
  ret i1 false
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.umax.i64(i64, i64)
"""

# n, words a row, the number of the change, rows: the kernel of each (on a GPU: its kind), and its words.
_MANY = """
define void @many(ptr %words, i64 %threads) {
entry:
  %n = load i64, ptr %words
  %second = getelementptr i64, ptr %words, i64 1
  %stride = load i64, ptr %second
  %rows = getelementptr i64, ptr %words, i64 3
  br label %each
each:
  %i = phi i64 [ 0, %entry ], [ %i1, %each ]
  %at = mul i64 %i, %stride
  %row = getelementptr i64, ptr %rows, i64 %at
  %kernel = load ptr, ptr %row
  %own = getelementptr i64, ptr %row, i64 1
  call void %kernel(ptr %own, i64 %threads)
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %each, label %done
done:
  ret void
}
"""
HEADER = 3  # words before the rows
# In the state: where rows lie, how many there is space for, how many are known to be apart, the stream of their memory, and how often
# they were others.
BLOCK, CAPACITY, VALID, STREAM, CHANGES = range(0, 40, 8)


@dataclass(frozen=True)
class ListCode:
    """`enter` is the address of the function that calls a kernel for every row of its lists. `run` is that of the function which runs
    the words that it would give to `entry.pinned`.

    On a GPU rows are launched by kinds: `place(kind, first, words)` says from which row on scalars are read, and the words about all of
    them; without words a kind is not launched. Lists
    whose addresses, sizes or stream are not those of the last call go to `entry.pinned`; `forget` lets the next ones go there too.
    `changes` counts them: each has its number in its words.
    """

    enter: int
    run: int
    place: Callable[[int, int, Sequence[int]], None]
    forget: Callable[[], None]
    changes: Callable[[], int]


def list_call(entry: Entry, rows: Sequence[Row], reader: Reader) -> ListCode:
    """The code for lists of rows, each of one of the kinds `rows`."""
    code = _Lists(entry, rows, reader)
    text = code.module()
    state = (ctypes.c_int64 * 5)()
    starts = _starts(rows)
    tables = (ctypes.c_int64 * starts[-1])()
    keep(entry, *rows, state, tables, *code.objects.values())
    symbols = code.symbols(c_api(*C_API)) | {"state": ctypes.addressof(state), "tables": ctypes.addressof(tables)}
    symbols |= {f"kernel{k}": row.kernel for k, row in enumerate(rows)}
    compiled = compile_text(text, ("enter", "many"), symbols, LEVEL)

    def forget() -> None:
        state[VALID // 8] = 0

    def place(kind: int, first: int, words: Sequence[int]) -> None:
        at = starts[kind]
        tables[at] = first + 1 if words else 0
        for k, word in enumerate(words, at + 1):
            tables[k] = word

    return ListCode(
        compiled.address["enter"], compiled.address["many"], place, forget, lambda: int(state[CHANGES // 8])
    )


def _starts(rows: Sequence[Row]) -> list[int]:
    """Where the words about each kind lie: first the number of one of its rows, and one more; 0 where it is not launched."""
    return [sum(1 + row.table for row in rows[:k]) for k in range(len(rows) + 1)]


def _launches(rows: Sequence[Row], scalars: Sequence[int]) -> str:
    """The function `many` of a GPU. `scalars` say for each kind from which word of a row on its scalars lie."""
    t = Text()
    stride = t.let(f"load i64, ptr {_word(t, '%words', 1)}", "i64").name
    for k, (row, start) in enumerate(zip(rows, _starts(rows), strict=False)):
        first = t.let(f"load i64, ptr {_word(t, '@tables', start)}", "i64").name

        def launch(k: int = k, row: Row = row, start: int = start, first: str = first) -> None:
            own = t.reserve(f"[{row.table + len(row.given)} x i64]")
            at = t.index("add", t.index("mul", t.index("sub", first, 1), stride), HEADER + scalars[k])
            places = [_word(t, "@tables", start + 1 + j) for j in range(row.table)]
            places += [_word(t, _word(t, "%words", at), j) for j in row.given]
            for j, place in enumerate(places):
                t.put(f"store i64 {t.let(f'load i64, ptr {place}', 'i64').name}, ptr {_word(t, own, j)}")
            t.put(f"call void @kernel{k}(ptr {own}, i64 %queue)")

        t.when(t.let(f"icmp ne i64 {first}, 0", "i1").name, launch)
    t.put("ret void")
    body = "\n".join([*t.reserved, *t.lines])
    return f"@tables = external global i8\ndefine void @many(ptr %words, i64 %queue) {{\nentry:\n{body}\n}}\n"


def _word(t: Text, base: str, k: int | str) -> str:
    return t.let(f"getelementptr i64, ptr {base}, i64 {k}", "ptr").name


class _Lists(Reading):
    def __init__(self, entry: Entry, rows: Sequence[Row], reader: Reader) -> None:
        super().__init__(entry, reader)
        self.rows = rows
        self.arguments = sorted(
            {o.argument for row in rows for o in row.operands} | {k for row in rows for k, _ in row.again}
        )
        self.spans = 1 + max(len(row.operands) + self._sizes(row) + len(row.words) for row in rows)
        self.width = max(len(row.operands) for row in rows)
        self.stride = self.spans + 2 * self.width
        self.queued = rows[0].queued

    @staticmethod
    def _sizes(row: Row) -> int:
        return 1 if row.sizes is None else len(row.sizes)

    def module(self) -> str:
        t = self.text
        self.head()
        scalars = self.scalars(self.rows)
        self._lists()
        block = self._block()
        diff, total = t.reserve("i64"), t.reserve("i64")
        self.seen = t.reserve("ptr"), t.reserve("i64")  # a layout, and how many elements it has
        t.put(f"store ptr null, ptr {self.seen[0]}")
        t.put(f"store i64 0, ptr {diff}")
        t.put(f"store i64 0, ptr {total}")
        self.stream = t.reserve("ptr")
        t.put(f"store ptr null, ptr {self.stream}")
        t.loop("0", self.count, 1, lambda i: self._row(self._place(block, i), i, scalars, diff, total))
        self.failing = "other"
        threads = str(self.entry.threads)
        if self.queued is None:
            self._compared(block, diff)
            self._when_many(block, total)
        else:
            self.failing = "stale"  # the rows are written, and their tables are those of other rows
            threads = self._queue(block, diff)
        t.put(f"call void @many(ptr {block}, i64 {threads})")
        self.done()
        t.open("stale")
        t.put(f"store i64 0, ptr {self._state(VALID)}")
        t.put("br label %other")
        kernels = [f"declare void @kernel{k}(ptr, i64)" for k in range(len(self.rows))]
        scalars_at = [1 + len(row.operands) + self._sizes(row) for row in self.rows]
        many = _MANY if self.queued is None else _launches(self.rows, scalars_at)
        return self.function(_APART, many, "@state = external global i8", *kernels)

    def _when_many(self, block: str, total: str) -> None:
        """Large rows run without the interpreter lock."""
        many = self.text.let(f"icmp sge i64 {self._read(total)}, {self.entry.many}", "i1").name
        self.text.when(many, lambda: self._all_pinned(block))

    def _queue(self, block: str, diff: str) -> str:
        """The queue of the stream of all rows, where their tables are those in the device's memory: else Python uploads and launches."""
        t = self.text
        assert self.queued is not None, "on a GPU"
        stream = t.let(f"load ptr, ptr {self.stream}", "ptr").name
        queue = queue_of(self, self.queued, stream)
        number, last = t.let(f"ptrtoint ptr {stream} to i64", "i64").name, self._state(STREAM)
        moved = t.let(f"xor i64 {number}, {self._read(last)}", "i64").name
        t.put(f"store i64 {number}, ptr {last}")
        t.put(f"store i64 {t.let(f'or i64 {moved}, {self._read(diff)}', 'i64').name}, ptr {diff}")

        def changed() -> None:
            number = t.index("add", self._read(self._state(CHANGES)), 1)
            t.put(f"store i64 {number}, ptr {self._state(CHANGES)}")
            t.put(f"store i64 {number}, ptr {_word(t, block, 2)}")
            self._all_pinned(block)

        t.when(self._compared(block, diff), changed)
        return queue

    def _on_one_stream(self, row: Row, read: Read) -> None:
        """Require that all memory is in the order of one stream, and sizes that the kernel is right for."""
        t, queued = self.text, row.queued
        assert queued is not None, "on a GPU"
        if row.sizes is None:
            within(self, queued, read.count)
        for tensor in read.tensors:
            stream = self.slot(self.slot(tensor, self.reader.buffer), self.reader.stream)
            known = t.let(f"load ptr, ptr {self.stream}", "ptr").name
            first = t.let(f"icmp eq ptr {known}, null", "i1").name
            same = t.let(f"icmp eq ptr {known}, {stream}", "i1").name
            self.require(t.let(f"or i1 {first}, {same}", "i1").name)
            t.put(f"store ptr {stream}, ptr {self.stream}")

    def _read(self, place: str) -> str:
        return self.text.let(f"load i64, ptr {place}", "i64").name

    def _state(self, offset: int) -> str:
        return self.text.let(f"getelementptr i8, ptr @state, i64 {offset}", "ptr").name

    def _lists(self) -> None:
        """Require lists or tuples of one length above 0."""
        t = self.text
        self.lists: dict[int, tuple[str, str, str | None]] = {}  # the list, what gives an element, and where they lie
        self.count = ""
        for k in self.arguments:
            given = self.argument(k)
            kind = self.word(given, TYPE)
            is_list = t.let(f"icmp eq ptr {kind}, {self.object(list)}", "i1").name
            is_tuple = t.let(f"icmp eq ptr {kind}, {self.object(tuple)}", "i1").name
            self.require(t.let(f"or i1 {is_list}, {is_tuple}", "i1").name)
            sized = t.let(f"select i1 {is_list}, ptr @PyList_Size, ptr @PyTuple_Size", "ptr").name
            get = t.let(f"select i1 {is_list}, ptr @PyList_GetItem, ptr @PyTuple_GetItem", "ptr").name
            size = t.let(f"call i64 {sized}(ptr {given})", "i64").name
            self.lists[k] = given, get, items(t, is_list, given)
            self.require(
                t.let(f"icmp eq i64 {size}, {self.count}" if self.count else f"icmp sgt i64 {size}, 0", "i1").name
            )
            self.count = self.count or size

    def _block(self) -> str:
        """Memory for all rows, and for their spans once more, to be sorted."""
        t = self.text
        capacity = self._read(self._state(CAPACITY))

        def grow() -> None:
            old = t.let(f"load ptr, ptr {self._state(BLOCK)}", "ptr").name
            size = t.index("mul", self.count, 8 * (self.stride + 2 * self.width))
            size = t.index("add", size, 8 * HEADER)
            new = t.let(f"call ptr @PyMem_RawRealloc(ptr {old}, i64 {size})", "ptr").name
            self.require(t.let(f"icmp ne ptr {new}, null", "i1").name)
            t.put(f"store ptr {new}, ptr {self._state(BLOCK)}")
            t.put(f"store i64 {self.count}, ptr {self._state(CAPACITY)}")
            t.put(f"store i64 0, ptr {self._state(VALID)}")

        t.when(t.let(f"icmp slt i64 {capacity}, {self.count}", "i1").name, grow)
        block = t.let(f"load ptr, ptr {self._state(BLOCK)}", "ptr").name
        t.put(f"store i64 {self.count}, ptr {block}")
        t.put(f"store i64 {self.stride}, ptr {t.let(f'getelementptr i64, ptr {block}, i64 1', 'ptr').name}")
        return block

    def _place(self, block: str, i: str) -> str:
        t = self.text
        at = t.index("add", t.index("mul", i, self.stride), HEADER)
        return t.let(f"getelementptr i64, ptr {block}, i64 {at}", "ptr").name

    def _row(self, place: str, i: str, scalars: Sequence[tuple[str, ...]], diff: str, total: str) -> None:
        """Write row `i` as the first kind that it is of."""
        t = self.text
        tensors = {
            k: item(t, lie, i) if lie else t.let(f"call ptr {get}(ptr {given}, i64 {i})", "ptr").name
            for k, (given, get, lie) in self.lists.items()
        }
        after = t.label("row")
        for k, row in enumerate(self.rows):
            self.failing = t.label("kind") if k + 1 < len(self.rows) else "stale"
            read = self.row(row, tensors.__getitem__)
            if row.queued is not None:
                self._on_one_stream(row, read)
            kind = f"i64 ptrtoint (ptr @kernel{k} to i64)" if row.queued is None else f"i64 {k}"
            self._write(place, kind, row, read, scalars[k], diff)
            t.put(f"store i64 {t.index('add', self._read(total), read.count)}, ptr {total}")
            t.put(f"br label %{after}")
            if self.failing != "stale":
                t.open(self.failing)
        t.open(after)

    def packed_size(self, layout: str) -> str:
        """Rows often have the layout of the row before: 2 ns of 18."""
        t, (last, size) = self.text, self.seen

        def look() -> None:
            t.put(f"store i64 {self.look_at(layout)}, ptr {size}")
            t.put(f"store ptr {layout}, ptr {last}")

        t.when(t.let(f"icmp ne ptr {layout}, {t.let(f'load ptr, ptr {last}', 'ptr').name}", "i1").name, look)
        return self._read(size)

    def _write(self, place: str, kernel: str, row: Row, read: Read, scalars: Sequence[str], diff: str) -> None:
        t = self.text

        def at(k: int) -> str:
            return t.let(f"getelementptr i64, ptr {place}, i64 {k}", "ptr").name

        changed = self._read(diff)
        scalars_at = 1 + len(read.words)
        for k, word in enumerate((kernel, *read.words, *scalars)):
            if k < scalars_at or (row.queued is not None and k - scalars_at not in row.given):  # it stands in a table
                old = self._read(at(k))
                one = t.let(f"xor i64 {self._bits(word)}, {old}", "i64").name
                changed = t.let(f"or i64 {changed}, {one}", "i64").name
            t.put(f"store {word}, ptr {at(k)}")
        t.put(f"store i64 {changed}, ptr {diff}")
        for k in range(self.width):
            low, high = read.spans[k] if k < len(read.spans) else ("0", "0")
            written = int(k < len(read.spans) and row.operands[k].written)
            t.put(f"store i64 {low}, ptr {at(self.spans + 2 * k)}")
            t.put(f"store i64 {t.index('add', t.index('shl', high, 1), written)}, ptr {at(self.spans + 2 * k + 1)}")

    def _bits(self, word: str) -> str:
        """An `i64` or a `double` as an integer."""
        kind, value = word.split(" ", 1)
        return value if kind == "i64" else self.text.let(f"bitcast {word} to i64", "i64").name

    def _compared(self, block: str, diff: str) -> str:
        """Require that no row writes what another one reads or writes, where anything has changed since that was seen last. Returns
        whether it has.
        """
        t = self.text
        valid = self._read(self._state(VALID))
        longer = t.let(f"icmp ne i64 {valid}, {self.count}", "i1").name
        moved = t.let(f"icmp ne i64 {self._read(diff)}, 0", "i1").name

        def compare() -> None:
            rows = self._place(block, "0")
            spans = self._place(block, self.count)
            given = f"ptr {rows}, i64 {self.count}, i64 {self.stride}, i64 {self.spans}, i64 {self.width}, ptr {spans}"
            self.require(t.let(f"call i1 @apart({given})", "i1").name, "stale")
            t.put(f"store i64 {self.count}, ptr {self._state(VALID)}")

        changed = t.let(f"or i1 {longer}, {moved}", "i1").name
        t.when(changed, compare)
        return changed

    def _all_pinned(self, block: str) -> None:
        t = self.text
        size = t.index("add", t.index("mul", self.count, 8 * self.stride), 8 * HEADER)
        buffers = t.index("mul", self.count, len(self.lists))
        held = t.let(f"call ptr @PyTuple_New(i64 {buffers})", "ptr").name
        self.require(t.let(f"icmp ne ptr {held}, null", "i1").name, "failed")

        def hold(i: str) -> None:
            for k, (given, get, _) in enumerate(self.lists.values()):
                buffer = self.word(t.let(f"call ptr {get}(ptr {given}, i64 {i})", "ptr").name, self.reader.buffer)
                t.put(f"call void @Py_IncRef(ptr {buffer})")
                n = t.index("add", t.index("mul", i, len(self.lists)), k)
                t.let(f"call i32 @PyTuple_SetItem(ptr {held}, i64 {n}, ptr {buffer})", "i32")

        t.loop("0", self.count, 1, hold)
        self.pinned(block, size, held)
