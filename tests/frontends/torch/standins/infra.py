"""Stand-in for `infra` and `tests.infra` of tt-xla's tests.

All of their modules are this one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import torch

from ttnn.compiler.frontends.torch import tt
from ttnn.compiler.frontends.torch.compiled import Compiled


class Framework(Enum):
    """Frameworks of tests."""

    JAX = "jax"
    TORCH = "torch"


@dataclass
class _Check:
    enabled: bool = False

    def enable(self) -> None:
        self.enabled = True

    def disable(self) -> None:
        self.enabled = False


@dataclass
class EqualConfig(_Check):
    """Equality of results."""


@dataclass
class AtolConfig(_Check):
    """Largest difference."""

    enabled: bool = True
    required_atol: float = 1.6e-1


@dataclass
class AllcloseConfig(_Check):
    """Largest difference, relative and absolute."""

    enabled: bool = True
    rtol: float = 1e-2
    atol: float = 1e-2


@dataclass
class PccConfig(_Check):
    """Least correlation."""

    enabled: bool = True
    required_pcc: float = 0.99
    allclose: AllcloseConfig = field(default_factory=AllcloseConfig)


@dataclass
class ComparisonConfig:
    """Comparisons, by default of the correlation."""

    equal: EqualConfig = field(default_factory=EqualConfig)
    atol: AtolConfig = field(default_factory=lambda: AtolConfig(False))
    pcc: PccConfig = field(default_factory=PccConfig)
    allclose: AllcloseConfig = field(default_factory=lambda: AllcloseConfig(False))


@dataclass
class CompilerConfig:
    """Options of a compilation."""

    optimization_level: int = 0
    math_fidelity: str | None = None
    fp32_dest_acc_en: bool | None = None

    def options(self) -> dict[str, Any]:
        """Return the options that are set."""
        given = {"math_fidelity": self.math_fidelity, "fp32_dest_acc_en": self.fp32_dest_acc_en}
        return {key: one for key, one in given.items() if one is not None}


class Workload:
    """A function and its arguments."""

    def __init__(self, framework: Framework, executable: Any = None, model: Any = None, args: Any = ()) -> None:
        assert framework is Framework.TORCH
        self.function = model if executable is None else executable
        self.args = list(args)


class OpTester:
    """Compares a function on the device with PyTorch."""

    def __init__(
        self,
        comparison_config: ComparisonConfig | None = None,
        framework: Framework = Framework.TORCH,
        compiler_config: CompilerConfig | None = None,
        custom_comparator: Callable[..., None] | None = None,
    ) -> None:
        assert framework is Framework.TORCH
        self._config = comparison_config or ComparisonConfig()
        self._options = (compiler_config or CompilerConfig()).options()
        self._comparator = custom_comparator

    @torch.no_grad()
    def test(self, workload: Workload, request: Any = None) -> None:
        """Run a workload in PyTorch and on the device."""
        del request
        function, args = workload.function, workload.args
        expected = function(*args)
        programs: list[Compiled] = []
        first = Compiled.__call__

        def counted(self: Compiled, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
            programs.append(self)
            return first(self, *inputs)

        def on_copies(*inputs: torch.Tensor) -> Any:
            # A view of an input needs no program.
            return function(*(one.clone() for one in inputs))

        torch._dynamo.reset()
        Compiled.__call__ = counted  # type: ignore[method-assign]
        try:
            got = torch.compile(on_copies, backend=tt, options=self._options)(*args)
        finally:
            Compiled.__call__ = first  # type: ignore[method-assign]
        assert programs, "no program of the device ran"
        if self._comparator is not None:
            self._comparator(got, expected, args, {})
            return
        found, wanted = (torch.utils._pytree.tree_leaves(one) for one in (got, expected))
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            _compare(one, other, self._config)


def _compare(got: torch.Tensor, expected: torch.Tensor, config: ComparisonConfig) -> None:
    if config.equal.enabled or not expected.dtype.is_floating_point:
        assert torch.equal(got, expected)
    a, b = got.double(), expected.double()
    if config.atol.enabled:
        torch.testing.assert_close(a, b, rtol=0, atol=config.atol.required_atol, equal_nan=True)
    if config.allclose.enabled:
        torch.testing.assert_close(a, b, rtol=config.allclose.rtol, atol=config.allclose.atol, equal_nan=True)
    if config.pcc.enabled:
        assert torch.equal(a.isnan(), b.isnan())
        a, b = a[~a.isnan()], b[~b.isnan()]
        # A correlation does not see a wrong scale, nor equal elements.
        most = max(float(b.abs().max()) if b.numel() else 0.0, 1e-30)
        torch.testing.assert_close(a, b, rtol=5e-2, atol=5e-2 * most)
        if b.numel() > 1 and float(b.std()) > 0:
            assert float(torch.corrcoef(torch.stack([a.flatten(), b.flatten()]))[0, 1]) >= config.pcc.required_pcc


def random_tensor(
    shape: tuple[int, ...], dtype: Any, minval: float = 0.0, maxval: float = 1.0, random_seed: int = 0
) -> torch.Tensor:
    """Return random numbers."""
    kind = getattr(torch, dtype) if isinstance(dtype, str) else dtype
    torch.manual_seed(random_seed)
    if kind.is_floating_point:
        return torch.empty(shape, dtype=kind).uniform_(minval, maxval)
    if kind is torch.bool:
        return torch.randint(0, 2, shape, dtype=kind)
    return torch.randint(int(minval), int(maxval), shape, dtype=kind)


def run_op_test(
    op: Callable[..., Any],
    inputs: Sequence[torch.Tensor],
    comparison_config: ComparisonConfig | None = None,
    framework: Framework = Framework.TORCH,
    compiler_config: CompilerConfig | None = None,
    request: Any = None,
    custom_comparator: Callable[..., None] | None = None,
) -> None:
    """Compare a function on the device with PyTorch."""
    tester = OpTester(comparison_config, framework, compiler_config, custom_comparator)
    tester.test(Workload(framework, model=op, args=inputs), request)


def run_op_test_with_random_inputs(
    op: Callable[..., Any],
    input_shapes: Sequence[tuple[int, ...]],
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: Any = "float32",
    **more: Any,
) -> None:
    """Compare a function of random numbers on the device with PyTorch."""
    run_op_test(op, [random_tensor(shape, dtype, minval, maxval) for shape in input_shapes], **more)


class TorchComparisonEvaluator:
    """A name that tests import and do not use."""


for _name in (
    "infra.evaluators",
    "infra.evaluators.evaluation_config",
    "infra.evaluators.torch_comparison_evaluator",
    "infra.testers",
    "infra.testers.single_chip",
    "infra.testers.single_chip.op",
    "infra.testers.single_chip.op.op_tester",
    "infra.utilities",
    "infra.utilities.types",
    "tests",
    "tests.infra",
    "tests.infra.evaluators",
    "tests.infra.evaluators.evaluation_config",
    "tests.infra.testers",
    "tests.infra.testers.compiler_config",
    "tests.infra.testers.single_chip",
    "tests.infra.testers.single_chip.op",
    "tests.infra.testers.single_chip.op.op_tester",
):
    sys.modules[_name] = sys.modules[__name__]
