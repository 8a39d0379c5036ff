"""``python -m release``: build and check everything that a release uploads, and stop before uploading.

    python -m release [--skip STEP ...]

What is built goes to dist/. A step that fails ends the release with exit code 1 and says what to do.
"""

from __future__ import annotations

import argparse
import sys
import time

from release.checks import NotReady
from release.steps import STEPS, VERSION

NEXT = f"""
Sekant {VERSION} is ready in dist/. Nothing was uploaded. To publish it:
  git tag -a v{VERSION} -m 'Sekant {VERSION}' && git push --tags
  .venv/bin/python -m twine upload dist/*.whl dist/*.tar.gz
  put dist/sekant-{VERSION}-docs.zip on the site of the pages, and the SBOM (*.cdx.json) beside the release notes
  set version and sha256 in release/conda/recipe.yaml (the sha256 of the sdist is in dist/SHA256SUMS)"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m release", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--skip", nargs="*", choices=STEPS, default=[], help="steps to leave out of a trial")
    skipped = parser.parse_args().skip
    for number, (name, step) in enumerate(STEPS.items(), start=1):
        if name in skipped:
            print(f"[{number}/{len(STEPS)}] {name}: left out")
            continue
        print(f"[{number}/{len(STEPS)}] {name} ...", flush=True)
        started = time.monotonic()
        try:
            found = step()
        except NotReady as error:
            print(f"not ready: {error}", file=sys.stderr)
            return 1
        print(f"    {found} ({time.monotonic() - started:.0f} s)", flush=True)
    print(f"\nA trial without {', '.join(skipped)}; run it whole before you publish." if skipped else NEXT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
