"""Settings of a comparison."""

from ttnn.compiler.frontends.forge.verify import DeprecatedVerifyConfig, VerifyConfig

__all__ = ["DeprecatedVerifyConfig", "VerifyConfig"]
