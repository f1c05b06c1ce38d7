"""Losses of `forge.op.loss`."""

from __future__ import annotations

from typing import Any, Final

from torch.nn import functional

from ttnn.compiler.frontends.forge.modules import ForgeModule
from ttnn.compiler.frontends.forge.tensor import Tensor

__all__ = ["LOSSES"]


class _Loss(ForgeModule):
    """A loss: a function of PyTorch of predictions and labels."""

    function = ""

    def __init__(self, name: str, reduction: str = "mean", **options: Any) -> None:
        super().__init__(name)
        self.reduction, self.settings = reduction, options

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the loss."""
        values = [one.value() if isinstance(one, Tensor) else one for one in args]
        made = getattr(functional, self.function)(*values, reduction=self.reduction, **self.settings, **kwargs)
        return Tensor(made)


def _loss(name: str, function: str) -> type[_Loss]:
    return type(name, (_Loss,), {"function": function, "__doc__": f"The loss `{function}` of PyTorch."})


LOSSES: Final = {
    name: _loss(name, function)
    for name, function in (
        ("BCELoss", "binary_cross_entropy"),
        ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits"),
        ("CrossEntropyLoss", "cross_entropy"),
        ("HuberLoss", "huber_loss"),
        ("KLDivLoss", "kl_div"),
        ("L1Loss", "l1_loss"),
        ("MSELoss", "mse_loss"),
        ("NLLLoss", "nll_loss"),
    )
}
"""Losses by name."""
