"""Processes with the platform tt: registration, settings, errors, threads, forks and exit."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def _output(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_cpu_stays_the_default_and_nothing_is_imported(run_script: Run) -> None:
    script = """
import sys, time
begin = time.process_time()
jax_plugin_tt.initialize()
print(time.process_time() - begin < 0.02)
print(jax.devices()[0].platform, jax.devices("tt")[0].platform, float(jax.numpy.ones(3).sum()))
print([name for name in sys.modules if name.partition(".")[0] in ("ttnn", "torch")])
"""
    assert _output(run_script(script, register=False)).split("\n")[:3] == ["True", "cpu tt 3.0", "[]"]


def test_settings_make_tt_the_default(run_script: Run) -> None:
    script = "print(jax.devices()[0].platform, jax.numpy.arange(3))"
    assert _output(run_script(script, JAX_PLATFORMS="tt,cpu")) == "tt [0 1 2]\n"
    assert _output(run_script(script, TTNN_JAX_PRIORITY="500")) == "tt [0 1 2]\n"
    assert _output(run_script(script, JAX_PLATFORMS="cpu")) == "cpu [0 1 2]\n"


def test_registration_never_raises(run_script: Run) -> None:
    done = run_script("print(jax.devices()[0].platform)", TTNN_JAX_PRIORITY="high")
    assert _output(done) == "cpu\n"
    assert "TTNN_JAX_PRIORITY is 'high'; expected a whole number" in done.stderr


def test_two_devices_hold_arrays_and_run_programs(run_script: Run) -> None:
    script = """
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec
one, two = jax.devices("tt")
x = jax.device_put(np.arange(4, dtype=np.float32), two)
y = jax.jit(lambda x: x * 2)(x)
print(y.devices() == {two}, y)
print(jax.device_put(y, one).devices() == {one})
mesh = jax.sharding.Mesh(np.array([one, two]), ("x",))
s = jax.device_put(np.arange(4, dtype=np.float32), NamedSharding(mesh, PartitionSpec("x")))
print(s, [np.asarray(part.data).tolist() for part in s.addressable_shards])
print(jax.jit(lambda x: x * 2)(s))
"""
    lines = _output(run_script(script, TTNN_JAX_DEVICES="2")).splitlines()
    assert lines[:3] == ["True [0. 2. 4. 6.]", "True", "[0. 1. 2. 3.] [[0.0, 1.0], [2.0, 3.0]]"]
    assert lines[3] == "[0. 2. 4. 6.]"


def test_numbers_of_devices_are_checked(run_script: Run) -> None:
    script = """
print(len(jax.devices("tt")), jax.devices("cpu")[0].platform)
try:
    with jax.default_device(jax.devices("tt")[0]):
        jax.numpy.ones(3)
except jax.errors.JaxRuntimeError as error:
    print(error)
"""
    lines = _output(run_script(script, TTNN_JAX_DEVICES="zero")).splitlines()
    assert lines[0] == "1 cpu"
    assert 'TTNN_JAX_DEVICES is "zero"; expected a number from 1 to 32' in lines[1]


def test_errors_leave_jax_usable(run_script: Run) -> None:
    script = """
import numpy as np
tt = jax.devices("tt")[0]
x = jax.device_put(np.ones((4, 4), np.float32), tt)
try:
    jax.jit(jax.numpy.fft.fft)(x)
except jax.errors.JaxRuntimeError as error:
    print(error)
plus = jax.jit(lambda x: (x + 1)[0, 0])
print(float(plus(x)), float(jax.numpy.ones(3).sum()))
from ttnn.compiler.frontends.jax import plugin
def fail(*_):
    raise RuntimeError("out of luck")
plugin.build = fail
try:
    jax.jit(lambda x: x + 2)(x)
except jax.errors.JaxRuntimeError as error:
    print(error)
print(float(plus(x)), float(jax.numpy.ones(3).sum()))
"""
    lines = _output(run_script(script)).splitlines()
    assert lines[0].startswith("UNIMPLEMENTED: ")
    assert "stablehlo.fft" in lines[0]
    assert lines[-3:] == ["2.0 3.0", "INTERNAL: RuntimeError: out of luck", "2.0 3.0"]


def test_threads_compile_and_execute_at_the_same_time(run_script: Run) -> None:
    script = """
import numpy as np
from concurrent.futures import ThreadPoolExecutor
tt = jax.devices("tt")[0]
def work(number):
    x = jax.device_put(np.full((8, 8), number, np.float32), tt)
    for round in range(10):
        x = jax.jit(lambda x, n=number: x * 1 + n)(x)
        assert float(np.asarray(x)[0, 0]) == number * (round + 2)
    return number
with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(work, range(4))))
"""
    assert _output(run_script(script)) == "[0, 1, 2, 3]\n"


def test_forks_are_refused_by_a_sentence(run_script: Run) -> None:
    script = """
import os, warnings
import numpy as np
warnings.simplefilter("ignore")
tt = jax.devices("tt")[0]
x = jax.device_put(np.ones(4, np.float32), tt) + 1
child = os.fork()
if child == 0:
    try:
        np.asarray(x)
    except jax.errors.JaxRuntimeError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(x, flush=True)
"""
    lines = _output(run_script(script)).splitlines()
    assert "was forked from process" in lines[0]
    assert "spawn" in lines[0]
    assert lines[1] == "[2. 2. 2. 2.]"


def test_exit_with_live_arrays_and_programs(run_script: Run) -> None:
    script = """
import sys, numpy as np
tt = jax.devices("tt")[0]
kept = jax.jit(lambda x: x + 1)
sys.kept = [kept(jax.device_put(np.ones((64, 64), np.float32), tt)), kept]
print(float(sys.kept[0][0, 0]))
"""
    done = run_script(script)
    assert _output(done) == "2.0\n"
    assert done.stderr == ""


def test_rounds_of_compilation_leave_no_memory(run_script: Run) -> None:
    script = """
import gc, resource
import numpy as np
tt = jax.devices("tt")[0]
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
def rounds(count):
    for _ in range(count):
        jax.clear_caches()
        x = jax.device_put(np.ones((32, 32), np.float32), tt)
        y = jax.jit(lambda x: x + 1)(x)
        assert float(np.asarray(y)[0, 0]) == 2
        x.delete(); y.delete()
    gc.collect()
found = []
for count in (100, 1000):
    rounds(count)
    found.append((resident(), tt.memory_stats()["bytes_in_use"]))
(before, used), (after, still) = found
print(after - before < 5 << 20, still - used)
"""
    assert _output(run_script(script)) == "True 0\n"
