"""CUDA C++ texts as one translation unit for g++."""

import re
from collections.abc import Sequence

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(\S+).*$", re.MULTILINE)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_DYNAMIC = re.compile(r"extern\s+__shared__\s+((?:__align__\s*\(\s*\d+\s*\)\s*)?)([\w\s]+?)\s*\b(\w+)\s*\[\s*\]\s*;")
_BOUNDS = r"(?:__launch_bounds__\s*\(\s*(\d+)[^)]*\)\s*)?"
_KERNEL = re.compile(rf"__global__\s+{_BOUNDS}void\s+{_BOUNDS}(\w+)\s*\(")
MOST_THREADS = 1024


def kernels(source: str) -> dict[str, int]:
    """The kernels that a source defines, each with the most threads that its __launch_bounds__ allows."""
    found = _KERNEL.findall(_COMMENT.sub(" ", source))
    return {name: int(before or behind or MOST_THREADS) for before, behind, name in found}


def unit(sources: Sequence[str]) -> str:
    """All sources, each in a namespace of its own, and the tables `emulator_source_<k>` of their kernels."""
    included = dict.fromkeys(name for source in sources for name in _INCLUDE.findall(source))
    lines = [f"#include {name}" for name in included]
    for k, source in enumerate(sources):
        lines += [*_namespace(k, source), *_table(k, source)]
    return "\n".join(lines) + "\n"


def _namespace(k: int, source: str) -> list[str]:
    text = _INCLUDE.sub("", source)
    text = re.sub(r'\bextern\s*"C"', 'extern "C++"', text)
    text = _DYNAMIC.sub(r"\2 *const \3 = reinterpret_cast<\2 *>(emulated::dynamic_shared);", text)
    return [
        "#undef __shared__",
        # A section of its own, so that the runtime can fill it before each block. Unnamed: nothing is exported.
        f'#define __shared__ static __attribute__((section("shared_{k}")))',
        f"namespace emulated {{ namespace {{ namespace source_{k} {{",
        f'#line 1 "source {k}"',
        text,
        "}}}",
        *(f"#undef {name}" for name in dict.fromkeys(_DEFINE.findall(source))),
    ]


def _table(k: int, source: str) -> list[str]:
    hidden = '__attribute__((weak, visibility("hidden")))'
    return [
        'extern "C" {',
        f"extern char __start_shared_{k}[] {hidden}, __stop_shared_{k}[] {hidden};",
        f"extern const emulated::Kernel emulator_source_{k}[] = {{",
        *(
            f'{{"{name}", [](void **p) {{ emulated::call(emulated::source_{k}::{name}, p); }},'
            f" __start_shared_{k}, __stop_shared_{k}, {most}}},"
            for name, most in kernels(source).items()
        ),
        "{}};",
        "}",
    ]
