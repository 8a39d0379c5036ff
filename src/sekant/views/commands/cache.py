"""`sekant cache`: data stored on disk for the next run."""

from __future__ import annotations

from typing import Annotated

import typer


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove everything in the cache.")] = False,
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
        f"{store.directory}: {entries} entries, {size / 1e6:.1f} of at most {store.limit / 1e6:.0f} MB"
    )
