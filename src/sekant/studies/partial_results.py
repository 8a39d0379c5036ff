"""Stores parts of a study on disk while it runs, so that a killed study can continue.

Each block is one file in a folder beside the result, written atomically; `study.json` identifies the study.
"""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sekant.errors import DataError, SekantError, counted
from sekant.files import replace_file
from sekant.studies.task import RowBlock

_ABOUT = "study.json"


class StudyParts:
    """The folder of the parts of a study with the fingerprint `key` and `rows` rows."""

    def __init__(self, folder: Path, key: str, rows: int):
        self.folder, self._about = folder, {"key": key, "rows": rows}

    def open(self, resume: bool) -> None:
        """Create the folder, or continue with its parts; parts of another study are refused."""
        about = self.folder / _ABOUT
        if about.exists():
            try:
                found = json.loads(about.read_text())
            except (OSError, ValueError):
                raise DataError("is damaged; remove its folder to start again", file=str(about)) from None
            if not resume:
                raise SekantError(
                    f"contains {counted(len(list(self.folder.glob('*.npz'))), 'parts')} of an unfinished study; "
                    "continue the study with --resume (resume=True), or remove the folder to start again",
                    file=str(self.folder),
                )
            if found != self._about:
                raise SekantError(
                    "contains parts of another study (its model, samples or measures differ);"
                    " name another output, or remove the folder to start again",
                    file=str(self.folder),
                )
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        replace_file(about, json.dumps(self._about).encode())

    def add(self, block: RowBlock) -> None:
        """Store a block."""
        buffer = io.BytesIO()
        text = json.dumps([list(block.status), {str(row): cause for row, cause in block.messages.items()}])
        np.savez(
            buffer,
            first=block.first,
            measures=block.measures,
            axis=block.axis,
            outputs=block.outputs,
            seconds=[block.seconds, block.processor_seconds],
            text=np.frombuffer(text.encode(), np.uint8),
        )
        replace_file(self.folder / f"{block.first:09d}.npz", buffer.getvalue())

    def blocks(self) -> Iterator[RowBlock]:
        """The stored parts; damaged ones are ignored and computed again."""
        for path in sorted(self.folder.glob("*.npz")):
            try:
                with np.load(path) as data:
                    status, messages = json.loads(data["text"].tobytes().decode())
                    block = RowBlock(
                        int(data["first"]),
                        data["measures"],
                        data["axis"],
                        data["outputs"],
                        tuple(status),
                        {int(row): cause for row, cause in messages.items()},
                        *(float(value) for value in data["seconds"]),
                    )
            except Exception:  # zip, NumPy and JSON raise different errors for damaged files
                path.unlink(missing_ok=True)
                continue
            yield block

    def remove(self) -> None:
        """Remove the folder once the result is written."""
        shutil.rmtree(self.folder, ignore_errors=True)
