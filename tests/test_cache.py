"""The disk cache: what one process compiled is not compiled by the next, and nothing that lies there can do harm."""

import json
import logging
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from exprten_jit import derived
from exprten_jit import store as stores
from exprten_jit.backends import llvm_run
from exprten_jit.locks import Turns
from exprten_jit.store import ENTRY, PARTIAL, Store, digest_of

import exprten as xt
from exprten.__main__ import main
from exprten.statement import cached
from exprten.statement.cached import text_of

ROOT = Path(__file__).parents[1]
WORK = ROOT / "tests" / "cache_work.py"
KERNELS = 13  # of it
NAME, OTHER = "ab" * 32, "cd" * 32
CODE = bytes(range(256)) * 8


def start(folder, *arguments, **settings):
    """A process with its cache in `folder`; each has another hash seed, so that no set is walked in the same order."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "jit")])
    environment = os.environ | {"EXPRTEN_CACHE": "1", "EXPRTEN_CACHE_DIR": str(folder), "PYTHONPATH": path} | settings
    command = [sys.executable, *map(str, arguments or [WORK])]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def facts(process):
    out, err = process.communicate()
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1])


@pytest.fixture(scope="module")
def cold(tmp_path_factory):
    """A folder that `python -m exprten cache warm` filled, and what the script printed."""
    folder = tmp_path_factory.mktemp("cold") / "deep" / "cache"
    process = start(folder, "-m", "exprten", "cache", "warm", WORK, PYTHONHASHSEED="1")
    found = facts(process)
    assert found["compiles"] + found["loads"] == KERNELS
    assert found["modules"] > found["compiles"] > 0  # functions that enter kernels are compiled too
    return folder, found


@pytest.fixture
def filled(cold, tmp_path):
    """A copy of it."""
    return Path(shutil.copytree(cold[0], tmp_path / "filled"))


def same(found, cold):
    """Whether results, to the bit, and the plan of a kernel are those of the first process."""
    assert found["refused"] and cold[1]["refused"]
    return (found["results"], found["plan"]) == (cold[1]["results"], cold[1]["plan"])


# From process to process.


def test_a_second_process_compiles_nothing(cold, filled):
    filled.chmod(0o500)  # nor does it write
    found = facts(start(filled, WORK, "--no-compile", PYTHONHASHSEED="2"))
    filled.chmod(0o700)
    assert (found["compiles"], found["modules"], found["loads"]) == (0, 0, KERNELS)
    assert same(found, cold)


def test_digits_compile_nothing_the_second_time(tmp_path):
    code = f"""if True:
        import json, sys, unittest.mock
        for name in ("matplotlib", "sklearn", "sklearn.datasets", "sklearn.model_selection"):
            sys.modules[name] = unittest.mock.MagicMock()  # they take 2 s to import: nothing is drawn, and pixels are at random
        sys.path.insert(0, {str(ROOT / "examples")!r})
        import digits, numpy as np, exprten as xt
        from exprten_jit.backends.llvm_run import counts
        rng = np.random.default_rng(0)
        images = rng.random((200, digits.PIXELS)).astype("f4")
        data, losses = (images, rng.integers(0, 10, (200, 1)), np.arange(150), np.arange(150, 200)), []
        for model in digits.MODELS.values():
            layers = digits.make_layers(model.widths, np.random.default_rng(digits.SEED), xt.cpu())
            losses += digits.train(layers, model, *data, xt.cpu(), 1)[0]
        print(json.dumps([xt.stats().compiles, counts.compiled, counts.loaded, [float(x).hex() for x in losses]]))
    """
    first, second = (facts(start(tmp_path, "-c", code)) for _ in range(2))
    assert first[0] > 10
    assert second[:2] == [0, 0]
    assert second[2] >= first[1]
    assert second[3] == first[3]


def test_two_cold_processes_racing(cold, tmp_path):
    both = [start(tmp_path, WORK), start(tmp_path, WORK)]
    assert all(same(facts(process), cold) for process in both)
    assert not list(tmp_path.glob(f"*{PARTIAL}"))
    there = [path.name.removesuffix(ENTRY) for path in tmp_path.iterdir()]
    assert set(there) == {path.name.removesuffix(ENTRY) for path in cold[0].iterdir()}  # names are the same everywhere
    assert all(Store(tmp_path).read(name) for name in there)


def test_killed_while_it_writes(cold, tmp_path):
    code = f"""if True:
        import os, pathlib, runpy, signal
        pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        runpy.run_path({str(WORK)!r}, run_name="__main__")
    """
    killed = start(tmp_path, "-c", code)
    killed.communicate()
    assert killed.returncode == -9
    (partial,) = tmp_path.iterdir()
    assert partial.name.endswith(PARTIAL)
    os.utime(partial, (0, 0))
    found = facts(start(tmp_path, WORK))
    assert same(found, cold)
    assert found["modules"] == cold[1]["modules"]
    assert not list(tmp_path.glob(f"*{PARTIAL}"))  # what nobody finishes is swept away


def test_poisoned_entries_are_compiled_again(cold, filled):
    paths = sorted(filled.iterdir())
    contents = [path.read_bytes() for path in paths]
    for k, path in enumerate(paths):
        one = contents[k]
        at = len(one) * (k % 7) // 7
        spoilt = (b"", one[:at], one[:at] + bytes([one[at] ^ 1]) + one[at + 1 :], contents[k - 1], os.urandom(len(one)))
        path.write_bytes(spoilt[k % len(spoilt)])
    found = facts(start(filled, WORK))
    assert same(found, cold)
    assert found["modules"] == cold[1]["modules"]
    assert facts(start(filled, WORK))["modules"] == 0  # the entries are whole again


def test_an_entry_of_other_ir_is_seen_when_verified(cold, filled):
    disk = Store(filled)
    names = [path.name.removesuffix(ENTRY) for path in sorted(filled.iterdir())]
    kernels = [(name, *disk.read(name)) for name in names if disk.read(name)[0]]
    for (name, _, _), (_, about, code) in zip(kernels, kernels[1:] + kernels[:1], strict=True):
        disk.write(name, about, code)
    found = facts(start(filled, WORK, EXPRTEN_VERIFY_CACHE="1"))
    assert same(found, cold)
    assert found["compiles"] == len(kernels)


def test_a_full_disk_costs_only_time(cold, tmp_path):
    resource = pytest.importorskip("resource")
    assert resource.RLIM_INFINITY
    code = f"""if True:
        import resource, runpy
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        runpy.run_path({str(WORK)!r}, run_name="__main__")
    """
    assert same(facts(start(tmp_path, "-c", code)), cold)
    assert not list(tmp_path.iterdir())


def test_without_a_folder_there_is_no_cache(cold, tmp_path):
    (tmp_path / "file").write_text("")
    found = facts(start(tmp_path / "file" / "below", WORK))
    assert same(found, cold)
    assert found["loads"] == 0


# One entry.


def test_an_entry_is_read_as_it_was_written(tmp_path):
    disk = Store(tmp_path)
    assert disk.read(NAME) is None
    disk.write(NAME, "about ü", CODE)
    assert disk.read(NAME) == ("about ü", CODE)
    assert [path.name for path in tmp_path.iterdir()] == [NAME + ENTRY]


@pytest.mark.parametrize("at", [0, 7, 8, 39, 40, 71, 72, 75, 76, 80, 1000, -1])
@pytest.mark.parametrize("how", ["changed", "ends"])
def test_a_damaged_entry_is_none(tmp_path, caplog, at, how):
    disk = Store(tmp_path)
    disk.write(NAME, "about", CODE)
    path = tmp_path / (NAME + ENTRY)
    data = bytearray(path.read_bytes())
    if how == "changed":
        data[at] ^= 0x40
    else:
        del data[at:]
    path.write_bytes(data)
    assert disk.read(NAME) is None
    assert not path.exists()
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_an_entry_under_another_name_is_none(tmp_path):
    disk = Store(tmp_path)
    disk.write(NAME, "about", CODE)
    (tmp_path / (NAME + ENTRY)).rename(tmp_path / (OTHER + ENTRY))
    assert disk.read(OTHER) is None


def test_what_is_no_object_file_is_compiled_again(tmp_path, monkeypatch):
    """Its digest is right, so only LLVM can tell."""
    disk = Store(tmp_path)
    disk.write(NAME, "", CODE)
    monkeypatch.setattr(llvm_run, "store", lambda: disk)
    assert llvm_run.load(NAME, ("kernel",), {}) is None
    assert disk.size() == (0, 0)


def _free():
    """The first file descriptor that is free."""
    found = os.dup(1)
    os.close(found)
    return found


@pytest.mark.skipif(os.name != "posix", reason="files have owners on POSIX")
class TestOwner:
    def test_a_link_is_not_followed(self, tmp_path):
        disk = Store(tmp_path)
        disk.write(NAME, "about", CODE)
        path = tmp_path / (NAME + ENTRY)
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
        assert disk.read(NAME) is None

    def test_a_pipe_is_not_waited_for(self, tmp_path):
        os.mkfifo(tmp_path / (NAME + ENTRY))
        assert Store(tmp_path).read(NAME) is None

    def test_a_directory_in_the_place_of_an_entry_is_that_entry_s_trouble_alone(self, tmp_path, caplog):
        disk, place = Store(tmp_path, cap=1), tmp_path / (NAME + ENTRY)
        place.mkdir()
        first = _free()
        for _ in range(3):
            assert disk.read(NAME) is None
            disk.write(NAME, "about", CODE)
        assert _free() == first  # no file stays open
        assert disk.size() == (0, 0) and list(tmp_path.iterdir()) == [place]
        assert f"{place} is not written: it is a directory" in caplog.text
        disk = Store(tmp_path)
        disk.write(NAME, "about", CODE)
        disk.write(OTHER, "about", CODE)
        assert disk.read(OTHER) == ("about", CODE) and disk.size()[0] == 1
        assert disk.clear() == 1 and place.is_dir()

    @pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
    def test_an_entry_that_others_may_write_is_none(self, tmp_path, caplog, mode):
        disk = Store(tmp_path)
        disk.write(NAME, "about", CODE)
        (tmp_path / (NAME + ENTRY)).chmod(mode)
        assert disk.read(NAME) is None
        assert "others may write to it" in caplog.text

    def test_an_entry_of_another_user_is_none(self, tmp_path, caplog, monkeypatch):
        disk = Store(tmp_path)
        disk.write(NAME, "about", CODE)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert disk.read(NAME) is None
        assert "it belongs to user" in caplog.text

    @pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
    def test_a_folder_that_others_may_write_is_no_cache(self, opened, caplog, mode):
        opened.mkdir()
        opened.chmod(mode)
        assert stores.store() is None
        assert stores.store() is None
        assert [record.levelname for record in caplog.records] == ["WARNING"]  # once

    def test_a_folder_of_another_user_is_no_cache(self, opened, caplog, monkeypatch):
        opened.mkdir()
        if os.geteuid():
            monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        else:
            os.chown(opened, 1, 1)
        assert stores.store() is None
        assert "it belongs to user" in caplog.text

    def test_a_new_folder_is_the_users_alone(self, opened):
        assert stores.store().folder == opened
        assert opened.stat().st_mode & 0o777 == 0o700
        stores.store().write(NAME, "", CODE)
        assert (opened / (NAME + ENTRY)).stat().st_mode & 0o777 == 0o600


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Where a cache would be, while there is no store of this process."""
    monkeypatch.setenv("EXPRTEN_CACHE", "1")
    monkeypatch.setenv("EXPRTEN_CACHE_DIR", str(tmp_path / "cache"))
    stores.store.cache_clear()
    yield tmp_path / "cache"
    stores.store.cache_clear()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), OSError(30, "Read-only file system")])
def test_where_nothing_can_be_written_entries_are_read(tmp_path, caplog, monkeypatch, error):
    disk, opens = Store(tmp_path), os.open
    disk.write(NAME, "about", CODE)

    def refuse(path, flags, *mode):
        if flags & os.O_CREAT:
            raise error
        return opens(path, flags, *mode)

    monkeypatch.setattr(os, "open", refuse)
    disk.write(OTHER, "about", CODE)
    disk.write(OTHER, "about", CODE)
    assert disk.read(NAME) == ("about", CODE)
    assert [record.levelname for record in caplog.records] == ["WARNING"]  # once


# Its size.


def test_what_was_used_longest_ago_goes_first(tmp_path):
    disk, now = Store(tmp_path, cap=24 * 2200), time.time()
    names = [f"{k:02x}" * 32 for k in range(24)]
    for k, name in enumerate(names[:-1]):
        disk.write(name, "", CODE)
        os.utime(tmp_path / (name + ENTRY), (now - 10000 + k, now - 10000 + k))
    assert disk.read(names[0])  # marks it as used
    disk.write(names[-1], "", CODE * 2)
    assert disk.size()[1] <= disk.cap
    assert disk.read(names[0])
    assert disk.read(names[1]) is None
    assert disk.read(names[-2])
    assert disk.read(names[-1])


@pytest.mark.parametrize(
    ("text", "size"), [("", stores.CAP), ("1000", 1000), ("3k", 3072), ("2M", 2 << 20), ("1G", 1 << 30)]
)
def test_the_cap_is_a_number_of_bytes(monkeypatch, text, size):
    monkeypatch.setenv("EXPRTEN_CACHE_SIZE", text)
    assert stores.cap() == size


@pytest.mark.parametrize("text", ["much", "-1", "1.5G", "M", "1T"])
def test_a_cap_that_is_none(monkeypatch, text):
    monkeypatch.setenv("EXPRTEN_CACHE_SIZE", text)
    with pytest.raises(ValueError, match=f"EXPRTEN_CACHE_SIZE is {text!r}; it must be a number of bytes"):
        stores.cap()


def test_the_folder_is_where_such_things_are(monkeypatch, tmp_path):
    monkeypatch.delenv("EXPRTEN_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert stores.folder() == tmp_path / "exprten"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert stores.folder().is_relative_to(Path.home())
    monkeypatch.setenv("EXPRTEN_CACHE_DIR", str(tmp_path / "mine"))
    assert stores.folder() == tmp_path / "mine"


# The command line.


def test_path_size_and_clear(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EXPRTEN_CACHE_DIR", str(tmp_path))
    Store(tmp_path).write(NAME, "about", CODE)
    (tmp_path / "notes.txt").write_text("mine")

    def said(action):
        monkeypatch.setattr(sys, "argv", ["exprten", "cache", action])
        assert main() == 0
        return capsys.readouterr().out.strip()

    assert said("path") == str(tmp_path)
    assert said("size") == f"1 kernels, 0.00 MB of 268 MB, in {tmp_path}"
    assert said("clear") == f"1 kernels removed from {tmp_path}"
    assert said("size").startswith("0 kernels")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_warm_says_what_it_did_and_ends_as_the_script_does(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys, exprten as xt\nw = xt.ones(3)\nw += 1\nprint(sys.argv[1:], w)\nsys.exit(3)\n")
    process = start(tmp_path / "cache", "-m", "exprten", "cache", "warm", script, "--some", "x")
    out, err = process.communicate()
    assert process.returncode == 3, err
    assert out.startswith("['--some', 'x'] tensor([2., 2., 2.]")
    assert err.startswith("2 kernels compiled, 0 loaded; ")  # ones, and the statement


def test_warm_says_why_a_script_ended(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nsys.exit('no data')\n")
    process = start(tmp_path / "cache", "-m", "exprten", "cache", "warm", script)
    assert process.communicate()[1].startswith("no data\n")
    assert process.returncode == 1


@pytest.mark.parametrize("action", ["size", "clear"])
def test_a_folder_that_is_none_is_an_error_of_the_command_line(tmp_path, monkeypatch, capsys, action):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EXPRTEN_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(sys, "argv", ["exprten", "cache", action])
    assert main() == 1
    assert capsys.readouterr().err.startswith(f"cache {action}: ")


def test_warm_without_a_cache_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["exprten", "cache", "warm", str(WORK)])
    assert main() == 1
    assert "there is no cache to warm" in capsys.readouterr().err


# Names.


def signature(target, value, **options):
    with xt.options(**options):
        return text_of(xt.plan(target, value)._launch.arranged.signature)


def test_a_name_follows_from_structure():
    t, u, wide = xt.zeros((4, 6)), xt.zeros((4, 6)), xt.zeros((8, 12))
    one = signature(t, u * 2.0 + 1)
    assert signature(u, t * 3.0 + 1) == one
    assert signature(wide, xt.zeros((8, 12)) * 2.0 + 1, num_threads=1, max_recompute=5.0) == one
    texts = [
        one,
        signature(t, u * 2.0 - 1),
        signature(t, u * t + 1),
        signature(t, u + 1),
        signature(t, u * 2.0 + 1, fast_math=True),
        signature(t, u * 2.0 + 1, vector_bits=128),
        signature(t, u * 2.0 + 1, llvm_level=1),
        signature(xt.zeros((4, 6), dtype="float64"), u * 2.0 + 1),
        signature(xt.zeros((4, 12))[:, ::2], u * 2.0 + 1),
        signature(t, xt.flip(u, axis=0)),
        signature(t, xt.flip(u, axis=1)),
        signature(t, xt.sum(u, axis=0)),
        signature(t, xt.max(u, axis=0)),
        signature(t, xt.sum(u, axis=1, keepdims=True)),
    ]
    assert len(set(texts)) == len(texts)


def test_a_name_follows_from_what_an_operation_says():
    def halves(number):
        @xt.op
        def half(x, y):
            return x * number + y

        return half

    @xt.op
    def other(a, b):
        return a * 0.5 + b

    t = xt.zeros(5)
    one, again, third = (signature(t, half(t, t)) for half in map(halves, (0.5, 0.5, 0.25)))
    assert one == again == signature(t, other(t, t)) != third
    assert signature(t, other(t, 1.0)) != one


def test_a_name_follows_from_what_a_reducer_says():
    def products(first):
        @xt.reducer(identity=first)
        def product(a, b):
            return a * b

        return product

    t = xt.zeros((5, 3))
    one, again, third = (signature(xt.zeros(3), f(t, axis=0)) for f in map(products, (1.0, 1.0, 1)))
    assert one == again != third


def test_rows_added_at_run_time_have_no_names(opened, monkeypatch):
    """They stand in no source of ours: the next process may mean something else by the same name."""
    assert opened
    plan = xt.plan(xt.zeros(4), xt.ones(4) * 2.0)._launch.arranged.signature
    llvm_run._identity.cache_clear()
    assert cached._name(plan)
    with monkeypatch.context() as patch:
        patch.setitem(derived.TABLE, "exp", derived.TABLE["expm1"])
        assert cached._name(plan) is None
    assert cached._name(plan)
    llvm_run._identity.cache_clear()


def test_names_follow_from_sources_and_processor(tmp_path, monkeypatch):
    assert Path(xt.__file__).parent == cached.SOURCES
    digest = digest_of.__wrapped__
    package = Path(shutil.copytree(ROOT / "jit" / "exprten_jit", tmp_path / "jit"))
    assert digest(package) == ""  # newer than this process
    monkeypatch.setattr(stores, "STARTED", time.time() + 60)
    before = digest(package)
    assert before == digest(ROOT / "jit" / "exprten_jit") != ""
    with (package / "ops.py").open("a") as file:
        file.write("\n")
    assert digest(package) not in ("", before)
    monkeypatch.setattr(llvm_run, "store", lambda: Store(tmp_path))
    identity = llvm_run._identity.__wrapped__
    here = identity()
    for name, other in (("host_cpu", ("z80", "+fma")), ("versions", {"llvmlite": "9", "LLVM": "99"})):
        with monkeypatch.context() as patch:
            patch.setattr(llvm_run, name, lambda other=other: other)
            assert identity() != here


# Threads.


def test_one_kernel_is_compiled_once_by_many_threads():
    tensors = [xt.ones(50) for _ in range(6)]
    gate = threading.Barrier(len(tensors))
    before = xt.stats()

    def run(t):
        gate.wait()
        t[...] = xt.ceil(t * 0.3125) - xt.floor(t) * 7.5

    threads = [threading.Thread(target=run, args=(t,)) for t in tensors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    after = xt.stats()
    assert after.compiles - before.compiles == 1
    assert all(np.array_equal(t.numpy(), np.full(50, -6.5, np.float32)) for t in tensors)


def test_other_keys_go_on():
    turns, order = Turns(), []
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with turns.of("a"):
            inside.set()
            leave.wait(10)
            order.append("held")

    def follow():
        with turns.of("a"):
            order.append("followed")

    threads = [threading.Thread(target=hold), threading.Thread(target=follow)]
    threads[0].start()
    assert inside.wait(10)
    threads[1].start()
    with turns.of("b"):
        order.append("other")
    leave.set()
    for thread in threads:
        thread.join(10)
    assert order == ["other", "held", "followed"]
    assert not turns._turns


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is POSIX")
def test_a_child_after_fork_waits_for_nobody():
    code = """if True:
        import os, threading
        from exprten_jit.locks import Turns
        turns, inside = Turns(), threading.Event()

        def hold():
            with turns.of("a"):
                inside.set()
                threading.Event().wait(30)

        threading.Thread(target=hold, daemon=True).start()
        inside.wait()
        if not os.fork():
            with turns.of("a"):
                os._exit(7)
        print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
        os._exit(0)
    """
    out, err = start(".", "-W", "ignore", "-c", code).communicate(timeout=20)
    assert out.strip() == "7", err


def test_the_cache_is_silent_where_nobody_listens():
    assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("exprten").handlers)
