#!/usr/bin/env python3
"""fuzz_bundle.py PATH OUT: a directory, or the members of a tar or zip archive, as one input of format_fuzz.

Of a Cube profile OUT-rows is one, too: its rows as the target packs them itself (fuzz/pack.hpp).
Prints nothing and writes nothing when there is nothing small enough to bundle.
"""
import pathlib
import struct
import sys
import tarfile
import zipfile
import zlib

MOST_BYTES = 200_000
MOST_FILES = 64


def members(path):
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file() and "expected" not in file.parts and "src" not in file.relative_to(path).parts:
                yield str(file.relative_to(path)), file.read_bytes()
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield name, archive.read(name)
    elif tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile():
                    yield member.name, archive.extractfile(member).read()


def rows_to_pack(name, content, indexes):
    """A data member of Cube with its rows unpacked and the length of one in front, or the member as it is."""
    index = indexes.get(name.removesuffix(".data") + ".index", b"")
    if content.startswith(b"ZCUBEX.DATA"):
        count, = struct.unpack_from("<Q", content, 11)
        entries = [struct.unpack_from("<3Q", content, 19 + 24 * i) for i in range(count)]
        rows = [zlib.decompress(content[19 + 24 * count + at:][:size]) for _, at, size in sorted(entries)]
    elif content.startswith(b"CUBEX.DATA") and index[17:18] == b"\1" and index[11:15] == b"\1\0\0\0":
        count, = struct.unpack_from("<I", index, 18)
        length = (len(content) - 10) // max(count, 1)
        rows = [content[10 + i * length:][:length] for i in range(count)]
    else:
        return content
    if not rows or not 0 < len(rows[0]) < 65536:
        return content
    return b"ZCUBEX.ROWS" + struct.pack("<H", len(rows[0])) + b"".join(rows)


def bundle(files):
    out = b""
    count = 0
    for name, content in files:
        raw = name.encode()
        if len(raw) > 255:
            continue
        out += bytes([len(raw)]) + raw + struct.pack("<I", len(content)) + content
        count += 1
        if len(out) > MOST_BYTES or count > MOST_FILES:
            return b""
    return out


def main():
    files = list(members(pathlib.Path(sys.argv[1])))
    out = bundle(files)
    if not out:
        return
    pathlib.Path(sys.argv[2]).write_bytes(out)
    try:
        packed = [(name, rows_to_pack(name, content, dict(files))) for name, content in files]
    except (struct.error, zlib.error):  # damaged on purpose
        return
    if packed != files:
        pathlib.Path(sys.argv[2] + "-rows").write_bytes(bundle(packed))


if __name__ == "__main__":
    main()
