"""`sekant doctor` and `sekant cache`: a check of this installation, and the data it stored for the next run."""

from __future__ import annotations

from typing import Annotated

import typer


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show the versions, the cache and the processor, and test the engine on a pendulum."""
    from sekant.views.diagnosis import diagnose

    found = diagnose()
    if as_json:
        from sekant.results.summary import to_json

        typer.echo(to_json(found.as_dict(), indent=2))
    else:
        typer.echo(found.text())
    if not found.ok:
        raise typer.Exit(1)


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove everything from the cache.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show where compiled models and integrators are stored and how much space they take, or remove them.

    Removing them is safe: Sekant compiles them again when it needs them. Set SEKANT_CACHE_DIR to move the cache.
    """
    from sekant.cache.store import user_cache, why_nothing_is_cached
    from sekant.errors import SekantError

    store = user_cache()
    reason = why_nothing_is_cached(store)
    if store is None or reason:
        raise SekantError(reason)
    if clear:
        store.clear()
    entries, size = store.usage()
    if as_json:
        import json

        found = {"directory": str(store.directory), "entries": entries, "bytes": size, "limit": store.limit}
        typer.echo(json.dumps({"ok": True, **found}, indent=2))
        return
    typer.echo(
        f"{store.directory}: {entries} {'entry' if entries == 1 else 'entries'}, {size / 1e6:.1f} MB of at most "
        f"{store.limit / 1e6:.0f} MB"
    )
