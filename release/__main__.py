"""``python -m release``: build and check all files of a release, and stop before the upload.

    python -m release [--skip STEP ...]

The files are in dist/. If a step fails, the release stops with exit code 1 and reports what to do.
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
  unpack dist/sekant-{VERSION}-docs.zip on the web server of the pages
  attach dist/sekant-{VERSION}.cdx.json (the SBOM) and dist/SHA256SUMS to the release notes
  for conda-forge: use the address of the sdist and its sha256 (dist/SHA256SUMS) in release/conda/recipe.yaml"""


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
    print(
        f"\nThis was a trial without {', '.join(skipped)}. Run all steps before you publish."
        if skipped
        else NEXT
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
