"""The header of functions that raise when called.

Kernels name them inside `if constexpr`.
"""

from __future__ import annotations

from functools import lru_cache

from ttnn.kernel_api.unsupported import UNSUPPORTED

_OURS = {
    *("wait_for_sync_register_value", "get_num_threads", "get_my_thread_id", "sync_threads"),
    *("CrossNodeDFB", "PrefetcherPipe"),
    "fabric_socket_notify_sender_stateful",
}
"""Functions that C++ has all the same, and classes."""


@lru_cache(maxsize=1)
def refused_header() -> str:
    """Return the text of the header."""
    lines = [
        "// Generated from ttnn.kernel_api.unsupported.",
        "#pragma once",
        '#include "ttnn_rs/base.h"',
        "namespace ttnn_rs {",
        "// Stands for what a refused function would return.",
        "struct Nothing {",
        "    template <typename T>",
        "    [[noreturn]] operator T() const { __builtin_trap(); }",
        "};",
        "}  // namespace ttnn_rs",
        "namespace ckernel {",
    ]
    for name, reason in UNSUPPORTED.items():
        if name not in _OURS:
            lines += [
                "template <auto... options, typename... Arguments>",
                f"ttnn_rs::Nothing {name}(Arguments&&...) {{",
                f'    ttnn_rs::unsupported("{name}", "{reason}");',
                "}",
            ]
    lines += ["}  // namespace ckernel", "using namespace ckernel;"]
    return "\n".join(lines) + "\n"
