"""The command `sekant`, also as `python -m sekant`. Ctrl-C ends it quietly from its first import on."""

import sys


def main() -> None:
    try:
        from sekant.views.cli import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
