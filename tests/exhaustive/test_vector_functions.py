"""SFPU functions: equal bits at every CPU level and Dst width."""

from __future__ import annotations

import numpy as np
import pytest

from ttnn import _engine
from ttnn.cli.goldens.registers import Words
from ttnn.cli.goldens.sfpu import every_bf16
from ttnn.cli.sweep import inputs

CHIPS = {"wormhole": 0, "blackhole": 1}
FUNCTIONS = [(chip, *function) for chip, number in CHIPS.items() for function in _engine.sfpu_functions(number)]
PARAMETERS = (0.7, 1.3, 2.5, 3.5)
"""Any values that are not those of the vectors."""


def run(
    arch: int, operands: int, name: str, variant: str, parameters: list[int], words: list[Words], wide: bool
) -> Words:
    if operands == 1:
        return _engine.sfpu(name, variant, words[0], wide, parameters, arch)
    if operands == 2:
        return _engine.sfpu_binary(name, words[0], words[1], wide, variant, parameters, arch)
    return _engine.sfpu_ternary(name, (words[0], words[1], words[2]), wide, variant, parameters, arch)


def operands_of(count: int, wide: bool) -> list[Words]:
    if count == 1:
        every = every_bf16()
        return [np.concatenate([every, inputs.stratified_float32()]) if wide else every]
    return inputs.operands(count, "float32" if wide else "bfloat16")


@pytest.mark.parametrize("wide", [False, True], ids=["dst16", "dst32"])
@pytest.mark.parametrize(("chip", "operands", "name", "variant", "names"), FUNCTIONS, ids=lambda value: str(value))
def test_levels_agree(
    chip: str, operands: int, name: str, variant: str, names: list[str], wide: bool, cpu_level: None
) -> None:
    parameters = np.array(PARAMETERS[: len(names)], np.float32).view(np.uint32).tolist()
    words = operands_of(operands, wide)
    results = []
    for level in _engine.cpu_levels():
        _engine.set_cpu_level(level)
        results.append(run(CHIPS[chip], operands, name, variant, parameters, words, wide))
    for level, result in zip(_engine.cpu_levels(), results, strict=True):
        different = np.flatnonzero(result != results[0])
        assert not different.size, (
            f"{level}: {different.size} results differ, first for {[hex(w[different[0]]) for w in words]}"
        )
