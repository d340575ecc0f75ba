"""ovni: events of all streams; a stream that ends inside an event is used up to there."""
import struct

FILES = ["ovni/*/*/trace.tar.gz"]
EXAMPLES = ["ovni"]


def found(folder):
    total = 0
    streams = list(folder.rglob("stream.obs"))
    streams += [one for one in folder.rglob("thread.*") if one.is_file() and one.suffix != ".json"]
    for path in streams:
        data = path.read_bytes()
        at = 8 if data[:4] == b"ovni" else 0
        while at + 12 <= len(data):
            flags = data[at]
            if flags & 0x10:
                size = 4 + (struct.unpack_from("<I", data, at + 12)[0] if at + 16 <= len(data) else 1 << 32)
            else:
                size = (flags & 15) + 1 if flags & 15 else 0
            if at + 12 + size > len(data):
                break
            total += 1
            at += 12 + size
    return {"events": total}
