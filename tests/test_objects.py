"""What machine code reads out of Python's objects is what Python says, whether it is read as memory or asked for."""

import ctypes

import numpy as np
import pytest
from exprten_jit import objects
from exprten_jit.backends.llvm_run import compile_text
from exprten_jit.backends.llvm_text import Text
from exprten_jit.hostcall import c_api

import exprten as xt

INTS = [0, 1, -1, 2**30 - 1, 2**30, 2**30 + 1, 2**32 + 5, 2**47 - 4096, 2**60 - 1, 2**60, 2**63 - 1]
INTS += [-x for x in INTS]
FLOATS = [0.0, -0.0, 1.5, -1.0, 1e-320, 1e308, float("inf"), float("-inf")]
KNOWN = ("TWO_DIGITS", "FLOAT", "LIST", "TUPLE")


def read(kind, write):
    """A function of an object (and an index): what `write` makes of it."""
    t = Text()
    result = write(t)
    body = "\n".join([*t.reserved, *t.lines])
    declared = "declare i64 @PyLong_AsSsize_t(ptr)\ndeclare double @PyFloat_AsDouble(ptr)"
    text = f"{declared}\ndefine {kind} @f(ptr %x, i64 %i) {{\nentry:\n{body}\nret {kind} {result}\n}}\n"
    compiled = compile_text(text, ("f",), c_api("PyLong_AsSsize_t", "PyFloat_AsDouble"))
    types = {"i64": ctypes.c_int64, "double": ctypes.c_double, "ptr": ctypes.c_void_p}
    function = ctypes.PYFUNCTYPE(types[kind], ctypes.py_object, ctypes.c_int64)(compiled.address["f"])
    return lambda *given: (function(*given), compiled)[0]


@pytest.fixture(params=("as memory", "asked for"))
def way(request, monkeypatch):
    if request.param == "asked for":
        for name in KNOWN:
            monkeypatch.setattr(objects, name, None)
    return request.param


def test_ints_are_as_python_says(way):
    function = read("i64", lambda t: objects.integer(t, "%x"))
    assert [function(x, 0) for x in INTS] == INTS


def test_floats_are_as_python_says(way):
    function = read("double", lambda t: objects.double(t, "%x", float))
    assert [function(x, 0).hex() for x in FLOATS] == [x.hex() for x in FLOATS]
    assert np.isnan(function(float("nan"), 0))


def test_an_int_is_asked_for_its_double():
    function = read("double", lambda t: objects.double(t, "%x", int))
    assert function(3, 0) == 3.0


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("length", [1, 2, 3, 100])
def test_items_are_those_of_the_list(kind, length):
    if objects.items(Text(), "true", "%x") is None:
        pytest.skip("this interpreter keeps them elsewhere")
    given = kind(object() for _ in range(length))
    is_list = "true" if kind is list else "false"
    function = read("ptr", lambda t: objects.item(t, objects.items(t, is_list, "%x"), "%i"))
    assert [function(given, k) for k in range(length)] == [id(x) for x in given]


def test_other_objects_are_not_taken_for_what_was_probed():
    assert objects._two_digits((1, 2)) is None  # one digit: theirs are not the words of two
    assert objects._two_digits((2**30, 2**61)) is None
    assert objects._items_of_a_list([]) is None


def test_kernels_do_the_same_either_way(way):
    @xt.kernel
    def scaled(w, g, *, lr):
        w -= lr * g

    for kind in (list, tuple):
        ws, gs = ([xt.array(np.arange(k, k + 5, dtype=np.float32)) for k in range(9)] for _ in "wg")
        for _ in range(4):
            scaled.foreach(kind(ws), kind(gs), lr=0.25)
        for w, g in zip(ws, gs, strict=True):
            np.testing.assert_array_equal(w.numpy(), 0 * g.numpy())
            scaled(w, g, lr=-1.0)
            np.testing.assert_array_equal(w.numpy(), g.numpy())
