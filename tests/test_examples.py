"""Every example runs, in a directory of its own, and says what its documentation says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from emulator import why_not
from PIL import Image

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))

# Lines that stand in the output, in this order. An example without a row has to run; its own assertions are the rest.
OUTPUT = {
    "sgd": [r"tensor\(\[0\.91\d+, 1\.90\d+, 2\.90\d+\], .*", r"kernels: 1"],
    "basic": [
        r"1 X 10 matrix",
        r"  \[3\. +4\.1( +3\. *){8}\]",
        r"  \[0\. 1\. 2\.\]",
        r"  \[3\. 4\. 5\.\]",
        r"  \[0\. 1\. 0\.\]",
        r"  \[0\. 0\. 1\.\]",
        r"  \[-100\. +0\. +-102\.\]",
        r"  \[-103\. +-104\. +0\.\]",
        r"  \[1\. 1\. 1\. 2\. 2\. 2\.\]",
        r"  \[3\. 3\. 3\. 4\. 4\. 4\.\]",
        r"  \[5\. 5\. 5\. 5\. 5\. 5\. 5\. 5\.\]",
    ],
    "exp_lazy": [r"<.*>", r"\[5\. 7\. 9\.\]", r"    out\[.*\] = .*", r"\[3\. 4\. 5\.\]"],
    "exp_template": [r"<.*>", r"\[ 8\. 11\. 14\.\]", r"    out\[.*\] = .*"],
    "exp_template_op": [r"<.*>", r"\[ 6\. 12\. 20\.\]", r"    out\[.*\] = .*"],
    "own_op": [
        r"\[\[0\. +1\.5 1\.5\]",
        r"slope (2\.9|3\.0)\d, by least squares 2\.5\d",
        r"<plan of .*smooth_l1\(.*>",
        r"    out\[.*\] = where.*",
    ],
    "kernels": [
        r"kernel momentum",
        r"momentum moves 20000 bytes in one pass, 24000 in two statements",
        r"kernel adam",
        r"adam moves 28000 bytes in one pass, 40000 in three statements",
        r"adam: error \d\.\de-\d+ after 499 steps",
        r"a list of 4 tensors in one call: the same bits",
    ],
    "digits": [
        r"epoch 30: loss 0\.\d+, .*",
        r"softmax regression: test accuracy 0\.9[5-9]\d",
        r"421 steps in .* for \d+ kernels",
        r"one hidden layer: test accuracy 0\.9[7-9]\d",
    ],
    "normalise": [
        r"standardise 178 x 13: phases 1, temporaries 0, .*",
        r"  strip f0 .*",
        r"classes by the nearest mean: 0.978 right, .*",
    ],
    "tone_curve": [r"phases 1, temporaries 0, .*"],
    "xpu": [r"cpu: weight .*, loss \d+\.\d+"],
    "edges": [r"phases 1, temporaries 0, .*"],
}
PICTURES = {"digits": (840, 480), "tone_curve": (1280, 427), "edges": (640, 427)}  # (width, height) of the PNG


EMULATED = "import runpy, sys; from emulator.driver import emulated; sys.argv = sys.argv[1:]\nwith emulated(): runpy.run_path(sys.argv[0], run_name='__main__')"


def run(name, directory, *arguments, python=()):
    """What the example prints, run in `directory` as from a checkout."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "jit", ROOT / "tests")))}
    done = subprocess.run(
        [sys.executable, *python, str(ROOT / "examples" / f"{name}.py"), *arguments],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{name} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def check_picture(path, size):
    with Image.open(path) as picture:
        picture.load()
        assert (picture.format, picture.size) == ("PNG", size)
        assert len(set(picture.convert("L").tobytes())) > 16, f"{path.name} is a blank picture"


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_runs_and_prints_what_it_promises(name, tmp_path):
    lines = iter(run(name, tmp_path).splitlines())
    missing = [pattern for pattern in OUTPUT.get(name, []) if not any(re.fullmatch(pattern, line) for line in lines)]
    assert not missing, f"not in the output, or not in this order: {missing}"

    written = {path.name for path in tmp_path.iterdir()}
    assert written == ({f"{name}.png"} if name in PICTURES else set())
    for picture in written:
        check_picture(tmp_path / picture, PICTURES[name])


@pytest.mark.parametrize("name", PICTURES)
def test_picture_goes_where_out_says(name, tmp_path):
    there = tmp_path / "there"
    there.mkdir()
    run(name, tmp_path, "--out", str(there / "picture.png"))
    check_picture(there / "picture.png", PICTURES[name])
    assert list(tmp_path.iterdir()) == [there]


# On a GPU, which is emulated: lines of the output, and arguments that make it short.
ON_GPU = {
    "xpu": (r"gpu:0: the same bits in all 5 results", ()),
    "digits": (r"one hidden layer: test accuracy 0\.[89]\d+", ("--xpu", "gpu", "--epochs", "1")),
}


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "")
@pytest.mark.parametrize("name", ON_GPU)
def test_example_runs_on_a_gpu(name, tmp_path):
    wanted, arguments = ON_GPU[name]
    lines = run(name, tmp_path, *arguments, python=("-c", EMULATED)).splitlines()
    assert any(re.fullmatch(wanted, line) for line in lines), lines


def test_tables_name_only_examples_that_exist():
    assert OUTPUT.keys() | PICTURES.keys() <= set(EXAMPLES)
