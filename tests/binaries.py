"""Which functions a shared library exports, read from the file itself: ELF, PE and Mach-O, 64 bits, little-endian."""

import struct
from pathlib import Path

MACHINES = {0x3E: "x86_64", 0xB7: "aarch64", 0x8664: "x86_64", 0x01000007: "x86_64", 0x0100000C: "aarch64"}


def exported(path: Path) -> tuple[str, str, set[str]]:
    """Kind of file ("ELF", "PE", "Mach-O"), processor, and names of exported symbols."""
    data = path.read_bytes()
    if data[:4] == b"\x7fELF":
        return "ELF", MACHINES[struct.unpack_from("<H", data, 18)[0]], _elf(data)
    if data[:2] == b"MZ":
        at = struct.unpack_from("<I", data, 0x3C)[0]
        assert data[at : at + 4] == b"PE\0\0"
        return "PE", MACHINES[struct.unpack_from("<H", data, at + 4)[0]], _pe(data, at)
    assert data[:4] == b"\xcf\xfa\xed\xfe"
    return "Mach-O", MACHINES[struct.unpack_from("<I", data, 4)[0]], _macho(data)


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def _elf(data: bytes) -> set[str]:
    """Defined global symbols of .dynsym."""
    table, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    found = set()
    for i in range(count):
        at = table + i * size
        kind = struct.unpack_from("<I", data, at + 4)[0]
        if kind != 11:  # SHT_DYNSYM
            continue
        offset, length, link = struct.unpack_from("<QQI", data, at + 24)
        strings = struct.unpack_from("<Q", data, table + link * size + 24)[0]
        for entry in range(offset, offset + length, 24):
            name, info, _, section = struct.unpack_from("<IBBH", data, entry)
            if section and info >> 4 == 1:
                found.add(_text(data, strings + name))
    return found


def _pe(data: bytes, at: int) -> set[str]:
    """Names of the export directory."""
    sections, optional = struct.unpack_from("<H", data, at + 6)[0], struct.unpack_from("<H", data, at + 20)[0]
    export = struct.unpack_from("<I", data, at + 24 + 112)[0]
    table = at + 24 + optional

    def place(address: int) -> int:
        for i in range(sections):
            size, start, raw, offset = struct.unpack_from("<IIII", data, table + 40 * i + 8)
            if start <= address < start + max(size, raw):
                return offset + address - start
        raise AssertionError(f"address {address:#x} lies in no section")

    count = struct.unpack_from("<I", data, place(export) + 24)[0]
    names = place(struct.unpack_from("<I", data, place(export) + 32)[0])
    return {_text(data, place(struct.unpack_from("<I", data, names + 4 * i)[0])) for i in range(count)}


def _macho(data: bytes) -> set[str]:
    """Defined external symbols of LC_SYMTAB, without the underscore that C names have there."""
    count, at, found = struct.unpack_from("<I", data, 16)[0], 32, set()
    for _ in range(count):
        command, length = struct.unpack_from("<II", data, at)
        if command == 2:  # LC_SYMTAB
            symbols, number, strings = struct.unpack_from("<III", data, at + 8)
            for i in range(number):
                name, kind, section = struct.unpack_from("<IBB", data, symbols + 16 * i)
                if (
                    kind & 0x01 and kind & 0x0E == 0x0E and section and not kind & 0x10
                ):  # external, in a section
                    found.add(_text(data, strings + name).removeprefix("_"))
        at += length
    return found
