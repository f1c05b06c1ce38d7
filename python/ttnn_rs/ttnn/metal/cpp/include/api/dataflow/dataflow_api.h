// Functions of data-movement kernels.
#pragma once

#include "api/debug/assert.h"
#include "api/debug/kernel_profiler.hpp"
#include "api/debug/waypoint.h"
#include "api/tensor/tensor_accessor.h"
#include "hostdevcommon/common_values.hpp"
#include "hostdevcommon/kernel_structs.h"
#include "ttnn_rs/stateful.h"
#include "ttnn_rs/refused.h"
#include "ttnn_rs/risc.h"
#include "ttnn_rs/threads.h"

#ifdef COMPILE_FOR_TRISC
#error "dataflow_api.h: a compute kernel moves no data; it includes api/compute headers"
#endif

template <typename DSpec>
FORCE_INLINE void noc_async_read_shard(
    const std::uint32_t shard_id, const TensorAccessor<DSpec>& s, std::uint32_t dst_local_l1_addr,
    std::uint8_t noc = noc_index) {
    noc_async_read(
        s.get_shard_noc_addr(shard_id, 0, noc), dst_local_l1_addr,
        s.dspec().shard_volume() * s.get_aligned_page_size(), noc);
}
template <typename DSpec, bool posted = false>
FORCE_INLINE void noc_async_write_shard(
    const std::uint32_t shard_id, const TensorAccessor<DSpec>& s, std::uint32_t src_local_l1_addr,
    std::uint8_t noc = noc_index) {
    noc_async_write(
        src_local_l1_addr, s.get_shard_noc_addr(shard_id, 0, noc),
        s.dspec().shard_volume() * s.get_aligned_page_size(), noc);
}
