"""Memory and lifetimes: who owns it, who frees it when, who shares it, and what a Tensor is as a Python object."""

import array
import copy
import gc
import importlib
import pickle
import threading
import time

import numpy as np
import pytest
from exprten_jit.dtypes import ROWS
from hypothesis import given, settings
from hypothesis import strategies as st

import exprten as xt
from exprten.storage.buffer import NO_MEMORY

DTYPES = tuple(row.name for row in ROWS if not row.like)  # NumPy's


class Watch:
    """What `xt.memory` did since this was made."""

    def __init__(self):
        gc.collect()
        self._before = (xt.memory.allocations, xt.memory.frees, xt.memory.bytes_in_use)

    def __call__(self):
        now = (xt.memory.allocations, xt.memory.frees, xt.memory.bytes_in_use)
        return tuple(b - a for a, b in zip(self._before, now, strict=True))


def counted(shape, dtype="float32"):
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


def address(t):
    return t.buffer.address + t.offset


# Reference counting.


def test_handle_without_memory_allocates_nothing():
    watch = Watch()
    t = xt.Tensor((1000, 1000))
    assert (t.shape, t.dtype, t.device, t.nbytes) == ((1000, 1000), np.float32, xt.cpu(), 4_000_000)
    assert watch() == (0, 0, 0)


KEEPERS = {
    "handle": lambda t: t,
    "another name": lambda t: [t, t],
    "view": lambda t: t[1:],
    "empty view": lambda t: t[5:],
    "transposed view": lambda t: t.T,
    "broadcast view": lambda t: xt.broadcast_to(t, (3, *t.shape)),
    "copied handle": copy.copy,
    "expression": lambda t: t * 2 + 1,
    "remap": lambda t: xt.pad(t, 1),
    "indexed expression": lambda t: (t + 1)[0],
    "plan": lambda t: xt.plan(xt.asarray(np.zeros((4, 8), np.float32)), t + 1),
    "iterator": iter,
    "numpy view": lambda t: t.numpy(),
    "slice of a numpy view": lambda t: t.numpy()[1:, ::2],
    "asarray": np.asarray,
    "DLPack": np.from_dlpack,
    "memoryview": lambda t: memoryview(t.numpy())[1:],
    "tensor over a numpy view": lambda t: xt.asarray(t.numpy()),
}


@pytest.mark.parametrize("name", KEEPERS)
def test_the_last_to_go_frees(name):
    watch = Watch()
    t = xt.empty((4, 8))
    kept = KEEPERS[name](t)
    del t
    gc.collect()
    assert watch() == (1, 0, 128)
    del kept
    gc.collect()
    assert watch() == (1, 1, 0)


EXPORTS = ("numpy view", "slice of a numpy view", "asarray", "DLPack", "memoryview", "tensor over a numpy view")


@pytest.mark.parametrize("name", EXPORTS)
def test_export_refuses_free_and_goes_on_seeing_the_elements(name):
    t = xt.ones((4, 8))
    export = KEEPERS[name](t[:])
    with pytest.raises(BufferError, match=r"^free_space: 1 exported view\(s\)"):
        xt.free_space(t)
    t[...] = 7
    assert np.asarray(export).ravel()[0] == 7
    del export
    gc.collect()
    xt.free_space(t)
    assert t.buffer.address == 0


def test_exports_are_counted():
    t = xt.zeros(4)
    kept = [t.numpy(), np.asarray(t), t[1:].numpy()]
    with pytest.raises(BufferError, match=r"3 exported view\(s\)"):
        xt.free_space(t)
    kept.clear()
    gc.collect()
    xt.free_space(t)


@pytest.mark.parametrize("name", ["handle", "view", "transposed view", "broadcast view", "copied handle", "expression"])
def test_free_space_frees_for_everybody(name):
    watch = Watch()
    t = xt.ones((4, 8))
    other = KEEPERS[name](t)
    out = xt.zeros(other.shape)
    xt.free_space(t)
    assert watch() == (2, 1, out.nbytes)
    with pytest.raises(xt.FreedSpaceError):
        out[...] = other
    with pytest.raises(xt.FreedSpaceError):
        xt.free_space(t)
    assert out.numpy().sum() == 0
    other = t = None
    gc.collect()
    assert watch() == (2, 1, out.nbytes)  # not freed twice


def test_view_frees_the_whole_buffer():
    t = xt.ones((4, 8))
    xt.free_space(t[1:2, 3])
    with pytest.raises(xt.FreedSpaceError):
        t[0]


def test_repr_of_a_freed_tensor_prints():
    t = xt.ones(3)
    xt.free_space(t)
    assert repr(t) == "<tensor (3,) float32, no memory>"


def test_alloc_space_gives_memory_once():
    watch = Watch()
    t = xt.Tensor((3, 5), xt.int32)
    assert xt.alloc_space(t) is t
    assert watch() == (1, 0, 60)
    with pytest.raises(xt.FreedSpaceError):
        xt.alloc_space(t)
    with pytest.raises(xt.FreedSpaceError):
        xt.alloc_space(t[1:])
    assert watch() == (1, 0, 60)


def test_unallocated_handles_share_no_memory():
    a, b = xt.Tensor(3), xt.Tensor(3)
    assert a.buffer is NO_MEMORY and b.buffer is NO_MEMORY
    xt.alloc_space(a)
    assert b.buffer is NO_MEMORY
    assert NO_MEMORY.address == 0 and NO_MEMORY.exports == 0


def test_failed_allocation_counts_nothing():
    watch = Watch()
    with pytest.raises(MemoryError, match="are not to be had"):
        xt.empty(1 << 50)
    assert watch() == (0, 0, 0)


def test_peak_is_the_most_there_was():
    before = xt.memory.peak_bytes
    t = xt.empty(xt.memory.peak_bytes + 1000, xt.uint8)
    assert xt.memory.peak_bytes > before
    high = xt.memory.peak_bytes
    xt.free_space(t)
    assert xt.memory.peak_bytes == high


# Layout of owned memory.


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 5), (2, 3, 7)], ids=str)
def test_addresses_are_aligned_and_packed(shape, dtype):
    t = xt.empty(shape, dtype)
    assert address(t) % 64 == 0
    assert t.is_contiguous
    assert t.strides == np.empty(shape, dtype).strides or 0 in shape
    assert t.nbytes == np.empty(shape, dtype).nbytes


@pytest.mark.parametrize("dtype", DTYPES)
def test_padded_rows_start_at_64_bytes(dtype):
    t = xt.zeros((3, 2, 5), dtype, pad=True)
    row = -(-5 * t.dtype.itemsize // 64) * 64
    assert t.strides == (2 * row, row, t.dtype.itemsize)
    assert all(address(t[i, j]) % 64 == 0 for i in range(3) for j in range(2))
    assert not t.is_contiguous
    t[...] = xt.ones((3, 2, 5), dtype)
    assert t.numpy().tolist() == np.ones((3, 2, 5), dtype).tolist()


def test_row_as_long_as_the_alignment_is_not_padded():
    t = xt.empty((3, 16), pad=True)
    assert t.strides == (64, 4) and t.is_contiguous


def test_padding_belongs_to_the_buffer():
    t = xt.empty((3, 17), pad=True)
    assert t.buffer.nbytes == 3 * 128
    assert t.nbytes == 3 * 17 * 4


@pytest.mark.parametrize(
    "make",
    [lambda p: xt.new_tensor((3, 5), 1.0, pad=p), lambda p: xt.full((3, 5), 1.0, pad=p), lambda p: xt.ones((3, 5), pad=p),
     lambda p: xt.array(np.ones((3, 5), np.float32), pad=p), lambda p: xt.evaluate(xt.ones((3, 5)) * 1, pad=p),
     lambda p: xt.alloc_space(xt.Tensor((3, 5)), pad=p).assign(1), lambda p: xt.TensorContainer((3, 5), 1.0, pad=p)],
)  # fmt: skip
def test_every_allocation_can_pad(make):
    for pad, strides in ((False, (20, 4)), (True, (64, 4))):
        t = make(pad)
        assert t.strides == strides
        assert t.numpy().tolist() == [[1.0] * 5] * 3


# TensorContainer.


def test_container_uses_its_memory_again():
    watch = Watch()
    t = xt.TensorContainer((4, 8), 1.0)
    start = address(t)
    t.resize((8, 4))
    assert (t.shape, address(t), watch()[0]) == ((8, 4), start, 1)
    t.resize(3, init=2)
    assert (t.numpy().tolist(), address(t), watch()[0]) == ([2, 2, 2], start, 1)
    t.resize((4, 8), init=5)
    assert watch()[0] == 1 and t.numpy().sum() == 160


def test_container_grows():
    watch = Watch()
    t = xt.TensorContainer((4, 8), 1.0)
    view = t[0]
    t.resize((5, 8), init=2)
    assert watch() == (2, 0, 128 + 160)
    assert view.numpy().tolist() == [1] * 8  # of the old memory, which the view keeps
    del view
    gc.collect()
    assert watch() == (2, 1, 160)


def test_container_frees_at_the_end_of_its_block():
    watch = Watch()
    with xt.TensorContainer((4, 8), 1.0) as t:
        assert watch() == (1, 0, 128)
    assert watch() == (1, 1, 0)
    assert t.shape == (0,)
    t.resize((2, 2), init=3)
    assert t.numpy().tolist() == [[3, 3], [3, 3]]
    t.release()
    t.release()
    assert watch() == (2, 2, 0)


def test_container_frees_after_an_error():
    watch = Watch()
    with pytest.raises(ZeroDivisionError), xt.TensorContainer((4, 8)):
        1 / 0  # noqa: B018
    gc.collect()
    assert watch() == (1, 1, 0)


def test_container_does_not_move_under_an_export():
    t = xt.TensorContainer((4, 8), 1.0)
    view = t.numpy()
    for change in (lambda: t.resize((5, 8)), lambda: t.resize((1,)), t.release):
        with pytest.raises(BufferError):
            change()
    assert t.shape == (4, 8) and view.sum() == 32
    del view
    gc.collect()
    t.resize((5, 8))


def test_container_starts_empty():
    t = xt.TensorContainer()
    assert t.shape == (0,) and t.dtype == np.float32
    t.resize((2, 3), init=1)
    assert (t * 2 + t).shape == (2, 3)


# Borrowed memory.


def test_numpy_memory_is_shared_both_ways():
    data = counted((3, 4))
    watch, t = Watch(), xt.asarray(data)
    t += 1
    assert data[0].tolist() == [1, 2, 3, 4]
    data[0] = 9
    assert t[0].numpy().tolist() == [9] * 4
    assert t.numpy().__array_interface__["data"][0] == data.__array_interface__["data"][0]
    assert watch() == (0, 0, 0)


LAYOUTS = {
    "packed": lambda a: a, "transposed": lambda a: a.T, "reversed": lambda a: a[::-1, ::-1], "strided": lambda a: a[::2, 1::3],
    "Fortran": np.asfortranarray, "broadcast": lambda a: np.broadcast_to(a[0], (5, a.shape[1])), "row": lambda a: a[2],
    "0-d": lambda a: a[1, 1:2].reshape(()), "empty": lambda a: a[:0], "new axis": lambda a: a[:, None],
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_is_borrowed_and_given_back(name, dtype):
    a = LAYOUTS[name](counted((6, 9), dtype))
    t = xt.asarray(a)
    assert (t.shape, t.dtype, t.writable) == (a.shape, a.dtype, a.flags.writeable)
    back = t.numpy()
    np.testing.assert_array_equal(back, a)
    assert a.size == 0 or np.shares_memory(a, back)
    assert a.size < 2 or back.strides == tuple(
        s if n > 1 else b for s, b, n in zip(a.strides, back.strides, a.shape, strict=True)
    )
    assert back.flags.writeable == a.flags.writeable
    out = xt.empty(a.shape, a.dtype)
    out[...] = t
    np.testing.assert_array_equal(out.numpy(), a)


def test_borrowed_memory_keeps_its_exporter_alive():
    class Exporter(np.ndarray):
        alive = 0

        def __del__(self):
            Exporter.alive -= self.base is None

    data = np.ndarray.__new__(Exporter, (5,), np.float32)
    data[...] = 3
    Exporter.alive = 1
    t = xt.asarray(data)
    view = t[1:]
    del data, t
    gc.collect()
    assert Exporter.alive == 1
    assert view.numpy().tolist() == [3] * 4
    del view
    gc.collect()
    assert Exporter.alive == 0


BUFFERS = {
    "bytearray": (lambda: bytearray(b"\1\2\3\4"), "uint8", True),
    "bytes": (lambda: b"\1\2\3\4", "uint8", False),
    "array of floats": (lambda: array.array("f", [1, 2, 3, 4]), "float32", True),
    "array of doubles": (lambda: array.array("d", [1, 2, 3, 4]), "float64", True),
    "array of ints": (lambda: array.array("i", [1, 2, 3, 4]), "int32", True),
    "memoryview": (lambda: memoryview(bytearray(b"\1\2\3\4"))[:], "uint8", True),
    "matrix in a memoryview": (lambda: memoryview(bytearray(b"\1\2\3\4")).cast("B", (2, 2)), "uint8", True),
}


@pytest.mark.parametrize("name", BUFFERS)
def test_buffers_are_shared(name):
    make, dtype, writable = BUFFERS[name]
    owner = make()
    t = xt.asarray(owner)
    assert (t.dtype, t.writable, t.size) == (np.dtype(dtype), writable, 4)
    assert t.reshape(4).numpy().tolist() == [1, 2, 3, 4]
    if writable:
        t += 1
        assert np.asarray(owner).ravel().tolist() == [2, 3, 4, 5]
    else:
        with pytest.raises(xt.ReadOnlyError):
            t += 1
        assert owner == b"\1\2\3\4"


def test_bytearray_cannot_grow_while_it_is_borrowed():
    owner = bytearray(b"\1\2\3\4")
    t = xt.asarray(owner)
    with pytest.raises(BufferError):
        owner.extend(b"more")
    xt.free_space(t)
    gc.collect()
    owner.extend(b"more")


class Torch:
    """A CPU tensor of PyTorch from outside: it has DLPack, and a GPU attribute that is not there on the CPU."""

    def __init__(self, data):
        self.data = data

    @property
    def __cuda_array_interface__(self):
        raise AttributeError("not on a GPU")

    def __dlpack__(self, **how):
        return self.data.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.data.__dlpack_device__()


def test_dlpack_is_shared_both_ways():
    data = counted((3, 4))
    t = xt.asarray(Torch(data))
    t *= 2
    assert data[2].tolist() == [16, 18, 20, 22]
    assert np.shares_memory(data, t.numpy())
    again = np.from_dlpack(t)
    again[0, 0] = 50
    assert data[0, 0] == 50
    assert t.__dlpack_device__() == data.__dlpack_device__()


def test_asarray_of_a_tensor_is_the_tensor():
    t = xt.zeros(3)
    assert xt.asarray(t) is t


def test_readonly_stays_readonly():
    data = counted(4)
    data.flags.writeable = False
    t = xt.asarray(data)
    for view in (t, t[1:], t.T, t.reshape(2, 2), xt.broadcast_to(t, (2, 4)), copy.copy(t)):
        assert not view.writable
        with pytest.raises(xt.ReadOnlyError):
            view[...] = 1
    assert not t.numpy().flags.writeable and not np.asarray(t).flags.writeable
    assert copy.deepcopy(t).writable
    assert data.tolist() == [0, 1, 2, 3]


def test_freeing_borrowed_memory_lets_the_owner_go():
    data = counted(4)
    watch, t = Watch(), xt.asarray(data)
    xt.free_space(t)
    assert watch() == (0, 0, 0)
    with pytest.raises(xt.FreedSpaceError):
        t[0]
    assert data.tolist() == [0, 1, 2, 3]


# NumPy's view of a tensor.


def test_asarray_copies_only_when_it_must():
    t = xt.ones((2, 3))
    assert np.shares_memory(np.asarray(t), t.numpy())
    assert np.shares_memory(np.asarray(t, np.float32), t.numpy())
    assert np.shares_memory(np.array(t, copy=False), t.numpy())
    for other in (np.array(t), np.array(t, copy=True), np.asarray(t, np.float64), t.numpy().copy()):
        assert not np.shares_memory(other, t.numpy())
        assert other.tolist() == t.numpy().tolist()
    with pytest.raises(ValueError, match="need a copy"):
        np.array(t, np.float64, copy=False)


@pytest.mark.parametrize(
    "view", [lambda t: t, lambda t: t.T, lambda t: t[::-1, 1::2], lambda t: t[1, 2], lambda t: t[:0]]
)
def test_numpy_shows_the_same_elements(view):
    data = counted((4, 6))
    t = view(xt.array(data))
    np.testing.assert_array_equal(t.numpy(), view(data))
    np.testing.assert_array_equal(np.asarray(t), view(data))


# Copies.


def test_copy_is_a_handle_and_deepcopy_is_memory():
    t = xt.ones((2, 3))
    watch = Watch()
    handle = copy.copy(t)
    assert handle is not t and watch() == (0, 0, 0)
    handle += 1
    assert t.numpy().sum() == 12
    deep = copy.deepcopy(t)
    deep += 1
    assert t.numpy().sum() == 12 and deep.numpy().sum() == 18
    assert watch()[0] == 1


def test_to_copies_packed():
    t = xt.array(counted((4, 6)))
    other = copy.deepcopy(t.T[::2])
    assert other.is_contiguous and other.buffer is not t.buffer
    np.testing.assert_array_equal(other.numpy(), counted((4, 6)).T[::2])


@pytest.mark.parametrize("dst", ["tensor", "array"])
@pytest.mark.parametrize("src", ["tensor", "array"])
def test_copy_between_tensors_and_arrays(dst, src):
    kinds = {"tensor": xt.array, "array": np.array}
    into, out_of = kinds[dst](np.zeros((2, 3), np.float32)), kinds[src](counted((2, 3)))
    assert xt.copy(into, out_of) is into
    np.testing.assert_array_equal(np.asarray(into), counted((2, 3)))


def test_pickle_takes_the_elements():
    t = xt.array(counted((4, 6)))
    other = pickle.loads(pickle.dumps(t[::2, 1:]))
    assert other.buffer.address != t.buffer.address
    np.testing.assert_array_equal(other.numpy(), counted((4, 6))[::2, 1:])
    with pytest.raises(TypeError):
        pickle.dumps(t + 1)


# Making tensors.

MADE = {
    "zeros": (lambda: xt.zeros(2), "float32", [0, 0]),
    "ones": (lambda: xt.ones(2), "float32", [1, 1]),
    "zeros int": (lambda: xt.zeros(2, int), "int64", [0, 0]),
    "zeros bool": (lambda: xt.zeros(2, "?"), "bool", [False, False]),
    "ones bool": (lambda: xt.ones(2, bool), "bool", [True, True]),
    "full of a float": (lambda: xt.full(2, 1.5), "float32", [1.5, 1.5]),
    "full of an int": (lambda: xt.full(2, 7), "int64", [7, 7]),
    "full of a bool": (lambda: xt.full(2, True), "bool", [True, True]),
    "full of a NumPy float": (lambda: xt.full(2, np.float64(1.5)), "float64", [1.5, 1.5]),
    "full of a NumPy int": (lambda: xt.full(2, np.uint8(7)), "uint8", [7, 7]),
    "full of a given type": (lambda: xt.full(2, 7, xt.float64), "float64", [7, 7]),
    "new_tensor": (lambda: xt.new_tensor(2), "float32", [0, 0]),
    "new_tensor of ints": (lambda: xt.new_tensor(2, 7, "i4"), "int32", [7, 7]),
    "new_tensor of bools": (lambda: xt.new_tensor(2, 1, bool), "bool", [True, True]),
    "arange": (lambda: xt.arange(3), "int64", [0, 1, 2]),
    "arange from": (lambda: xt.arange(5, -1, -2), "int64", [5, 3, 1]),
    "arange of floats": (lambda: xt.arange(0, 1, 0.25), "float32", [0, 0.25, 0.5, 0.75]),
    "arange of one float": (lambda: xt.arange(2.0), "float32", [0, 1]),
    "arange of a type": (lambda: xt.arange(3, dtype=xt.float64), "float64", [0, 1, 2]),
    "arange of nothing": (lambda: xt.arange(3, 3), "int64", []),
    "array of floats": (lambda: xt.array([1.5, 2]), "float32", [1.5, 2]),
    "array of ints": (lambda: xt.array([1, 2]), "int64", [1, 2]),
    "array of bools": (lambda: xt.array([True, False]), "bool", [True, False]),
    "array of nothing": (lambda: xt.array([]), "float32", []),
    "array of NumPy doubles": (lambda: xt.array(np.array([1.5])), "float64", [1.5]),
    "array of a NumPy double": (lambda: xt.array(np.float64(1.5)), "float64", 1.5),
    "array of a float": (lambda: xt.array(1.5), "float32", 1.5),
    "array of a type": (lambda: xt.array([1, 2], xt.uint8), "uint8", [1, 2]),
    "array of an expression": (lambda: xt.array(xt.ones(2) + 1), "float32", [2, 2]),
    "array of a tensor": (lambda: xt.array(xt.ones(2, int)), "int64", [1, 1]),
    "array of a range": (lambda: xt.array(range(3)), "int64", [0, 1, 2]),
    "array of other byte order": (lambda: xt.array(np.array([1, 2], np.dtype("i4").newbyteorder("S")), xt.int32), "int32", [1, 2]),
    "zeros_like": (lambda: xt.zeros_like(xt.ones(2, int)), "int64", [0, 0]),
    "zeros_like of an expression": (lambda: xt.zeros_like(xt.ones(2) > 0), "bool", [False, False]),
    "zeros_like of another type": (lambda: xt.zeros_like(xt.ones(2), xt.uint8), "uint8", [0, 0]),
    "shape as an array": (lambda: xt.ones(np.array([1, 2])), "float32", [[1, 1]]),
    "evaluate": (lambda: xt.evaluate(xt.ones(2) * 3), "float32", [3, 3]),
    "evaluate to a type": (lambda: xt.evaluate(xt.ones(2) * 3, xt.float64), "float64", [3, 3]),
    "evaluate a float": (lambda: xt.evaluate(2.5), "float64", 2.5),
    "evaluate an array": (lambda: xt.evaluate(np.ones(2, np.uint8)), "uint8", [1, 1]),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_made_tensor_has_type_and_values(name):
    make, dtype, values = MADE[name]
    watch = Watch()
    t = make()
    assert watch()[2] == t.buffer.nbytes
    assert (t.dtype, t.numpy().tolist()) == (np.dtype(dtype), values)


def test_empty_like_keeps_shape_and_type():
    t = xt.empty_like(xt.ones((2, 3), xt.uint8).T)
    assert (t.shape, t.dtype, t.is_contiguous) == ((3, 2), np.uint8, True)


@pytest.mark.parametrize(
    ("start", "stop", "step"), [(0, 10, 3), (10, 0, -3), (-5, 5, 1), (0, 1, 5), (5, 0, 1), (7, 8, 2)]
)
def test_arange_is_numpys(start, stop, step):
    assert xt.arange(start, stop, step).numpy().tolist() == np.arange(start, stop, step).tolist()
    floats = xt.arange(start, stop, step, xt.float64)
    assert floats.numpy().tolist() == np.arange(start, stop, step, np.float64).tolist()


def test_evaluate_is_the_only_allocation():
    a = xt.ones((4, 8))
    watch = Watch()
    e = xt.exp(a * 2 + 1) / 3 - a.T.T
    assert watch() == (0, 0, 0)
    kept = xt.evaluate(e)
    assert watch() == (1, 0, 128)
    assert kept.shape == (4, 8)


def test_assignments_allocate_nothing():
    a, b = xt.ones((8, 8)), xt.ones((8, 8))
    watch = Watch()
    for n in range(50):
        a[...] = b * n + a
        a += b
        a[1:] -= b[:-1] * 0.5
        a[:-1] = a[1:] + 1
        a.T[...] = xt.pad(b[1:-1, 1:-1], 1) + xt.range(8)
        a[...] = np.ones((8, 8), np.float32)
        xt.plan(a, b * 2 + a).run()
        with pytest.raises(xt.AliasError):
            a[...] = a.T * 2
    assert watch() == (0, 0, 0)


# A Tensor as a Python object.


def test_repr_prints_values_and_an_expression_its_tree():
    t = xt.array([[1.0, 2.0], [3.0, 4.0]])
    assert repr(t) == "tensor([[1., 2.],\n        [3., 4.]], shape=(2, 2), dtype=float32)"
    assert repr(t[0, 1]) == "tensor(2., shape=(), dtype=float32)"
    assert repr(t * 2 + np.float64(1)) == "<((float32(2, 2) * 2) + 1.0): float64 (2, 2)>"
    assert repr(xt.exp(-t) < t) == "<(exp(negative(float32(2, 2))) < float32(2, 2)): bool (2, 2)>"
    assert repr(xt.Tensor(3)) == "<tensor (3,) float32, no memory>"


def test_repr_evaluates_nothing():
    h = xt.Tensor((2, 3))
    before = xt.stats()
    assert repr(h * 2) == "<(float32(2, 3) * 2): float32 (2, 3)>"
    assert xt.stats().compiles == before.compiles


def test_hash_is_identity_and_equality_is_by_element():
    a, b = xt.array([1, 2, 3]), xt.array([1, 0, 3])
    assert len({a, b, a, copy.copy(a)}) == 3
    assert hash(a) == hash(a)
    assert {a: "a"}[a] == "a"
    assert xt.evaluate(a == b).numpy().tolist() == [True, False, True]
    assert xt.evaluate(a != 2).numpy().tolist() == [True, False, True]
    assert xt.evaluate(a >= np.array([2, 2, 2])).numpy().tolist() == [False, True, True]


def test_one_element_is_a_number():
    for t in (xt.array(2.5), xt.array([2.5]), xt.array([[2.5]]), xt.array([1.0, 2.5])[1]):
        assert (float(t), int(t), t.item()) == (2.5, 2, 2.5)
    assert bool(xt.array(2.5)) and not bool(xt.array(0.0))
    assert [5, 6, 7][xt.array([1, 2])[1]] == 7
    assert type(xt.array(2).item()) is int and type(xt.array(True).item()) is bool


def test_one_element_of_an_expression_is_a_number():
    for e in (xt.array(2.0) + 0.5, xt.ones(1) * 2.5, xt.ones((1, 1)) + 1.5):
        assert (float(e), int(e), e.item()) == (2.5, 2, 2.5)
        assert (f"{e:6.2f}", f"{e}") == ("  2.50", str(e))
    assert bool(xt.array(2.5) > 2)
    with pytest.raises(TypeError):
        float(xt.ones(2) + 1)


def test_length_and_iteration_run_over_the_first_axis():
    t = xt.array(counted((3, 2)))
    assert len(t) == 3 and len(t + 1) == 3
    assert [row.numpy().tolist() for row in t] == [[0, 1], [2, 3], [4, 5]]
    assert [xt.evaluate(row).numpy().tolist() for row in t * 2] == [[0, 2], [4, 6], [8, 10]]
    for row in t:
        row += 1  # noqa: PLW2901  # in place: the row is a view
    assert t.numpy().tolist() == [[1, 2], [3, 4], [5, 6]]


def test_facts():
    t = xt.Tensor((2, 3, 4), xt.int32)
    assert (t.shape, t.ndim, t.size, t.nbytes, t.strides) == ((2, 3, 4), 3, 24, 96, (48, 16, 4))
    e = t[...] if t.buffer.address else t + 1.0
    assert (e.shape, e.ndim, e.size, e.dtype, e.device) == ((2, 3, 4), 3, 24, np.float64, xt.cpu())


def test_operands_are_arrays_on_either_side():
    a, t = np.arange(3, dtype=np.float32), xt.array([10.0, 20.0, 30.0])
    for e, want in (
        (a + t, [10, 21, 32]), (t + a, [10, 21, 32]), (a - t, [-10, -19, -28]), (t - a, [10, 19, 28]), (a * t, [0, 20, 60]),
        (np.float32(2) * t, [20, 40, 60]), (t / np.float32(2), [5, 10, 15]), (a // t, [0, 0, 0]), (t**a, [1, 20, 900]),
        (xt.maximum(a, t), [10, 20, 30]), (xt.where(a > 0, t, a), [0, 20, 30]),
    ):  # fmt: skip
        assert isinstance(e, xt.Expr)
        assert e.dtype == np.float32
        np.testing.assert_allclose(xt.evaluate(e).numpy(), want, rtol=1e-6)
    assert isinstance(a < t, xt.Expr)
    a[0] = 5  # a handle, not values
    e = a + t
    a[0] = 7
    assert xt.evaluate(e).numpy()[0] == 17
    t[...] = a
    assert t.numpy().tolist() == a.tolist()


# Views.


@st.composite
def indices(draw):
    """(shape, index) of basic indexing."""
    shape = draw(st.lists(st.integers(0, 5), min_size=0, max_size=4).map(tuple))
    named = draw(st.integers(0, len(shape)))
    at = draw(st.integers(0, named))  # of an ellipsis, which stands for the axes that are not named
    gap = draw(st.booleans())
    axes = [*shape[:at], *shape[len(shape) - named + at :]] if gap else shape[:named]
    parts = [draw(st.one_of(st.slices(n), st.integers(-n, n - 1)) if n else st.slices(n)) for n in axes]
    if gap:
        parts.insert(at, Ellipsis)
    for _ in range(draw(st.integers(0, 2))):
        parts.insert(draw(st.integers(0, len(parts))), None)
    return shape, parts[0] if len(parts) == 1 and draw(st.booleans()) else tuple(parts)


@settings(max_examples=400)
@given(indices())
def test_index_is_numpys(case):
    shape, index = case
    data = counted(shape, "int64")
    want = data[index]
    t = xt.array(data)
    view = t[index]
    assert view.shape == want.shape and view.buffer is t.buffer
    np.testing.assert_array_equal(view.numpy(), want)
    moving = [k for k, n in enumerate(want.shape) if n > 1]
    assert want.size == 0 or [view.strides[k] for k in moving] == [np.asarray(want).strides[k] for k in moving]
    np.testing.assert_array_equal(xt.evaluate((t * 1)[index]).numpy(), want)
    t[index] = -1
    data[index] = -1
    np.testing.assert_array_equal(t.numpy(), data)


@settings(max_examples=200)
@given(st.data())
def test_reshape_is_a_view_exactly_where_strides_can_say_it(data):
    shape = data.draw(st.sampled_from([(24,), (4, 6), (2, 3, 4), (1, 24), (2, 1, 12), (2, 2, 2, 3), (6, 4), (0, 3)]))
    source = counted(shape, "int64")
    order = tuple(data.draw(st.permutations(range(len(shape)))))
    part = tuple(slice(None, None, data.draw(st.sampled_from([1, 1, 1, -1, 2]))) for _ in shape)
    view, t = source.transpose(order)[part], xt.transpose(xt.array(source), order)[part]
    to = data.draw(st.sampled_from([s for s in SHAPES if int(np.prod(s)) == view.size] or [view.shape]))
    np.testing.assert_array_equal(xt.evaluate(xt.reshape(t, to)).numpy(), view.reshape(to))
    np.testing.assert_array_equal(xt.evaluate(xt.reshape(t * 1, to)).numpy(), view.reshape(to))
    shared = np.shares_memory(view.reshape(to), source) if view.size else True
    if not shared:
        with pytest.raises(xt.ShapeError, match="no view of shape"):
            t.reshape(to)
        return
    there = t.reshape(*to)
    assert there.buffer is t.buffer
    np.testing.assert_array_equal(there.numpy(), view.reshape(to))


SHAPES = [
    (24,), (2, 12), (12, 2), (3, 8), (4, 6), (2, 3, 4), (1, 24), (24, 1), (2, 1, 12), (12,), (2, 6), (6, 2), (3, 4), (1, 12),
    (6,), (2, 3), (3, 1, 2), (3,), (1, 3), (4,), (2, 2), (1, 1, 4), (8,), (2, 4), (2,), (1,), (), (1, 1), (0,), (0, 3), (3, 0),
]  # fmt: skip


def test_transposed_views():
    data = counted((2, 3, 4))
    t = xt.array(data)
    np.testing.assert_array_equal(t.T.numpy(), data.T)
    np.testing.assert_array_equal(t.mT.numpy(), data.mT)
    assert xt.ones(3).T.shape == (3,)
    assert t.T.buffer is t.buffer
    np.testing.assert_array_equal(xt.transpose(t, (1, 2, 0)).numpy(), data.transpose(1, 2, 0))
    np.testing.assert_array_equal(xt.swapaxis(t, 0, 2).numpy(), data.swapaxes(0, 2))
    for view in (xt.flip(t, 1), xt.slice(t, 1, 3, axis=1), xt.crop(t, (2, 2)), xt.broadcast_to(t, (2, 2, 3, 4))):
        assert isinstance(view, xt.Tensor) and view.buffer is t.buffer


def test_flat_to_2d():
    t = xt.array(counted((2, 3, 4)))
    np.testing.assert_array_equal(t.flat_to_2d().numpy(), counted((6, 4)))
    assert t.flat_to_2d().buffer is t.buffer
    assert xt.zeros(5).flat_to_2d().shape == (1, 5)
    assert xt.zeros(()).flat_to_2d().shape == (1, 1)
    assert xt.zeros((0, 3)).flat_to_2d().shape == (0, 3)
    padded = xt.zeros((2, 3, 4), pad=True)
    assert padded.flat_to_2d().strides == (64, 4)
    with pytest.raises(xt.ShapeError):
        t.T.flat_to_2d()


def test_leading_axes_of_one_element_may_be_dropped():
    for value in (xt.ones((1, 3)), xt.ones((1, 1, 3)) * 2, xt.ones((1, 1, 1)), xt.pad(xt.ones((1, 1)), [(1, 1)])):
        t = xt.zeros(3)
        t[...] = value
        t += value
        np.testing.assert_array_equal(t.numpy(), 2 * np.broadcast_to(xt.evaluate(value).numpy().reshape(-1), 3))
    s = xt.zeros(())
    s[...] = xt.ones((1, 1)) + 1
    assert s.item() == 2


def test_power_in_place_has_the_fast_forms():
    data = np.array([-np.inf, -0.0, 4.0, 0.1], np.float32)
    for exponent in (-1, 0, 0.5, 1, 2, 3):
        t = xt.array(data)
        t **= exponent
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(t.numpy().view(np.int32), (data**exponent).view(np.int32), str(exponent))


# Threads.


def run_threads(*functions):
    """Run them at the same time; their errors are ours."""
    errors = []

    def guarded(function):
        try:
            function()
        except BaseException as error:  # noqa: BLE001  # raised again below
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(f,)) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("n", [50, 70_000], ids=["lock held", "lock released"])
def test_concurrent_statements_on_disjoint_tensors_are_right(n):
    gate = threading.Barrier(6)
    shared = xt.array(counted(n))

    def work(k):
        def go():
            t = xt.zeros(n)
            gate.wait()
            for step in range(40):
                t[...] = t + shared * k + step
                t[1:] = t[:-1] + k if step == 39 else t[1:]
            want = counted(n) * 40 * k + sum(range(40))
            np.testing.assert_allclose(t.numpy()[2:], want[1:-1] + k, rtol=1e-5)

        return go

    run_threads(*(work(k) for k in range(1, 7)))
    assert shared.buffer.pins == 0


def test_threads_compile_different_statements_at_once():
    gate = threading.Barrier(8)
    results = {}

    def work(k):
        def go():
            e = xt.ones(33)
            for _ in range(k + 60):  # a depth that no other test has
                e = e * 1.0 + 0.5
            gate.wait()
            results[k] = xt.evaluate(e).numpy()[32]

        return go

    run_threads(*(work(k) for k in range(8)))
    assert results == {k: 1 + (k + 60) * 0.5 for k in range(8)}


def test_threads_compile_one_statement_once():
    gate = threading.Barrier(8)
    a = xt.ones(33)
    e = a
    for _ in range(91):
        e = e - 0.25
    before = xt.stats().compiles
    out = [xt.zeros(33) for _ in range(8)]

    def work(t):
        def go():
            gate.wait()
            t[...] = e

        return go

    run_threads(*(work(t) for t in out))
    assert xt.stats().compiles == before + 1
    assert {t.numpy()[5] for t in out} == {1 - 91 * 0.25}


def test_pinned_memory_is_not_freed_and_not_resized():
    t = xt.TensorContainer((4, 8), 1.0)
    t.buffer.pins += 1
    for change in (lambda: xt.free_space(t), lambda: t.resize((9, 9)), t.release):
        with pytest.raises(BufferError, match="a kernel is running on the memory in another thread"):
            change()
    t.buffer.pins -= 1
    xt.free_space(t)


def test_kernel_without_the_lock_pins_target_and_operands(monkeypatch):
    """The moment in which the kernel runs is caught by the call into it: no timing."""
    module = importlib.import_module("exprten.statement.running")
    n = module.RELEASE
    a, b, out = xt.ones(n), xt.ones(n), xt.zeros(n)
    tensors, seen = (a, b, out), []

    def caught(call, *args):
        pins = [t.buffer.pins for t in tensors]
        for t in tensors:
            with pytest.raises(BufferError, match="a kernel is running"):
                xt.free_space(t)
        seen.append((args[2], pins))
        return call(*args)

    if xt.info()["kernel entry"] == "ctypes":
        real = module.launch_ctypes
        monkeypatch.setattr(module, "launch_ctypes", lambda *args: caught(real, *args))
    else:
        real = module.launcher()
        monkeypatch.setattr(module, "launcher", lambda: lambda *args: caught(real, *args))
    xt.assign(out, "write", a * 3 - b)
    assert seen == [(True, [1, 1, 1])]
    assert [t.buffer.pins for t in tensors] == [0, 0, 0]
    assert out.numpy()[-1] == 2


def test_freeing_while_a_statement_is_compiled_or_about_to_run():
    """One of the two is refused; nothing is written to memory that is gone."""
    for size in (1000, 1 << 21):
        t = xt.zeros(size)
        e = t * 2.0
        for k in range(60):
            e = xt.where(e > float(k), e * 1.5, e + float(k))
        outcome = []

        def statement(t=t, e=e, outcome=outcome):
            try:
                t[...] = e
                outcome.append("stored")
            except xt.FreedSpaceError:
                outcome.append("refused")

        thread = threading.Thread(target=statement)
        thread.start()
        freed = False
        while thread.is_alive() and not freed:
            try:
                xt.free_space(t)
                freed = True
            except BufferError:  # noqa: PERF203
                time.sleep(0.0005)
        thread.join()
        assert outcome in (["stored"], ["refused"])
        assert freed or outcome == ["stored"]
