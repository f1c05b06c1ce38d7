"""Programs without watcher: results defined on a card run.

The rest still raises an error.

The table in docs/host-api.md lists the rules; each row has its program here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import ttnn
from ttnn import metal
from ttnn.base.exceptions import (
    AddressError,
    CircularBufferError,
    DeadlockError,
    KernelArgumentError,
    KernelAssertError,
    KernelError,
    RaceError,
)
from ttnn.kernel_api import (
    ASSERT,
    cb_pages_available_at_front,
    cb_pages_reservable_at_back,
    cb_pop_front,
    cb_push_back,
    cb_reserve_back,
    cb_wait_front,
    get_arg_val,
    get_noc_addr,
    get_read_ptr,
    get_semaphore,
    get_tile_size,
    get_write_ptr,
    noc_async_read,
    noc_async_read_barrier,
    noc_semaphore_wait,
    tt_l1_ptr,
)

PAGE, PAGES = 64, 4
Body = Callable[[], None]
SEEN: list[object] = []


@pytest.fixture
def unwatched() -> Iterator[ttnn.MeshDevice]:
    before = ttnn.CONFIG.watcher
    ttnn.CONFIG.watcher = False
    device = ttnn.open_device(device_id=0)
    ttnn.CONFIG.watcher = before
    SEEN.clear()
    yield device
    ttnn.close_device(device)


def run(device: ttnn.MeshDevice, reader: Body, writer: Body | None = None) -> metal.Report:
    program = metal.create_program()
    core = ttnn.CoreCoord(0, 0)
    config = metal.CircularBufferConfig(PAGE * PAGES, {0: ttnn.uint32}).set_page_size(0, PAGE)
    metal.create_circular_buffer(program, core, config)
    metal.create_semaphore(program, core, 0)
    first = metal.create_kernel(program, reader, core, metal.ReaderDataMovementConfig())
    metal.set_runtime_args(program, first, core, [7])
    if writer is not None:
        metal.create_kernel(program, writer, core, metal.WriterDataMovementConfig())
    return metal.run_program(device, program)


def nothing() -> None:
    pass


def write(offset: int, value: int) -> None:
    tt_l1_ptr(get_write_ptr(0) + offset)[0] = value


def push_without_reserve() -> None:
    write(0, 5)
    cb_push_back(0, 1)


def pop_without_wait() -> None:
    cb_pop_front(0, 1)


def push_past_the_end() -> None:
    cb_reserve_back(0, 3)
    cb_push_back(0, 3)
    cb_push_back(0, 2)


def more_pages_than_there_are() -> None:
    cb_push_back(0, PAGES + 1)


def write_outside_reserved() -> None:
    cb_reserve_back(0, 1)
    cb_push_back(0, 1)
    write(PAGE, 5)


def unconfigured() -> None:
    cb_push_back(9, 2)
    cb_wait_front(9, 2)
    cb_pop_front(9, 1)
    SEEN.append((cb_pages_available_at_front(9, 1), cb_pages_available_at_front(9, 2)))


def unwritten_page() -> None:
    cb_reserve_back(0, 1)
    tt_l1_ptr(get_write_ptr(0))[0]
    cb_push_back(0, 1)


def written_page_without_push() -> None:
    cb_reserve_back(0, 1)
    cb_push_back(0, 1)
    cb_reserve_back(0, 1)
    tt_l1_ptr(get_write_ptr(0))[0] = 1


def memory_of_nobody() -> None:
    tt_l1_ptr(900_000)[0] = 1


def failed_assertion() -> None:
    ASSERT(get_arg_val(0) == 8)


def producer() -> None:
    cb_reserve_back(0, 1)
    cb_push_back(0, 1)


def no_barrier() -> None:
    cb_reserve_back(0, 1)
    tt_l1_ptr(get_write_ptr(0)).write([1] * 8)
    noc_async_read(get_noc_addr(get_write_ptr(0)), get_write_ptr(0) + 32, 32)
    cb_push_back(0, 1)


# Rows of the table: name, kernels, the error with the watcher.
RUNS: dict[str, tuple[Body, Body | None, type[KernelError]]] = {
    "push without reserve": (push_without_reserve, None, CircularBufferError),
    "pop without wait": (pop_without_wait, None, CircularBufferError),
    "push or pop past the end": (push_past_the_end, None, CircularBufferError),
    "more pages than the buffer has": (more_pages_than_there_are, None, CircularBufferError),
    "bytes outside the reserved or waited pages": (write_outside_reserved, None, CircularBufferError),
    "push, pop or wait on a buffer that is not configured": (unconfigured, None, CircularBufferError),
    "two producers or consumers": (producer, producer, CircularBufferError),
    "bytes never written": (unwritten_page, None, AddressError),
    "pages written and never pushed": (written_page_without_push, None, CircularBufferError),
    "L1 or DRAM outside a buffer": (memory_of_nobody, None, AddressError),
    "missing barrier": (no_barrier, None, RaceError),
    "ASSERT": (failed_assertion, None, KernelAssertError),
}


def waits_for_ever() -> None:
    cb_wait_front(0, 1)


def reserves_too_much() -> None:
    cb_reserve_back(0, PAGES + 1)


def no_core() -> None:
    noc_async_read(get_noc_addr(63, 63, 0), get_write_ptr(0), 32)


def outside_l1() -> None:
    tt_l1_ptr(2**21)[0] = 1


def firmware() -> None:
    tt_l1_ptr(0)[0] = 1


def no_bytes() -> None:
    noc_async_read(get_noc_addr(get_write_ptr(0)), get_write_ptr(0), 0)
    noc_async_read_barrier()


def pointer_of_unconfigured() -> None:
    get_write_ptr(9)


def tile_of_unconfigured() -> None:
    get_tile_size(9)


def unknown_semaphore() -> None:
    get_semaphore(5)


def missing_argument() -> None:
    get_arg_val(3)


def waits_for_a_semaphore() -> None:
    noc_semaphore_wait(get_semaphore(0), 1)


REFUSED: dict[str, tuple[Body, type[KernelError]]] = {
    "wait that never ends": (waits_for_ever, DeadlockError),
    "reserve that can never succeed": (reserves_too_much, DeadlockError),
    "coordinates without a core": (no_core, AddressError),
    "address outside L1 or the bank": (outside_l1, AddressError),
    "firmware memory": (firmware, AddressError),
    "transfer of 0 B": (no_bytes, AddressError),
    "pointers of a buffer that is not configured": (pointer_of_unconfigured, CircularBufferError),
    "tiles of a buffer that is not configured": (tile_of_unconfigured, CircularBufferError),
    "semaphore that does not exist": (unknown_semaphore, AddressError),
    "missing argument": (missing_argument, KernelArgumentError),
}


@pytest.mark.parametrize("row", RUNS)
def test_unwatched_programs_with_a_defined_result_run(unwatched: ttnn.MeshDevice, row: str) -> None:
    reader, writer, _ = RUNS[row]
    kernels = run(unwatched, reader, writer).kernels
    assert len(kernels) == (1 if writer is None else 2)


@pytest.mark.parametrize("row", RUNS)
def test_watched_programs_with_mistakes_raise(device: ttnn.MeshDevice, row: str) -> None:
    reader, writer, error = RUNS[row]
    with pytest.raises(error):
        run(device, reader, writer)
    device.reset()


@pytest.mark.parametrize("row", REFUSED)
def test_unwatched_programs_without_a_defined_result_raise(unwatched: ttnn.MeshDevice, row: str) -> None:
    kernel, error = REFUSED[row]
    with pytest.raises(error):
        run(unwatched, kernel)
    unwatched.reset()
    run(unwatched, nothing)


def test_docs_table_lists_every_unwatched_rule() -> None:
    page = (Path(__file__).parents[2] / "docs" / "host-api.md").read_text()
    section = page[page.index("### Without the watcher") :]
    rows = re.findall(r"^\| ([^|]+?) \| (runs|error)", section, re.MULTILINE)
    assert dict(rows) == dict.fromkeys(RUNS, "runs") | dict.fromkeys(REFUSED, "error")


def test_pages_arrive_though_nobody_reserved_or_waited(unwatched: ttnn.MeshDevice) -> None:
    def reader() -> None:
        for value in range(10):
            while not cb_pages_reservable_at_back(0, 1):
                pass
            write(0, value)
            cb_push_back(0, 1)

    def writer() -> None:
        for _ in range(10):
            while not cb_pages_available_at_front(0, 1):
                pass
            SEEN.append(int(tt_l1_ptr(get_read_ptr(0))[0]))
            cb_pop_front(0, 1)

    run(unwatched, reader, writer)
    assert list(range(10)) == SEEN


def test_pointers_move_by_pages_and_wrap_at_the_end_only(unwatched: ttnn.MeshDevice) -> None:
    def reader() -> None:
        start = get_write_ptr(0)
        for pages in (3, 1, 4, 2, 3):
            cb_push_back(0, pages)
            SEEN.append((get_write_ptr(0) - start) // PAGE)
        # The reads of this kernel have a pointer of their own.
        SEEN.append(get_read_ptr(0) - start)
        cb_pop_front(0, 2)
        SEEN.append((get_read_ptr(0) - start) // PAGE)

    run(unwatched, reader)
    assert SEEN == [3, 0, 0, 2, 5, 0, 2]


def test_circular_buffer_counters_wrap_at_16_bits(unwatched: ttnn.MeshDevice) -> None:
    def reader() -> None:
        cb_pop_front(0, 1)
        # 0 pages received minus 1 acknowledged.
        SEEN.extend([cb_pages_available_at_front(0, 65_535), cb_pages_reservable_at_back(0, 5)])
        cb_push_back(0, 1)
        SEEN.extend([cb_pages_available_at_front(0, 1), cb_pages_reservable_at_back(0, PAGES)])

    run(unwatched, reader)
    assert SEEN == [True, True, False, True]


@pytest.mark.parametrize("seed", range(8))
def test_unwatched_correct_programs_match_watched_ones(unwatched: ttnn.MeshDevice, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = [int(n) for n in rng.choice([1, 2, 4], 12)]
    counts += [1] * (-sum(counts) % PAGES)

    def fits(position: int, count: int) -> bool:
        return position % PAGES + count <= PAGES

    position, chosen = 0, []
    for count in counts:
        if fits(position, count):
            chosen.append(count)
            position += count

    def reader() -> None:
        value = 0
        for count in chosen:
            cb_reserve_back(0, count)
            for page in range(count):
                write(page * PAGE, value)
                value += 1
            cb_push_back(0, count)

    def writer() -> None:
        for count in chosen:
            cb_wait_front(0, count)
            SEEN.extend(int(tt_l1_ptr(get_read_ptr(0) + page * PAGE)[0]) for page in range(count))
            cb_pop_front(0, count)

    run(unwatched, reader, writer)
    assert list(range(sum(chosen))) == SEEN
