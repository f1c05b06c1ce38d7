// A block from one core to all cores of a rectangle: semaphores signal "there is room" and "it is there".
#pragma once

#include "../matmul_parts/subblocks.hpp"

inline volatile tt_l1_ptr uint32_t* word(uint32_t address) {
    return reinterpret_cast<volatile tt_l1_ptr uint32_t*>(address);
}

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
inline void send_block(uint32_t l1, uint32_t size, const Receivers& to, uint32_t ready, uint32_t arrived) {
    if (to.count == 0) {
        return;
    }
    noc_semaphore_wait(word(ready), to.count);
    noc_semaphore_set(word(ready), 0);
    noc_async_write_multicast(l1, get_noc_multicast_addr(to.x0, to.y0, to.x1, to.y1, l1), size, to.count);
    noc_semaphore_set_multicast(arrived, get_noc_multicast_addr(to.x0, to.y0, to.x1, to.y1, arrived), to.count);
    noc_async_writes_flushed();
}

inline void receive_block(uint32_t sender_x, uint32_t sender_y, uint32_t ready, uint32_t arrived) {
    noc_semaphore_set(word(arrived), INVALID);
    noc_semaphore_inc(get_noc_addr(sender_x, sender_y, ready), 1);
    noc_semaphore_wait(word(arrived), VALID);
}
