"""Devices."""

from ttnn.compiler.frontends.torch.devices import DeviceManager

__all__ = ["DeviceManager"]
