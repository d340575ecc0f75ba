#!/usr/bin/env python3
"""fuzz_bundle.py PATH OUT: a directory, or the members of a tar or zip archive, as one input of format_fuzz.

Prints nothing and writes nothing when there is nothing small enough to bundle.
"""
import pathlib
import struct
import sys
import tarfile
import zipfile

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


def main():
    out = b""
    count = 0
    for name, content in members(pathlib.Path(sys.argv[1])):
        raw = name.encode()
        if len(raw) > 255:
            continue
        out += bytes([len(raw)]) + raw + struct.pack("<I", len(content)) + content
        count += 1
        if len(out) > MOST_BYTES or count > MOST_FILES:
            return
    if out:
        pathlib.Path(sys.argv[2]).write_bytes(out)


if __name__ == "__main__":
    main()
