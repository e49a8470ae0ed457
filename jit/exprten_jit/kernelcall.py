"""The call of a kernel as machine code: arguments are told apart, checked and read without Python."""

from __future__ import annotations

from .backends.llvm_run import compile_text
from .directcall import Reader, queue
from .entries import Entry, Row
from .hostcall import c_api, keep
from .reading import C_API, LEVEL, Read, Reading


def kernel_call(entry: Entry, row: Row, reader: Reader) -> int:
    """The address of the function that calls a kernel with one row of tensors, for `vectorcall.redirect`."""
    code = Reading(entry, reader)
    code.head()
    (scalars,) = code.scalars([row])
    read = code.row(row, code.argument)
    code.require(code.text.let(f"icmp sgt i64 {read.count}, 0", "i1").name)
    _apart(code, row, read)
    _run(code, row, (*read.words, *scalars), read)
    code.done()
    text = code.function("declare void @kernel(ptr, i64)")
    keep(entry, row, *code.objects.values())
    symbols = code.symbols(c_api(*C_API)) | {"kernel": row.kernel}
    return compile_text(text, ("enter",), symbols, LEVEL).address["enter"]


def _apart(code: Reading, row: Row, read: Read) -> None:
    """Require that no operand that is written shares memory with another one."""
    t, written = code.text, [operand.written for operand in row.operands]
    for k in range(len(written)):
        for j in range(k):
            if written[j] or written[k]:
                (a, a_end), (b, b_end) = read.spans[j], read.spans[k]
                above = t.let(f"icmp uge i64 {a}, {b_end}", "i1").name
                below = t.let(f"icmp uge i64 {b}, {a_end}", "i1").name
                code.require(t.let(f"or i1 {above}, {below}", "i1").name)


def _run(code: Reading, row: Row, words: tuple[str, ...], read: Read) -> None:
    t = code.text
    place = t.reserve(f"[{len(words)} x i64]")
    for k, word in enumerate(words):
        t.put(f"store {word}, ptr {t.let(f'getelementptr i64, ptr {place}, i64 {k}', 'ptr').name}")

    def pinned() -> None:
        buffers = ", ".join(f"ptr {code.word(tensor, code.reader.buffer)}" for tensor in read.tensors)
        held = t.let(f"call ptr (i64, ...) @PyTuple_Pack(i64 {len(read.tensors)}, {buffers})", "ptr").name
        code.pinned(place, str(8 * len(words)), held)

    threads = str(code.entry.threads)
    if row.queued is None:
        t.when(t.let(f"icmp sge i64 {read.count}, {code.entry.many}", "i1").name, pinned)
    else:
        threads = queue(code, row.queued, read.tensors, read.count if row.sizes is None else None)
    t.put(f"call void @kernel(ptr {place}, i64 {threads})")
