"""Compute kernel configuration: fidelity, approximation, Dst width, packer accumulation.

Source: TT-NN docs "WormholeComputeKernelConfig" and `init_device_compute_kernel_config`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ttnn.base.enums import Arch, MathFidelity, ThrottleLevel
from ttnn.base.exceptions import ArgumentError


@dataclass(kw_only=True, unsafe_hash=True)
class WormholeComputeKernelConfig:
    """Compute configuration of a Wormhole or Blackhole operator.

    Args:
        math_fidelity: Passes over mantissa parts; `Invalid` leaves the choice to the operator.
        math_approx_mode: Approximate functions of the SFPU.
        fp32_dest_acc_en: 32-bit Dst.
        packer_l1_acc: Partial sums are added by the packer in L1 instead of being reloaded into Dst.
        dst_full_sync_en: Dst is one buffer instead of two halves. Changes time and block sizes only.
        throttle_level: Slows a matmul down to save power. Changes time only.
    """

    math_fidelity: MathFidelity = MathFidelity.Invalid
    math_approx_mode: bool = True
    fp32_dest_acc_en: bool = False
    packer_l1_acc: bool = False
    dst_full_sync_en: bool = False
    throttle_level: ThrottleLevel = ThrottleLevel.NO_THROTTLE

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field, at construction or later.

        Raises:
            ArgumentError: a value of another kind.
            AttributeError: no field.
        """
        field = self.__dataclass_fields__.get(name)
        if field is None:
            raise AttributeError(f"WormholeComputeKernelConfig has no field {name}")
        expected = type(field.default)
        if not isinstance(value, expected):
            raise ArgumentError(
                f"WormholeComputeKernelConfig: {name} is a {expected.__name__}, got {type(value).__name__}."
            )
        super().__setattr__(name, value)


BlackholeComputeKernelConfig = WormholeComputeKernelConfig
DeviceComputeKernelConfig = WormholeComputeKernelConfig


def init_device_compute_kernel_config(
    arch: Arch,
    device_kernel_config: WormholeComputeKernelConfig | None = None,
    *,
    math_fidelity: MathFidelity = MathFidelity.LoFi,
    math_approx_mode: bool = True,
    fp32_dest_acc_en: bool = False,
    packer_l1_acc: bool = False,
    dst_full_sync_en: bool = False,
    throttle_level: ThrottleLevel = ThrottleLevel.NO_THROTTLE,
) -> WormholeComputeKernelConfig:
    """Return `device_kernel_config`, or a configuration with these defaults.

    Args:
        arch: Generation of the chip; both that exist accept the same configuration.
        device_kernel_config: Returned as a copy if given; an `Invalid` fidelity in it is replaced by `math_fidelity`.
        math_fidelity: Default fidelity.
        math_approx_mode: Default approximation.
        fp32_dest_acc_en: Default Dst width.
        packer_l1_acc: Default packer accumulation.
        dst_full_sync_en: Default Dst buffering.
        throttle_level: Default throttling.

    Raises:
        ArgumentError: `arch` is not an architecture.
    """
    if not isinstance(arch, Arch):
        raise ArgumentError(f"init_device_compute_kernel_config: arch is an Arch, got {type(arch).__name__}.")
    if device_kernel_config is None:
        return WormholeComputeKernelConfig(
            math_fidelity=math_fidelity,
            math_approx_mode=math_approx_mode,
            fp32_dest_acc_en=fp32_dest_acc_en,
            packer_l1_acc=packer_l1_acc,
            dst_full_sync_en=dst_full_sync_en,
            throttle_level=throttle_level,
        )
    if not isinstance(device_kernel_config, WormholeComputeKernelConfig):
        raise ArgumentError(
            "init_device_compute_kernel_config: device_kernel_config is a WormholeComputeKernelConfig, got "
            f"{type(device_kernel_config).__name__}."
        )
    values = {field.name: getattr(device_kernel_config, field.name) for field in fields(device_kernel_config)}
    if device_kernel_config.math_fidelity is MathFidelity.Invalid:
        values["math_fidelity"] = math_fidelity
    return WormholeComputeKernelConfig(**values)


def wide_fidelity(arch: Arch) -> MathFidelity:
    """Return the default fidelity of most operators beside a 32-bit Dst.

    Wormhole's matrix unit subtracts too much now and then with four phases and a 32-bit Dst; Blackhole's does not.
    """
    return MathFidelity.HiFi3 if arch is Arch.WORMHOLE_B0 else MathFidelity.HiFi4


def layernorm_default_compute_config(arch: Arch) -> WormholeComputeKernelConfig:
    """Return what layer_norm computes with by default: HiFi4, no approximation, 32-bit Dst."""
    return init_device_compute_kernel_config(
        arch, math_fidelity=MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=True
    )


def rmsnorm_default_compute_config(arch: Arch) -> WormholeComputeKernelConfig:
    """Return what rms_norm computes with by default: HiFi4, approximate functions, 16-bit Dst."""
    return init_device_compute_kernel_config(arch, math_fidelity=MathFidelity.HiFi4)


FIDELITY_NUMBER: dict[MathFidelity, int] = {
    MathFidelity.LoFi: 1,
    MathFidelity.HiFi2: 2,
    MathFidelity.HiFi3: 3,
    MathFidelity.HiFi4: 4,
}
"""Number of passes, in the engine's form."""
