"""Just enough of protocol buffers: the fields of a message as numbers and bytes."""


def varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def parts(data):
    """(number of the field, value) in the order of the bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            if at + size > len(data):
                raise ValueError("a field is cut")
            value, at = data[at:at + size], at + size
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {kind}")
        yield key >> 3, value


def fields(data):
    out = {}
    for number, value in parts(data):
        out.setdefault(number, []).append(value)
    return out


def integers(values):
    """Signed numbers of a repeated field, packed or not."""
    for value in values:
        if isinstance(value, int):
            yield value - (1 << 64) if value >> 63 else value
            continue
        at = 0
        while at < len(value):
            one, at = varint(value, at)
            yield one - (1 << 64) if one >> 63 else one
