//! Device memory: chips as data, DRAM and L1 banks, allocator, address maps, shadow state.
