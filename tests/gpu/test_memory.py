"""Memory, copies, streams and exchange on a real device, and with CuPy."""

import numpy as np
import pytest

import exprten as xt
from gpu.memory_cases import *  # noqa: F403  # the tests

cupy = pytest.importorskip("cupy")


def test_cupy_and_exprten_share_memory_both_ways(gpus):
    with cupy.cuda.Device(gpus[0].index):
        theirs = cupy.arange(6, dtype=cupy.float32).reshape(2, 3)
        ours = xt.asarray(theirs)
        xt.copy(ours, np.full((2, 3), 7, np.float32))
        assert cupy.asnumpy(theirs).tolist() == [[7.0] * 3] * 2
        back = cupy.asarray(ours)
        assert back.data.ptr == theirs.data.ptr
        assert cupy.from_dlpack(ours).data.ptr == theirs.data.ptr


def test_torch_and_exprten_share_memory_both_ways(gpus):
    torch = pytest.importorskip("torch")
    theirs = torch.arange(6, dtype=torch.bfloat16, device=f"cuda:{gpus[0].index}").reshape(2, 3)
    ours = xt.asarray(theirs.T)
    assert ours.shape == (3, 2) and ours.buffer.address == theirs.data_ptr()
    assert ours.numpy().astype("f").tolist() == [[0, 3], [1, 4], [2, 5]]
    back = torch.from_dlpack(ours)
    back[0, 0] = 9
    torch.cuda.synchronize()
    assert float(ours[0, 0]) == 9 and theirs[0, 0].item() == 9
    stream = torch.cuda.Stream()
    assert xt.Stream.external(stream, gpus[0]).handle == stream.cuda_stream


def test_arrays_of_cupy_are_operands(gpus):
    with cupy.cuda.Device(gpus[0].index):
        theirs = cupy.arange(5, dtype=cupy.float32)
        t = xt.ones(5, device=gpus[0])
        t += 2 * t * theirs
        assert t.numpy().tolist() == [1, 3, 5, 7, 9]


def test_memory_is_of_the_pool_of_cupy(gpus):
    with cupy.cuda.Device(gpus[0].index):
        pool = cupy.get_default_memory_pool()
        before = pool.used_bytes()
        t = xt.empty(1 << 20, xt.uint8, device=gpus[0])
        assert pool.used_bytes() - before == 1 << 20
        xt.free_space(t)
        assert pool.used_bytes() == before


def test_current_device_and_stream_stay_as_they_are(gpus):
    with cupy.cuda.Device(gpus[-1].index), cupy.cuda.Stream(non_blocking=True) as stream:
        t = xt.array(np.ones(5, np.float32), device=gpus[0])
        t.numpy()
        assert cupy.cuda.runtime.getDevice() == gpus[-1].index
        assert cupy.cuda.get_current_stream().ptr == stream.ptr
        if len(gpus) == 1:
            assert t.stream.handle == stream.ptr
