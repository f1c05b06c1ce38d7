//! The calls of compiled kernels, one line each.
//!
//! A call's number is its place here; its words are its arguments in their order. All reach the functions that Python
//! kernels reach.

use tt_memory::Device;

use super::Native;
use super::table::calls;
use super::words::Ended;
use crate::calls::compute::codes::{self, broadcast, dim, eltwise, pool};
use crate::calls::compute::{Copying, Math};
use crate::calls::noc::{Barrier, Page};
use crate::error::{Fault, FaultKind};
use crate::state::Run;

calls! { CALLS:
    acting |run, device, kernel| {
        finish() = kernel.finish(run);
        cb_wait_front(cb: u32, pages: u32) = run.cb_wait_front(cb, pages);
        cb_reserve_back(cb: u32, pages: u32) = run.cb_reserve_back(cb, pages);
        cb_push_back(cb: u32, pages: u32) = run.cb_push_back(cb, pages).map(|()| kernel.show(run, cb));
        cb_pop_front(cb: u32, pages: u32) = run.cb_pop_front(cb, pages).map(|()| kernel.show(run, cb));
        cb_pages_available_at_front(cb: u32, pages: u32) = run.cb_pages_available_at_front(cb, pages);
        cb_pages_reservable_at_back(cb: u32, pages: u32) = run.cb_pages_reservable_at_back(cb, pages);
    }
    quiet |run, device, kernel| {
        get_write_ptr(cb: u32) = run.get_write_ptr(cb);
        get_read_ptr(cb: u32) = run.get_read_ptr(cb);
        read_tile_value(cb: u32, tile: u32, word: u32) = run.read_tile_value(device, cb, tile, word);
        get_semaphore(id: u32) = run.get_semaphore(id);
        spend(what: u32) = run.spend(what);
        argument(index: u32) = kernel.argument(run, device, index, false);
        common_argument(index: u32) = kernel.argument(run, device, index, true);
        argument_address(index: u32) = Ok::<_, Fault>(run.argument_address(index));
        common_argument_address(index: u32) = Ok::<_, Fault>(run.argument_address(kernel.spec.own_args.wrapping_add(index)));
        wall_clock() = Ok::<_, Fault>(run.kernels[run.current].clock());
        dprint(kind: u32, value: u64) = kernel.dprint(kind, value).map_err(|what| run.fault("DPRINT", what));
        assert_failed(file: u32, line: u32, text: u32) = kernel.assert_failed(run, file, line, text);
        unsupported(name: u32, reason: u32) = kernel.refuse(run, name, reason, FaultKind::Unsupported);
        invalid(name: u32, reason: u32) = kernel.refuse(run, name, reason, FaultKind::Argument);
    }
    // Transfers.
    acting |run, device, kernel| {
        noc_async_read(source: u64, target: u32, size: u32, noc: i32) =
            run.noc_async_read(device, source, target, size, noc);
        noc_async_write(source: u32, target: u64, size: u32, noc: i32) =
            run.noc_async_write(device, source, target, size, noc);
        noc_async_read_page(
            dram: bool, base: u64, bytes: u32, page: u64, offset: u32, target: u32, size: u32, noc: i32,
        ) = run.noc_async_read_page(device, Page { dram, base, page, bytes, offset }, target, size, noc);
        noc_async_write_page(
            dram: bool, base: u64, bytes: u32, page: u64, offset: u32, source: u32, size: u32, noc: i32,
        ) = run.noc_async_write_page(device, source, Page { dram, base, page, bytes, offset }, size, noc);
        noc_async_read_tile(
            dram: bool, base: u64, bytes: u32, page: u64, offset: u32, target: u32, size: u32, noc: i32,
        ) = run.noc_async_read_tile(device, Page { dram, base, page, bytes, offset }, target, size, noc);
        noc_async_write_tile(
            dram: bool, base: u64, bytes: u32, page: u64, offset: u32, source: u32, size: u32, noc: i32,
        ) = run.noc_async_write_tile(device, source, Page { dram, base, page, bytes, offset }, size, noc);
        noc_async_write_multicast(
            source: u32, target: u64, size: u32, destinations: u32, loopback: bool, linked: bool, noc: i32,
        ) = run.noc_async_write_multicast(device, source, target, size, destinations, (loopback, linked), noc);
        noc_inline_dw_write(target: u64, value: u32, noc: i32, enabled: u32) =
            run.noc_inline_dw_write(device, target, value, enabled, noc);
        noc_semaphore_inc(target: u64, value: u32, noc: i32) = run.noc_semaphore_inc(device, target, value, noc);
        noc_barrier(kind: u32, noc: i32, trid: i32) =
            run.noc_barrier(Barrier::of(kind), noc, u8::try_from(trid).ok());
        set_trid(writes: bool, trid: u32, noc: i32) = run.set_trid(writes, trid, noc);
        reset_trids(ids: u32, noc: i32) = run.reset_trids(ids, noc);
        noc_semaphore_wait(address: u32, value: u32, at_least: bool) =
            run.noc_semaphore_wait(device, address, value, at_least);
        noc_semaphore_set(address: u32, value: u32) = run.noc_semaphore_set(device, address, value);
        noc_semaphore_set_remote(source: u32, target: u64, noc: i32) =
            run.noc_semaphore_set_remote(device, source, target, noc);
        noc_semaphore_set_multicast(
            source: u32, target: u64, destinations: u32, loopback: bool, linked: bool, noc: i32,
        ) = run.noc_semaphore_set_multicast(device, source, target, destinations, (loopback, linked), noc);
        load_word(address: u32) = run.load_word(device, address);
        fabric_open(connection: u32) = run.fabric_open(connection);
        fabric_close(connection: u32) = run.fabric_close(connection);
        fabric_payload(connection: u32, source: u32, bytes: u32) =
            run.fabric_payload(device, connection, source, bytes);
        fabric_send(connection: u32, header: u32, bytes: u32) =
            run.fabric_send(device, (connection, header, bytes), || kernel.place());
        fabric_slots(connection: u32) = run.fabric_slots(connection);
        fabric_direction(mesh: u32, chip: u32) = run.fabric_direction(mesh, chip);
    }
    quiet |run, device, kernel| {
        page_address(dram: bool, base: u64, bytes: u32, page: u64, offset: u32) =
            run.page_address(device, Page { dram, base, page, bytes, offset });
        shard_address(dram: bool, base: u64, bytes: u32, shard: u64, offset: u32) =
            run.shard_address(device, Page { dram, base, page: 0, bytes, offset }, shard);
    }
    // Setup of the compute engine.
    quiet |run, device, kernel| {
        hw_startup(a: u32, b: u32, out: u32) = run.hw_startup(a, b, out);
        matmul_init(in0: u32, in1: u32, transpose: bool, columns: u32, rows: u32, inner: u32) =
            run.init_math(codes::matmul(transpose, (columns, rows, inner)), &[in0, in1]);
        eltwise_init(op: u32, kind: u32, accumulate: bool, in0: u32, in1: u32) =
            run.init_math(codes::eltwise_math(op, kind, accumulate), &[in0, in1]);
        reuse_init(op: u32, to_a: bool, cb: u32) = run.init_math(Math::Reuse { op: eltwise(op), to_a }, &[cb]);
        copy_init(cb: u32, transpose: bool) = run.init_math(codes::copying(transpose), &[cb]);
        unary_bcast_init(kind: u32, cb: u32) = run.init_math(Math::Copy(Copying::Spread(broadcast(kind))), &[cb]);
        reduce_init(kind: u32, along: u32, cb: u32, scaler: u32) =
            run.init_math(Math::Reduce { pool: pool(kind), dim: dim(along) }, &[cb, scaler]);
        reduce_uninit() = run.reduce_uninit();
        tilize_init(cb: u32, block: u32) = run.init_math(Math::Tilize { block }, &[cb]);
        untilize_init(cb: u32) = run.init_math(Math::Untilize, &[cb]);
        pack_untilize_mode(columns: u32, full: u32) = run.pack_untilize_mode((full > 0).then_some((columns, full)));
        transpose_dst_init() = run.init_math(Math::TransposeDst, &[]);
        end_math() = run.end_math();
        sfpu_init(function: u32, mode: u32, count: u32, parameters: u32) =
            kernel.sfpu_init(run, function, mode, (count, parameters));
        reconfig_data_format(a: i32, b: i32, old_a: i32, old_b: i32) =
            run.reconfig_data_format(a.into(), b.into(), old_a.into(), old_b.into());
        pack_reconfig_data_format(cb: u32, old: i32) = run.pack_reconfig_data_format(cb, old.into());
        pack_reconfig_l1_acc(accumulate: bool) = run.pack_reconfig_l1_acc(accumulate);
        pack_relu_config(mode: u32, threshold: u16) = run.pack_relu_config(mode, threshold);
    }
    // Registers, and work on tiles of Dst.
    quiet |run, device, kernel| {
        tile_regs_acquire() = run.tile_regs_acquire();
        tile_regs_commit() = run.tile_regs_commit();
        tile_regs_wait() = run.tile_regs_wait();
        tile_regs_release() = run.tile_regs_release();
        acquire_dst() = run.acquire_dst();
        release_dst() = run.release_dst();
        transpose_dst(dst: u32) = run.transpose_dst(dst);
        sfpu(function: u32, a: u32, b: u32, c: u32, out: u32, mode: u32, count: u32, parameters: u32) =
            kernel.sfpu(run, function, ([a, b, c], out, mode), (count, parameters));
        sfpu_tiles(function: u32, number: u32, tiles: u32, count: u32, parameters: u32) =
            kernel.sfpu_tiles(run, function, (number, tiles), (count, parameters));
    }
    // Work on tiles of CBs. What the packer writes may be what a window shows.
    quiet |run, device, kernel| {
        matmul_tiles(in0: u32, in1: u32, tile0: u32, tile1: u32, dst: u32) =
            run.matmul_tiles(device, (in0, in1), (tile0, tile1), dst);
        matmul_block(
            in0: u32, in1: u32, tile0: u32, tile1: u32, dst: u32, transpose: bool, ct: u32, rt: u32, kt: u32,
        ) = run.matmul_block(device, (in0, in1), (tile0, tile1), dst, transpose, (ct, rt, kt));
        eltwise_tiles(op: u32, kind: u32, in0: u32, in1: u32, tile0: u32, tile1: u32, dst: u32) =
            run.eltwise_tiles(device, (eltwise(op), broadcast(kind)), (in0, in1), (tile0, tile1), dst);
        eltwise_reuse_dst(op: u32, to_a: bool, cb: u32, tile: u32, dst: u32) =
            run.eltwise_reuse_dst(device, eltwise(op), to_a, (cb, tile), dst);
        copy_tile(cb: u32, tile: u32, dst: u32) = run.copy_tile(device, Copying::Plain, cb, tile, dst);
        transpose_tile(cb: u32, tile: u32, dst: u32) = run.copy_tile(device, Copying::Transposed, cb, tile, dst);
        unary_bcast(kind: u32, cb: u32, tile: u32, dst: u32) =
            run.copy_tile(device, Copying::Spread(broadcast(kind)), cb, tile, dst);
        reduce_tile(kind: u32, along: u32, cb: u32, scaler: u32, tile: u32, scaler_tile: u32, dst: u32) =
            run.reduce_tile(device, (pool(kind), dim(along)), (cb, scaler), (tile, scaler_tile), dst);
        tilize_to_dst(input: u32, block: u32, dst: u32, first_in: u32) =
            run.tilize_to_dst(device, input, block, dst, first_in);
    }
    acting |run, device, kernel| {
        tilize_block(input: u32, block: u32, output: u32, first_in: u32, first_out: u32) =
            run.tilize_block(device, input, block, output, (first_in, first_out));
        untilize_block(input: u32, columns: u32, output: u32) = run.untilize_block(device, input, columns, output);
        pack_untilize_block(input: u32, output: u32, rows: u32, place: u32) =
            run.pack_untilize_block(device, (input, output), rows, place);
        pack_untilize_dest(output: u32, rows: u32, place: u32, first: u32) =
            run.pack_untilize_dest(device, output, rows, place, first);
        pack_tile(dst: u32, cb: u32, place: i32) =
            run.pack_tile(device, dst, cb, u32::try_from(place).ok()).map(|()| kernel.show(run, cb));
    }
}

impl Native {
    fn finish(&mut self, run: &mut Run) -> Result<Option<Ended>, Fault> {
        self.printer.end_line();
        run.finish_kernel().map(|ended| ended.then_some(Ended))
    }

    fn argument(&mut self, run: &mut Run, device: &Device, index: u32, common: bool) -> Result<u32, Fault> {
        let (first, count) = if common {
            (self.spec.own_args, self.args.saturating_sub(self.spec.own_args))
        } else {
            (0, self.spec.own_args.min(self.args))
        };
        let call = if common { "get_common_arg_val" } else { "get_arg_val" };
        if index >= count {
            let what = if common { "common runtime arguments" } else { "runtime arguments" };
            let text = format!("index {index} is out of range: the kernel has {count} {what}");
            return Err(run.fault(call, FaultKind::Argument(text)));
        }
        run.spend(0)?;
        let place = run.own_place(run.argument_address(first + index));
        let bytes = device.bytes(place, 4).map_err(|error| run.fault(call, error.into()))?;
        Ok(u32::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    fn assert_failed(&mut self, run: &mut Run, file: u32, line: u32, text: u32) -> Result<(), Fault> {
        if !run.watched {
            return Ok(()); // the macro is empty on a card without the watcher
        }
        let read = |pointer| self.text(pointer).map_err(|what| run.fault("ASSERT", what));
        let what = format!("{} ({}:{line})", read(text)?, read(file)?);
        Err(run.fault("ASSERT", FaultKind::Assertion(what)))
    }

    /// A call that is refused, for a reason that the headers know.
    fn refuse(
        &mut self,
        run: &mut Run,
        name: u32,
        reason: u32,
        kind: impl FnOnce(String) -> FaultKind,
    ) -> Result<(), Fault> {
        let read = |pointer| self.text(pointer).map_err(|what| run.fault("kernel_main", what));
        let what = format!("{}: {}", read(name)?, read(reason)?);
        Err(run.fault("kernel_main", kind(what)))
    }

    fn sfpu_init(&mut self, run: &mut Run, record: u32, mode: u32, parameters: (u32, u32)) -> Result<(), Fault> {
        let call = self.init_of(record, parameters).map_err(|what| run.fault("a vector init", what))?;
        run.vector_init(&call, mode)
    }

    fn sfpu(
        &mut self,
        run: &mut Run,
        record: u32,
        (tiles, out, mode): ([u32; 3], u32, u32),
        parameters: (u32, u32),
    ) -> Result<(), Fault> {
        let call = self.function(record, parameters).map_err(|what| run.fault("a vector function", what))?;
        run.vector(&call, tiles, out, mode)
    }

    fn sfpu_tiles(
        &mut self,
        run: &mut Run,
        record: u32,
        (number, tiles): (u32, u32),
        parameters: (u32, u32),
    ) -> Result<(), Fault> {
        let failed = |run: &Run, what| run.fault("a vector function", what);
        let call = self.function(record, parameters).map_err(|what| failed(run, what))?;
        let tiles = self.words(tiles, number).map_err(|what| failed(run, what))?;
        run.vector_tiles(&call, &tiles)
    }

    /// Shows the kernel what has become of a CB.
    fn show(&mut self, run: &Run, cb: u32) {
        self.mirror.show(run, &mut self.hart, cb);
    }

    /// So many words at an address of local RAM or text.
    pub(super) fn words(&self, address: u32, count: u32) -> Result<Vec<u32>, FaultKind> {
        let bytes = count.checked_mul(4).ok_or(FaultKind::NoMemory { address, bytes: u32::MAX })?;
        let found =
            self.hart.local(address, bytes).unwrap_or_else(|| self.spec.image.code.bytes(address, bytes as usize));
        if found.len() != bytes as usize {
            return Err(FaultKind::NoMemory { address, bytes });
        }
        let words = found.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        Ok(words.collect())
    }

    /// The text at an address of local RAM or text, up to a zero byte.
    pub(super) fn text(&self, address: u32) -> Result<String, FaultKind> {
        let mut bytes = Vec::new();
        for at in (0..MOST_TEXT).map(|offset| address.wrapping_add(offset)) {
            let byte = self.hart.local(at, 1).unwrap_or_else(|| self.spec.image.code.bytes(at, 1)).first();
            match byte {
                None => return Err(FaultKind::NoMemory { address: at, bytes: 1 }),
                Some(0) => break,
                Some(&byte) => bytes.push(byte),
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Most bytes of a text.
const MOST_TEXT: u32 = 4096;
