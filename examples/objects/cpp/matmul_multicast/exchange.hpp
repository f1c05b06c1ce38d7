// A block from one core to all cores of a rectangle: semaphores signal "there is room" and "it is there".
#pragma once

#include "../matmul_parts/blocks.hpp"
#include "api/core_local_mem.h"
#include "api/dataflow/endpoints.h"
#include "api/dataflow/noc_semaphore.h"

struct Receivers {
    uint32_t x0, y0, x1, y1, count;
};

// The corners of the rectangle and the number of cores, from runtime arguments.
inline Receivers receivers_from(uint32_t first) {
    return {
        get_arg_val<uint32_t>(first), get_arg_val<uint32_t>(first + 1), get_arg_val<uint32_t>(first + 2),
        get_arg_val<uint32_t>(first + 3), get_arg_val<uint32_t>(first + 4)};
}

// Data and flag use the same route, so the flag arrives last.
inline void send_block(
    const Noc& noc, const DataflowBuffer& block, uint32_t tiles, const Receivers& to, Semaphore<>& ready,
    Semaphore<>& arrived) {
    if (to.count == 0) {
        return;
    }
    const uint32_t l1 = block.get_write_ptr();
    ready.wait(to.count);
    ready.set(0);
    noc.async_write_multicast(
        CoreLocalMem<uint32_t>(l1), MulticastEndpoint{}, tiles * block.get_entry_size(), to.count, {},
        {.noc_x_start = to.x0, .noc_y_start = to.y0, .noc_x_end = to.x1, .noc_y_end = to.y1, .addr = l1});
    arrived.set_multicast(noc, to.x0, to.y0, to.x1, to.y1, to.count);
    noc.async_writes_flushed();
}

inline void receive_block(
    const Noc& noc, uint32_t sender_x, uint32_t sender_y, Semaphore<>& ready, Semaphore<>& arrived) {
    arrived.set(INVALID);
    ready.up(noc, sender_x, sender_y, 1);
    arrived.wait(VALID);
}
