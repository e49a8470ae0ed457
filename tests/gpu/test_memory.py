"""Memory, copies, streams and exchange on a real device, and with CuPy."""

import numpy as np

import exprten as xt
from gpu.memory_cases import *  # noqa: F403  # the tests

cupy = __import__("pytest").importorskip("cupy")


def test_cupy_and_exprten_share_memory_both_ways(gpus):
    with cupy.cuda.Device(gpus[0].index):
        theirs = cupy.arange(6, dtype=cupy.float32).reshape(2, 3)
        ours = xt.asarray(theirs)
        xt.copy(ours, np.full((2, 3), 7, np.float32))
        assert cupy.asnumpy(theirs).tolist() == [[7.0] * 3] * 2
        back = cupy.asarray(ours)
        assert back.data.ptr == theirs.data.ptr
        assert cupy.from_dlpack(ours).data.ptr == theirs.data.ptr


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
