"""Answers about calls are what the calls then do; nothing runs."""

from __future__ import annotations

import resource
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

import ttnn
from testkit.asked_calls import BF16, DRAM, L1, Question, Spec, T, asked, compared, differences, made, questions
from testkit.every_place import Case, Slot, calls_of, combinations
from testkit.reference_calls import callable_of
from ttnn import graph
from ttnn.base.observers import OBSERVERS
from ttnn.operation import registry

OK, ERROR = graph.ExecutionStatus.Success, graph.ExecutionStatus.Error


def spec(*shape: int, config: ttnn.MemoryConfig = DRAM) -> Spec:
    return Spec.of(shape, BF16, T, config)


@pytest.mark.parametrize("seed", range(4))
def test_answers_are_what_random_calls_do(seed: int, device: ttnn.MeshDevice) -> None:
    seen = 0
    for question in questions(1000 + seed, 60):
        assert differences(question, device) == [], str(question)
        seen += asked(question, device)[0].status is OK
    assert 40 <= seen < 60  # some calls are refused


def _cases() -> list[object]:
    first: dict[str, object] = {}
    for entry, dtype, layout in combinations():
        first.setdefault(entry.name, pytest.param(entry, dtype, layout, id=entry.name))
    return list(first.values())


def _known(entry: registry.Op, name: str, value: Any) -> Any:
    return ttnn.from_device(value) if name in entry.timed_by and isinstance(value, ttnn.Tensor) else value


@pytest.mark.parametrize(("entry", "dtype", "layout"), _cases())
def test_every_operator_answers_what_its_call_does(
    entry: registry.Op, dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    for shape in ((33, 65), (2, 3, 5, 31), (1, 1, 64, 128)):
        for call in islice(calls_of(Case(entry, dtype, layout, shape), device), 1):
            args = [value.build(DRAM) if isinstance(value, Slot) else value for value in call.positional]
            kwargs = {name: value.build(DRAM) if isinstance(value, Slot) else value for name, value in call.keywords}
            operation = callable_of(entry)
            # Elements that decide the time are those of a host tensor.
            names = [param.name for param in entry.signatures[0].positional]
            of_question = [_known(entry, name, value) for name, value in zip(names, args, strict=False)]
            of_question += args[len(of_question) :]
            by_name = {name: _known(entry, name, value) for name, value in kwargs.items()}
            before = device.engine.state_hash()
            answers = [
                query(operation, device, *of_question, **by_name)
                for query in (graph.query_op_constraints, graph.query_op_runtime)
            ]
            assert device.engine.state_hash() == before
            assert device.twin().engine.buffers() == []
            assert OBSERVERS == []
            found = compared((answers[0], answers[1]), operation, tuple(args), kwargs, device)
            assert found == [], f"{entry.name} of {shape}"


def test_wrong_answers_are_noticed(device: ttnn.MeshDevice) -> None:
    question = Question("add", ttnn.add, (spec(64, 64, config=L1), spec(64, 64)), {"memory_config": L1})
    constraints, runtime = asked(question, device)
    usage = constraints.resource_usage
    wrong = [
        (replace(constraints, status=ERROR), runtime),
        (replace(constraints, output_tensor_specs=(spec(64, 64),)), runtime),
        (
            replace(constraints, resource_usage=replace(usage, cb_peak_size_per_core=usage.cb_peak_size_per_core + 1)),
            runtime,
        ),
        (replace(constraints, resource_usage=replace(usage, l1_buffers_peak_per_core=0)), runtime),
        (constraints, replace(runtime, runtime=runtime.runtime + 1)),
        (constraints, replace(runtime, device_operations=())),
    ]
    args, kwargs = made(question, device)
    assert compared((constraints, runtime), ttnn.add, args, kwargs, device) == []
    for answers in wrong:
        assert compared(answers, ttnn.add, args, kwargs, device) != []


def test_a_question_has_one_answer(device: ttnn.MeshDevice) -> None:
    a, b = spec(64, 96), spec(96, 128)
    answer = graph.query_op_constraints(ttnn.matmul, device, a, b)
    assert graph.query_op_constraints(ttnn.matmul, device, spec(64, 96), b) is answer
    assert graph.query_op_constraints(ttnn.matmul, device, a, b, memory_config=L1) is not answer
    assert graph.query_op_constraints(ttnn.matmul, device, spec(64, 96, config=L1), b) is not answer
    assert graph.query_op_constraints(ttnn.matmul, device, a, b, transpose_a=False) is not answer
    assert graph.query_op_runtime(ttnn.matmul, device, a, b) is graph.query_op_runtime(ttnn.matmul, device, a, b)
    shared = graph.query_op_constraints(ttnn.multiply, device, a, a)
    assert shared.output_tensor_spec == a
    assert shared.resource_usage.l1_output_buffer_per_core == 0


def test_a_function_of_several_operators_is_one_question(device: ttnn.MeshDevice) -> None:
    def both(x: ttnn.Tensor) -> ttnn.Tensor:
        return ttnn.relu(ttnn.add(x, 1.0, memory_config=L1))

    runtime = graph.query_op_runtime(both, device, spec(64, 64))
    assert [name for name, _ in runtime.device_operations] == ["BinaryNgDeviceOperation", "UnaryDeviceOperation"]
    usage = graph.query_op_constraints(both, device, spec(64, 64)).resource_usage
    assert usage.l1_buffers_peak_per_core == 2 * 2048
    assert usage.l1_output_buffer_per_core == 2048


def test_nothing_is_touched(device: ttnn.MeshDevice) -> None:
    graph.query_op_constraints(ttnn.add, device, spec(32, 32), spec(32, 32))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    large = spec(1, 1, 32768, 32768)
    answer = graph.query_op_constraints(ttnn.add, device, large, large)
    assert answer.status is OK
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 * 1024  # KiB; the operands have 4 GiB
    assert device.engine.allocated_bytes() == 0
    assert device.num_program_cache_entries() == 0
    full = graph.query_op_constraints(ttnn.add, device, *[spec(1, 1, 65536, 65536)] * 2)
    assert full.status is ERROR
    assert "DRAM" in str(full.error_message)


def test_observers_do_not_see_questions(device: ttnn.MeshDevice) -> None:
    with ttnn.profiler.profile() as profile:
        graph.begin_graph_capture()
        graph.query_op_runtime(ttnn.exp, device, spec(32, 32))
        nodes = graph.end_graph_capture()
    assert profile.rows == []
    assert graph.extract_calltrace(nodes) == []


def _records(device: ttnn.MeshDevice, *tensors: ttnn.Tensor) -> list[graph.AllocationRecord]:
    """Return the records of a device; of given tensors as operands."""
    operands = {tensor.buffer.unique_id: number for number, tensor in enumerate(tensors)}
    return [
        graph.AllocationRecord(
            ttnn.BufferType(b["buffer_type"]), b["address"], b["bytes_per_bank"], operands.get(b["unique_id"])
        )
        for b in device.engine.buffers()
    ]


def test_the_initial_state_decides_what_fits_and_where(device: ttnn.MeshDevice) -> None:
    full = ttnn.empty([1, 1, 64 * 32, 32 * 600], BF16, T, device, L1)
    gap = ttnn.empty([32, 32], BF16, T, device, L1)
    a = ttnn.ones([64, 64], BF16, T, device, L1)
    b = ttnn.ones([64, 64], BF16, T, device, DRAM)
    gap.deallocate()
    small = graph.query_op_constraints(ttnn.add, device, a, b, initial_state=_records(device, a, b), memory_config=L1)
    result = ttnn.add(a, b, memory_config=L1)
    (record,) = small.output_records
    assert (record.address, record.size_per_bank) == (result.buffer_address(), 2048)
    large = spec(1, 1, 64 * 32, 32 * 80)
    assert graph.query_op_constraints(ttnn.exp, device, large, memory_config=L1).status is OK
    refused = graph.query_op_constraints(ttnn.exp, device, large, initial_state=_records(device), memory_config=L1)
    assert refused.status is ERROR
    real = ttnn.ones(large.shape, BF16, T, device, DRAM)
    with pytest.raises(ttnn.OutOfMemoryError) as raised:
        ttnn.exp(real, memory_config=L1)
    assert str(raised.value) == refused.error_message
    full.deallocate()


def test_impossible_questions_are_refused(device: ttnn.MeshDevice) -> None:
    a = spec(32, 32)
    record = graph.AllocationRecord(ttnn.BufferType.L1, 1024 * 1024, 2048)
    for state, words in (
        ([record, record], "overlaps"),
        ([replace(record, address=record.address + 1)], "cannot be allocated"),
        ([replace(record, operand=1)], "operand 1; the call has 1"),
    ):
        with pytest.raises(ttnn.ArgumentError, match=words):
            graph.query_op_constraints(ttnn.exp, device, a, initial_state=state)
    with pytest.raises(ttnn.ArgumentError, match=r"expected a ttnn\.MeshDevice, got int"):
        graph.query_op_runtime(ttnn.exp, 0, a)  # type: ignore[arg-type]
    with ttnn.manage_device(device_id=1) as other:
        foreign = ttnn.ones([32, 32], BF16, T, other)
        with pytest.raises(ttnn.ArgumentError, match="another device"):
            graph.query_op_runtime(ttnn.exp, device, foreign)
        with pytest.raises(ttnn.ArgumentError, match="another device"):
            graph.query_op_runtime(ttnn.ones, device, [32, 32], device=other)
    assert graph.query_op_runtime(ttnn.exp, device, a).status is OK
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(3, 3))])
    manager = device.create_sub_device_manager([ttnn.SubDevice([cores])], 0)
    device.load_sub_device_manager(manager)
    with pytest.raises(ttnn.UnsupportedError, match="sub-devices"):
        graph.query_op_runtime(ttnn.neg, device, a)
    device.clear_loaded_sub_device_manager()
    twin = device.twin()
    device.close()
    assert not twin.is_open
    with pytest.raises(ttnn.DeviceError, match="closed"):
        graph.query_op_runtime(ttnn.exp, device, a)


def test_elements_that_decide_the_time_are_of_a_host_tensor(device: ttnn.MeshDevice) -> None:
    op = ttnn.transformer.scaled_dot_product_attention_decode
    q, k = spec(1, 2, 32, 64), spec(2, 1, 1024, 64)
    times = []
    for position in (31, 1000):
        host = ttnn.from_device(ttnn.full([2], position, ttnn.int32, ttnn.ROW_MAJOR_LAYOUT, device))
        question = Question("decode", op, (q, k, k), {"cur_pos_tensor": host})
        answers = asked(question, device)
        args, kwargs = made(question, device)
        assert compared(answers, op, args, kwargs | {"cur_pos_tensor": ttnn.to_device(host, device)}, device) == []
        times.append(answers[1].runtime)
    assert 0 < times[0] < times[1]
    with pytest.raises(ttnn.UnsupportedError, match="elements of cur_pos_tensor decide"):
        graph.query_op_runtime(
            op, device, q, k, k, cur_pos_tensor=Spec.of([2], ttnn.int32, ttnn.ROW_MAJOR_LAYOUT, DRAM)
        )


def test_a_refused_call_says_what_the_call_says(device: ttnn.MeshDevice) -> None:
    arguments: tuple[Any, ...] = (spec(64, 96), spec(64, 96))
    constraints = graph.query_op_constraints(ttnn.matmul, device, *arguments)
    runtime = graph.query_op_runtime(ttnn.matmul, device, *arguments)
    with pytest.raises(ttnn.ShapeError) as raised:
        ttnn.matmul(*(ttnn.ones(part.shape, BF16, T, device) for part in arguments))
    assert constraints.error_message == runtime.error_message == str(raised.value)
    assert constraints.status is runtime.status is ERROR
    assert constraints.output_tensor_spec is None
    assert runtime.runtime == 0


def test_answers_follow_the_chip(any_device: ttnn.MeshDevice) -> None:
    for question in questions(77, 20):
        assert differences(question, any_device) == [], str(question)
