// Kernels of several threads belong to a later chip: here a kernel is one.
#pragma once

#include "ttnn_rs/base.h"

FORCE_INLINE std::uint32_t get_num_threads() { return 1; }
FORCE_INLINE std::uint32_t get_my_thread_id() { return 0; }
FORCE_INLINE void sync_threads() {}
