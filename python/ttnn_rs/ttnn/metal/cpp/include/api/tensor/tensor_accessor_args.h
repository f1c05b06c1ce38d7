// What the host says about a tensor: words of compile-time arguments, some of them moved to common runtime arguments.
#pragma once

#include "ttnn_rs/arguments.h"

namespace tensor_accessor {

enum class ArgConfig : std::uint8_t {
    None = 0,
    Sharded = 1 << 0,
    IsDram = 1 << 1,
    RuntimeRank = 1 << 2,
    RuntimeNumBanks = 1 << 3,
    RuntimeTensorShape = 1 << 4,
    RuntimeShardShape = 1 << 5,
    RuntimeBankCoords = 1 << 6,
    RuntimePageSize = 1 << 7,
};

constexpr std::size_t UNKNOWN = static_cast<std::size_t>(-1);
constexpr std::uint32_t MAX_RANK = 8;
// Bit of the number of banks that says that the shards of a bank follow each other.
constexpr std::uint32_t CONTIGUOUS = 1u << 31;

}  // namespace tensor_accessor

template <std::size_t CTA_OFFSET, std::size_t CRTA_OFFSET = tensor_accessor::UNKNOWN>
struct TensorAccessorArgs {
private:
    static constexpr std::uint32_t config = get_compile_time_arg_val(CTA_OFFSET);
    static constexpr bool has(tensor_accessor::ArgConfig bit) { return (config & static_cast<std::uint32_t>(bit)) != 0; }

    template <std::uint32_t Index, bool Present>
    static constexpr std::uint32_t word() {
        if constexpr (Present) {
            return get_compile_time_arg_val(Index);
        } else {
            return 0;
        }
    }

public:
    static constexpr bool is_sharded = has(tensor_accessor::ArgConfig::Sharded);
    static constexpr bool is_dram = has(tensor_accessor::ArgConfig::IsDram);
    static constexpr bool rank_is_crta = has(tensor_accessor::ArgConfig::RuntimeRank);
    static constexpr bool num_banks_is_crta = has(tensor_accessor::ArgConfig::RuntimeNumBanks);
    static constexpr bool tensor_shape_is_crta = has(tensor_accessor::ArgConfig::RuntimeTensorShape);
    static constexpr bool shard_shape_is_crta = has(tensor_accessor::ArgConfig::RuntimeShardShape);
    static constexpr bool bank_coords_is_crta = has(tensor_accessor::ArgConfig::RuntimeBankCoords);
    static constexpr bool page_size_is_crta = has(tensor_accessor::ArgConfig::RuntimePageSize);
    static_assert(
        !is_sharded || !rank_is_crta || (tensor_shape_is_crta && shard_shape_is_crta),
        "TensorAccessorArgs: a runtime rank needs runtime shapes");
    static_assert(
        !is_sharded || !num_banks_is_crta || bank_coords_is_crta,
        "TensorAccessorArgs: a runtime number of banks needs runtime bank coordinates");
    static_assert(!is_sharded || !page_size_is_crta, "TensorAccessorArgs: sharded tensors have a constant page size");

    static constexpr std::uint32_t AlignedPageSizeCTAOffset = CTA_OFFSET + 1;
    static constexpr std::uint32_t AlignedPageSize = word<AlignedPageSizeCTAOffset, !page_size_is_crta>();
    static constexpr std::uint32_t RankCTAOffset = CTA_OFFSET + (page_size_is_crta ? 1 : 2);
    static constexpr std::uint32_t NumBanksCTAOffset = RankCTAOffset + (rank_is_crta ? 0 : 1);
    static constexpr std::uint32_t RankCT = word<RankCTAOffset, is_sharded && !rank_is_crta>();
    static constexpr std::uint32_t NumBanksRawCT = word<NumBanksCTAOffset, is_sharded && !num_banks_is_crta>();
    static constexpr std::uint32_t NumBanksCT = NumBanksRawCT & ~tensor_accessor::CONTIGUOUS;
    static constexpr bool is_shard_contiguous = (NumBanksRawCT & tensor_accessor::CONTIGUOUS) != 0;
    static constexpr std::uint32_t PhysicalNumBanksCT = (NumBanksCT + 1) / 2;
    static_assert(!is_sharded || rank_is_crta || RankCT > 0, "TensorAccessorArgs: the rank must not be 0");
    static_assert(!is_sharded || num_banks_is_crta || NumBanksCT > 0, "TensorAccessorArgs: there must be banks");

    static constexpr std::uint32_t TensorShapeCTAOffset = NumBanksCTAOffset + (num_banks_is_crta ? 0 : 1);
    static constexpr std::uint32_t ShardShapeCTAOffset = TensorShapeCTAOffset + (tensor_shape_is_crta ? 0 : RankCT);
    static constexpr std::uint32_t BankCoordsCTAOffset = ShardShapeCTAOffset + (shard_shape_is_crta ? 0 : RankCT);
    static constexpr std::uint32_t NumArgsCT =
        is_sharded ? BankCoordsCTAOffset + (bank_coords_is_crta ? 0 : PhysicalNumBanksCT) - CTA_OFFSET
                   : (page_size_is_crta ? 1 : 2);

    constexpr TensorAccessorArgs() = default;
    constexpr explicit TensorAccessorArgs(std::uint32_t crta_offset) : runtime_offset(crta_offset) {}

    constexpr std::uint32_t crta_offset() const {
        return CRTA_OFFSET == tensor_accessor::UNKNOWN ? runtime_offset : CRTA_OFFSET;
    }
    constexpr std::uint32_t get_aligned_page_size() const {
        if constexpr (page_size_is_crta) {
            return get_common_arg_val<std::uint32_t>(crta_offset());
        } else {
            return AlignedPageSize;
        }
    }
    constexpr std::uint32_t rank_crta_offset() const { return crta_offset() + (page_size_is_crta ? 1 : 0); }
    constexpr std::uint32_t num_banks_crta_offset() const { return rank_crta_offset() + (rank_is_crta ? 1 : 0); }
    constexpr std::uint32_t tensor_shape_crta_offset() const {
        return num_banks_crta_offset() + (num_banks_is_crta ? 1 : 0);
    }
    constexpr std::uint32_t shard_shape_crta_offset() const {
        return tensor_shape_crta_offset() + (tensor_shape_is_crta ? get_rank() : 0);
    }
    constexpr std::uint32_t bank_coords_crta_offset() const {
        return shard_shape_crta_offset() + (shard_shape_is_crta ? get_rank() : 0);
    }
    constexpr std::uint32_t get_rank() const {
        if constexpr (rank_is_crta) {
            return get_common_arg_val<std::uint32_t>(rank_crta_offset());
        } else {
            return RankCT;
        }
    }
    constexpr std::uint32_t get_num_banks() const { return raw_banks() & ~tensor_accessor::CONTIGUOUS; }
    constexpr bool resolve_shard_contiguous() const { return (raw_banks() & tensor_accessor::CONTIGUOUS) != 0; }
    constexpr std::uint32_t get_physical_num_banks() const { return (get_num_banks() + 1) / 2; }

    static constexpr std::uint32_t num_compile_time_args() { return NumArgsCT; }
    static constexpr std::uint32_t next_compile_time_args_offset() { return CTA_OFFSET + NumArgsCT; }
    constexpr std::uint32_t num_common_runtime_args() const {
        if constexpr (is_sharded) {
            return bank_coords_crta_offset() + (bank_coords_is_crta ? get_physical_num_banks() : 0) - crta_offset();
        } else {
            return page_size_is_crta ? 1 : 0;
        }
    }
    constexpr std::uint32_t next_common_runtime_args_offset() const {
        return crta_offset() + num_common_runtime_args();
    }

    // Words of the three lists, wherever they are.
    constexpr std::uint32_t tensor_extent(std::uint32_t dimension) const {
        return listed<tensor_shape_is_crta, TensorShapeCTAOffset>(tensor_shape_crta_offset(), dimension);
    }
    constexpr std::uint32_t shard_extent(std::uint32_t dimension) const {
        return listed<shard_shape_is_crta, ShardShapeCTAOffset>(shard_shape_crta_offset(), dimension);
    }
    // Two coordinates share a word.
    constexpr std::uint16_t bank_coordinates(std::uint32_t bank) const {
        const std::uint32_t pair =
            listed<bank_coords_is_crta, BankCoordsCTAOffset>(bank_coords_crta_offset(), bank / 2);
        return static_cast<std::uint16_t>(bank % 2 != 0 ? pair >> 16 : pair);
    }

private:
    constexpr std::uint32_t raw_banks() const {
        if constexpr (num_banks_is_crta) {
            return get_common_arg_val<std::uint32_t>(num_banks_crta_offset());
        } else {
            return NumBanksRawCT;
        }
    }
    template <bool Runtime, std::uint32_t Offset>
    static constexpr std::uint32_t listed(std::uint32_t runtime, std::uint32_t index) {
        if constexpr (Runtime) {
            return get_common_arg_val<std::uint32_t>(runtime + index);
        } else {
            return kernel_compile_time_args[Offset + index];
        }
    }

    std::uint32_t runtime_offset = 0;
};

namespace tensor_accessor::detail {

// Where the arguments of a tensor begin, after those of the tensors before it.
template <std::uint32_t TENSOR_IDX, std::uint32_t CTA_OFFSET>
constexpr std::uint32_t get_tensor_accessor_args_cta_offset() {
    if constexpr (TENSOR_IDX == 0) {
        return CTA_OFFSET;
    } else {
        constexpr auto before = get_tensor_accessor_args_cta_offset<TENSOR_IDX - 1, CTA_OFFSET>();
        return TensorAccessorArgs<before>::next_compile_time_args_offset();
    }
}

template <std::uint32_t Left, std::size_t Offset>
constexpr auto accessor_args() {
    if constexpr (Left == 0) {
        return std::tuple<>{};
    } else {
        using Args = TensorAccessorArgs<Offset>;
        return std::tuple_cat(std::tuple<Args>{}, accessor_args<Left - 1, Args::next_compile_time_args_offset()>());
    }
}

}  // namespace tensor_accessor::detail

template <std::uint32_t NUM_TENSORS, std::uint32_t CTA_OFFSET>
constexpr auto make_tensor_accessor_args_tuple() {
    return tensor_accessor::detail::accessor_args<NUM_TENSORS, CTA_OFFSET>();
}
