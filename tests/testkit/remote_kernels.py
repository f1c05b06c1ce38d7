"""Kernels that send pages through a circular buffer between cores."""

from __future__ import annotations

from ttnn.kernel_api import *

ROUNDS, RECEIVERS = 5, 2


def feed() -> None:
    """Sender: page rows per receiver. Arguments: address, first row, rows."""
    pages = InterleavedAddrGenFast[True](get_arg_val(0), 2048, 5)
    for row in range(get_arg_val(1), get_arg_val(1) + get_arg_val(2)):
        cb_reserve_back(0, RECEIVERS)
        for part in range(RECEIVERS):
            noc_async_read_tile(row * RECEIVERS + part, pages, get_write_ptr(0) + part * 2048)
        noc_async_read_barrier()
        cb_push_back(0, RECEIVERS)


def forward() -> None:
    """Sender: what `feed` brings, to the receivers. Arguments: rows."""
    for _ in range(get_arg_val(0)):
        cb_wait_front(0, RECEIVERS)
        remote_cb_reserve_back(31, 1)
        remote_cb_push_back_and_write_pages(31, get_read_ptr(0), 1, 1, 1, 2048)
        noc_async_write_barrier()
        cb_pop_front(0, RECEIVERS)
    noc_async_atomic_barrier()
    remote_cb_sender_barrier(31)
    update_remote_cb_config_in_l1(31)


def keep() -> None:
    """Receiver: arriving pages to a buffer.

    Arguments: address, first row, rows, L1 address, pages there.
    """
    pages = InterleavedAddrGenFast[True](get_arg_val(0), 2048, 5)
    for row in range(get_arg_val(1), get_arg_val(1) + get_arg_val(2)):
        remote_cb_wait_front(31, 1)
        place = get_arg_val(3) + row % get_arg_val(4) * 2048
        noc_async_write_tile(row * RECEIVERS + get_relative_logical_x(), pages, place)
        noc_async_write_barrier()
        remote_cb_pop_front(31, 1)
        noc_async_atomic_barrier()
    update_remote_cb_config_in_l1(31)
