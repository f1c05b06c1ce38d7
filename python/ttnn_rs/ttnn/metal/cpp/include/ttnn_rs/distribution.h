// How a sharded tensor lies on its banks, in pages.
#pragma once

#include "api/tensor/tensor_accessor_args.h"

namespace tensor_accessor {

// Extents with a rank: an array that is as long as the rank says.
template <typename T, std::uint32_t Capacity>
struct Extents {
    std::array<T, Capacity> values{};
    std::uint32_t count = Capacity;

    constexpr T operator[](std::uint32_t index) const { return values[index]; }
    constexpr T& operator[](std::uint32_t index) { return values[index]; }
    constexpr std::uint32_t size() const { return count; }
    constexpr auto begin() const { return values.begin(); }
    constexpr auto end() const { return values.begin() + count; }
};

constexpr std::uint32_t MAX_BANKS = 160;

template <typename Args>
class DistributionSpec {
public:
    static constexpr bool is_interleaved = !Args::is_sharded;
    static constexpr bool is_dram = Args::is_dram;
    static constexpr bool has_static_rank = !Args::rank_is_crta && Args::is_sharded;
    static constexpr bool has_static_num_banks = !Args::num_banks_is_crta && Args::is_sharded;
    static constexpr bool tensor_shape_static = !Args::tensor_shape_is_crta;
    static constexpr bool shard_shape_static = !Args::shard_shape_is_crta;
    static constexpr bool bank_coords_static = !Args::bank_coords_is_crta;
    static constexpr bool is_static =
        has_static_rank && has_static_num_banks && tensor_shape_static && shard_shape_static && bank_coords_static;
    static constexpr std::uint32_t rank_ct = Args::RankCT;
    static constexpr std::uint32_t num_banks_ct = Args::NumBanksCT;
    using Shape = Extents<std::uint32_t, has_static_rank ? Args::RankCT : MAX_RANK>;
    using BankCoords = Extents<std::uint16_t, has_static_num_banks ? Args::NumBanksCT : MAX_BANKS>;

    constexpr explicit DistributionSpec(const Args& args = Args()) {
        const std::uint32_t dimensions = args.get_rank();
        shape.count = shard.count = strides.count = inside.count = grid.count = grid_steps.count = dimensions;
        for (std::uint32_t i = 0; i < dimensions; ++i) {
            shape[i] = args.tensor_extent(i);
            shard[i] = args.shard_extent(i);
            grid[i] = (shape[i] + shard[i] - 1) / shard[i];
        }
        volume = step(shape, strides);
        shard_pages = step(shard, inside);
        shards = step(grid, grid_steps);
        banks.count = args.get_num_banks();
        for (std::uint32_t i = 0; i < banks.count; ++i) {
            banks[i] = args.bank_coordinates(i);
        }
        contiguous = args.resolve_shard_contiguous();
    }

    constexpr std::uint32_t rank() const { return shape.count; }
    constexpr std::uint32_t num_banks() const { return banks.count; }
    constexpr bool resolve_shard_contiguous() const { return contiguous; }
    constexpr const Shape& tensor_shape() const { return shape; }
    constexpr const Shape& shard_shape() const { return shard; }
    constexpr const Shape& tensor_strides() const { return strides; }
    constexpr const Shape& shard_strides() const { return inside; }
    constexpr std::size_t tensor_volume() const { return volume; }
    constexpr std::size_t shard_volume() const { return shard_pages; }
    constexpr const Shape& shard_grid() const { return grid; }
    constexpr std::size_t num_shards() const { return shards; }
    constexpr const Shape& shard_grid_strides() const { return grid_steps; }
    constexpr const BankCoords& packed_xy_coords() const { return banks; }

private:
    // Fills strides from the last dimension on; returns the product of the extents.
    static constexpr std::size_t step(const Shape& extents, Shape& strides) {
        std::size_t product = 1;
        for (std::uint32_t i = extents.count; i-- > 0;) {
            strides[i] = product;
            product *= extents[i];
        }
        return product;
    }

    Shape shape, shard, strides, inside, grid, grid_steps;
    BankCoords banks;
    std::size_t volume = 0, shard_pages = 0, shards = 0;
    bool contiguous = false;
};

}  // namespace tensor_accessor
