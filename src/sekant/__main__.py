"""The command `sekant`, also as `python -m sekant`. Ctrl-C ends it quietly from its first import on."""

import sys

INTERRUPTED = 130


def main() -> None:
    try:
        from sekant.views.cli import main as command

        command()
    except KeyboardInterrupt:
        _end()
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
        _end()


def _end() -> None:
    """End with code 130, and with the processes of studies. After `sys.exit`, Python would still end by the signal
    instead, if the interrupt went through `exec` of a text, as in the definition of a dataclass."""
    import atexit
    import multiprocessing
    import os
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for worker in multiprocessing.active_children():
        worker.kill()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
