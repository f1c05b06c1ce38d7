"""Model demo measurements: comparison with torch, times, memory.

Times are of the host and predicted for the device.
"""

from __future__ import annotations

import hashlib
import math
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

import ttnn
from ttnn.base.config import CONFIG

ResultT = TypeVar("ResultT")
Advance = Callable[[str], None]
"""Is told what has been done."""


@dataclass(frozen=True)
class Settings:
    """The options of a model's demo.

    Attributes:
        dtype: Name of the data type of weights.
        fidelity: Name of the math fidelity.
        layers: How many layers run; all of them by default.
        profile: Also measure the host time of every operator.
    """

    dtype: str
    fidelity: str
    layers: int
    profile: bool

    @property
    def data_type(self) -> ttnn.DataType:
        """The data type of weights."""
        chosen: ttnn.DataType = getattr(ttnn, self.dtype)
        return chosen

    @property
    def math_fidelity(self) -> ttnn.MathFidelity:
        """The math fidelity."""
        chosen: ttnn.MathFidelity = getattr(ttnn.MathFidelity, self.fidelity)
        return chosen


@dataclass(frozen=True)
class OperatorTime:
    """One operator's time: seconds on the host, predicted nanoseconds on chip."""

    operator: str
    calls: int
    host_seconds: float
    device_nanoseconds: float


@dataclass(frozen=True)
class Timed(Generic[ResultT]):
    """A result, and its cost.

    Attributes:
        result: What was returned.
        seconds: Wall time on this host.
        device_nanoseconds: Predicted time on the chip, gaps between operations not included.
        gap_nanoseconds: Predicted time of those gaps.
        missing: Device operations whose time is not known; the sum leaves them out.
        operators: Time of every operator, if asked for.
    """

    result: ResultT
    seconds: float
    device_nanoseconds: float
    gap_nanoseconds: float
    missing: int
    operators: tuple[OperatorTime, ...] = ()


@dataclass(frozen=True)
class Line:
    """A line of the table.

    Attributes:
        run: What ran: a form of the model, a phase.
        metric: What is measured.
        value: On the device.
        expected: In torch.
        pcc: Correlation with torch; None if the line is about something else.
        seconds: Wall time on this host.
        weight_bytes: Of the model on the device.
        device_nanoseconds: Predicted.
        missing: Device operations that the prediction leaves out.
        items: How many tokens, images, ... went through.
    """

    run: str
    metric: str
    value: float
    expected: float
    pcc: float | None
    seconds: float
    weight_bytes: int
    device_nanoseconds: float
    missing: int
    items: int

    @property
    def rate(self) -> float:
        """Predicted items per second of device time."""
        return self.items / self.device_nanoseconds * 1e9 if self.device_nanoseconds else math.nan


@dataclass
class Outcome:
    """The results of a demo.

    Attributes:
        title: Of the table.
        unit: What an item is, in the plural.
        lines: The table.
        notes: Sentences below it.
        figures: More numbers, for `--json`.
        hashes: SHA-256 of results, by what they are of.
        operators: Time of every operator, by run.
        draw: Draws the picture into a figure of matplotlib.
    """

    title: str
    unit: str
    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    operators: dict[str, tuple[OperatorTime, ...]] = field(default_factory=dict)
    draw: Callable[[Any], None] = lambda figure: None


class _HostTimes:
    """Hooks that add up the wall time of the model's operators."""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self.seconds: dict[str, float] = {}
        self._started = 0.0

    def before(self, operation: Any, args: Any, kwargs: Any) -> None:
        self._started = time.perf_counter()

    def after(self, operation: Any, args: Any, kwargs: Any, output: Any) -> None:
        name = operation.__name__
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - self._started
        self.calls[name] = self.calls.get(name, 0) + 1

    @contextmanager
    def watching(self) -> Iterator[None]:
        # Hooks belong to the slow path, as in the official package.
        with (
            ttnn.manage_config("enable_fast_runtime_mode", False),
            ttnn.register_pre_operation_hook(self.before),
            ttnn.register_post_operation_hook(self.after),
        ):
            yield


def timed(call: Callable[[], ResultT], settings: Settings, *, warm: bool = True) -> Timed[ResultT]:
    """Run a model, and predict its time on a chip.

    Args:
        call: Runs it. A result of the device counts when its values have been read.
        settings: With `profile`, the host time of every operator is measured in the run that is predicted.
        warm: Run it twice, and time the second run; the first one compiles. Without it, one run is both.
    """
    hosts = _HostTimes()
    with ExitStack() as stack:
        session = stack.enter_context(ttnn.profiler.profile())
        if settings.profile:
            stack.enter_context(hosts.watching())
        started = time.perf_counter()
        result = call()
        seconds = time.perf_counter() - started
    if warm:
        started = time.perf_counter()
        result = call()
        seconds = time.perf_counter() - started
    rows = session.rows
    device: dict[str, float] = {}
    for row in rows:
        device[row.record.operator] = device.get(row.record.operator, 0.0) + row.nanoseconds
    operators = [
        OperatorTime(name, count, hosts.seconds[name], device.get(name, 0.0)) for name, count in hosts.calls.items()
    ]
    return Timed(
        result,
        seconds,
        sum(row.nanoseconds for row in rows),
        sum(row.gap for row in rows),
        len(session.missing),
        tuple(sorted(operators, key=lambda entry: -entry.host_seconds)),
    )


def pcc(got: Any, expected: Any) -> float:
    """Return the Pearson correlation of two arrays or tensors of torch."""
    left, right = (np.asarray(values, np.float64).ravel() for values in (got, expected))
    return float(np.corrcoef(left, right)[0, 1])


def centred_pcc(got: Any, expected: Any) -> float:
    """Return the correlation of two centred tensors [N, S, W].

    Each is without its mean over S.

    Outputs of deep networks with random weights are nearly the same at every place, and that alone correlates.
    """
    return pcc(got - got.mean(1, keepdim=True), expected - expected.mean(1, keepdim=True))


def sha256(tensor: ttnn.Tensor) -> str:
    """Return the SHA-256 of the values of a tensor as little-endian float32."""
    values = np.asarray(ttnn.from_device(tensor).to_numpy(), np.float32)
    return hashlib.sha256(values.astype("<f4").tobytes()).hexdigest()


def device_bytes(device: ttnn.MeshDevice) -> int:
    """Return the bytes of DRAM that tensors occupy."""
    view = ttnn.get_memory_view(device, ttnn.BufferType.DRAM)
    return view.total_bytes_allocated_per_bank * view.num_banks


def resident_megabytes() -> float:
    """Return the largest resident set of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def numerics(mode: str) -> Iterator[None]:
    """Run the engine in a numerics mode, and put it back."""
    before = CONFIG.numerics
    CONFIG.numerics = mode
    try:
        yield
    finally:
        CONFIG.numerics = before
