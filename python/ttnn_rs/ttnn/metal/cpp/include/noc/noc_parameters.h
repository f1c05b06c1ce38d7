// Constants of the network: fields of addresses, sizes of packets, virtual channels.
#pragma once

#include "ttnn_rs/base.h"

#define NOC_ADDR_LOCAL_BITS 36
#define NOC_ADDR_COORD_SHIFT 36
#define NOC_ADDR_NODE_ID_BITS 6
#define NOC_LOCAL_BITS 36
#define NOC_NODE_ID_BITS 6
#define NOC_NODE_ID_MASK 0x3F
#define NOC_COORDINATE_MASK 0xFFFFFF
#define NOC_MAX_BURST_SIZE 8192
#define NOC_MAX_BURST_WORDS 256
#define NOC_WORD_BYTES 32
#define NOC_MAX_TRANSACTION_ID 0xF
#define NOC_MAX_TRANSACTION_ID_COUNT 255
#define NOC_CLEAR_OUTSTANDING_REQ_MASK 0xFFFF
#define NUM_NOCS 2
#define NOC_UNICAST_WRITE_VC 1
#define NOC_MULTICAST_WRITE_VC 4
#define NOC_DISPATCH_MULTICAST_WRITE_VC 5

#define NOC_L1_READ_ALIGNMENT_BYTES 16
#define NOC_L1_WRITE_ALIGNMENT_BYTES 16
#define NOC_PCIE_READ_ALIGNMENT_BYTES 32
#define NOC_PCIE_WRITE_ALIGNMENT_BYTES 16
#define NOC_DRAM_READ_ALIGNMENT_BYTES DRAM_ALIGNMENT
#define NOC_DRAM_WRITE_ALIGNMENT_BYTES 16

#define NOC_XY_ENCODING(x, y) ((static_cast<std::uint32_t>(y) << NOC_ADDR_NODE_ID_BITS) | static_cast<std::uint32_t>(x))
#define NOC_MULTICAST_ENCODING(x_start, y_start, x_end, y_end)                                  \
    ((static_cast<std::uint32_t>(y_start) << 18) | (static_cast<std::uint32_t>(x_start) << 12) | \
     (static_cast<std::uint32_t>(y_end) << 6) | static_cast<std::uint32_t>(x_end))
#define NOC_XY_ADDR(x, y, addr)                                       \
    ((static_cast<std::uint64_t>(y) << 42) | (static_cast<std::uint64_t>(x) << 36) | static_cast<std::uint64_t>(addr))
#define NOC_MULTICAST_ADDR(x_start, y_start, x_end, y_end, addr)                                   \
    ((static_cast<std::uint64_t>(y_start) << 54) | (static_cast<std::uint64_t>(x_start) << 48) |   \
     (static_cast<std::uint64_t>(y_end) << 42) | (static_cast<std::uint64_t>(x_end) << 36) |       \
     static_cast<std::uint64_t>(addr))
#define NOC_UNICAST_ADDR_X(addr) ((static_cast<std::uint32_t>((addr) >> 36)) & 0x3F)
#define NOC_UNICAST_ADDR_Y(addr) ((static_cast<std::uint32_t>((addr) >> 42)) & 0x3F)
#define NOC_LOCAL_ADDR_OFFSET(addr) ((addr) & 0xFFFFFFFFFULL)
#define NOC_LOCAL_ADDR(addr) ((addr) & 0xFFFFFFFFFULL)
#define DYNAMIC_NOC_X(noc, x) (x)
#define DYNAMIC_NOC_Y(noc, y) (y)
#ifdef ARCH_BLACKHOLE
#define VIRTUAL_TENSIX_START_X 1
#define VIRTUAL_TENSIX_START_Y 2
#else
#define VIRTUAL_TENSIX_START_X 18
#define VIRTUAL_TENSIX_START_Y 18
#endif
#define NOC_0_X(noc, size, x) (x)
#define NOC_0_Y(noc, size, y) (y)

// Numbers of command buffers: kernels hand them to functions, which take the right one anyway.
constexpr std::uint32_t read_cmd_buf = 0;
constexpr std::uint32_t write_cmd_buf = 1;
constexpr std::uint32_t write_reg_cmd_buf = 2;
constexpr std::uint32_t write_at_cmd_buf = 3;
constexpr std::uint8_t DM_DEDICATED_NOC = 0;
constexpr std::uint8_t DM_DYNAMIC_NOC = 1;
constexpr std::uint32_t MEM_ZEROS_BASE = 13344;
constexpr std::uint32_t MEM_ZEROS_SIZE = 512;
