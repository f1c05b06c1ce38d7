// NoC addresses: of cores, of banks, of the pages of interleaved buffers.
#pragma once

#include "api/alignment.h"
#include "noc/noc_parameters.h"
#include "ttnn_rs/cb.h"

FORCE_INLINE std::uint64_t get_noc_multicast_addr(
    std::uint32_t noc_x_start, std::uint32_t noc_y_start, std::uint32_t noc_x_end, std::uint32_t noc_y_end,
    std::uint32_t addr, [[maybe_unused]] std::uint8_t noc = noc_index) {
    return NOC_MULTICAST_ADDR(noc_x_start, noc_y_start, noc_x_end, noc_y_end, addr);
}
FORCE_INLINE std::uint64_t get_noc_addr(
    std::uint32_t noc_x, std::uint32_t noc_y, std::uint32_t addr, [[maybe_unused]] std::uint8_t noc = noc_index) {
    return NOC_XY_ADDR(noc_x, noc_y, addr);
}
FORCE_INLINE std::uint64_t get_noc_addr_helper(std::uint32_t noc_xy, std::uint32_t addr) {
    return (static_cast<std::uint64_t>(noc_xy) << 36) | addr;
}
FORCE_INLINE std::uint64_t get_noc_addr(std::uint32_t addr, std::uint8_t noc = noc_index) {
    return NOC_XY_ADDR(my_x[noc], my_y[noc], addr);
}

// The firmware's tables, for kernels that put addresses together themselves: by network and bank, and by bank.
inline constexpr const std::uint16_t* dram_bank_to_noc_xy[NUM_NOCS] = {ttnn_rs::dram_bank_xy, ttnn_rs::dram_bank_xy};
inline constexpr const std::uint16_t* l1_bank_to_noc_xy[NUM_NOCS] = {ttnn_rs::l1_bank_xy, ttnn_rs::l1_bank_xy};
inline constexpr std::int32_t bank_to_dram_offset[NUM_DRAM_BANKS] = {};
inline constexpr std::int32_t bank_to_l1_offset[NUM_L1_BANKS] = {};

namespace interleaved_addr_gen {

template <bool DRAM>
FORCE_INLINE constexpr std::uint32_t get_allocator_alignment() {
    return DRAM ? DRAM_ALIGNMENT : L1_ALIGNMENT;
}
template <bool DRAM>
FORCE_INLINE constexpr std::uint32_t get_log_base2_of_allocator_alignment() {
    return std::countr_zero(get_allocator_alignment<DRAM>());
}
template <bool DRAM>
FORCE_INLINE std::uint32_t get_bank_offset_index(std::uint32_t id) {
    return id / (DRAM ? NUM_DRAM_BANKS : NUM_L1_BANKS);
}
template <bool DRAM>
FORCE_INLINE std::uint32_t get_bank_index(std::uint32_t id, std::uint32_t bank_offset_index) {
    return id - bank_offset_index * (DRAM ? NUM_DRAM_BANKS : NUM_L1_BANKS);
}
template <bool DRAM>
FORCE_INLINE std::uint32_t get_noc_xy(std::uint32_t bank_index, [[maybe_unused]] std::uint8_t noc = noc_index) {
    return DRAM ? ttnn_rs::dram_bank_xy[bank_index] : ttnn_rs::l1_bank_xy[bank_index];
}
// All banks start alike.
template <bool DRAM>
FORCE_INLINE std::uint32_t get_bank_offset([[maybe_unused]] std::uint32_t bank_index) {
    return 0;
}

}  // namespace interleaved_addr_gen

template <bool DRAM>
FORCE_INLINE std::uint64_t get_noc_addr_from_bank_id(
    std::uint32_t bank_id, std::uint32_t bank_address_offset, std::uint8_t noc = noc_index) {
    if (bank_id >= (DRAM ? NUM_DRAM_BANKS : NUM_L1_BANKS)) {
        tt_call_invalid("get_noc_addr_from_bank_id", "there is no bank of this number");
    }
    return get_noc_addr_helper(interleaved_addr_gen::get_noc_xy<DRAM>(bank_id, noc), bank_address_offset);
}

template <std::uint32_t tile_hw = 1024>
FORCE_INLINE constexpr std::uint32_t MUL_WITH_TILE_SIZE(uint format, uint index) {
    return index * ttnn_rs::tile_bytes(static_cast<DataFormat>(format), tile_hw);
}

namespace ttnn_rs {

// What the engine needs to find a page: it checks that the buffer has it.
struct Interleaved {
    bool dram;
    std::uint32_t base;
    std::uint32_t bytes;

    FORCE_INLINE std::uint64_t address(std::uint32_t page, std::uint32_t offset) const {
        return tt_call_page_address(dram, base, 0, bytes, page, 0, offset);
    }
};

template <bool DRAM>
FORCE_INLINE std::uint32_t place_in_bank(
    std::uint32_t base, std::uint32_t aligned, std::uint32_t bank_offset_index, std::uint32_t offset) {
    return base + bank_offset_index * aligned + offset;
}

}  // namespace ttnn_rs

template <bool DRAM>
struct InterleavedAddrGen {
    static constexpr bool is_dram = DRAM;
    std::uint32_t bank_base_address;
    const std::uint32_t page_size;
    const std::uint32_t aligned_page_size =
        align_power_of_2(page_size, interleaved_addr_gen::get_allocator_alignment<DRAM>());

    FORCE_INLINE ttnn_rs::Interleaved interleaved() const { return {DRAM, bank_base_address, page_size}; }
    FORCE_INLINE std::uint32_t transfer_size() const { return page_size; }
    FORCE_INLINE std::uint32_t get_addr(
        const std::uint32_t, const std::uint32_t bank_offset_index, const std::uint32_t,
        const std::uint32_t offset = 0) const {
        return ttnn_rs::place_in_bank<DRAM>(bank_base_address, aligned_page_size, bank_offset_index, offset);
    }
    FORCE_INLINE std::uint64_t get_noc_addr(
        const std::uint32_t id, const std::uint32_t offset = 0, std::uint8_t = noc_index) const {
        return interleaved().address(id, offset);
    }
};

template <bool DRAM>
struct InterleavedPow2AddrGen {
    static constexpr bool is_dram = DRAM;
    const std::uint32_t bank_base_address;
    const std::uint32_t log_base_2_of_page_size;
    static constexpr std::uint32_t log_base_2_of_allocator_alignment =
        interleaved_addr_gen::get_log_base2_of_allocator_alignment<DRAM>();
    const std::uint32_t aligned_log_base_2_of_page_size =
        log_base_2_of_page_size > log_base_2_of_allocator_alignment ? log_base_2_of_page_size
                                                                    : log_base_2_of_allocator_alignment;

    FORCE_INLINE ttnn_rs::Interleaved interleaved() const { return {DRAM, bank_base_address, transfer_size()}; }
    FORCE_INLINE std::uint32_t transfer_size() const { return 1u << log_base_2_of_page_size; }
    FORCE_INLINE std::uint32_t get_addr(
        const std::uint32_t, const std::uint32_t bank_offset_index, const std::uint32_t,
        const std::uint32_t offset = 0) const {
        return ttnn_rs::place_in_bank<DRAM>(
            bank_base_address, 1u << aligned_log_base_2_of_page_size, bank_offset_index, offset);
    }
    FORCE_INLINE std::uint64_t get_noc_addr(
        const std::uint32_t id, const std::uint32_t offset = 0, std::uint8_t = noc_index) const {
        return interleaved().address(id, offset);
    }
};

template <bool DRAM, std::uint32_t tile_hw = 1024>
struct InterleavedAddrGenFast {
    static constexpr bool is_dram = DRAM;
    std::uint32_t bank_base_address;
    std::uint32_t page_size;
    DataFormat data_format;

    // A page is a tile of the format, whatever page_size says.
    FORCE_INLINE ttnn_rs::Interleaved interleaved() const { return {DRAM, bank_base_address, transfer_size()}; }
    FORCE_INLINE std::uint32_t transfer_size() const { return ttnn_rs::tile_bytes(data_format, tile_hw); }
    FORCE_INLINE std::uint32_t get_addr(
        const std::uint32_t, const std::uint32_t bank_offset_index, const std::uint32_t,
        const std::uint32_t offset = 0) const {
        const std::uint32_t aligned =
            align_power_of_2(transfer_size(), interleaved_addr_gen::get_allocator_alignment<DRAM>());
        return ttnn_rs::place_in_bank<DRAM>(bank_base_address, aligned, bank_offset_index, offset);
    }
    FORCE_INLINE std::uint64_t get_noc_addr(
        const std::uint32_t id, const std::uint32_t offset = 0, std::uint8_t = noc_index) const {
        return interleaved().address(id, offset);
    }
};

template <bool DRAM>
struct InterleavedPow2AddrGenFast : InterleavedPow2AddrGen<DRAM> {};

template <bool DRAM, std::uint32_t page_size>
FORCE_INLINE auto get_interleaved_addr_gen(std::uint32_t base_addr) {
    return InterleavedAddrGen<DRAM>{.bank_base_address = base_addr, .page_size = page_size};
}
template <bool DRAM, bool is_size_pow2>
FORCE_INLINE auto get_interleaved_addr_gen(
    std::uint32_t base_addr, [[maybe_unused]] std::uint32_t page_size, [[maybe_unused]] std::uint32_t log2_page_size) {
    if constexpr (is_size_pow2) {
        return InterleavedPow2AddrGen<DRAM>{
            .bank_base_address = base_addr, .log_base_2_of_page_size = log2_page_size};
    } else {
        return InterleavedAddrGen<DRAM>{.bank_base_address = base_addr, .page_size = page_size};
    }
}
template <bool DRAM, bool is_size_pow2>
FORCE_INLINE auto get_interleaved_addr_gen(std::uint32_t base_addr, std::uint32_t size) {
    return get_interleaved_addr_gen<DRAM, is_size_pow2>(base_addr, size, size);
}

template <typename, typename = void>
inline constexpr bool has_page_size_v = false;
template <typename T>
inline constexpr bool has_page_size_v<T, std::void_t<decltype(std::declval<T>().page_size)>> = true;
template <typename, typename = void>
inline constexpr bool has_get_aligned_page_size_v = false;
template <typename T>
inline constexpr bool has_get_aligned_page_size_v<T, std::void_t<decltype(std::declval<T>().get_aligned_page_size())>> =
    true;

namespace ttnn_rs {

// Whether the engine can find the pages of a generator; users write generators of their own.
template <typename T>
concept FoundByEngine = requires(const T& generator) {
    { generator.interleaved() } -> std::same_as<Interleaved>;
};

template <typename AddrGen>
FORCE_INLINE std::uint32_t page_bytes(const AddrGen& generator) {
    if constexpr (requires { generator.transfer_size(); }) {
        return generator.transfer_size();
    } else if constexpr (has_get_aligned_page_size_v<AddrGen>) {
        return generator.get_aligned_page_size();
    } else if constexpr (has_page_size_v<AddrGen>) {
        return generator.page_size;
    } else {
        return 1u << generator.log_base_2_of_page_size;
    }
}

}  // namespace ttnn_rs

template <typename AddrGen>
    requires requires(const AddrGen& addrgen) { addrgen.get_noc_addr(0u); }
FORCE_INLINE std::uint64_t get_noc_addr(
    const std::uint32_t id, const AddrGen& addrgen, std::uint32_t offset = 0, std::uint8_t noc = noc_index) {
    return addrgen.get_noc_addr(id, offset, noc);
}

FORCE_INLINE std::uint64_t get_dram_noc_addr(
    const std::uint32_t id, const std::uint32_t page_size, const std::uint32_t bank_base_address,
    const std::uint32_t offset = 0, std::uint8_t = noc_index) {
    return ttnn_rs::Interleaved{true, bank_base_address, page_size}.address(id, offset);
}
FORCE_INLINE std::uint64_t get_l1_noc_addr(
    const std::uint32_t id, const std::uint32_t page_size, const std::uint32_t bank_base_address,
    const std::uint32_t offset = 0, std::uint8_t = noc_index) {
    return ttnn_rs::Interleaved{false, bank_base_address, page_size}.address(id, offset);
}
