"""A module imports only from the floors below its own, wherever in it the import stands; and no class of an emitter hides what another one does."""

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from exprten_jit.backends import cuda_emit, llvm_module

ROOT = Path(__file__).parents[1]
SOURCES = {"exprten": ROOT / "exprten", "exprten_jit": ROOT / "jit" / "exprten_jit"}
FORBIDDEN = {"exprten": (), "exprten_jit": ("exprten",)}

# Lowest first. Modules of one line do not import each other; those under one `*` may, in no circle.
FLOORS = {
    "exprten_jit": [
        "dtypes locks machine references store",
        "reducers",
        "ops",
        "ir",
        "kernel",
        "pairs",
        "vmath.terms vmath.coefficients vmath.__init__",
        "vmath.double",
        "vmath.*",
        "rewrite derived",
        "extremes widen further",
        "linear folds moments",
        "needed piece unrolled",
        "alone text check interpret",
        "beforehand",
        "bring",
        "chain nest",
        "nesttext",
        "vectors",
        "cuts placing keeping within",
        "past flattiles",
        "flat runs strips strung tiles",
        "early repeating without",
        "onward columns squares",
        "schedule work bounds passes",
        "gridsquares",
        "grid",
        "gridlist gridtext gridwork",
        "backends.*",
        "hostcall",
        "threads",
        "gemm methods",
        "objects",
        "directcall vectorcall scalarcode",
        "entries",
        "reading",
        "kernelcall listcall",
        "__init__",
    ],
    "exprten": [
        "*.__init__",
        "errors",
        "gpu.cublas",
        "gpu.cupy_driver",
        "gpu.driver gpu.recording",
        "gpu.staging",
        "options modes blas storage.*",
        "expression.shape expression.show",
        "expression.key",
        "expression.expr",
        "expression.*",
        "statement.gather statement.overlap",
        "statement.axes statement.registers",
        "statement.orders statement.signature",
        "statement.before statement.few statement.lying statement.memory_order statement.nested statement.traffic",
        "statement.blocks statement.facing statement.flat",
        "statement.afar statement.halves",
        "statement.walk",
        "statement.ways",
        "statement.alone",
        "statement.plain",
        "statement.pieces",
        "statement.lines",
        "statement.whole",
        "statement.brought",
        "statement.rest",
        "statement.arrange",
        "statement.lower",
        "statement.grids",
        "statement.direct statement.positions statement.recompute",
        "statement.cached",
        "statement.running",
        "statement.launch",
        "statement.lists",
        "products.*",
        "assign functions reduce linalg",
        "tensor checks.*",
        "gpu.*",
        "target graphs",
        "plan own.*",
        "library kernels.*",
        "extension.* interop",
        "optim testing info",
        "__init__",
        "__main__",
    ],
}

# (module, what it imports from a higher floor) -> why. Only under TYPE_CHECKING or inside a function.
LAZY: dict[tuple[str, str], str] = {}


def row(module: str) -> tuple[int, str]:
    """The floor of `pkg.path.name` and the pattern that names it; floor -1 where the table has none."""
    package, _, name = module.partition(".")
    rows = ((i, p) for i, line in enumerate(FLOORS[package]) for p in line.split() if fnmatchcase(name, p))
    return next(rows, (-1, ""))


def modules(package: str) -> dict[str, Path]:
    paths = SOURCES[package].rglob("*.py")
    return {".".join((package, *p.relative_to(SOURCES[package]).with_suffix("").parts)): p for p in paths}


def imports(module: str, path: Path) -> Iterator[tuple[str, ast.stmt, bool]]:
    """What `module` imports by full name, the statement, and whether it runs when the module is loaded."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known = {name for package in SOURCES for name in modules(package)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(
                [*module.split(".")[: -node.level], *filter(None, [node.module])] if node.level else [node.module]
            )
            names = [
                full if {full, f"{full}.__init__"} & known else base
                for full in (f"{base}.{a.name}" for a in node.names)
            ]
        else:
            continue
        for name in names:
            yield (f"{name}.__init__" if f"{name}.__init__" in known else name), node, node in tree.body


def breaches(package: str) -> Iterator[str]:
    for module, path in modules(package).items():
        floor, pattern = row(module)
        if floor < 0:
            yield f"{path.relative_to(ROOT)}: {module} is not in FLOORS; give it a floor"
        for target, node, eager in imports(module, path):
            where = f"{path.relative_to(ROOT)}:{node.lineno}: {module} imports {target}"
            if target.split(".")[0] in FORBIDDEN[package]:
                yield f"{where}: {package} may not know it"
            if target.split(".")[0] != package or (not eager and (module, target) in LAZY):
                continue
            above, its_pattern = row(target)
            if above >= floor and not (pattern == its_pattern and pattern.endswith("*")):
                yield f"{where}, which is not on a lower floor"


@pytest.mark.parametrize("package", SOURCES)
def test_modules_import_only_from_lower_floors(package: str) -> None:
    found = list(breaches(package))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("package", SOURCES)
def test_no_import_circle(package: str) -> None:
    graph = {
        module: {t for t, _, _ in imports(module, path) if t in modules(package) and (module, t) not in LAZY}
        for module, path in modules(package).items()
    }
    TopologicalSorter(graph).prepare()  # CycleError names the circle


def test_lazy_table_holds_nothing_stale() -> None:
    found = {
        (m, target) for package in SOURCES for m, path in modules(package).items() for target, _, _ in imports(m, path)
    }
    assert set(LAZY) <= found


@pytest.mark.parametrize("package", SOURCES)
def test_every_pattern_names_a_module(package: str) -> None:
    used = {row(module)[1] for module in modules(package)}
    assert not [p for line in FLOORS[package] for p in line.split() if p not in used]


# What a class of an emitter leaves to one above it, or does in part.
FILLED_IN = {
    llvm_module._Module: {"across", "alone", "items_load", "strip", "strung_load", "value"},
    cuda_emit.Function: {"_by_warp", "_read_parts", "fold", "name", "store_all", "unfolded"},
}


@pytest.mark.parametrize("emitter", FILLED_IN, ids=lambda emitter: emitter.__module__)
def test_no_class_of_an_emitter_hides_a_method_of_another(emitter: type) -> None:
    """All of its classes are one, so a name that two of them give means the later one, everywhere."""
    own = [name for c in emitter.__mro__[:-1] for name in vars(c) if not name.startswith("__")]
    assert {name for name in own if own.count(name) > 1} == FILLED_IN[emitter]
