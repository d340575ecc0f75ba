"""Numbers and texts from bytes, one after the other."""
import struct


class Reader:
    def __init__(self, data, order, at=0):
        self.data, self.order, self.at = data, order, at

    def take(self, letters):
        values = struct.unpack_from(self.order + letters, self.data, self.at)
        self.at += struct.calcsize(self.order + letters)
        return values if len(values) > 1 else values[0]

    def bytes(self, size):
        if self.at + size > len(self.data):
            raise ValueError("the file ends here")
        self.at += size
        return self.data[self.at - size:self.at]
