#!/usr/bin/env python3
"""Shows Doxygen the comments of a header: Halyard's begin with two strokes, in C with a stroke and a star,
and are plain text.

The comment at the top of a file becomes the file's own, one in front of a declaration that
declaration's, and one behind it on its line the same. Specializations of fmt's templates, whose
scope Doxygen does not know, are left away.
"""

import re
import sys

OF_FMT = re.compile(r"template <>\n(?:struct|class) fmt::[^{]*\{.*?^\};\n", re.M | re.S)


def plain(text):
    """Nothing in it is a command or a tag."""
    text = re.sub(r"([\\@#%$])", r"\\\1", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def shown(line, at_top):
    comment = re.fullmatch(r"(\s*)//(?!/)( .*|)", line)
    if comment:
        file = "/// @file\n" if at_top else ""
        return f"{file}{comment.group(1)}///{plain(comment.group(2))}"
    line = re.sub(r"\s*// NOLINT.*", "", line)
    return re.sub(r"([;,}{(])(\s+)//( .*)$",
                  lambda behind: f"{behind[1]}{behind[2]}///<{plain(behind[3])}", line)


def shown_in_c(text):
    """A header of the C interface, which has no other comments than these."""
    def comment(found):
        before = text[text.rfind("\n", 0, found.start()) + 1:found.start()]
        words = plain(found.group(1))
        if found.start() == 0:
            return f"/** @file\n *{words}*/"
        if not before.strip():
            return f"/**{words}*/"
        of_a_declaration = before.rstrip().endswith((";", ",", "{")) or "=" in before
        return f"/**<{words}*/" if of_a_declaration and not before.startswith("#") else found.group(0)
    return re.sub(r"/\*(.*?)\*/", comment, text, flags=re.S)


def main():
    if "/bindings/c/" in "/" + sys.argv[1]:
        print(shown_in_c(open(sys.argv[1], encoding="utf-8").read()), end="")
        return
    text = open(sys.argv[1], encoding="utf-8").read()
    # As many lines as before, so that warnings name the right ones.
    text = OF_FMT.sub(lambda found: "\n" * found.group(0).count("\n"), text)
    for number, line in enumerate(text.split("\n")):
        print(shown(line, at_top=number == 0))


if __name__ == "__main__":
    main()
