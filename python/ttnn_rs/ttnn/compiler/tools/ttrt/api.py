"""The commands as classes of one name."""

from __future__ import annotations

from typing import ClassVar

from ttnn.compiler.tools.ttrt.check import Check
from ttnn.compiler.tools.ttrt.command import Command
from ttnn.compiler.tools.ttrt.perf import Perf
from ttnn.compiler.tools.ttrt.query import Query
from ttnn.compiler.tools.ttrt.read import Read
from ttnn.compiler.tools.ttrt.run import Run

__all__ = ["API"]


class API:
    """The commands of `ttrt`: `API.Run(args={"binary": path})()` is `ttrt run path`.

    Attributes:
        registered_apis: The commands by the names of their classes.
    """

    Check = Check
    Perf = Perf
    Query = Query
    Read = Read
    Run = Run
    registered_apis: ClassVar[dict[str, type[Command]]] = {}

    @staticmethod
    def initialize_apis() -> None:
        """Register the commands and their arguments."""
        for command in (Query, Read, Run, Perf, Check):
            API.register_api(command)

    @staticmethod
    def register_api(api_class: type[Command]) -> None:
        """Register a command."""
        api_class.initialize_api()
        API.registered_apis[api_class.__name__] = api_class
