"""Comparison with frameworks."""

from ttnn.compiler.frontends.forge.verify import DeprecatedVerifyConfig, VerifyConfig

__all__ = ["DeprecatedVerifyConfig", "VerifyConfig"]
