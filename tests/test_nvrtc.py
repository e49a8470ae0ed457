"""CUDA text becomes machine code of several GPUs, with the bits that are promised, on a machine without one; once, whatever runs next."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from exprten_jit.backends import cubins, nvrtc, nvrtc_library, ptx
from exprten_jit.backends.nvrtc import Resources, compile_cuda, ptx_of
from exprten_jit.backends.nvrtc_library import MissingError, NvrtcError
from exprten_jit.store import ENTRY, Store

ROOT = Path(__file__).parents[1]
ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
AXPY = """extern "C" __global__ void axpy(float* out, const float* x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + out[i];
}
"""
ROUNDED = """extern "C" __global__ void k(float* a, double* b) {
    a[0] = sqrtf(a[1]) / a[2]; a[3] = 1.0f / a[4]; a[5] = a[6] * a[7] - a[8];
    b[0] = sqrt(b[1]) / b[2]; b[3] = 1.0 / b[4]; b[5] = b[6] * b[7] - b[8];
}
"""
# 96 values that are all needed in the end, and may take 24 registers.
SPILLS = """extern "C" __global__ void __launch_bounds__(1024) spills(float* a, int n) {
    float v[96];
    #pragma unroll
    for (int i = 0; i < 96; i++) v[i] = a[i * n];
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 96; i++) a[i * n + 1] = v[i] * v[(7 * i) % 96];
}
extern "C" __global__ void __launch_bounds__(1024) shares(float* a) {
    __shared__ float s[300];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[299 - threadIdx.x];
}
"""
MIXED = """#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct Strides { long long outer; int inner[3]; };
struct __align__(16) Wide { float4 first; int second; };
extern "C" __global__ void mixed(Strides s, float* __restrict__ out, const __half* x, Wide w, char c, __half h, double d, bool b, short z,
                                 __nv_bfloat16 f, unsigned long long u, unsigned n) {
    out[0] = s.inner[n] + s.outer + __half2float(x[1]) + w.second + c + __half2float(h) + d + b + z + __bfloat162float(f) + u;
}
extern "C" __global__ void __launch_bounds__(128) none() {}
"""
SIGMOIDS = """extern "C" __global__ void by_mistake(float* v) { v[0] = 1.0 / (1.0 + exp(-v[0])); }
extern "C" __global__ void as_meant(float* v) { v[0] = 1.0f / (1.0f + expf(-v[0])); }
__device__ __noinline__ float twice(double v, int n) { double t[64]; for (int i = 0; i < 64; i++) t[i] = v * i; return t[n & 63]; }
extern "C" __global__ void in_a_call(float* v, int n) { v[0] = twice(v[0], n); }
extern "C" __global__ void after_it(float* v) { v[0] = v[1]; }
"""

nvrtc_is_here = pytest.mark.nvrtc


@nvrtc_is_here
class TestCompiled:
    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_a_kernel_is_machine_code_of_an_architecture(self, arch):
        cubin = compile_cuda(AXPY, arch)
        assert cubin.image[:4] == b"\x7fELF"
        assert b"axpy" in cubin.image
        assert f"'axpy' for '{arch}'" in cubin.log
        assert ptx.parameters(ptx_of(AXPY, arch)) == {"axpy": (("u64", 8), ("u64", 8), ("f32", 4), ("u32", 4))}

    @pytest.mark.parametrize("arch", ARCHITECTURES)
    def test_every_operation_is_rounded_and_none_are_joined(self, arch):
        found = ptx.instructions(ptx_of(ROUNDED, arch), "k")
        for bits in (32, 64):
            rounded = {f"{op}.rn.f{bits}" for op in ("sqrt", "div", "rcp", "mul", "sub")}
            assert {name for name in found if name.endswith(f".f{bits}") and name[:3] not in ("ld.", "st.")} == rounded
        assert not any("ftz" in name or "approx" in name for name in found)

    def test_the_ptx_on_the_way_is_that_which_is_asked_for(self):
        cubin, text = nvrtc.compile_both(AXPY, "sm_90")
        assert cubin.image == compile_cuda(AXPY, "sm_90").image
        assert text == ptx_of(AXPY, "sm_90")

    def test_style_is_no_matter_of_the_log(self):
        log = compile_cuda('extern "C" __global__ void k(unsigned* a) { int unused; a[0] = a[1] >= 0; }', "sm_90").log
        assert "warning" not in log
        assert "registers" in log

    def test_only_fast_math_joins_a_product_and_a_sum(self):
        strict, fast = (ptx.instructions(ptx_of(AXPY, "sm_90", fast), "axpy") for fast in (False, True))
        assert (strict["mul.rn.f32"], strict["add.rn.f32"], strict["fma.rn.f32"]) == (1, 1, 0)
        assert (fast["mul.rn.f32"], fast["add.rn.f32"], fast["fma.rn.f32"]) == (0, 0, 1)
        assert not any("ftz" in name or "approx" in name for name in fast)
        assert compile_cuda(AXPY, "sm_90").image != compile_cuda(AXPY, "sm_90", fast_math=True).image

    def test_signed_overflow_is_taken_for_impossible(self):
        """Why text that is to wrap around adds as unsigned: NVRTC has no -fwrapv."""
        source = """extern "C" __global__ void k(int* a) { a[1] = a[0] + 1 > a[0]; }
        extern "C" __global__ void wraps(int* a) { a[1] = (int)((unsigned)a[0] + 1u) > a[0]; }"""
        text = ptx_of(source, "sm_90")
        compared = {name: any(i.startswith("setp") for i in ptx.instructions(text, name)) for name in ("k", "wraps")}
        assert compared == {"k": False, "wraps": True}

    def test_what_a_kernel_takes_is_known(self):
        found = compile_cuda(SPILLS, "sm_75").resources
        assert set(found) == {"spills", "shares"}
        spills, shares = found["spills"], found["shares"]
        assert min(spills.spill_stores, spills.spill_loads, spills.stack) > 0
        assert spills.shared == 0
        assert 0 < spills.registers <= 64  # 65536 of them for 1024 threads
        assert (shares.spill_stores, shares.spill_loads, shares.stack, shares.shared) == (0, 0, 0, 1200)
        assert min(shares.registers, shares.constant) > 0

    def test_a_function_that_is_called_has_its_spills_told(self):
        found = compile_cuda(SIGMOIDS, "sm_90").resources
        (called,) = (name for name in found if "twice" in name)
        assert found[called].registers == 0
        assert found["in_a_call"].stack >= 512
        assert found["as_meant"] == Resources(found["as_meant"].registers)

    def test_an_error_names_its_lines(self):
        source = AXPY.replace("a * x[i]", "b * x[i]").replace("i < n", 'i < "n"')
        with pytest.raises(NvrtcError) as caught:
            compile_cuda(source, "sm_90")
        message = str(caught.value)
        assert 'kernel.cu(3): error: identifier "b" is undefined' in message
        assert message.splitlines()[-1] == '   3 |     if (i < "n") out[i] = b * x[i] + out[i];'
        assert "-arch=sm_90" in message

    def test_the_log_is_that_of_the_text(self):
        with pytest.raises(NvrtcError, match=r"__global__ void k\(\) \{ £"):
            ptx_of('extern "C" __global__ void k() { £ }', "sm_90")

    def test_types_of_16_bits(self):
        source = """#include <cuda_fp16.h>
        #include <cuda_bf16.h>
        extern "C" __global__ void k(__half* a, __nv_bfloat16* b) {
            a[0] = __float2half(__half2float(a[0]) * 2.0f); b[0] = __float2bfloat16(__bfloat162float(b[0]) * 2.0f);
        }"""
        for arch in ARCHITECTURES:
            assert set(compile_cuda(source, arch).resources) == {"k"}
        assert any(option.startswith("-I") for option in nvrtc.options(source, "sm_90"))
        assert not any(option.startswith("-I") for option in nvrtc.options(AXPY, "sm_90"))

    def test_threads_compile_at_once(self):
        found = {}
        texts = [AXPY.replace("axpy", f"axpy{k}") for k in range(4)]
        threads = [threading.Thread(target=lambda t=t: found.update({t: compile_cuda(t, "sm_80")})) for t in texts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [next(iter(found[text].resources)) for text in texts] == [f"axpy{k}" for k in range(4)]


@nvrtc_is_here
class TestArchitectures:
    def test_those_of_the_promise_are_known(self):
        assert set(ARCHITECTURES) <= set(nvrtc.architectures())
        assert list(nvrtc.architectures()) == sorted(nvrtc.architectures(), key=lambda arch: int(arch[3:]))
        assert nvrtc.version() >= (12, 0)

    @pytest.mark.parametrize(
        ("capability", "arch"), [((7, 5), "sm_75"), ((9, 0), "sm_90"), ((12, 0), "sm_120"), ((9, 7), "sm_90")]
    )
    def test_a_gpu_runs_what_is_for_it_or_for_one_before(self, capability, arch):
        assert nvrtc.architecture_of(*capability) == arch

    def test_an_unknown_gpu_is_refused(self):
        with pytest.raises(
            NvrtcError, match=r'compute capability 3\.5 is not known to NVRTC .* pip install "exprten\[cuda12\]"'
        ):
            nvrtc.architecture_of(3, 5)


@nvrtc_is_here
class TestPtx:
    @pytest.mark.parametrize("arch", ["sm_75", "sm_120"])  # NVRTC has two generations of code generators
    def test_parameters_of_a_mixed_kernel(self, arch):
        found = ptx.parameters(ptx_of(MIXED, arch))
        assert [size for _, size in found["mixed"]] == [24, 8, 8, 32, 1, 2, 8, 1, 2, 2, 8, 4]
        assert [kind for kind, _ in found["mixed"]][:3] == ["b8", "u64", "u64"]
        assert found["none"] == ()

    @pytest.mark.parametrize("arch", ["sm_75", "sm_120"])
    def test_float64_is_seen_where_it_is(self, arch):
        text = ptx_of(SIGMOIDS, arch)
        found = {name: ptx.uses_float64(text, name) for name in ptx.parameters(text)}
        assert found == {"by_mistake": True, "as_meant": False, "in_a_call": True, "after_it": False}

    def test_instructions_are_counted(self):
        source = (
            'extern "C" __global__ void k(float4* a) { float4 v = a[threadIdx.x]; v.x *= v.y; a[threadIdx.x] = v; }'
        )
        found = ptx.instructions(ptx_of(source, "sm_90"), "k")
        assert (found["ld.global.v4.f32"], found["st.global.v4.f32"], found["mul.rn.f32"], found["ret"]) == (1, 1, 1, 1)

    def test_inline_text_is_read_too(self):
        source = '#include <cuda_fp16.h>\nextern "C" __global__ void k(__half* a, float* b) { b[0] = __half2float(a[0] * a[1]); b[1] = b[2]; }'
        found = ptx.instructions(ptx_of(source, "sm_75"), "k")
        assert (found["mul.f16"], found["cvt.f32.f16"], found["ret"]) == (1, 1, 1)

    def test_a_kernel_that_is_not_there(self):
        with pytest.raises(KeyError, match="there is no kernel 'other'; there are axpy"):
            ptx.instructions(ptx_of(AXPY, "sm_90"), "other")


# What is missing is said.


@pytest.fixture
def disk(tmp_path, monkeypatch):
    """A store of this process, and nothing compiled so far."""
    found = Store(tmp_path)
    monkeypatch.setattr(cubins, "store", lambda: found)
    monkeypatch.setattr(cubins, "_kept", {})
    monkeypatch.setattr(cubins, "counts", cubins.Counts())
    return found


def forget(monkeypatch):
    monkeypatch.setattr(cubins, "_kept", {})


@pytest.fixture
def nothing_installed(monkeypatch):
    monkeypatch.setattr(nvrtc_library, "_candidates", lambda: iter(()))
    nvrtc_library.library.cache_clear()
    nvrtc_library.headers.cache_clear()
    yield monkeypatch
    nvrtc_library.library.cache_clear()
    nvrtc_library.headers.cache_clear()


class TestMissing:
    @pytest.mark.usefixtures("nothing_installed")
    def test_nvrtc(self):
        for _ in range(2):  # it is looked for again: it may have been installed
            with pytest.raises(
                MissingError, match=r'\(NVRTC, version 12 or later\) is not installed; pip install "exprten\[cuda13\]"'
            ):
                compile_cuda(AXPY, "sm_90")

    @pytest.mark.usefixtures("nothing_installed")
    def test_without_a_compiler_nothing_is_kept(self, disk):
        disk.write("ab" * 32, "", b"")
        nvrtc.version.cache_clear()
        assert not cubins.is_kept(AXPY, "sm_90")
        nvrtc.version.cache_clear()

    def test_a_file_that_is_no_library(self, nothing_installed, tmp_path):
        (tmp_path / "libnvrtc.so.13").write_text("no library")
        nothing_installed.setattr(nvrtc_library, "_candidates", lambda: iter([(tmp_path / "libnvrtc.so.13", "wheel")]))
        with pytest.raises(MissingError, match=r"is not usable; \S+libnvrtc.so.13 cannot be loaded: "):
            nvrtc.version.__wrapped__()

    @nvrtc_is_here
    def test_headers(self, monkeypatch):
        nvrtc_library.headers.cache_clear()
        monkeypatch.setattr(nvrtc_library, "_header_folders", lambda: iter([Path(__file__).parent]))
        with pytest.raises(MissingError, match=r"cuda_fp16\.h\), and they are not installed; pip install"):
            compile_cuda(MIXED, "sm_90")
        compile_cuda(AXPY, "sm_90")  # needs none
        monkeypatch.undo()
        assert nvrtc_library.headers()

    @nvrtc_is_here
    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")
    def test_what_is_loaded_already_is_taken(self):
        path = nvrtc_library.library().path
        assert path.resolve() in [found.resolve() for found in nvrtc_library._loaded()]

    @nvrtc_is_here
    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")
    def test_what_it_opens_by_name_is_loaded_from_beside_it(self):
        path = nvrtc_library.library().path.resolve()
        beside = list(path.parent.glob("libnvrtc-builtins.so.*"))
        loaded = Path("/proc/self/maps").read_text(encoding="utf-8")
        assert not beside or any(str(part) in loaded for part in beside)


# Once.


@nvrtc_is_here
class TestCubins:
    def test_memory_then_disk_then_nvrtc(self, disk, monkeypatch):
        first = cubins.cubin_for(AXPY, "sm_90")
        assert cubins.cubin_for(AXPY, "sm_90") is first
        assert (cubins.counts.compiled, cubins.counts.loaded) == (1, 0)
        forget(monkeypatch)
        monkeypatch.setattr(nvrtc, "compile_cuda", None)
        again = cubins.cubin_for(AXPY, "sm_90")
        assert (again.image, again.log, again.resources) == (first.image, first.log, first.resources)
        assert (cubins.counts.compiled, cubins.counts.loaded) == (1, 1)
        assert disk.size()[0] == 1

    def test_text_architecture_and_options_make_a_name(self, disk, monkeypatch):
        for asked in [
            (AXPY, "sm_90"),
            (AXPY, "sm_80"),
            (AXPY, "sm_90", True),
            (AXPY + "\n", "sm_90"),
            (MIXED, "sm_90"),
        ]:
            cubins.cubin_for(*asked)
        assert (cubins.counts.compiled, cubins.counts.loaded, disk.size()[0]) == (5, 0, 5)
        forget(monkeypatch)
        monkeypatch.setattr(nvrtc, "version", lambda: (99, 0))
        cubins.cubin_for(AXPY, "sm_90")
        monkeypatch.setattr(cubins, "_digest_of_header", lambda name: "another")
        cubins.cubin_for(MIXED, "sm_90")
        assert (cubins.counts.compiled, cubins.counts.loaded, disk.size()[0]) == (7, 0, 7)

    def test_it_is_known_what_needs_no_compiler(self, disk, monkeypatch):
        assert not cubins.is_kept(AXPY, "sm_90")
        cubins.cubin_for(AXPY, "sm_90")
        assert cubins.is_kept(AXPY, "sm_90")
        assert not cubins.is_kept(AXPY, "sm_80")
        forget(monkeypatch)
        assert cubins.is_kept(AXPY, "sm_90")
        monkeypatch.setattr(nvrtc, "compile_cuda", None)
        cubins.cubin_for(AXPY, "sm_90")
        assert (cubins.counts.compiled, cubins.counts.loaded, disk.size()[0]) == (1, 1, 1)
        monkeypatch.setattr(cubins, "store", lambda: None)
        assert cubins.is_kept(AXPY, "sm_90")
        forget(monkeypatch)
        assert not cubins.is_kept(AXPY, "sm_90")

    def test_without_a_cache_there_is_memory(self, disk, monkeypatch):
        monkeypatch.setattr(cubins, "store", lambda: None)
        assert cubins.cubin_for(AXPY, "sm_90") is cubins.cubin_for(AXPY, "sm_90")
        assert (cubins.counts.compiled, disk.size()[0]) == (1, 0)

    @pytest.mark.parametrize("how", ["cut", "changed", "renamed", "object", "architecture", "text"])
    def test_an_entry_that_is_not_what_it_says_is_compiled_again(self, disk, monkeypatch, caplog, how):
        first = cubins.cubin_for(AXPY, "sm_90")
        forget(monkeypatch)
        (path,) = disk.folder.glob(f"*{ENTRY}")
        name, data = path.name.removesuffix(ENTRY), path.read_bytes()
        match how:
            case "cut":
                path.write_bytes(data[:-1])
            case "changed":
                path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
            case "renamed":
                disk.write("ab" * 32, first.log, first.image)
                (disk.folder / ("ab" * 32 + ENTRY)).replace(path)
            case "object":
                disk.write(name, first.log, first.image[:18] + b"\x3e\0" + first.image[20:])  # of x86-64
            case "architecture":
                found = compile_cuda(AXPY, "sm_80")
                disk.write(name, found.log, found.image)
            case "text":
                disk.write(name, first.log, AXPY.encode())
        assert cubins.cubin_for(AXPY, "sm_90").image == first.image
        assert (cubins.counts.compiled, cubins.counts.loaded) == (2, 0)
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        forget(monkeypatch)
        assert cubins.cubin_for(AXPY, "sm_90").image == first.image
        assert cubins.counts.loaded == 1

    @pytest.mark.usefixtures("disk")
    def test_threads_that_need_one_program_compile_it_once(self):
        found = []
        threads = [threading.Thread(target=lambda: found.append(cubins.cubin_for(SPILLS, "sm_75"))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(map(id, found))) == 1
        assert len(found) == 4
        assert cubins.counts.compiled == 1

    def test_a_text_that_is_refused_leaves_nothing(self, disk):
        for _ in range(2):
            with pytest.raises(NvrtcError, match="does not compile"):
                cubins.cubin_for("int", "sm_90")
        assert (cubins.counts.compiled, disk.size()[0]) == (0, 0)

    @pytest.mark.parametrize("switch", ["1", "0"])
    def test_a_second_process_compiles_nothing(self, tmp_path, switch):
        code = f"""if True:
            import hashlib, json
            from exprten_jit.backends import cubins
            text = {MIXED!r}
            found = [cubins.cubin_for(text, arch) for arch in ("sm_75", "sm_90")]
            print(json.dumps([cubins.counts.compiled, cubins.counts.loaded, [hashlib.sha256(c.image).hexdigest() for c in found],
                              [c.resources["mixed"].registers for c in found]]))
        """
        path = os.pathsep.join([str(ROOT), str(ROOT / "jit")])
        settings = {"EXPRTEN_CACHE": switch, "EXPRTEN_CACHE_DIR": str(tmp_path), "PYTHONPATH": path}
        first, second = (
            json.loads(
                subprocess.run(
                    [sys.executable, "-c", code], env=os.environ | settings, capture_output=True, text=True, check=True
                ).stdout
            )
            for _ in range(2)
        )
        assert first[:2] == [2, 0]
        assert second[:2] == ([0, 2] if switch == "1" else [2, 0])
        assert second[2:] == first[2:]
        assert Store(tmp_path).size()[0] == (2 if switch == "1" else 0)
