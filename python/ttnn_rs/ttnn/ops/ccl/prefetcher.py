"""Weight prefetching near DRAM banks, which raises: it is not modelled.

Source: tt-metal `ttnn/cpp/ttnn/operations/prefetcher`.
"""

from __future__ import annotations

from typing import Final, NoReturn

from ttnn.base.exceptions import UnsupportedError
from ttnn.operation.registry import declare_unsupported

_NAMES: Final = (
    "dram_prefetcher",
    *(
        f"experimental.{name}"
        for name in (
            "create_global_circular_buffer_for_matmul_1d",
            "create_global_circular_buffer_for_tensor_prefetcher",
            "create_prefetcher_pipes_for_tensor_prefetcher",
            "is_tensor_prefetcher_supported",
            "queue_tensor_prefetcher_request",
            "start_tensor_prefetcher",
            "stop_tensor_prefetcher",
            "tensor_prefetcher_block_count_for_matmul_1d",
            "test_dram_prefetcher_consumer",
            "test_dram_prefetcher_validator",
            "test_tensor_prefetcher_pipe_consumer",
            "test_tensor_prefetcher_pipe_validator",
            "wait_for_cq_on_tensor_prefetcher",
        )
    ),
)


def _refuse(name: str) -> NoReturn:
    raise UnsupportedError(
        f"{name}: operators that run beside others and feed them through global circular buffers are not modelled; "
        "leave the prefetcher out and give the product its weights in DRAM.",
        "unimplemented",
    )


for _name in _NAMES:
    declare_unsupported(_name, _refuse)
