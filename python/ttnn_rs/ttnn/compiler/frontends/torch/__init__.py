"""`torch.compile` on the device."""

from ttnn.compiler.frontends.torch.backend import tt, tt_experimental, tt_legacy, ttnn
from ttnn.compiler.frontends.torch.options import BackendOptions, TorchTtnnOption

__all__ = ["BackendOptions", "TorchTtnnOption", "tt", "tt_experimental", "tt_legacy", "ttnn"]
