"""A pool of threads that machine code shares its loops with.

`parallel(body, context, n, grain, threads)` runs `body(context, low, high)` over 0 … n in chunks of a multiple of `grain`; of a negative
one, in one chunk a thread. Every thread has a range of its own and helps with the others' when it is through, so the same elements stay in the same caches from
call to call. The caller works too, and waits only for threads that have begun: one that is asleep costs nothing. Whoever finds
the pool busy - a second caller, a caller inside a loop that is shared already - runs alone.

Threads start at the first loop that wants them. They wait for the next one in a short spin, then asleep. A child after fork has
none, and starts its own.
"""

from __future__ import annotations

import ctypes
import os
import platform
from functools import cache
from pathlib import Path

from .backends.llvm_run import compile_text

MOST = 256  # threads
STACK = 4 << 20  # bytes: more than any kernel's scratch; the system's default is 128 KiB on some
SPIN = 2000  # pauses, some 50 us: the time between two statements of a loop
PATIENCE = 200  # pauses before a caller that waits gives its processor away: the other thread may need this very one
SHARES = 8  # chunks of a thread's own range: what others can take over when it is held up

# Where things lie in the state, in bytes. Lines of 128: two neighbours are fetched together.
_PLACES = {
    "door": 0,  # generation << 32 | open << 16 | threads inside
    "body": 128, "context": 136, "shares": 144, "chunk": 152,  # of the job
    "asleep": 256,
    "limit": 384, "started": 392,
    "busy": 512,
    "mutex": 640, "changed": 768, "attributes": 896, "thread": 1024,
    "ranges": 2048,  # of each thread: next, end, and what it is started with: the state, its number
}  # fmt: skip
_LINE = 128
_SIZE = _PLACES["ranges"] + _LINE * MOST

_TEXT = """
@state = global ptr null
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @sched_yield()
declare void {pause}
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.abs.i64(i64, i1 immarg)

define internal void @work(ptr %s, i64 %mine) {{
entry:
  %p.body = getelementptr i8, ptr %s, i64 {body}
  %body = load ptr, ptr %p.body
  %p.context = getelementptr i8, ptr %s, i64 {context}
  %context = load ptr, ptr %p.context
  %p.shares = getelementptr i8, ptr %s, i64 {shares}
  %shares = load i64, ptr %p.shares
  %p.chunk = getelementptr i8, ptr %s, i64 {chunk}
  %chunk = load i64, ptr %p.chunk
  br label %ranges
ranges:
  %r = phi i64 [ 0, %entry ], [ %r.next, %through ]
  %more = icmp slt i64 %r, %shares
  br i1 %more, label %range, label %done
range:
  %sum = add i64 %mine, %r
  %which = urem i64 %sum, %shares
  %line = mul i64 %which, {line}
  %at = add i64 %line, {ranges}
  %p.next = getelementptr i8, ptr %s, i64 %at
  %p.end = getelementptr i8, ptr %p.next, i64 8
  %end = load i64, ptr %p.end
  br label %take
take:
  %low = atomicrmw add ptr %p.next, i64 %chunk monotonic
  %some = icmp slt i64 %low, %end
  br i1 %some, label %run, label %through
run:
  %above = add i64 %low, %chunk
  %high = call i64 @llvm.smin.i64(i64 %above, i64 %end)
  call void %body(ptr %context, i64 %low, i64 %high)
  br label %take
through:
  %r.next = add i64 %r, 1
  br label %ranges
done:
  ret void
}}

define internal ptr @thread(ptr %line) {{
entry:
  %p.state = getelementptr i8, ptr %line, i64 16
  %s = load ptr, ptr %p.state
  %p.number = getelementptr i8, ptr %line, i64 24
  %number = load i64, ptr %p.number
  %p.shares = getelementptr i8, ptr %s, i64 {shares}
  %p.asleep = getelementptr i8, ptr %s, i64 {asleep}
  %mutex = getelementptr i8, ptr %s, i64 {mutex}
  %changed = getelementptr i8, ptr %s, i64 {changed}
  br label %wait
wait:
  %last = phi i64 [ 0, %entry ], [ %job, %leave ]
  br label %look
look:
  %spins = phi i64 [ 0, %wait ], [ %spins.next, %again ], [ 0, %woken ]
  %door = load atomic i64, ptr %s seq_cst, align 8
  %job.now = lshr i64 %door, 32
  %new = icmp ne i64 %job.now, %last
  %open.bits = and i64 %door, 65536
  %open = icmp ne i64 %open.bits, 0
  %enter = and i1 %new, %open
  br i1 %enter, label %knock, label %nothing
knock:
  %inside = add i64 %door, 1
  %pair = cmpxchg ptr %s, i64 %door, i64 %inside acquire monotonic
  %entered = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %entered, label %join, label %again
join:
  %job = lshr i64 %door, 32
  %shares = load i64, ptr %p.shares
  %wanted = icmp slt i64 %number, %shares
  br i1 %wanted, label %help, label %leave
help:
  call void @work(ptr %s, i64 %number)
  br label %leave
leave:
  %out = atomicrmw sub ptr %s, i64 1 release
  br label %wait
nothing:
  %tired = icmp sge i64 %spins, {spin}
  br i1 %tired, label %sleep, label %again
again:
  call void {pause.call}
  %spins.next = add i64 %spins, 1
  br label %look
sleep:
  %locked = call i32 @pthread_mutex_lock(ptr %mutex)
  %before = atomicrmw add ptr %p.asleep, i64 1 seq_cst
  br label %check
check:
  %door.now = load atomic i64, ptr %s seq_cst, align 8
  %job.then = lshr i64 %door.now, 32
  %different = icmp ne i64 %job.then, %last
  %bits.then = and i64 %door.now, 65536
  %open.then = icmp ne i64 %bits.then, 0
  %called = and i1 %different, %open.then
  br i1 %called, label %woken, label %rest
rest:
  %rested = call i32 @pthread_cond_wait(ptr %changed, ptr %mutex)
  br label %check
woken:
  %after = atomicrmw sub ptr %p.asleep, i64 1 seq_cst
  %unlocked = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %look
}}

define internal void @start(ptr %s, i64 %wanted) {{
entry:
  %p.started = getelementptr i8, ptr %s, i64 {started}
  %p.limit = getelementptr i8, ptr %s, i64 {limit}
  %attributes = getelementptr i8, ptr %s, i64 {attributes}
  %p.thread = getelementptr i8, ptr %s, i64 {thread}
  br label %next
next:
  %have = load i64, ptr %p.started
  %number = add i64 %have, 1
  %missing = icmp slt i64 %number, %wanted
  br i1 %missing, label %one, label %done
one:
  %line = mul i64 %number, {line}
  %at = add i64 %line, {ranges}
  %mine = getelementptr i8, ptr %s, i64 %at
  %p.state = getelementptr i8, ptr %mine, i64 16
  store ptr %s, ptr %p.state
  %p.number = getelementptr i8, ptr %mine, i64 24
  store i64 %number, ptr %p.number
  %failed.code = call i32 @pthread_create(ptr %p.thread, ptr %attributes, ptr @thread, ptr %mine)
  %failed = icmp ne i32 %failed.code, 0
  br i1 %failed, label %few, label %started
started:
  %id = load i64, ptr %p.thread
  %detached = call i32 @pthread_detach(i64 %id)
  store i64 %number, ptr %p.started
  br label %next
few:
  store i64 %number, ptr %p.limit
  br label %done
done:
  ret void
}}

define void @parallel(ptr %body, ptr %context, i64 %n, i64 %given, i64 %threads) {{
entry:
  %grain = call i64 @llvm.abs.i64(i64 %given, i1 true)
  %whole = icmp slt i64 %given, 0
  %s = load ptr, ptr @state
  %p.limit = getelementptr i8, ptr %s, i64 {limit}
  %limit = load i64, ptr %p.limit
  %default = icmp sle i64 %threads, 0
  %asked = select i1 %default, i64 %limit, i64 %threads
  %most = call i64 @llvm.smin.i64(i64 %asked, i64 {most})
  %rounded = add i64 %n, %grain
  %less = sub i64 %rounded, 1
  %grains = sdiv i64 %less, %grain
  %want = call i64 @llvm.smin.i64(i64 %most, i64 %grains)
  %several = icmp sgt i64 %want, 1
  br i1 %several, label %ask, label %alone
ask:
  %p.busy = getelementptr i8, ptr %s, i64 {busy}
  %pair = cmpxchg ptr %p.busy, i64 0, i64 1 acquire monotonic
  %free = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %free, label %ready, label %alone
alone:
  call void %body(ptr %context, i64 0, i64 %n)
  ret void
ready:
  %p.started = getelementptr i8, ptr %s, i64 {started}
  %have = load i64, ptr %p.started
  %others = sub i64 %want, 1
  %missing = icmp slt i64 %have, %others
  br i1 %missing, label %more, label %share
more:
  call void @start(ptr %s, i64 %want)
  br label %share
share:
  %a0 = add i64 %grains, %others
  %a1 = sdiv i64 %a0, %want
  %range = mul i64 %a1, %grain
  %b0 = add i64 %a1, {shares.less}
  %b1 = sdiv i64 %b0, {shares.each}
  %b2 = select i1 %whole, i64 %a1, i64 %b1
  %chunk = mul i64 %b2, %grain
  %p.body = getelementptr i8, ptr %s, i64 {body}
  store ptr %body, ptr %p.body
  %p.context = getelementptr i8, ptr %s, i64 {context}
  store ptr %context, ptr %p.context
  %p.shares = getelementptr i8, ptr %s, i64 {shares}
  store i64 %want, ptr %p.shares
  %p.chunk = getelementptr i8, ptr %s, i64 {chunk}
  store i64 %chunk, ptr %p.chunk
  br label %divide
divide:
  %t = phi i64 [ 0, %share ], [ %t.next, %divide ]
  %low = mul i64 %t, %range
  %above = add i64 %low, %range
  %high = call i64 @llvm.smin.i64(i64 %above, i64 %n)
  %line = mul i64 %t, {line}
  %at = add i64 %line, {ranges}
  %p.next = getelementptr i8, ptr %s, i64 %at
  store i64 %low, ptr %p.next
  %p.end = getelementptr i8, ptr %p.next, i64 8
  store i64 %high, ptr %p.end
  %t.next = add i64 %t, 1
  %left = icmp slt i64 %t.next, %want
  br i1 %left, label %divide, label %open
open:
  %door = load i64, ptr %s
  %number = lshr i64 %door, 32
  %following = add i64 %number, 1
  %upper = shl i64 %following, 32
  %opened = or i64 %upper, 65536
  store atomic i64 %opened, ptr %s seq_cst, align 8
  %p.asleep = getelementptr i8, ptr %s, i64 {asleep}
  %asleep = load atomic i64, ptr %p.asleep seq_cst, align 8
  %some = icmp sgt i64 %asleep, 0
  br i1 %some, label %call, label %go
call:
  %mutex = getelementptr i8, ptr %s, i64 {mutex}
  %changed = getelementptr i8, ptr %s, i64 {changed}
  %locked = call i32 @pthread_mutex_lock(ptr %mutex)
  %told = call i32 @pthread_cond_broadcast(ptr %changed)
  %unlocked = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %go
go:
  call void @work(ptr %s, i64 0)
  %closed = atomicrmw and ptr %s, i64 -65537 acq_rel
  br label %leave
leave:
  %spins = phi i64 [ 0, %go ], [ %spins.next, %polite ]
  %now = load atomic i64, ptr %s acquire, align 8
  %count = and i64 %now, 65535
  %empty = icmp eq i64 %count, 0
  br i1 %empty, label %done, label %still
still:
  %spins.next = add i64 %spins, 1
  %long = icmp sgt i64 %spins, {patience}
  br i1 %long, label %yield, label %short
yield:
  %yielded = call i32 @sched_yield()
  br label %polite
short:
  call void {pause.call}
  br label %polite
polite:
  br label %leave
done:
  store atomic i64 0, ptr %p.busy release, align 8
  ret void
}}
"""
_pools: list[object] = []  # threads may look into them as long as the process lives
_PAUSES = {
    "x86_64": ("@llvm.x86.sse2.pause()", "@llvm.x86.sse2.pause()"),
    "AMD64": ("@llvm.x86.sse2.pause()", "@llvm.x86.sse2.pause()"),
    "aarch64": ("@llvm.aarch64.hint(i32)", "@llvm.aarch64.hint(i32 1)"),
    "arm64": ("@llvm.aarch64.hint(i32)", "@llvm.aarch64.hint(i32 1)"),
}
_ALONE = """
define void @parallel(ptr %body, ptr %context, i64 %n, i64 %grain, i64 %threads) {
  call void %body(ptr %context, i64 0, i64 %n)
  ret void
}
"""


def processors() -> int:
    """How many processors this process may use: its affinity, and its control group's share."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return count if quota == "max" else max(1, min(count, -(-int(quota) // int(period))))
    except (OSError, ValueError):
        return count


@cache
def default_threads() -> int:
    """`EXPRTEN_NUM_THREADS`, or the number of processors. Raises ValueError for a setting that is no number from 1 on."""
    text = os.environ.get("EXPRTEN_NUM_THREADS", "")
    if not text:
        return min(processors(), MOST)
    if not text.isdecimal() or not int(text):
        raise ValueError(f"EXPRTEN_NUM_THREADS is {text!r}; it must be a whole number from 1 on")
    return min(int(text), MOST)


@cache
def parallel() -> int:
    """The address of the function `parallel`; the pool is ready from then on."""
    if os.name != "posix" or platform.machine() not in _PAUSES:
        return compile_text(_ALONE, ("parallel",), {}).address["parallel"]
    declared, called = _PAUSES[platform.machine()]
    values: dict[str, object] = {"pause": declared, "pause.call": called, "line": _LINE, "most": MOST, "spin": SPIN}
    values |= {"patience": PATIENCE, "shares.each": SHARES, "shares.less": SHARES - 1, **_PLACES}
    text = _filled(_TEXT, values)
    address = compile_text(text, ("parallel", "state"), {}).address
    limit = default_threads()
    _renew(address["state"], limit)
    os.register_at_fork(after_in_child=lambda: _renew(address["state"], limit))
    return address["parallel"]


def _filled(text: str, values: dict[str, object]) -> str:
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return text.replace("{{", "{").replace("}}", "}")


def _renew(cell: int, limit: int) -> None:
    """A pool without threads, in the place where machine code looks for one."""
    memory = ctypes.create_string_buffer(_SIZE + _LINE)
    _pools.append(memory)
    base = -(-ctypes.addressof(memory) // _LINE) * _LINE
    c = ctypes.CDLL(None)
    at = {name: ctypes.c_void_p(base + offset) for name, offset in _PLACES.items()}
    c.pthread_mutex_init(at["mutex"], None)
    c.pthread_cond_init(at["changed"], None)
    c.pthread_attr_init(at["attributes"])
    c.pthread_attr_setstacksize(at["attributes"], ctypes.c_size_t(STACK))
    ctypes.c_int64.from_address(base + _PLACES["limit"]).value = limit
    ctypes.c_void_p.from_address(cell).value = base
