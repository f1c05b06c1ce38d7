// Circular buffers between cores: kernels in Python have them, kernels in C++ do not yet.
#pragma once

#include "ttnn_rs/cb.h"
#include "ttnn_rs/refused.h"

#define TTNN_RS_REMOTE(name)                                                                              \
    template <auto... options, typename... Arguments>                                                     \
    ttnn_rs::Nothing name(Arguments&&...) {                                                               \
        ttnn_rs::unsupported(#name, "circular buffers between cores are for Python kernels so far");      \
    }

namespace experimental {
TTNN_RS_REMOTE(align_local_cbs_to_remote_cb)
TTNN_RS_REMOTE(remote_cb_pop_front)
TTNN_RS_REMOTE(remote_cb_push_back_and_write_pages)
TTNN_RS_REMOTE(remote_cb_reserve_back)
TTNN_RS_REMOTE(remote_cb_sender_barrier)
TTNN_RS_REMOTE(remote_cb_wait_front)
TTNN_RS_REMOTE(resize_remote_receiver_cb_interface)
TTNN_RS_REMOTE(resize_remote_sender_cb_interface)
TTNN_RS_REMOTE(update_remote_cb_config_in_l1)
}  // namespace experimental
#undef TTNN_RS_REMOTE
