#!/usr/bin/env python3
"""Writes a code object as compilers without LLVM do: without dynamic symbols, hash tables and a
dynamic table.

  direct.py INPUT KERNEL OUTPUT    INPUT is a code object of clang's with that kernel only
"""

import struct
import sys

TEXT = 0x1000  # address and offset
NOTE = 0x200


def sections_of(data):
    """The bytes of each section, by name."""
    table, = struct.unpack_from("<Q", data, 0x28)
    count, names_index = struct.unpack_from("<HH", data, 0x3c)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]
    names = data[headers[names_index][4]:]
    no_bits = 8
    return {names[h[0]:names.index(b"\0", h[0])].decode():
            b"" if h[1] == no_bits else data[h[4]:h[4] + h[5]] for h in headers}


def pad(out, alignment):
    out += bytes(-len(out) % alignment)
    return len(out)


def write_object(source, kernel):
    parts = sections_of(source)
    note, text = parts[".note"], parts[".text"]
    descriptor_at = (NOTE + len(note) + 63) // 64 * 64
    descriptor = bytearray(parts[".rodata"][:64])
    struct.pack_into("<q", descriptor, 16, TEXT - descriptor_at)
    names = b"\0" + kernel + b"\0" + kernel + b".kd\0"
    section_names = b"\0.note\0.rodata\0.text\0.symtab\0.strtab\0.shstrtab\0"
    symbols = bytes(24)
    symbols += struct.pack("<IBBHQQ", 1, 0x12, 3, 3, TEXT, len(text))
    symbols += struct.pack("<IBBHQQ", 2 + len(kernel), 0x11, 3, 2, descriptor_at, 64)

    out = bytearray(TEXT)
    out[NOTE:NOTE + len(note)] = note
    out[descriptor_at:descriptor_at + 64] = descriptor
    out += text
    symbols_at = pad(out, 8)
    out += symbols
    names_at = len(out)
    out += names
    section_names_at = len(out)
    out += section_names
    table_at = pad(out, 8)

    def name(text):
        return section_names.index(text + b"\0")

    table = [
        (0,) * 10,
        (name(b".note"), 7, 2, NOTE, NOTE, len(note), 0, 0, 4, 0),
        (name(b".rodata"), 1, 2, descriptor_at, descriptor_at, 64, 0, 0, 64, 0),
        (name(b".text"), 1, 6, TEXT, TEXT, len(text), 0, 0, 256, 0),
        (name(b".symtab"), 2, 0, 0, symbols_at, len(symbols), 5, 1, 8, 24),
        (name(b".strtab"), 3, 0, 0, names_at, len(names), 0, 0, 1, 0),
        (name(b".shstrtab"), 3, 0, 0, section_names_at, len(section_names), 0, 0, 1, 0),
    ]
    for header in table:
        out += struct.pack("<IIQQQQIIQQ", *header)
    end = descriptor_at + 64
    segments = [(1, 4, 0, 0, 0, end, end, 0x1000),
                (1, 5, TEXT, TEXT, TEXT, len(text), len(text), 0x1000),
                (4, 4, NOTE, NOTE, NOTE, len(note), len(note), 4)]
    flags, = struct.unpack_from("<I", source, 0x30)
    out[0:64] = source[:16] + struct.pack("<HHIQQQIHHHHHH", 3, 224, 1, 0, 64, table_at, flags, 64,
                                          56, len(segments), 64, len(table), 6)
    for i, segment in enumerate(segments):
        struct.pack_into("<IIQQQQQQ", out, 64 + 56 * i, *segment)
    return bytes(out)


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        written = write_object(file.read(), sys.argv[2].encode())
    with open(sys.argv[3], "wb") as file:
        file.write(written)
