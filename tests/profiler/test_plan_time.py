"""Time of plans: meeting kernels, and core-shared bounds.

Kernels meet at circular buffers and semaphores.
"""

import pytest

from ttnn import _engine

WORMHOLE, BLACKHOLE = 0, 1


def time(reader=(), compute=(), writer=(), *, pages=(2, 2), cores=1, arch=BLACKHOLE, groups=None):
    groups = groups or [(cores, reader, compute, writer)]
    return _engine.time_plan((arch, 8, 64, list(pages), groups))


def loop(count, *steps):
    return ("loop", count, steps)


READ = (("reserve", 0, 1), ("read", "dram", 1, 2048, 1, 100), ("push", 0, 1))
ADD = (("await", 0, 1), ("reserve", 1, 1), ("tiles", ("copy", 2048), 1), ("tiles", ("pack", 2048, False), 1))
DONE = (("push", 1, 1), ("pop", 0, 1))
WRITE = (("await", 1, 1), ("write", "dram", 1, 2048, 0, 100), ("pop", 1, 1))


def test_time_grows_by_the_slowest_kernel():
    short, long = (
        time((loop(n, *READ),), (loop(n, *ADD, *DONE),), (loop(n, *WRITE), ("barrier",)))["cycles"] for n in (10, 110)
    )
    # A page's round trip with its barrier: about 560 cycles.
    assert 500 < (long - short) / 100 < 650


def test_kernels_wait_for_pages_and_for_room():
    slow_writer = (loop(20, ("await", 1, 1), ("instructions", 5000), ("pop", 1, 1)),)
    result = time((loop(20, *READ),), (loop(20, *ADD, *DONE),), slow_writer)
    _, ends, _busy = result["groups"][0]
    assert result["cycles"] > 20 * 5000
    # Two pages in each circular buffer, two tiles in SrcA and two in Dst: the reader is at most eight pages ahead.
    assert ends[0] > 12 * 5000


def test_a_kernel_that_waits_for_nobody_is_an_error():
    with pytest.raises(ValueError, match="the plan deadlocks: group 0 waits for pages"):
        time((), (), (("await", 0, 1),))


def test_semaphores_join_groups():
    sender = (("instructions", 10_000), ("signal", 0))
    receiver = (("wait", 0),)
    result = time(groups=[(1, sender, (), ()), (7, receiver, (), ())])
    assert all(ends[0] > 10_000 for _, ends, _ in result["groups"])


def test_many_cores_are_bound_by_dram():
    one = time((loop(100, *READ),), (), (loop(100, ("await", 0, 1), ("pop", 0, 1)),), cores=1)
    many = time((loop(100, *READ),), (), (loop(100, ("await", 0, 1), ("pop", 0, 1)),), cores=130)
    assert one["bound"] == "reader"
    assert many["bound"] == "DRAM"
    assert many["cycles"] > 1.3 * one["cycles"]
    assert many["dram_read_bytes"] == 130 * 100 * 2048


def test_an_unknown_function_is_an_error():
    with pytest.raises(ValueError, match="no cycles are known for the SFPU function nonsense"):
        time((), (("tiles", ("sfpu", "nonsense", False, False), 1),), ())


def test_an_unknown_step_is_an_error():
    with pytest.raises(TypeError, match='a plan has no step "nonsense"'):
        time((("nonsense", 1),), (), ())


def test_a_circular_buffer_that_is_missing_is_an_error():
    with pytest.raises(ValueError, match="the plan has no circular buffer 7"):
        time((("push", 7, 1),), (), ())
