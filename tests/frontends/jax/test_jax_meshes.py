"""Programs of jax that are divided among several devices."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]

_START = """
import numpy as np, jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
tt, cpu = jax.devices("tt"), jax.devices("cpu")[0]
n = len(tt)
row = Mesh(np.array(tt), ("x",))
def array(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
def put(value, *spec, mesh=row):
    return jax.device_put(value, NamedSharding(mesh, P(*spec)))
def same(function, values, specs, atol=5e-3, mesh=row, **options):
    got = jax.tree.leaves(jax.jit(function, **options)(*(put(v, *s, mesh=mesh) for v, s in zip(values, specs))))
    with jax.default_device(cpu):
        expected = jax.tree.leaves(jax.jit(function)(*values))
    for one, other in zip(got, expected, strict=True):
        assert len(one.sharding.device_set) == n
        one, other = np.asarray(one), np.asarray(other)
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=0, atol=atol * max(1e-30, np.abs(other).max()))
    return [one.sharding.spec for one in got]
"""


def _output(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("devices", [2, 4])
def test_shardings_of_arguments_are_propagated(run_script: Run, devices: int) -> None:
    script = """
def layer(w, x, y):
    h = jax.nn.relu(x @ w)
    return (
        h, jnp.sum(h), jax.nn.softmax(h), y @ h.T, h[1:3, :n], jnp.concatenate([h, h], 1), h.reshape(3, -1),
        jnp.sort(h, 1), h.reshape(2, 2, -1), jnp.max(h, 1), jnp.argmax(h, 1), jnp.cumsum(h, 1), h.at[1].set(3.0),
        h.T[::-1], jnp.pad(h, ((1, 0), (0, 0))), jnp.arange(6 * n) * jnp.ones(6 * n, np.int32), h[:, ::-1],
    )
values = array(8, 6 * n), array(4, 8, seed=1), array(4, 6 * n, seed=2)
print(same(layer, values, [(None, "x"), (), (None, "x")])[:4] == [P(None, "x"), P(), P(None, "x"), P()])
"""
    assert _output(run_script(_START + script, TTNN_JAX_DEVICES=str(devices))) == "True\n"


def test_training_steps_with_divided_data_and_weights(run_script: Run) -> None:
    script = """
def loss(w, v, x):
    return jnp.mean((jax.nn.gelu(x @ w) @ v) ** 2)
step = jax.value_and_grad(loss, (0, 1))
values = array(8, 8), array(8, 4, seed=1), array(8, 8, seed=2)
same(step, values, [(), (), ("x",)], atol=2e-2)
same(step, values, [(None, "x"), ("x",), ()], atol=2e-2)
grid = Mesh(np.array(tt).reshape(2, 2), ("a", "b"))
same(step, values, [(None, "b"), ("b",), ("a",)], atol=2e-2, mesh=grid)
same(lambda x: (x + 1, x.T @ x), (array(8, 8),), [(("a", "b"),)], mesh=grid)
print("done")
"""
    assert _output(run_script(_START + script, TTNN_JAX_DEVICES="4")) == "done\n"


def test_collectives_of_manual_programs(run_script: Run) -> None:
    script = """
from jax import lax
x = array(n * n, 3)
parts = x.reshape(n, n, 3)
def program(x):
    ring = [(i, (i + 1) % n) for i in range(n)]
    return (
        lax.psum(x, "x"), lax.pmax(x, "x"), lax.all_gather(x, "x"), lax.ppermute(x, "x", ring),
        lax.psum_scatter(x, "x", tiled=True), lax.axis_index("x")[None] * 7, lax.psum(x.astype(jnp.int32), "x"),
    )
specs = P(), P(), P("x"), P("x"), P("x"), P("x"), P()
run = jax.jit(jax.shard_map(program, mesh=row, in_specs=P("x"), out_specs=specs, check_vma=False))
total, most, every, moved, scattered, index, whole = (np.asarray(one) for one in run(x))
near = dict(rtol=0, atol=1e-2)
np.testing.assert_allclose(total, parts.sum(0), **near)
np.testing.assert_array_equal(most, parts.max(0))
np.testing.assert_array_equal(every.reshape(n, n, n, 3), np.broadcast_to(parts, (n, n, n, 3)))
np.testing.assert_array_equal(moved.reshape(n, n, 3), np.roll(parts, 1, 0))
np.testing.assert_allclose(scattered, parts.sum(0), **near)
np.testing.assert_array_equal(index, 7 * np.arange(n))
np.testing.assert_array_equal(whole, parts.astype(np.int32).sum(0))
each = jax.pmap(lambda x: x + lax.psum(2 * x, "i"), axis_name="i", devices=tt)(x[:n])
np.testing.assert_allclose(np.asarray(each), x[:n] + 2 * x[:n].sum(0), **near)
print("done")
"""
    assert _output(run_script(_START + script, TTNN_JAX_DEVICES="2")) == "done\n"


def test_results_stay_divided_on_the_devices(run_script: Run) -> None:
    script = """
step = jax.jit(lambda state, x: state + x, donate_argnums=0)
first = put(np.ones((4 * n, 4), np.float32), "x")
second = step(first, 1.0)
third = step(second, 2.0)
print(first.is_deleted(), second.is_deleted(), np.unique(third), third.sharding.spec == P("x"))
print(np.unique(np.asarray(jax.jit(lambda x: x * 2)(third.addressable_shards[1].data))))
compiled = step.lower(third, 1.0).compile()
text = compiled.as_text()
print("4x4" in text or "4,4" in text)
both = jax.jit(jnp.tanh, out_shardings=NamedSharding(row, P(None, "x")))(third)
print([part.data.shape for part in both.addressable_shards])
"""
    lines = _output(run_script(_START + script, TTNN_JAX_DEVICES="2")).splitlines()
    assert lines == ["True True [4.] True", "[8.]", "True", "[(8, 2), (8, 2)]"]


def test_meshes_that_are_not_supported_are_refused(run_script: Run) -> None:
    script = """
cube = Mesh(np.array(tt).reshape(2, 2, 2), ("a", "b", "c"))
try:
    jax.jit(jnp.tanh)(put(array(8, 8), "a", "b", mesh=cube))
except jax.errors.JaxRuntimeError as error:
    print(error)
print(float(jax.jit(lambda x: x + 1)(put(np.ones(8, np.float32), "x"))[0]))
"""
    lines = _output(run_script(_START + script, TTNN_JAX_DEVICES="8")).splitlines()
    assert lines[0] == "UNIMPLEMENTED: a mesh of 2x2x2 devices has 3 axes; at most 2 are supported."
    assert lines[1] == "2.0"
