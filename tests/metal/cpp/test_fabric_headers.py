"""Headers of the fabric: sizes, bytes, every official function."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path

import numpy as np
import pytest

import ttnn
from testkit.parts import CORE
from ttnn import metal
from ttnn.metal.cpp import compiler
from ttnn.metal.cpp.spec import BRISC, Chip, CppSource, KernelSettings

CHIP = Chip("WORMHOLE", ((0, 1), (0, 2)), ((18, 18), (19, 18)), 32, 16)
KINDS = {
    "unicast_write": ("NocUnicastCommandHeader{1}", "UnicastWriteUpdateMask", True),
    "scatter_write": ("NocUnicastScatterCommandHeader({1, 2}, {16})", "UnicastScatterWriteUpdateMask", True),
    "fused_unicast_with_atomic_inc": (
        "NocUnicastAtomicIncFusedCommandHeader{1, 2, 3, true}", "UnicastFusedAtomicIncUpdateMask", True,
    ),
    "fused_scatter_write_atomic_inc": (
        "NocUnicastScatterAtomicIncFusedCommandHeader({1, 2}, 3, {16}, 4, true)",
        "UnicastFusedScatterWriteAtomicIncUpdateMask", True,
    ),
    "unicast_atomic_inc": ("NocUnicastAtomicIncCommandHeader{1, 2, true}", "UnicastAtomicIncUpdateMask", False),
    "unicast_inline_write": ("NocUnicastInlineWriteCommandHeader{1, 2}", "UnicastInlineWriteUpdateMask", False),
}  # fmt: skip
"""Commands: an example, the mask of its fields, its payload."""
PARTS = {
    "linear": {
        "unicast": ("header->to_chip_unicast(1)", "uint8_t(1)", "hops"),
        "multicast": ("header->to_chip_multicast({1, 2})", "uint8_t(1), uint8_t(2)", "hops, ranges"),
    },
    "mesh": {
        "unicast": ("", "uint8_t(1), uint16_t(0)", ""),
        "multicast": ("", "uint8_t(1), uint16_t(0), sides[0]", "sides"),
    },
}
"""Routes of a packet: parameters for one connection and for several."""
HEAD = """
#include "tt_metal/fabric/hw/inc/linear/addrgen_api.h"
#include "tt_metal/fabric/hw/inc/{api}/api.h"
#include "tt_metal/fabric/hw/inc/tt_fabric_mux_v2_sender.hpp"

using namespace tt::tt_fabric::{api}::experimental;

template <typename Sender>
void send(Sender* sender, volatile PACKET_HEADER_TYPE* header, RoutingPlaneConnectionManager& manager) {{
    uint8_t hops[4] = {{1, 1, 1, 1}}, ranges[4] = {{2, 2, 2, 2}};
    uint16_t masks[4] = {{5, 5, 5, 5}};
    const InterleavedAddrGen<true> pages = {{.bank_base_address = get_arg_val<uint32_t>(1), .page_size = 5000}};
"""
TAIL = """
}
void kernel_main() {
    size_t next = 2;
    auto sender = WorkerToFabricEdmSender::build_from_args<ProgrammableCoreType::TENSIX>(next);
    auto mux = FabricMuxV2Sender<>::build_from_args(next);
    RoutingPlaneConnectionManager manager;
    open_connections(manager, 2, next);
    sender.open();
    mux.open();
    const auto header = PacketHeaderPool::allocate_header(2);
    send(&sender, header, manager);
    send(&mux, header, manager);
    mux.close();
    sender.close();
    close_connections(manager);
}
"""


def build(text: str, header_bytes: int) -> bytes:
    """Return the image of a kernel; headers have this size."""
    defines = {"TTNN_RS_FABRIC_HEADER_BYTES": str(header_bytes), "TTNN_RS_PACKET_HEADER_POOL": "0x100000"}
    if header_bytes == 96:
        defines["FABRIC_2D"] = "1"
    settings = KernelSettings(BRISC, CHIP, defines=defines)
    return compiler.compile_kernel(CppSource(None, text), settings).image


def calls(api: str) -> dict[str, list[str]]:
    """Return calls of every function of a header, by name."""
    found: dict[str, list[str]] = {}
    for (route, (_, one, several)), (kind, (command, mask, payload)) in itertools.product(
        PARTS[api].items(), KINDS.items()
    ):
        name = f"fabric_{route}_noc_{kind}"
        source, size = ("64u, 32u", ", uint16_t(32)") if payload else ("", "")
        stored = f"{source[:3]}" if payload else ""
        ends = {"sender, header": one, "manager, uint8_t(0)": several}
        for end, way in ends.items():
            # A line has the command before the hops, a mesh after the chip.
            words = [end, source, command, way] if api == "linear" else [end, way, source, command]
            if end.startswith("manager") and api == "mesh" and route == "unicast":
                words = [end, source, command]
            found.setdefault(name, []).append(join(name, words))
            state = f"{name}_with_state"
            found.setdefault(state, []).append(join(state, [end, stored]))
            found[state].append(join(f"{state}<{mask}::All>", [end, stored, command + size]))
            header = end.removeprefix("sender, ")
            state = f"{name}_set_state"
            found.setdefault(state, []).append(join(f"{state}<{mask}::All>", [header, way, command + size]))
    return found


def join(name: str, words: list[str]) -> str:
    return f"{name}({', '.join(word for word in words if word)});"


LINES = """
    fabric_sparse_multicast_noc_unicast_write(sender, header, 64, 32, NocUnicastCommandHeader{1}, 5);
    fabric_sparse_multicast_noc_unicast_write(manager, 0, 64, 32, NocUnicastCommandHeader{1}, masks);
    fabric_sparse_multicast_noc_scatter_write(sender, header, 64, 32, NocSparseMulticastWriteCommandHeader{}, 5);
    fabric_set_unicast_route(manager, header, 0);
    fabric_set_mcast_route(manager, header, ranges, 0);
    tt::tt_fabric::linear::to_noc_unicast_write(header, 0, pages);
    tt::tt_fabric::linear::to_noc_unicast_scatter_write(header, 0, 1, pages);
    tt::tt_fabric::linear::to_noc_fused_unicast_write_atomic_inc(
        header, NocUnicastAtomicIncCommandHeader{1, 2}, 0, pages);
"""
MESHES = """
    fabric_unicast_noc_unicast_write(sender, header, 1, 0, 64, pages, 3);
    fabric_unicast_noc_unicast_write_with_state(sender, header, 1, 0, 64, pages, 3);
    fabric_unicast_noc_unicast_write_set_state(header, 1, 0, pages, 3);
    fabric_unicast_noc_fused_unicast_with_atomic_inc(sender, header, 1, 0, 64, pages, 3, 5, 1);
    fabric_unicast_noc_fused_unicast_with_atomic_inc_with_state(sender, header, 1, 0, 64, pages, 3, 5, 1);
    fabric_unicast_noc_fused_unicast_with_atomic_inc_set_state(header, 1, 0, pages, 3, 5, 1);
    fabric_unicast_noc_scatter_write(sender, header, 1, 0, 64, pages, 3, 4);
    fabric_unicast_noc_scatter_write_with_state(sender, header, 1, 0, 64, pages, 3, 4);
    fabric_unicast_noc_scatter_write_set_state(header, 1, 0, pages, 3, 4);
    fabric_multicast_noc_unicast_write(sender, header, 1, 0, sides[0], 64, pages, 3);
    fabric_multicast_noc_unicast_write_with_state(sender, header, 1, 0, sides[0], 64, pages, 3);
    fabric_multicast_noc_unicast_write_set_state(header, 1, 0, sides[0], pages, 3);
    fabric_multicast_noc_scatter_write(sender, header, 1, 0, sides[0], 64, pages, 3, 4);
    fabric_multicast_noc_scatter_write_with_state(sender, header, 1, 0, sides[0], 64, pages, 3, 4);
    fabric_multicast_noc_scatter_write_set_state(header, 1, 0, sides[0], pages, 3, 4);
    fabric_multicast_noc_fused_unicast_with_atomic_inc(sender, header, 1, 0, sides[0], 64, pages, 3, 5, 1);
    fabric_multicast_noc_fused_unicast_with_atomic_inc_with_state(sender, header, 64, pages, 3, 5, 1);
    fabric_multicast_noc_fused_unicast_with_atomic_inc_set_state(header, 1, 0, sides[0], pages, 3, 5, 1);
    fabric_unicast_noc_unicast_write<Sender, false>(sender, header, 1, 0, 64, 32, NocUnicastCommandHeader{1});
    fabric_unicast_noc_unicast_write<false>(manager, 0, 64, 32, NocUnicastCommandHeader{1});
    fabric_multicast_source_inject_noc_unicast_write(manager, 0, sides[1], 64, 32, NocUnicastCommandHeader{1});
    fabric_multicast_source_inject_noc_unicast_atomic_inc(manager, 0, sides[1], NocUnicastAtomicIncCommandHeader{1, 2});
    fabric_multicast_source_inject_noc_fused_unicast_with_atomic_inc(
        manager, 0, sides[1], 64, 32, NocUnicastAtomicIncFusedCommandHeader{1, 2, 3});
    fabric_multicast_source_inject_noc_fused_scatter_write_atomic_inc(
        manager, 0, sides[1], 64, 32, NocUnicastScatterAtomicIncFusedCommandHeader({1, 2}, 3, {16}, 4));
"""


def program_of(api: str) -> str:
    lines = [f"    {call}" for group in calls(api).values() for call in group]
    sides = "    const MeshMcastRange sides[4] = {{1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}};\n"
    start = HEAD.format(api=api) + (sides if api == "mesh" else "")
    return start + "\n".join(lines) + (LINES if api == "linear" else MESHES) + TAIL


@pytest.mark.parametrize(("api", "size"), [("linear", 48), ("linear", 64), ("linear", 96), ("mesh", 96)])
def test_every_function_compiles_with_the_official_parameters(api: str, size: int) -> None:
    assert build(program_of(api), size)


@pytest.mark.parametrize("api", ["linear", "mesh"])
def test_no_official_function_is_missing(api: str) -> None:
    wheel = os.environ.get("TTNN_OFFICIAL_WHEEL")
    if not wheel:
        pytest.skip("TTNN_OFFICIAL_WHEEL is not set")
    (path,) = Path(wheel).rglob(f"tt_metal/fabric/hw/inc/{api}/api.h")
    official = set(re.findall(r"^FORCE_INLINE void (fabric_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE))
    assert len(official) > 30
    used = set(re.findall(r"\bfabric_\w+", program_of(api)))
    assert official <= used


SIZES = """
#include "hostdev/fabric_edm_packet_header.hpp"
#include "hostdev/socket.h"

using namespace tt::tt_fabric;
using Header = PACKET_HEADER_TYPE;
static_assert(sizeof(Header) == TTNN_RS_FABRIC_HEADER_BYTES);
static_assert(offsetof(Header, command_fields) == 0 && offsetof(Header, payload_size_bytes) == 40);
static_assert(offsetof(Header, noc_send_type) == 42 && offsetof(Header, src_ch_id) == 43);
static_assert(offsetof(Header, routing_fields) == 44);
static_assert(sizeof(NocUnicastCommandHeader) == 8 && sizeof(NocMulticastCommandHeader) == 8);
static_assert(sizeof(NocUnicastInlineWriteCommandHeader) == 16);
static_assert(offsetof(NocUnicastInlineWriteCommandHeader, value) == 8);
static_assert(sizeof(NocUnicastAtomicIncCommandHeader) == 16);
static_assert(offsetof(NocUnicastAtomicIncCommandHeader, flush) == 12);
static_assert(sizeof(NocUnicastAtomicIncFusedCommandHeader) == 24);
static_assert(offsetof(NocUnicastAtomicIncFusedCommandHeader, val) == 16);
static_assert(offsetof(NocUnicastAtomicIncFusedCommandHeader, flush) == 20);
static_assert(sizeof(NocUnicastScatterAtomicIncFusedCommandHeader) == 32);
static_assert(sizeof(NocMulticastAtomicIncCommandHeader) == 12);
static_assert(sizeof(NocUnicastScatterCommandHeader) == 40);
static_assert(offsetof(NocUnicastScatterCommandHeader, chunk_size) == 32);
static_assert(offsetof(NocUnicastScatterCommandHeader, chunk_count) == 38);
static_assert(offsetof(NocUnicastScatterCommandHeader, chunk_encoding) == 39);
static_assert(offsetof(NocSparseMulticastWriteCommandHeader, counts) == 32);
static_assert(offsetof(NocSparseMulticastWriteCommandHeader, num_dests) == 36);
static_assert(sizeof(sender_socket_md) == 28 && sizeof(receiver_socket_md) == 44);
static_assert(sizeof(sender_downstream_encoding) == 16);
static_assert(!std::is_same_v<Header, HybridMeshPacketHeader> == (TTNN_RS_FABRIC_HEADER_BYTES != 96));
void kernel_main() {}
"""


@pytest.mark.parametrize("size", [48, 64, 96])
def test_headers_have_the_official_sizes(size: int) -> None:
    assert build(SIZES, size)


BYTES = """
#include "tt_metal/fabric/hw/inc/linear/api.h"

using namespace tt::tt_fabric::linear::experimental;

void kernel_main() {
    auto next = get_arg_val<uint32_t>(0);
    const auto header = [&] {
        const auto place = reinterpret_cast<volatile PACKET_HEADER_TYPE*>(next);
        const auto words = reinterpret_cast<volatile uint32_t*>(next);
        for (uint32_t i = 0; i < sizeof(PACKET_HEADER_TYPE) / 4; ++i) {
            words[i] = 0;
        }
        next += sizeof(PACKET_HEADER_TYPE);
        return place;
    };
    const uint64_t a = get_noc_addr(18, 19, 0x1000), b = get_noc_addr(20, 21, 0x2000), c = get_noc_addr(22, 23, 0x3000);
    header()->to_chip_unicast(3)->to_noc_unicast_write(NocUnicastCommandHeader{a}, 4352);
    header()->to_chip_multicast({2, 5})->to_noc_unicast_inline_write({a, 77});
    header()->to_noc_unicast_atomic_inc({a, 9, false});
    header()->to_noc_fused_unicast_write_atomic_inc({a, b, 9, true}, 64);
    header()->to_noc_unicast_scatter_write(NocUnicastScatterCommandHeader({a, b, c}, {16, 32}), 100);
    header()->to_noc_fused_unicast_scatter_write_atomic_inc({{a, b}, c, {16}, 5}, 100);
    const auto kept = header();
    fabric_unicast_noc_unicast_write_set_state<UnicastWriteUpdateMask::All>(kept, 1, NocUnicastCommandHeader{a}, 32);
    populate_unicast_write_fields<UnicastWriteUpdateMask::DstAddr>(kept, 64, NocUnicastCommandHeader{b});
    const auto last = header();
#if TTNN_RS_FABRIC_HEADER_BYTES == 96
    fabric_set_unicast_route(last, 5, 1);
    fabric_set_mcast_route(header(), 6, 2, 1, 2, 3, 4);
#else
    last->to_chip_sparse_multicast({0x8005});
    fabric_set_unicast_route<false>(header(), 7);
#endif
}
"""


def address(x: int, y: int, place: int) -> int:
    return y << 42 | x << 36 | place


@pytest.mark.parametrize("size", [48, 64, 96])
def test_fields_are_bytes_of_the_header(device: ttnn.MeshDevice, size: int) -> None:
    memory = metal.create_buffer(
        metal.InterleavedBufferConfig(device=device, size=1024, page_size=1024, buffer_type=metal.BufferType.L1)
    )
    memory.write(np.zeros(1024, np.uint8))
    program = metal.create_program()
    defines = {"TTNN_RS_FABRIC_HEADER_BYTES": str(size)}
    kernel = metal.create_kernel_from_string(program, BYTES, CORE, metal.DataMovementConfig(defines=defines))
    metal.set_runtime_args(program, kernel, CORE, [memory])
    metal.run_program(device, program)
    headers = memory.read(np.uint8)[: 9 * size].reshape(9, size)
    addresses = headers[:, :32].copy().view(np.uint64)
    a, b, c = address(18, 19, 0x1000), address(20, 21, 0x2000), address(22, 23, 0x3000)
    assert addresses[:7].tolist()[0][0] == a
    assert addresses[3, :2].tolist() == [a, b]
    assert addresses[4].tolist() == addresses[5].tolist() == [a, b, c, 0]
    assert addresses[6, 0] == b
    words = headers.copy().view(np.uint32)
    assert words[1, 2] == 77
    assert [words[2, 2], headers[2, 12]] == [9, 0]
    assert [words[3, 4], headers[3, 20]] == [9, 1]
    assert headers[4, 32:40].copy().view(np.uint16)[:3].tolist() == [16, 32, 0]
    assert headers[4, 38:40].tolist() == [3, 0b01010101]
    assert headers[5, 32:40].copy().view(np.uint16)[:3].tolist() == [16, 84, 5]
    assert headers[5, 38:40].tolist() == [3, 0b110101]
    assert words[:7, 10].tolist() == [4352, 1 << 16, 2 << 16, 3 << 16 | 64, 4 << 16 | 100, 4 << 16 | 100, 32]
    routes = headers[:, 44:56].tolist()
    if size == 96:
        assert routes[0] == [0] * 12
        assert routes[7] == [2, 0, 0, 0, 5, 0, 1, 0, 0, 0, 0, 0]
        assert routes[8] == [3, 0, 0, 0, 6, 0, 2, 0, 1, 2, 3, 4]
        return
    assert routes[0][:4] == [0, 3, 0, 0]
    assert routes[1][:4] == [1, 2, 5, 0]
    assert routes[6][:4] == [0, 1, 0, 0]
    assert routes[8][:4] == [0, 7, 0, 0]
    assert routes[7][: 4 if size == 48 else 8] == ([4, 0, 5, 0x80] if size == 48 else [4, 0, 0, 0, 5, 0x80, 0, 0])
