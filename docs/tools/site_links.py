"""Links of the built site: ``python docs/tools/site_links.py out/docs`` (`make docs`).

Every link leads to a file of the site and to an anchor in it, and no page needs the network: then the site works from
a folder and from any static host.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

URL = re.compile(r"url\(\s*['\"]?([^'\")]+)")
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("link", "href"), ("source", "src")}
"""What a browser loads to show a page; other addresses are links for the reader."""


@dataclass
class Page(HTMLParser):
    """Anchors of a page, and what it links to: (address, whether the browser loads it)."""

    text: str
    anchors: set[str] = field(default_factory=set)
    links: list[tuple[str, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append((value, (tag, name) in LOADED))
            elif value and (name == "id" or (tag == "a" and name == "name")):
                self.anchors.add(value)


def broken_links(site: Path) -> list[str]:
    """A line for each link that leads nowhere, or that does not work from a folder without a network."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for address, loaded in page.links:
            wrong = _wrong(site, path, address, loaded, pages)
            if wrong:
                found.append(f"{path.relative_to(site)}: '{address}' {wrong}")
    for path in sorted(site.rglob("*.css")):
        for address in URL.findall(path.read_text(encoding="utf-8")):
            wrong = _wrong(site, path, address, True, pages)
            if wrong:
                found.append(f"{path.relative_to(site)}: '{address}' {wrong}")
    return found


def _wrong(site: Path, path: Path, address: str, loaded: bool, pages: dict[Path, Page]) -> str:
    parts = urlsplit(address)
    if parts.scheme in ("http", "https") or parts.netloc:
        return "is loaded from the network" if loaded else ""
    if parts.scheme in ("data", "mailto", "blob"):
        return ""
    if parts.scheme or parts.path.startswith("/"):
        return "works on one machine or host only; make it relative"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_relative_to(site):
        return "leaves the site"
    if not target.is_file():
        return "is not a file of the site"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "names an anchor that the page does not have"
    return ""


def main() -> int:
    """Print what is wrong with the site in the named folder; 1 if there is anything."""
    site = Path(sys.argv[1]).resolve()
    found = broken_links(site)
    print(*found, sep="\n", end="\n" if found else "")
    count = len(list(site.rglob("*.html")))
    if not count:
        print(f"{site} has no pages")
    return int(bool(found) or not count)


if __name__ == "__main__":
    sys.exit(main())
