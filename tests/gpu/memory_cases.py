"""What holds on every device: memory and its lifetime, copies between all places and layouts, streams, exchange."""

import copy
import gc
import pickle
import random

import numpy as np
import pytest
from exprten_jit.dtypes import ROWS

import exprten as xt

DTYPES = [row.name for row in ROWS if not row.like]
SHAPES = [(), (0,), (1,), (7,), (3, 5), (2, 0, 3), (2, 3, 7)]


@pytest.fixture
def gpu(gpus):
    return gpus[0]


@pytest.fixture
def pair(gpus):
    """Two devices; one twice where there are no two."""
    return gpus[0], gpus[-1]


def counted(shape, dtype="float32"):
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


# Layouts: (name, how a tensor of a shape lies on a device).


def packed(shape, dtype, device):
    return xt.empty(shape, dtype, device)


def padded(shape, dtype, device):
    return xt.empty(shape, dtype, device, pad=True)


def inner(shape, dtype, device):
    """A block of a larger tensor."""
    return xt.empty(tuple(n + 2 for n in shape), dtype, device)[tuple(slice(1, n + 1) for n in shape)]


def transposed(shape, dtype, device):
    return xt.empty(shape[::-1], dtype, device).T


def stepped(shape, dtype, device):
    return xt.empty((*shape[:-1], 2 * shape[-1]), dtype, device)[..., ::2]


def reversed_(shape, dtype, device):
    return xt.empty(shape, dtype, device)[::-1]


ROWS_APART = [packed, padded, inner]
NO_ROWS = [transposed, stepped, reversed_]


def moved(array, make, device):
    t = make(array.shape, array.dtype, device)
    xt.copy(t, array)
    return t


# Facts.


def test_equal_devices_are_one_object(gpu):
    assert xt.gpu(gpu.index) is gpu
    assert pickle.loads(pickle.dumps(gpu)) is gpu
    assert repr(gpu) == f"xt.gpu({gpu.index})" and str(gpu) == f"gpu:{gpu.index}"


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128"])
def test_addresses_and_rows_are_aligned(gpu, shape, dtype):
    for pad in (False, True):
        t = xt.empty(shape, dtype, gpu, pad)
        assert t.buffer.address % 256 == 0
        assert t.device is gpu and t.shape == shape
        if pad and len(shape) > 1:
            assert t.strides[-2] % 256 == 0


def test_memory_is_counted_and_given_back(gpu):
    gc.collect()
    here, everywhere = xt.memory.on(gpu), xt.memory
    before = here.bytes_in_use, everywhere.bytes_in_use, here.allocations
    t = xt.empty((10, 10), device=gpu)
    view = t[2:]
    assert (here.bytes_in_use, everywhere.bytes_in_use, here.allocations) == (
        before[0] + 400,
        before[1] + 400,
        before[2] + 1,
    )
    del t
    assert here.bytes_in_use == before[0] + 400
    del view
    assert (here.bytes_in_use, everywhere.bytes_in_use) == before[:2]


def test_free_space_frees_once_and_for_everybody(gpu):
    t = xt.empty(4, device=gpu)
    view = t[1:]
    xt.free_space(t)
    for use in (
        lambda: xt.free_space(view),
        view.numpy,
        lambda: view.to(xt.cpu()),
        lambda: xt.copy(view, np.ones(3, "f")),
    ):
        with pytest.raises(xt.FreedSpaceError):
            use()
    assert repr(t) == "<tensor (4,) float32, no memory>"


def test_handle_gets_its_memory_on_its_device(gpu):
    t = xt.Tensor((3, 4), device=gpu)
    with pytest.raises(xt.FreedSpaceError, match="was not allocated"):
        t.numpy()
    xt.alloc_space(t, pad=True)
    assert t.strides == (256, 4) and t.buffer.device is gpu
    assert t.stream.device is gpu


def test_container_grows_on_its_device(gpu):
    with xt.TensorContainer((2, 3), device=gpu, pad=True) as t:
        assert t.strides == (256, 4)
        first = t.buffer
        t.resize((1, 5))
        assert t.buffer is first
        t.resize((9, 5))
        assert t.buffer is not first and t.strides == (256, 4)
        xt.copy(t, counted((9, 5)))
        assert t.numpy().tolist() == counted((9, 5)).tolist()
    assert t.shape == (0,)


def test_constructors_fill_on_the_device(gpu):
    with xt.TensorContainer((2, 2), 1.5, device=gpu) as container:
        assert container.numpy().tolist() == [[1.5] * 2] * 2
    made = {
        "zeros": (xt.zeros((2, 2), device=gpu, pad=True), np.zeros((2, 2))),
        "full": (xt.full((2, 2), 7, device=gpu), np.full((2, 2), 7)),
        "arange": (xt.arange(1, 9, 3, device=gpu), np.arange(1, 9, 3)),
        "evaluate": (xt.evaluate(xt.array(counted(4), device=gpu) + 1), np.arange(1, 5)),
        "array of an expression": (xt.array(xt.array(counted(4)) + 1, device=gpu), np.arange(1, 5)),
        "array of a list": (xt.array([[1, 2], [3, 4]], device=gpu), np.array([[1, 2], [3, 4]])),
        "empty_like": (xt.copy(xt.empty_like(xt.array([1.0, 2.0], device=gpu)), np.ones(2, "f")), np.ones(2)),
    }
    for name, (t, expected) in made.items():
        assert t.device is gpu, name
        assert t.numpy().tolist() == expected.tolist(), name
    assert xt.array(made["full"][0] * 2).device is xt.cpu()


# Copies.


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_there_and_back(gpu, shape, dtype):
    a = counted(shape, dtype)
    for pad in (False, True):
        t = xt.array(a, device=gpu, pad=pad)
        assert (t.dtype, t.device) == (a.dtype, gpu)
        back = t.numpy()
        assert back.tolist() == a.tolist() and back.dtype == a.dtype
        assert t.to(xt.cpu()).numpy().tolist() == a.tolist()


@pytest.mark.parametrize("out_of", ROWS_APART)
@pytest.mark.parametrize("into", ROWS_APART)
def test_rows_are_copied_between_all_places(pair, into, out_of):
    a = counted((4, 9))
    for source in (xt.cpu(), *pair):
        for target in (xt.cpu(), *pair):
            src, dst = moved(a, out_of, source), into(a.shape, a.dtype, target)
            assert xt.copy(dst, src) is dst
            assert dst.numpy().tolist() == a.tolist()


@pytest.mark.parametrize("make", NO_ROWS)
def test_layouts_without_rows_are_copied_between_all_places(pair, make):
    a = counted((4, 9))
    for source in (xt.cpu(), *pair):
        for target in (xt.cpu(), *pair):
            for out_of, into in ((packed, make), (make, padded), (make, make)):
                src, dst = moved(a, out_of, source), into(a.shape, a.dtype, target)
                xt.copy(dst, src)
                assert dst.numpy().tolist() == a.tolist()


def test_copy_within_memory_that_two_tensors_share(gpu):
    base = xt.array(counted(12), device=gpu)
    again = xt.asarray(Exporter(base))
    xt.copy(again[1:], base[:-1])
    assert base.numpy().tolist() == [0, *range(11)]
    xt.copy(again[:6], base[6:])
    assert base.numpy().tolist() == [5, 6, 7, 8, 9, 10, *range(5, 11)]


def test_copy_leaves_what_is_between_the_rows(pair):
    a, rim = counted((3, 5)), np.full((5, 7), -1, np.float32)
    for source in (xt.cpu(), *pair):
        for target in pair:
            outer = xt.array(rim, device=target)
            xt.copy(outer[1:4, 1:6], xt.array(a, device=source))
            expected = rim.copy()
            expected[1:4, 1:6] = a
            assert outer.numpy().tolist() == expected.tolist()


def test_copy_reads_arrays_of_any_strides(gpu):
    a = counted((4, 6))
    for view in (a, a.T, a[::-1], a[:, ::2], a[1:3, 2:], np.broadcast_to(a[0], (3, 6)), a[::2, ::-1]):
        t = xt.empty(view.shape, device=gpu)
        xt.copy(t, view)
        assert t.numpy().tolist() == view.tolist()


def test_copy_writes_arrays_of_any_strides(gpu):
    for make in (lambda a: a.T, lambda a: a[::-1], lambda a: a[:, ::2], lambda a: a[1:3, 2:]):
        view = make(np.zeros((4, 6), np.float32))
        xt.copy(view, xt.array(counted(view.shape), device=gpu))
        assert view.tolist() == counted(view.shape).tolist()


@pytest.mark.parametrize(
    ("theirs", "ours"), [("float32", "float64"), ("float64", "float32"), ("int32", "float32"), ("bool", "int8")]
)
def test_copy_converts_as_an_assignment(gpu, theirs, ours):
    a = counted((3, 4), theirs)
    t = xt.empty((3, 4), ours, gpu)
    xt.copy(t, a)
    assert t.numpy().tolist() == a.astype(ours).tolist()
    back = np.zeros((3, 4), "complex64")
    xt.copy(back, t)
    assert back.tolist() == a.astype("complex64").tolist()


def test_copy_refuses_what_an_assignment_refuses(gpu):
    t = xt.empty((2, 3), xt.int32, gpu)
    with pytest.raises(xt.DTypeError):
        xt.copy(t, np.ones((2, 3), np.float32))
    with pytest.raises(xt.ShapeError):
        xt.copy(t, np.ones(3, np.int32))
    fixed = np.zeros((2, 3), np.int32)
    fixed.flags.writeable = False
    with pytest.raises(xt.ReadOnlyError):
        xt.copy(fixed, t)


def test_large_copies_go_in_pieces(gpu, monkeypatch):
    from exprten.gpu import staging, transfer

    monkeypatch.setattr(transfer, "PIECE", 64)
    monkeypatch.setattr(staging, "MOST", 128)
    for shape in ((100,), (3, 7, 5), (2, 50)):
        a = counted(shape)
        for source in (a, a.T, a[::-1]):
            for pad in (False, True):
                t = xt.empty(source.shape, device=gpu, pad=pad)
                xt.copy(t, source)
                assert t.numpy().tolist() == source.tolist()
                back = np.zeros(source.shape[::-1], np.float64).T
                xt.copy(back, t)
                assert back.tolist() == source.tolist()


def test_array_may_change_when_its_copy_has_begun(gpu):
    a = counted((300, 500))
    expected = a.tolist()
    t = xt.empty(a.shape, device=gpu)
    xt.copy(t, a)
    a[...] = -1
    assert t.numpy().tolist() == expected


def test_memory_may_be_freed_when_its_copy_has_begun(pair):
    a, (one, other) = counted((300, 500)), pair
    host, there = xt.alloc_host(a.shape), xt.empty(a.shape, device=other)
    host[...] = a
    t = xt.array(a, device=one)
    xt.copy(t, host)
    xt.free_space(host)
    again = xt.alloc_host(a.shape)
    again[...] = 5
    xt.copy(there, t)
    xt.free_space(t)
    xt.array(np.zeros_like(a), device=one)
    assert there.numpy().tolist() == a.tolist()


def test_page_locked_memory_is_memory_of_the_cpu(gpu):
    gc.collect()
    before = xt.memory.on(xt.cpu()).bytes_in_use
    t = xt.alloc_host((3, 4), xt.float64)
    assert t.device is xt.cpu() and t.buffer.address % 64 == 0 and t.is_contiguous
    assert xt.memory.on(xt.cpu()).bytes_in_use == before + 96
    t[...] = 3
    t += t
    assert xt.array(t, device=gpu).numpy().tolist() == [[6.0] * 4] * 3
    xt.free_space(t)
    assert xt.memory.on(xt.cpu()).bytes_in_use == before


def test_to_is_the_tensor_or_a_packed_copy(pair):
    one, other = pair
    t = xt.array(counted((3, 5)), device=one, pad=True)
    assert t.to(one) is t
    there = t.to(xt.cpu())
    assert there.is_contiguous and there.numpy().tolist() == t.numpy().tolist()
    if other is not one:
        there = t.to(other)
        assert there.device is other and there.is_contiguous and there.numpy().tolist() == t.numpy().tolist()


# As a Python object.


def test_values_come_to_the_host(gpu):
    t = xt.array(counted((2, 3)), device=gpu)
    assert repr(t) == "tensor([[0., 1., 2.],\n        [3., 4., 5.]], shape=(2, 3), dtype=float32)"
    assert float(t[1, 2]) == 5.0 and int(t[0, 1]) == 1 and t[1, 0].item() == 3.0 and bool(t[0, 1])
    assert [float(x) for x in t[0]] == [0.0, 1.0, 2.0]
    a = t.numpy()
    a[...] = 9
    assert float(t[0, 0]) == 0.0
    with pytest.raises(xt.DeviceError, match=r"t\.numpy\(\) copies it"):
        np.asarray(t)
    assert pickle.loads(pickle.dumps(t)).numpy().tolist() == t.numpy().tolist()
    twin = copy.deepcopy(t)
    assert twin.device is gpu and twin.buffer is not t.buffer and twin.numpy().tolist() == t.numpy().tolist()
    assert copy.copy(t).buffer is t.buffer


# Streams.


def test_memory_is_of_the_stream_that_is_current(gpu):
    stream = xt.Stream(gpu)
    outside = xt.empty(3, device=gpu)
    with stream as entered:
        assert entered is stream
        t = xt.empty(3, device=gpu)
        with xt.Stream(gpu) as deeper:
            assert xt.empty(3, device=gpu).stream is deeper
        assert xt.empty(3, device=gpu).stream is stream
    assert t.stream is stream and t[1:].stream is stream and t.T.stream is stream
    assert outside.stream is xt.empty(3, device=gpu).stream is not stream
    assert stream.handle != 0 and stream.device is gpu and stream.__cuda_stream__() == (0, stream.handle)
    stream.synchronize()
    gpu.synchronize()


def test_stream_is_left_after_an_error(gpu):
    before = xt.empty(1, device=gpu).stream
    with pytest.raises(KeyError), xt.Stream(gpu):
        raise KeyError
    assert xt.empty(1, device=gpu).stream is before


def test_stream_lives_as_long_as_its_memory(gpu):
    with xt.Stream(gpu):
        t = xt.empty(3, device=gpu)
    gc.collect()
    xt.copy(t, np.arange(3, dtype="f"))
    assert t.numpy().tolist() == [0, 1, 2]


def test_stream_of_another_library(gpu):
    theirs = xt.Stream(gpu)
    ours = xt.Stream.external(theirs, gpu)
    assert ours is theirs and xt.Stream.external(theirs.handle, gpu) is theirs
    assert xt.Stream.external(0, gpu) is xt.Stream.external(1, gpu)
    with ours:
        assert xt.empty(2, device=gpu).stream == theirs


def test_copies_between_streams_are_in_order(pair):
    one, other = pair
    first, second = xt.Stream(one), xt.Stream(other)
    a = counted((400, 300))
    with first:
        t = xt.empty(a.shape, device=one)
    with second:
        u = xt.empty(a.shape, device=other)
    for k in range(5):
        xt.copy(t, a + k)
        xt.copy(u, t)  # waits for the copy before
    xt.copy(t, a * 0)  # waits for the copy of it
    assert u.numpy().tolist() == (a + 4).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_streams_change_no_program(gpus, seed):
    """Copies, statements and frees at random, on several streams, mean what they mean one after the other."""
    rng = random.Random(seed)
    shape, streams = (6, 10), [xt.Stream(gpu) for gpu in gpus for _ in range(2)]
    makes = [packed, padded, inner, packed, transposed]

    def fresh(k):
        with rng.choice(streams) as stream:
            t = makes[k](shape, np.float32, stream.device)
        a = np.array([rng.randrange(100) for _ in range(60)], np.float32).reshape(shape)
        twin = a.copy()
        xt.copy(t, a)
        a[...] = -1  # it has been read
        return t, twin

    pairs = [fresh(k) for k in range(len(makes))]
    for _ in range(60):
        i, j = rng.sample(range(len(pairs)), 2)
        (t, a), (u, b) = pairs[i], pairs[j]
        match rng.randrange(5):
            case 0:
                pairs[i] = fresh(i)
            case 1 if t.device is u.device:
                t += u
                a += b
            case 2:
                assert t[1:4].numpy().tolist() == a[1:4].tolist()
            case 3:
                xt.copy(t[2:5], u[1:4])
                a[2:5] = b[1:4]
            case _:
                xt.copy(t, u)
                a[...] = b
    for t, a in pairs:
        assert t.numpy().tolist() == a.tolist()


# Exchange.


class Exporter:
    """A tensor as an object of another library: what it says of itself is what it is asked."""

    def __init__(self, tensor):
        self.tensor, self.asked = tensor, {}

    def __dlpack__(self, **how):
        self.asked = how
        return self.tensor.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


class Interface:
    """Likewise, through the CUDA array interface alone."""

    def __init__(self, tensor):
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__
        self.kept = tensor


@pytest.mark.parametrize("through", [Exporter, Interface])
@pytest.mark.parametrize("dtype", DTYPES)
def test_memory_is_shared_through(gpu, through, dtype):
    t = xt.array(counted((3, 5), dtype), device=gpu, pad=True)
    for view in (t, t[1:], t.T, t[:, 2], t[0:0], t[2, 3]):
        shared = xt.asarray(through(view))
        assert (shared.shape, shared.dtype, shared.device) == (view.shape, view.dtype, gpu)
        assert not view.size or shared.buffer.address + shared.offset == view.buffer.address + view.offset
        assert shared.numpy().tolist() == view.numpy().tolist()
    xt.copy(xt.asarray(through(t)), np.zeros((3, 5), dtype))
    assert not t.numpy().any()


def test_dlpack_refuses_free_as_long_as_it_lives(gpu):
    t = xt.array(counted(4), device=gpu)
    for capsule in (
        t.__dlpack__(),
        t.__dlpack__(max_version=(1, 0)),
        xt.asarray(Exporter(t)),
        xt.asarray(Exporter(t))[2:],
    ):
        with pytest.raises(BufferError, match="exported"):
            xt.free_space(t)
        del capsule
    gc.collect()
    xt.free_space(t)


def test_dlpack_keeps_the_memory(gpu):
    gc.collect()
    before = xt.memory.on(gpu).bytes_in_use
    shared = xt.asarray(Exporter(xt.array(counted(4), device=gpu)))
    gc.collect()
    assert shared.numpy().tolist() == [0, 1, 2, 3]
    assert xt.memory.on(gpu).bytes_in_use == before + 16
    del shared
    gc.collect()
    assert xt.memory.on(gpu).bytes_in_use == before


def test_dlpack_device_and_copies(gpu):
    t = xt.array(counted(4), device=gpu)
    assert t.__dlpack_device__() == (2, gpu.index)
    assert np.from_dlpack(t, device="cpu").tolist() == [0, 1, 2, 3]
    with pytest.raises(BufferError, match="without a copy"):
        t.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match="no memory of DLPack's device"):
        t.__dlpack__(dl_device=(10, 0))
    with pytest.raises(ValueError, match="stream 0 is ambiguous"):
        t.__dlpack__(stream=0)
    t.__dlpack__(copy=True)
    xt.free_space(t)


def test_readonly_memory_stays_readonly(gpu):
    t = xt.array(counted(4), device=gpu)
    facts = dict(t.__cuda_array_interface__)
    facts["data"] = (facts["data"][0], True)
    theirs = Interface(t)
    theirs.__cuda_array_interface__ = facts
    fixed = xt.asarray(theirs)
    assert not fixed.writable
    with pytest.raises(xt.ReadOnlyError):
        xt.copy(fixed, np.ones(4, "f"))
    with pytest.raises(BufferError, match="read-only"):
        fixed.__dlpack__()
    assert not xt.asarray(Exporter(fixed)).writable


def test_interface_says_what_is_there(gpu):
    t = xt.array(counted((2, 3)), device=gpu)
    with xt.Stream(gpu) as stream:
        u = xt.empty((4, 2), xt.int8, gpu)
    assert t.__cuda_array_interface__ == {
        "data": (t.buffer.address, False), "shape": (2, 3), "strides": None, "stream": 1, "typestr": "<f4", "version": 3
    }  # fmt: skip
    facts = u.T.__cuda_array_interface__
    assert (facts["strides"], facts["stream"], facts["typestr"]) == ((1, 2), stream.handle, "|i1")
    assert not hasattr(xt.zeros(3), "__cuda_array_interface__")
    assert not hasattr(xt.empty(3, xt.bfloat16, gpu), "__cuda_array_interface__")


def test_bfloat16_goes_through_dlpack(gpu):
    t = xt.array(np.arange(4).astype(xt.bfloat16), device=gpu)
    assert xt.asarray(Exporter(t)).numpy().astype("f").tolist() == [0, 1, 2, 3]
