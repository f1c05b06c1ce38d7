// Calls of the engine. A 64-bit value travels as two words, the low one first; enumerations and flags are words.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ttnn_rs {

// A function of the SFPU: its name in messages and that of its init, then function and variant of the listings.
struct Function {
    const char* name;
    const char* init;
    const char* function;
    const char* variant;
    std::uint32_t tiles;
    std::int32_t makes;
};

}  // namespace ttnn_rs

extern "C" {
using tt_word = std::uint32_t;

// The kernel and its arguments.
[[noreturn]] void tt_call_finish();
tt_word tt_call_argument(tt_word index);
tt_word tt_call_common_argument(tt_word index);
tt_word tt_call_argument_address(tt_word index);
tt_word tt_call_common_argument_address(tt_word index);
std::uint64_t tt_call_wall_clock();
void tt_call_dprint(tt_word kind, tt_word low, tt_word high);
void tt_call_assert_failed(const char* file, tt_word line, const char* text);
[[noreturn]] void tt_call_unsupported(const char* name, const char* reason);
[[noreturn]] void tt_call_invalid(const char* call, const char* text);

// Circular buffers.
void tt_call_cb_wait_front(tt_word cb, tt_word pages);
void tt_call_cb_reserve_back(tt_word cb, tt_word pages);
void tt_call_cb_push_back(tt_word cb, tt_word pages);
void tt_call_cb_pop_front(tt_word cb, tt_word pages);
tt_word tt_call_cb_pages_available_at_front(tt_word cb, tt_word pages);
tt_word tt_call_cb_pages_reservable_at_back(tt_word cb, tt_word pages);
tt_word tt_call_get_write_ptr(tt_word cb);
tt_word tt_call_get_read_ptr(tt_word cb);
tt_word tt_call_read_tile_value(tt_word cb, tt_word tile, tt_word word);

// Transfers.
void tt_call_noc_async_read(
    tt_word source_low, tt_word source_high, tt_word target, tt_word size, std::int32_t noc);
void tt_call_noc_async_write(
    tt_word source, tt_word target_low, tt_word target_high, tt_word size, std::int32_t noc);
void tt_call_noc_async_read_page(
    tt_word dram, tt_word base_low, tt_word base_high, tt_word bytes, tt_word page_low,
    tt_word page_high, tt_word offset, tt_word target, tt_word size, std::int32_t noc);
void tt_call_noc_async_write_page(
    tt_word dram, tt_word base_low, tt_word base_high, tt_word bytes, tt_word page_low,
    tt_word page_high, tt_word offset, tt_word source, tt_word size, std::int32_t noc);
void tt_call_noc_async_read_tile(
    tt_word dram, tt_word base_low, tt_word base_high, tt_word bytes, tt_word page_low,
    tt_word page_high, tt_word offset, tt_word target, tt_word size, std::int32_t noc);
void tt_call_noc_async_write_tile(
    tt_word dram, tt_word base_low, tt_word base_high, tt_word bytes, tt_word page_low,
    tt_word page_high, tt_word offset, tt_word source, tt_word size, std::int32_t noc);
std::uint64_t tt_call_page_address(
    tt_word dram, tt_word base_low, tt_word base_high, tt_word bytes, tt_word page_low,
    tt_word page_high, tt_word offset);
void tt_call_noc_async_write_multicast(
    tt_word source, tt_word target_low, tt_word target_high, tt_word size,
    tt_word destinations, tt_word loopback, tt_word linked, std::int32_t noc);
void tt_call_noc_inline_dw_write(
    tt_word target_low, tt_word target_high, tt_word value, std::int32_t noc, tt_word enabled);
void tt_call_noc_semaphore_inc(
    tt_word target_low, tt_word target_high, tt_word value, std::int32_t noc);
void tt_call_noc_barrier(tt_word kind, std::int32_t noc, std::int32_t trid);
void tt_call_set_trid(tt_word writes, tt_word trid, std::int32_t noc);
void tt_call_reset_trids(tt_word ids, std::int32_t noc);
void tt_call_spend(tt_word what);

// Semaphores.
tt_word tt_call_get_semaphore(tt_word id);
void tt_call_noc_semaphore_wait(tt_word address, tt_word value, tt_word at_least);
void tt_call_noc_semaphore_set(tt_word address, tt_word value);
void tt_call_noc_semaphore_set_remote(
    tt_word source, tt_word target_low, tt_word target_high, std::int32_t noc);
void tt_call_noc_semaphore_set_multicast(
    tt_word source, tt_word target_low, tt_word target_high, tt_word destinations, tt_word loopback,
    tt_word linked, std::int32_t noc);

// The fabric. A channel is the number of a connection, from the runtime arguments.
void tt_call_fabric_open(tt_word channel);
void tt_call_fabric_close(tt_word channel);
void tt_call_fabric_payload(tt_word channel, tt_word source, tt_word bytes);
void tt_call_fabric_send(tt_word channel, tt_word header, tt_word bytes);
tt_word tt_call_fabric_slots(tt_word channel);
tt_word tt_call_fabric_direction(tt_word mesh, tt_word device);

// Setup of the compute engine.
void tt_call_hw_startup(tt_word a, tt_word b, tt_word out);
void tt_call_matmul_init(tt_word in0, tt_word in1, tt_word transpose, tt_word ct, tt_word rt, tt_word kt);
void tt_call_eltwise_init(tt_word op, tt_word broadcast, tt_word accumulate, tt_word in0, tt_word in1);
void tt_call_reuse_init(tt_word op, tt_word to_a, tt_word cb);
void tt_call_copy_init(tt_word cb, tt_word transpose);
void tt_call_unary_bcast_init(tt_word broadcast, tt_word cb);
void tt_call_reduce_init(tt_word pool, tt_word dimension, tt_word cb, tt_word scaler);
void tt_call_reduce_uninit();
void tt_call_tilize_init(tt_word cb, tt_word block);
void tt_call_untilize_init(tt_word cb);
void tt_call_pack_untilize_mode(tt_word columns, tt_word full);
void tt_call_transpose_dst_init();
void tt_call_end_math();
void tt_call_reconfig_data_format(std::int32_t a, std::int32_t b, std::int32_t old_a, std::int32_t old_b);
void tt_call_pack_reconfig_data_format(tt_word cb, std::int32_t old);
void tt_call_pack_reconfig_l1_acc(tt_word accumulate);
void tt_call_pack_relu_config(tt_word mode, tt_word threshold);

// Registers.
void tt_call_tile_regs_acquire();
void tt_call_tile_regs_commit();
void tt_call_tile_regs_wait();
void tt_call_tile_regs_release();
void tt_call_acquire_dst();
void tt_call_release_dst();

// Work on tiles.
void tt_call_matmul_tiles(tt_word in0, tt_word in1, tt_word tile0, tt_word tile1, tt_word dst);
void tt_call_matmul_block(
    tt_word in0, tt_word in1, tt_word tile0, tt_word tile1, tt_word dst, tt_word transpose, tt_word ct, tt_word rt, tt_word kt);
void tt_call_eltwise_tiles(tt_word op, tt_word broadcast, tt_word in0, tt_word in1, tt_word tile0, tt_word tile1, tt_word dst);
void tt_call_eltwise_reuse_dst(tt_word op, tt_word to_a, tt_word cb, tt_word tile, tt_word dst);
void tt_call_copy_tile(tt_word cb, tt_word tile, tt_word dst);
void tt_call_transpose_tile(tt_word cb, tt_word tile, tt_word dst);
void tt_call_transpose_dst(tt_word dst);
void tt_call_unary_bcast(tt_word broadcast, tt_word cb, tt_word tile, tt_word dst);
void tt_call_reduce_tile(tt_word pool, tt_word dimension, tt_word cb, tt_word scaler, tt_word tile, tt_word scaler_tile, tt_word dst);
void tt_call_tilize_block(tt_word input, tt_word block, tt_word output, tt_word first_in, tt_word first_out);
void tt_call_tilize_to_dst(tt_word input, tt_word block, tt_word dst, tt_word first_in);
void tt_call_untilize_block(tt_word input, tt_word columns, tt_word output);
void tt_call_pack_untilize_block(tt_word input, tt_word output, tt_word rows, tt_word place);
void tt_call_pack_untilize_dest(tt_word output, tt_word rows, tt_word place, tt_word first);
void tt_call_pack_tile(tt_word dst, tt_word cb, std::int32_t place);
void tt_call_sfpu_init(const ttnn_rs::Function* function, tt_word mode, tt_word count, const tt_word* parameters);
void tt_call_sfpu(
    const ttnn_rs::Function* function, tt_word a, tt_word b, tt_word c, tt_word out, tt_word mode, tt_word count, const tt_word* parameters);
void tt_call_sfpu_tiles(const ttnn_rs::Function* function, tt_word count, const tt_word* tiles, tt_word words, const tt_word* parameters);
}
