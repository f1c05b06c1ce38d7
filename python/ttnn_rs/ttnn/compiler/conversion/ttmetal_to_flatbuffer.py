"""`--ttmetal-to-flatbuffer`: TTMetal binaries of 2024-09 from modules of the dialect `ttmetal`.

A function is a program with one command queue: buffers are created and freed at addresses that the compiler chose,
kernels are enqueued with their circular buffers. A kernel is C++ source; its operations stand beside it as text, which
the executor of this package runs.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import numpy as np

from ttnn.compiler.conversion.ttkernel_to_emitc import cb_port, region_source
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import OperationText, system_of
from ttnn.compiler.conversion.ttnn_to_flatbuffer.tt_tables import TtProgram
from ttnn.compiler.dialects.attributes import ArgAllocAttr, CoreRangeAttr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.features import DIALECT_TT
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import ArrayAttr, Block, FuncOp, IntegerAttr, Operation, SSAValue
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.target.flatbuffer.system_desc import to_table, version_table

__all__ = ["metal_to_binary"]

_CB: Final = re.compile(r"!ttkernel\.cb<\w+, (\d+), (memref<.*>), (\d+), (\d+)>$")
_CONFIG: Final = re.compile(r"#ttkernel\.(\w+)<(.*)>$")
_FIDELITY: Final = {"lofi": "LoFi", "hifi2": "HiFi2", "hifi3": "HiFi3", "hifi4": "HiFi4"}


def metal_to_binary(module: Module, version: str) -> Binary:
    """Return the binary of a module of the dialect `ttmetal`.

    Args:
        module: The lowered module.
        version: Version of the package, "major.minor.patch".

    Raises:
        CompileError: An operation has no binary form, or the module is of a later version.
    """
    if not DIALECT_TT.of(module.version):
        raise CompileError(module.at(module.op, "TTMetal binaries of the later versions are not written"))
    made = _Metal(module)
    values: dict[str, Any] = {
        "version": version_table(version),
        "ttmlir_git_hash": version,
        "system_desc": to_table(system_of(module), "2024-09"),
        "programs": [made.metal_program(function) for function in module.functions()],
    }
    return Binary("TTM0", "2024-09", values)


class _Metal(TtProgram):
    """Makes commands; tensors are numbered as in TTNN binaries, with addresses."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self._text = OperationText(module)

    def metal_program(self, function: FuncOp) -> dict[str, Any]:
        """Return the table `Program` of a function."""
        blocks = list(function.body.blocks)
        if len(blocks) != 1:
            raise self.error(function, "only functions of one block have a binary form")
        block = blocks[0]
        places = function.attributes.get("tt.arg_alloc")
        known = list(places.data) if isinstance(places, ArrayAttr) else []
        inputs = []
        for index, argument in enumerate(block.args):
            place = known[index] if index < len(known) else None
            if not isinstance(place, ArgAllocAttr):
                raise self.error(function, "arguments need addresses: run ttir-allocate before the conversion")
            inputs.append(self.tensor(argument, function, place.address, place.size))
        outputs: list[dict[str, Any]] = []
        commands = []
        for op in block.ops:
            if op.name == "func.return":
                outputs = [self.tensor(value, op) for value in op.operands]
                continue
            kind, table = self.command(op)
            commands.append({"type_type": kind, "type": table, "debug_info": self._short(op)})
        commands.append({"type_type": "FinishCommand", "type": {}, "debug_info": ""})
        queue = {"name": "queue0", "commands": commands}
        on_device = {"inputs": inputs, "outputs": outputs, "command_queues": [queue]}
        name = function.sym_name.data
        return {"name": name, "inputs": inputs, "outputs": outputs, "device_programs": [on_device]}

    def _result(self, op: TableOp) -> dict[str, Any]:
        """The reference of the result, which aliases the output among the operands."""
        outs = op.group("outputs") if op.name == "ttmetal.dispatch" else op.group("output")
        for result, out in zip(op.results, outs, strict=True):
            self.tensor(out, op)
            self.alias(result, out)
        return self.tensor(op.results[0], op)

    def _short(self, op: Operation) -> str:
        return self._text(op) if not op.regions else f'"{op.name}"'

    def command(self, op: Operation) -> tuple[str, dict[str, Any]]:
        """Return a command and its table."""
        if not isinstance(op, TableOp):
            raise self.error(op, "has no form in a TTMetal binary")
        if op.name == "ttmetal.alloc":
            reference = self.tensor(op.results[0], op, int(op.get("address")), int(op.get("size")))
            return "CreateBufferCommand", {"ref": reference}
        if op.name == "ttmetal.dealloc":
            return "DeallocateBufferCommand", {"ref": self.tensor(op.inputs[0], op)}
        if op.name == "ttmetal.host_write":
            self._result(op)
            value = op.attribute("value")
            if not isinstance(value, DenseAttr):
                raise self.error(op, "only dense constants have a form in TTMetal binaries")
            array = np.asarray(value.to_numpy() if not value.splat else value.elements())
            data = np.ascontiguousarray(array).astype(np.float32 if array.dtype.kind == "f" else np.uint32)
            source = {"data": [int(one) for one in data.view(np.uint32).ravel()]}
            target = self.tensor(op.results[0], op)
            return "EnqueueWriteBufferCommand", {"src_type": "ConstantBuffer32", "src": source, "dst": target}
        if op.name == "ttmetal.host_read":
            target = self._result(op)
            return "EnqueueReadBufferCommand", {"src": self.tensor(op.inputs[0], op), "dst": target}
        if op.name == "ttmetal.dispatch":
            self._result(op)
            operands = [self.tensor(value, op) for value in op.operands]
            return "EnqueueProgramCommand", {"operands": operands, "program": {"kernels": self.kernels(op)}}
        raise self.error(op, "has no form in a TTMetal binary")

    def kernels(self, op: TableOp) -> list[dict[str, Any]]:
        """Return a dispatch's kernels: region, core range and configuration i."""
        ranges, configs = op.attribute("core_ranges"), op.attribute("kernelConfigs")
        assert isinstance(ranges, ArrayAttr)
        assert isinstance(configs, ArrayAttr)
        kernels = []
        for region, place, config in zip(op.regions, ranges.data, configs.data, strict=True):
            assert isinstance(place, CoreRangeAttr)
            block = region.blocks[0]
            kind, table = self.config(str(config), op)
            compute = kind == "TensixConfig"
            text = region_source(self.module, region, "compute" if compute else "noc")
            source = {"source": text, "config_type": kind, "config": table}
            cores = {"loc": {"y": place.offset[0], "x": place.offset[1]}}
            cores |= {"size": {"y": place.size[0], "x": place.size[1]}}
            kernels.append(
                {
                    "kernel_type": "KernelSource",
                    "kernel": source,
                    "core_range_set": [cores],
                    "cbs": [
                        self.buffer(argument, value, op)
                        for argument, value in zip(block.args, op.operands, strict=False)
                    ],
                    "debug_info": self.steps(block),
                }
            )
        return kernels

    def config(self, text: str, op: Operation) -> tuple[str, dict[str, Any]]:
        """Return the member and table of a kernel configuration."""
        found = _CONFIG.match(text)
        words = [word.strip() for word in found[2].split(",")] if found else []
        if found and found[1] == "noc_config":
            return "NocConfig", {"noc_index": words[0].capitalize()}
        if found and found[1] == "tensix_config" and words[0] in _FIDELITY:
            names = ("fp32_dest_acc_en", "preserve_fp32_precision", "math_approx_mode")
            flags = {name: word == "true" for name, word in zip(names, words[1:], strict=True)}
            return "TensixConfig", {"math_fidelity": _FIDELITY[words[0]], **flags}
        if found and found[1] == "ethernet_config":
            return "EthernetConfig", {"eth_type": words[0].capitalize(), "noc_index": words[1].capitalize()}
        raise self.error(op, f"{text} is no kernel configuration")

    def buffer(self, argument: SSAValue, value: SSAValue, op: Operation) -> dict[str, Any]:
        """Return the table `CBRef` of a circular buffer on a tensor."""
        found, port = _CB.match(str(argument.type)), cb_port(argument.type)
        if found is None or port is None:
            raise self.error(op, f"{argument.type} is no circular buffer")
        reference = self.tensor(value, op)
        memory = reference["desc"]["layout"]["memory_desc"]
        desc = {"port": port, "memory_desc": memory, "page_size": int(found[3]), "num_buffers": int(found[4])}
        return {"global_id": port, "tensor_ref": reference, "address": int(found[1]), "desc": desc}

    def steps(self, block: Block) -> str:
        """Return a kernel's operations as JSON.

        Name, operands, and the number of the result if there is one.

        An operand is a number, a port as {"cb": n}, or an earlier result as {"value": n}.
        """
        values: dict[SSAValue, Any] = {}
        for argument in block.args:
            values[argument] = {"cb": cb_port(argument.type)}
        steps: list[list[Any]] = []
        for op in block.ops:
            if op.name == "arith.constant":
                constant = op.properties.get("value")
                assert isinstance(constant, IntegerAttr)
                values[op.results[0]] = constant.value.data
                continue
            steps.append([op.name.removeprefix("ttkernel."), [values[value] for value in op.operands]])
            if op.results:
                values[op.results[0]] = {"value": len(steps) - 1}
        return json.dumps(steps)
