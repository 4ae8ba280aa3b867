"""Build wheels that contain compiled kernels.

The build runs the demo with an empty cache and adds what it compiled to the wheel, which then is specific to this
platform and Python version. That needs the package's dependencies, so build where they are installed: ``python -m build
--wheel --no-isolation``. If they are missing or the demo fails, the wheel contains no compiled kernels. An editable
install compiles nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_LEVEL = "from unveil.compilation import processor_level; print(processor_level() or '')"
_DEMO = """
import sys
from pathlib import Path
from unveil.compilation import write_shipped_code_to
write_shipped_code_to(Path(sys.argv[1]))
from unveil.cli.main import cli
cli.main(["demo", sys.argv[2], "--quiet"], prog_name="unveil", standalone_mode=False)
cli.main(["assess", sys.argv[2] + "/patients.csv", "--quiet", "--exit-zero"], prog_name="unveil", standalone_mode=False)
"""


class CompiledKernels(BuildHookInterface):  # type: ignore[misc]
    """Fills the folder ``unveil/_shipped`` of a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        self._made = Path(tempfile.mkdtemp())
        try:
            self._compile(self._made)
        except (OSError, subprocess.CalledProcessError) as error:
            why = error.stderr if isinstance(error, subprocess.CalledProcessError) else error
            self.app.display_warning(f"the wheel carries no compiled kernels: {why}")
            return
        build_data["force_include"][str(self._made / "shipped")] = "unveil/_shipped"
        build_data["pure_python"], build_data["infer_tag"] = False, True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_made"):
            shutil.rmtree(self._made, ignore_errors=True)

    def _compile(self, made: Path) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        environment["PYTHONPATH"] = str(Path(self.root) / "src")
        level = self._run(_LEVEL, environment).strip()
        if not level:
            raise OSError("this processor has less than those that wheels are made for")
        environment |= {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ""}
        self._run(_DEMO, environment, made / "shipped", made / "demo")

    def _run(self, program: str, environment: dict[str, str], *arguments: Path) -> str:
        command = [sys.executable, "-c", program, *map(str, arguments)]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
