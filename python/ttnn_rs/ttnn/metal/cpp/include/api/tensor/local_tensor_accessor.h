// The part of a sharded tensor that lies in this core's L1.
#pragma once

#include "api/core_local_mem.h"
#include "api/debug/assert.h"
#include "api/tensor/tensor_binding_token.h"

template <typename T>
class LocalTensorAccessor {
public:
    template <std::uint32_t CTA, std::uint32_t ADDR>
    [[nodiscard]] explicit LocalTensorAccessor(tensor_accessor::TensorBindingToken<CTA, ADDR>) noexcept :
        LocalTensorAccessor(get_common_arg_val<std::uint32_t>(ADDR / 4)) {}
    [[nodiscard]] explicit LocalTensorAccessor(const tensor_accessor::NullTensorBindingToken&) noexcept :
        LocalTensorAccessor(std::uint32_t{0}) {}
    [[nodiscard]] explicit LocalTensorAccessor(std::uint32_t bank_base_address) noexcept :
        memory(static_cast<std::uintptr_t>(bank_base_address)) {}

    [[nodiscard]] T& operator[](std::uint32_t index) const { return memory[index]; }
    [[nodiscard]] std::uint32_t get_bank_base_address() const noexcept { return memory.get_address(); }
    [[nodiscard]] CoreLocalMem<T> local_mem() const noexcept { return memory; }
    [[nodiscard]] auto scoped_lock(std::uint32_t, std::uint32_t) const {
        return Lock([] {});
    }

private:
    CoreLocalMem<T> memory;
};

#ifndef COMPILE_FOR_TRISC
template <typename T>
struct noc_traits_t<LocalTensorAccessor<T>>
    : ttnn_rs::LocalTraits<LocalTensorAccessor<T>, noc_traits_t<LocalTensorAccessor<T>>> {
    static std::uint32_t reads(const LocalTensorAccessor<T>& local) { return local.get_bank_base_address(); }
    static std::uint32_t writes(const LocalTensorAccessor<T>& local) { return local.get_bank_base_address(); }
};
template <typename T>
inline constexpr bool noc_zero_l1_endpoint_v<LocalTensorAccessor<T>> = true;
#endif

template <typename T, typename... Tokens>
std::array<LocalTensorAccessor<T>, sizeof...(Tokens)> make_local_tensor_accessors(const std::tuple<Tokens...>& tokens) {
    return std::apply(
        [](const auto&... token) {
            return std::array<LocalTensorAccessor<T>, sizeof...(Tokens)>{LocalTensorAccessor<T>(token)...};
        },
        tokens);
}
