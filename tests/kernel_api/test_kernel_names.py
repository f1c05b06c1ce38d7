"""Every kernel API name exists, computes or raises, and is exported.

`kernel_names.txt` lists the kernel-side names of the classic headers and of 0.81.1: functions, then methods of objects.
Left out are what the headers themselves call internal (`*_impl`, `*_dispatch`) and members of sockets and pipes, which
are refused as a whole.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from ttnn import kernel_api

assert kernel_api.__all__  # loads the modules, whose names are looked through below
MODULES = [
    module
    for module in vars(kernel_api).values()
    if isinstance(module, ModuleType) and module.__name__.startswith("ttnn.kernel_api.")
]
NAMES = (Path(__file__).parent / "kernel_names.txt").read_text().split()


def exists(name: str) -> bool:
    first, _, member = name.partition(".")
    found = getattr(kernel_api, first, None)
    return callable(getattr(found, member, None)) if member else found is not None and not isinstance(found, ModuleType)


def test_every_listed_kernel_name_exists() -> None:
    assert [name for name in NAMES if not exists(name)] == []


def test_no_unsupported_name_is_also_built() -> None:
    home = "ttnn.kernel_api.unsupported"
    assert {getattr(kernel_api, name).__module__ for name in kernel_api.UNSUPPORTED} == {home}
    built = {
        name
        for module in MODULES
        if module.__name__ != home
        for name, value in vars(module).items()
        if getattr(value, "__module__", "").startswith("ttnn.kernel_api") and not name.startswith("_")
    }
    assert not built & set(kernel_api.UNSUPPORTED)


def test_modules_export_what_they_define() -> None:
    exported = set(kernel_api.__all__)
    assert len(exported) == len(kernel_api.__all__)
    for module in MODULES:
        if module.__name__.endswith(("context", "ending", "errors", "functions", "steps")):
            continue
        own = {
            name
            for name, value in vars(module).items()
            if getattr(value, "__module__", None) in (module.__name__, "ttnn.kernel_api") and not name.startswith("_")
        }
        assert own <= exported, module.__name__
        assert all(getattr(kernel_api, name) is getattr(module, name) for name in own)


def test_kernel_api_exports_only_its_own_names() -> None:
    homes = {getattr(value, "__module__", None) for value in map(kernel_api.__dict__.get, kernel_api.__all__)}
    assert homes - {None} <= {"ttnn.kernel_api", *(module.__name__ for module in MODULES)}
    assert [name for name in kernel_api.__all__ if not hasattr(getattr(kernel_api, name), "__module__")] == [
        "INVALID",
        "VALID",
        "UNSUPPORTED",
    ]
