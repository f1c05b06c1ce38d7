"""Every name of the kernel API exists, computes or says why not, and is exported.

`kernel_names.txt` lists the kernel-side names of the classic headers and of 0.81.1: functions, then methods of objects.
Left out are what the headers themselves call internal (`*_impl`, `*_dispatch`) and members of sockets and pipes, which
are refused as a whole.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from ttnn import kernel_api

assert kernel_api.__all__  # loads the modules, whose names are looked through below
NAMES = (Path(__file__).parent / "kernel_names.txt").read_text().split()


def exists(name: str) -> bool:
    first, _, member = name.partition(".")
    found = getattr(kernel_api, first, None)
    return callable(getattr(found, member, None)) if member else found is not None and not isinstance(found, ModuleType)


def test_every_name_exists() -> None:
    assert [name for name in NAMES if not exists(name)] == []


def test_no_unsupported_name_is_also_built() -> None:
    modules = [module for module in vars(kernel_api).values() if isinstance(module, ModuleType)]
    others = {
        name
        for module in modules
        if not module.__name__.endswith("unsupported")
        for name in getattr(module, "__all__", ())
    }
    assert not others & set(kernel_api.UNSUPPORTED)


def test_modules_export_what_they_define() -> None:
    for module in (module for module in vars(kernel_api).values() if isinstance(module, ModuleType)):
        if not module.__name__.startswith("ttnn.kernel_api.") or module.__name__.endswith(("context", "functions")):
            continue
        exported = set(module.__all__)
        assert exported <= set(vars(module)), module.__name__
        assert all(getattr(kernel_api, name) is getattr(module, name) for name in exported)
