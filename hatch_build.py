"""Build hook of platform wheels: the object code of all loops goes into the package.

It runs where HATCH_BUILD_HOOK_ENABLE_CUSTOM is true (`make wheel`). The code depends on the processor and on the
format of objects, not on Python and not on the C library's version, so one wheel serves all Pythons of a platform.
"""

from __future__ import annotations

import platform
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root) / "src"))
        from sekant.loops.store.prebuilt import write_prebuilt

        folder = Path(self.root) / "build" / "prebuilt"
        shutil.rmtree(folder, ignore_errors=True)
        write_prebuilt(folder)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform()}"
        build_data["force_include"][str(folder)] = "sekant/prebuilt"


def _platform() -> str:
    if sys.platform == "linux":
        return f"manylinux_2_17_{platform.machine()}"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
