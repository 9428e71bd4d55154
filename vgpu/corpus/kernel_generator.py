"""The generator of random_kernels.py: kernels in the corpus's language, each from its seed alone."""

import random

WORD, WIDE, SINGLE, DOUBLE = "u32", "u64", "f32", "f64"
TYPES = [WORD, WORD, WORD, WIDE, SINGLE, SINGLE, DOUBLE]
# Of each atomic operation: cells of its own, as a mix of two would depend on the order.
ATOMICS = ["add", "sub", "xor", "or", "and", "min", "max", "signed_min", "signed_max"]
CELLS = 4
MAX_LOOPS = 2  # in each other


class Kernel:
    """Writes one kernel. Whatever it draws is legal C: shifts are masked, divisors are not zero,
    indices are in range, and no NaN's bits are looked at."""

    def __init__(self, rng, name):
        self.rng = rng
        self.name = name
        self.lines = []
        self.depth = 1
        self.variables = {}
        self.constants = {}  # what is not assigned to: loop counters
        self.loops = []
        self.position = [0]
        self.unique = 0
        self.in_function = False
        self.items = rng.choice([64, 64, 128, 256, 40])
        self.groups = rng.choice([1, 2, 3])

    # --- expressions

    def chance(self, percent):
        return self.rng.randrange(100) < percent

    def pick(self, *options):
        return self.rng.choice(options)

    def literal(self, kind):
        r = self.rng
        if kind == WORD:
            return f"{r.choice([0, 1, 2, 7, 31, 32, 63, 64, 255, 0x7fffffff, 0x80000000, 0xffffffff, r.getrandbits(32), r.getrandbits(16)])}u"
        if kind == WIDE:
            return f"{r.choice([0, 1, 0xffffffff, 1 << 32, 1 << 63, (1 << 64) - 1, r.getrandbits(64), r.getrandbits(40)])}ull"
        # No zero: clang 22.1 makes (0 - x) - y into -x - y for AMDGPU, which is -0 if x and y are 0.
        value = r.choice([1.0, -1.0, 0.5, 2.0, 1e10, 3.14159, -7.25, 1e-30, 65504.0])
        return f"({value}f)" if kind == SINGLE else f"({value})"

    def leaf(self, kind):
        names = [n for n, k in {**self.variables, **self.constants}.items() if k == kind]
        if kind == WORD and self.chance(10) and not self.in_function:
            return self.pick("local_id()", "lane_id()", "group_id()", "i")
        if names and self.chance(80):
            return self.rng.choice(names)
        return self.literal(kind)

    def expression(self, kind, depth=3):
        if depth <= 0 or self.chance(12):
            return self.leaf(kind)
        return getattr(self, kind)(depth - 1)

    def u32(self, d):
        e = lambda kind=WORD: self.expression(kind, d)
        choice = self.rng.randrange(30)
        if choice < 8:
            return f"({e()} {self.pick('+', '-', '*', '&', '|', '^', '+', '-')} {e()})"
        if choice < 10:
            return f"({e()} {self.pick('<<', '>>')} ({e()} & 31))"
        if choice == 10:
            return f"(u32)((i32){e()} >> ({e()} & 31))"
        if choice == 11:
            return f"rotate_left({e()}, {e()})"
        if choice == 12:
            dividend = e()
            return f"unsigned_{self.pick('quotient', 'remainder')}({dividend}, {e()})"
        if choice == 13:
            return f"signed_{self.pick('quotient', 'remainder')}({e()}, {e()})"
        if choice == 14:
            return f"(u32)((({self.pick('u64', 'i64')}){e()} * {e()}) >> 32)"
        if choice == 15:
            return self.pick("(u32)__builtin_popcount({})", "__builtin_bitreverse32({})", "__builtin_bswap32({})",
                             "leading_zeros({})", "trailing_zeros({})", "~{}", "(-{})").format(e())
        if choice == 16:
            return f"({self.condition(d)} ? {e()} : {e()})"
        if choice == 17:
            return f"(u32)({e(WIDE)} >> {self.rng.randrange(0, 33)})"
        if choice == 18:
            return f"bits_of_single({e(SINGLE)})"
        if choice == 19:
            return f"single_to_word({e(SINGLE)})"
        if choice == 20:
            return f"double_to_word({e(DOUBLE)})"
        if choice == 21:
            narrow = self.pick("u8", "i8", "u16", "i16")
            return f"(u32)({narrow})({narrow}){e()}"
        if choice == 22:
            narrow = self.pick("u16", "i16", "u8", "i8")
            return f"(u32)({narrow})(({narrow}){e()} {self.pick('+', '-', '*')} ({narrow}){e()})"
        if choice == 23:
            return f"scratch[{e()} & 7]"
        if choice == 24 and not self.in_function:
            return f"in[{e()} % n]"
        if choice == 25:
            return f"saturate_{self.pick('add', 'sub')}({e()}, {e()})"
        if choice == 26:
            return f"({e()} {self.pick('<', '>')} {e()} ? {e()} : {e()})"
        if choice == 27:
            return f"packed_{self.pick('add', 'sub', 'mul', 'min', 'max', 'shift')}({e()}, {e()})"
        if choice == 28:
            return f"half_{self.pick('add', 'sub', 'mul', 'div')}({e()}, {e()})"
        return f"(({e()} >> ({e()} & 31)) & ((1u << ({e()} & 31)) - 1))"

    def u64(self, d):
        e = lambda kind=WIDE: self.expression(kind, d)
        choice = self.rng.randrange(16)
        if choice < 6:
            a, operator = e(), self.pick("+", "-", "*", "&", "|", "^")
            return f"wide_or({a}, {e()})" if operator == "|" else f"({a} {operator} {e()})"
        if choice < 8:
            return f"({e()} {self.pick('<<', '>>')} ({e(WORD)} & 63))"
        if choice == 8:
            return f"(u64)((i64){e()} >> ({e(WORD)} & 63))"
        if choice == 9:
            return f"{self.pick('wide_quotient', 'wide_remainder')}({e()}, {e()})"
        if choice == 10:
            return f"(u64)(i64)(i32){e(WORD)}"
        if choice == 11:
            return f"((u64){e(WORD)} * {e(WORD)} + {e()})"
        if choice == 12:
            return f"({self.condition(d)} ? {e()} : {e()})"
        if choice == 13:
            return f"bits_of_double({e(DOUBLE)})"
        if choice == 14:
            return f"((u64){e(WORD)} << 32 | {e(WORD)})"
        return self.pick("~{}", "(-{})", "__builtin_bitreverse64({})", "__builtin_bswap64({})",
                         "(u64)__builtin_popcountll({})").format(e())

    def real(self, kind, d):
        e = lambda k=kind: self.expression(k, d)
        suffix = "f" if kind == SINGLE else ""
        other = DOUBLE if kind == SINGLE else SINGLE
        choice = self.rng.randrange(16)
        if choice < 6:
            return f"({e()} {self.pick('+', '-', '*')} {e()})"
        if choice == 6:
            return f"({e()} / {e()})"
        if choice == 7:
            return f"__builtin_fma{suffix}({e()}, {e()}, {e()})"
        if choice == 8:
            return f"__builtin_sqrt{suffix}({e()})"
        if choice == 9:
            return f"({kind}){self.pick('', '(i32)')}({e(WORD)} ^ n)"
        if choice == 10:
            return f"({kind}){self.pick('', '(i64)')}({e(WIDE)} ^ n)"
        if choice == 11:
            return f"({kind}){e(other)}"
        if choice == 12:
            return f"({self.condition(d)} ? {e()} : {e()})"
        if choice == 13:
            return self.pick(f"(-{e()})", f"__builtin_fabs{suffix}({e()})")
        if choice == 14:
            return f"__builtin_{self.pick('floor', 'ceil', 'trunc', 'rint')}{suffix}({e()})"
        return f"word_as_single({e(WORD)})" if kind == SINGLE else f"smaller({e()}, {e()})"

    def f32(self, d):
        return self.real(SINGLE, d)

    def f64(self, d):
        return self.real(DOUBLE, d)

    def condition(self, d, branches=False):
        """Something to test. With branches it may take two of them: && and ||."""
        kind = self.rng.choice(TYPES)
        a, b = self.expression(kind, d), self.expression(kind, d)
        compare = f"({a} {self.pick('<', '<=', '==', '!=', '>', '>=')} {b})"
        if kind == WORD and self.chance(30):
            compare = f"((i32){a} {self.pick('<', '<=', '>', '>=')} (i32){b})"
        if kind == WIDE and self.chance(30):
            compare = f"((i64){a} {self.pick('<', '<=', '>', '>=')} (i64){b})"
        if self.chance(15):
            operator, both = self.pick("<", ">"), self.pick("&&", "||")
            compare = f"(({a} {operator} {b}) {both if branches else both[0]} ({self.expression(WORD, d)} & 1))"
        return self.pick("", "", "!") + compare

    # --- statements

    def line(self, text):
        self.lines.append("  " * self.depth + text)

    def name_of(self, prefix):
        self.unique += 1
        return f"{prefix}{self.unique}"

    def place(self):
        """The key of an operation of the lanes that are here: where in the program, and in which
        round of each loop around it."""
        key = str(self.position[0])
        for counter, position in zip(self.loops, self.position[1:]):
            key = f"(({key}) * 16 + {counter}) * 64 + {position}"
        for _ in range(len(self.loops), MAX_LOOPS):  # comparable with those inside of loops
            key = f"({key}) * 1024"
        self.position[-1] += 1
        return key

    def assignment(self):
        name = self.rng.choice(list(self.variables))
        kind = self.variables[name]
        operator = "=" if self.chance(50) else self.pick("+=", "-=", "*=") if kind in (SINGLE, DOUBLE) else \
            self.pick("+=", "-=", "^=", "*=", "|=", "&=")
        value = self.expression(kind)
        self.line(f"{name} = wide_or({name}, {value});" if kind == WIDE and operator == "|=" else f"{name} {operator} {value};")

    def body(self, budget, in_loop):
        self.depth += 1
        for _ in range(self.rng.randrange(1, 4)):
            self.statement(budget - 1, in_loop)
        self.depth -= 1

    def end_of_arm(self, condition):
        """What follows a condition with two branches is reached in two ways: see END_OF_ARM."""
        if "&&" in condition or "||" in condition:
            self.line("  END_OF_ARM();")

    def statement(self, budget, in_loop):
        choice = self.rng.randrange(100)
        if budget <= 0 or choice < 40:
            self.assignment()
        elif choice < 46:
            self.line(f"scratch[{self.expression(WORD, 2)} & 7] {self.pick('=', '+=', '^=')} {self.expression(WORD, 2)};")
        elif choice < 60:
            condition = self.condition(2, branches=True)
            self.line(f"if ({condition}) {{")
            self.body(budget, in_loop)
            self.end_of_arm(condition)
            if self.chance(50):
                self.line("} else {")
                self.body(budget, in_loop)
                self.end_of_arm(condition)
            self.line("}")
        elif choice < 75 and len(self.loops) < MAX_LOOPS:
            self.loop(budget)
        elif choice < 80:
            self.line(f"switch ({self.expression(WORD, 2)} % 6) {{")
            labels = self.rng.sample(range(6), self.rng.randrange(2, 5))
            for label in labels:
                self.line(f"  case {label}: {{")
                self.depth += 1
                self.body(budget - 1, False)
                self.line("  END_OF_ARM();")
                # Not into the default: the edges to it would get a block of their own, an arm without END_OF_ARM.
                falls = not self.chance(70) and label != labels[-1]
                self.line("  __attribute__((fallthrough));" if falls else "  break;")
                self.depth -= 1
                self.line("  }")
            self.line("  default:")
            self.depth += 1
            self.assignment()
            self.line("END_OF_ARM();")
            self.depth -= 1
            self.line("}")
        elif choice < 84 and in_loop:
            # Whatever leads out of a loop only may run behind it: nothing for lanes together in it.
            condition = self.condition(1, branches=True)
            self.line(f"if ({condition}) {{")
            self.depth += 1
            self.assignment()
            self.depth -= 1
            self.end_of_arm(condition)
            self.line(self.pick("  break;", "  continue;"))
            self.line("}")
        elif choice < 89:
            operation = self.rng.randrange(len(ATOMICS))
            where = self.pick("cells", "cells", "totals")
            self.line(f"{where}_{ATOMICS[operation]}(&{where}[{operation * CELLS} + ({self.expression(WORD, 1)} & {CELLS - 1})], "
                      f"{self.expression(WORD, 2)});")
        elif choice < 94:
            name = self.rng.choice([n for n, k in self.variables.items() if k == WORD])
            self.line(f"{name} = function_{self.rng.randrange(2)}_of_{self.name}({name}, {self.expression(WIDE, 2)}, "
                      f"{self.expression(SINGLE, 2)}, n, 0);")
        else:
            name = self.rng.choice([n for n, k in self.variables.items() if k == WORD])
            key = self.place()
            operation = self.pick(
                f"(u32)ballot_at({key}, {self.condition(1)})", f"(u32)__builtin_popcountll(ballot_at({key}, 1))",
                f"first_lane_at({key}, {self.expression(WORD, 2)})",
                f"from_active_lane({key}, {self.place()}, {self.expression(WORD, 2)}, {self.expression(WORD, 1)})")
            self.line(f"{name} ^= {operation};")

    def loop(self, budget):
        counter = self.name_of("round")
        self.position[-1] += 1
        limit = f"({self.expression(WORD, 2)} & {self.pick(3, 7)})"
        bound = self.name_of("bound")
        self.line(f"const u32 {bound} = {limit};" if self.chance(50) else f"u32 {bound} = {limit};")
        self.line(f"for (u32 {counter} = 0; {counter} < {bound}; ++{counter}) {{")
        self.constants[counter] = WORD
        self.loops.append(counter)
        self.position.append(0)
        self.body(budget, True)
        self.position.pop()
        self.loops.pop()
        del self.constants[counter]
        self.line("}")
        self.position[-1] += 1

    def together(self):
        """Something that all work-items do, outside of all branches."""
        name = self.rng.choice([n for n, k in self.variables.items() if k == WORD])
        choice = self.rng.randrange(8)
        value = self.expression(WORD, 2)
        if choice < 3:
            self.line(f"words[local_id()] = {value};")
            self.line("barrier();")
            self.line(f"{name} {self.pick('+=', '^=')} words[{self.expression(WORD, 2)} % {self.items}];")
            self.line("barrier();")
        elif choice == 3:
            self.line(f"wide_words[local_id()] = {self.expression(WIDE, 2)};")
            self.line("barrier();")
            wide = self.rng.choice([n for n, k in self.variables.items() if k == WIDE])
            self.line(f"{wide} += wide_words[{self.expression(WORD, 2)} % {self.items}];")
            self.line("barrier();")
        elif choice == 4:
            self.line(f"{name} = from_active_lane({self.place()}, {self.place()}, {value}, {self.expression(WORD, 2)});")
        elif choice == 5:
            control = self.pick(0x1b, 0x4e, 0xb1, 0x101, 0x104, 0x111, 0x118, 0x121, 0x12f, 0x130, 0x134, 0x138, 0x13c,
                                0x140, 0x141, 0x142, 0x143)
            rows, banks = self.pick(15, 15, 10, 5), self.pick(15, 15, 3, 14)
            old = self.expression(WORD, 1)
            self.line(f"{name} {self.pick('=', '+=', '-=', '&=')} dpp({old}, {value}, {control}, {rows}, {banks}, {self.pick(0, 1)});")
        elif choice == 6:
            pattern = self.pick(0x041f, 0x081f, 0x101f, 0x201f, 0x401f, 0x7c1f, 0x001c, 0x0010, 0x801b, 0x8039, 0x80b1)
            self.line(f"{name} ^= swizzle({value}, {pattern});")
        else:
            self.line(f"{name} += count_below(ballot({self.condition(2)})) + "
                      f"read_lane({value}, {self.rng.randrange(min(self.items, 40))});")

    def function(self, number):
        saved = self.lines, self.variables, self.depth, self.constants
        self.lines, self.depth, self.constants = [], 1, {}
        self.in_function = True
        self.variables = {"a": WORD, "b": WIDE, "c": SINGLE}
        self.line(f"u32 scratch[8] = {{a, (u32)b, {self.literal(WORD)}}};")
        # Recursion to a small depth.
        text = f"NOINLINE u32 function_{number}_of_{self.name}(u32 a, u64 b, f32 c, u32 n, u32 depth) {{\n"
        for _ in range(3):
            self.assignment()
        if self.chance(50):
            self.line(f"if (depth < (a & 3)) return function_{number}_of_{self.name}(a + 1, b + 1, c * 0.5f, n, depth + 1) + scratch[b & 7];")
        self.line(f"for (u32 k = 0; k < (a & 3); ++k) b += scratch[({self.expression(WORD, 1)} + k) & 7];")
        self.line("return a ^ (u32)b ^ (u32)(b >> 32) ^ bits_of_single(c);")
        text += "\n".join(self.lines) + "\n}\n"
        self.lines, self.variables, self.depth, self.constants = saved
        self.in_function = False
        return text

    def text(self):
        r = self.rng
        self.line("const u32 i = global_id();")
        self.line("u32 scratch[8];")
        self.line("for (u32 k = 0; k < 8; ++k) scratch[k] = in[(i * 8 + k) % n];")
        self.line(f"if (local_id() < {len(ATOMICS) * CELLS}) cells[local_id()] = {self.literal(WORD)};")
        self.line("barrier();")
        for count, kind in ((r.randrange(3, 6), WORD), (r.randrange(1, 4), WIDE), (r.randrange(1, 4), SINGLE),
                            (r.randrange(1, 3), DOUBLE)):
            for _ in range(count):
                name = self.name_of({WORD: "w", WIDE: "x", SINGLE: "f", DOUBLE: "d"}[kind])
                value = {WORD: "in[(i + {0}) % n]", WIDE: "in[(i + {0}) % n] * 0x100000001ull",
                         SINGLE: "as_f32(in[(i + {0}) % n])", DOUBLE: "(f64)(i32)in[(i + {0}) % n] * 0x1p-20"}[kind]
                self.line(f"{kind} {name} = {value.format(r.randrange(64))};")
                self.variables[name] = kind
        self.line("GLOBAL u32* const totals = &out[global_size * OUT_WORDS];")
        functions = "".join(self.function(k) for k in range(2))
        for _ in range(r.randrange(3, 7)):
            if self.chance(45):
                self.together()
            else:
                self.statement(3, False)
        self.line("barrier();")
        at = 0
        for name, kind in self.variables.items():
            if kind in (WORD, SINGLE):
                self.line(f"to[{at}] = {name if kind == WORD else f'bits_of_single({name})'};")
                at += 1
            else:
                bits = name if kind == WIDE else f"bits_of_double({name})"
                self.line(f"to[{at}] = (u32){bits};")
                self.line(f"to[{at + 1}] = {bits} >> 32;")
                at += 2
        cells = len(ATOMICS) * CELLS
        self.line(f"if (local_id() < {cells}) totals[{cells} * (1 + group_id()) + local_id()] = cells[local_id()];")
        size = self.items * self.groups
        words_out = size * at + cells * (1 + self.groups)
        body = "\n".join(self.lines).replace("global_size * OUT_WORDS", str(size * at))
        body = body.replace("  GLOBAL u32* const totals", f"  GLOBAL u32* const to = &out[i * {at}];\n  GLOBAL u32* const totals")
        return (f"{functions}\nKERNEL({self.name}, {self.items}) {{\n{body}\n}}\n"
                f"CASE({self.name}, .items = {{{self.items}}}, .groups = {{{self.groups}}}, .n = 509, .words_in = 509,\n"
                f"     .words_out = {words_out}, .prepare = {r.choice(['edge_words', 'edge_floats', 'nullptr'])})\n")


def write(seed, count):
    rng = random.Random(seed)
    kernels = [Kernel(rng, f"random_{seed}_{k}").text() for k in range(count)]
    return (f"// Made by random_kernels.py --seed={seed} --count={count}\n"
            '#include "vgpu/corpus/random_kernels.h"\n'
            '#pragma clang diagnostic ignored "-Weverything"\n\n' + "\n".join(kernels))
