"""Node for tests: the modules of a page without a browser, as far as they know nothing of one."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

SCRIPT: Final = Path(__file__).resolve().parents[2] / "src" / "paceline" / "pages" / "script"
NODE: Final = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def in_node(module: str, expression: str, given: Any = None) -> Any:
    """What an expression comes to, in which `given` is what was given, and names are those of the module."""
    assert NODE is not None
    program = f"""
        import * as module from {json.dumps((SCRIPT / module).as_uri())};
        import {{ readFileSync }} from "node:fs";
        const given = JSON.parse(readFileSync(0, "utf8"));
        const found = await (async () => ({expression}))();
        console.log(JSON.stringify(found));
    """
    command = [NODE, "--input-type=module", "-e", program]
    ended = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)
