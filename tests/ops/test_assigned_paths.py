"""Which paths through a kernel's statements assign its outputs: cases by hand, and random programs
against all of their paths.
"""

import random

import pytest

from mat.ops.assigned_paths import problem

ASSIGNS = """
y = 1
(y) = x;
y = x > 0 ? 1 : 2
if (x > 0) y = 1; else y = 2;
if (x > 0) y = 1; else if (x < 0) y = 2; else { y = 3; }
if (x > 0) { y = 1; } else { y = 2; } y += 1;
y = 0; if (x > 0) y = 1
y = 0; while (x > y) y += 1;
do y = 1; while (y < x);
do { if (x > 0) { y = 1; break; } y = 2; } while (y < x);
for (int k = 0, n = 3; k < n; k++) { } y = 1
for (y = 0; y < x; y++) { }
for (;;) { y = 1; break; }
for (;;) { if (x > 0) { y = 1; break; } }
while (1) { if (x > 0) { y = 1; break; } else continue; }
while (true) { y = 2; if (x > y) break; }
for (;;) { }
switch ((int)x) { case 0: y = 1; break; case 1: case 2: y = 2; break; default: y = 3; }
switch ((int)x) { case 0: if (x > 1) { y = 1; break; } default: y = 3; }
switch ((int)x) { default: y = 3; break; case 0: y = 1; }
if (x > 0) { y = 1; return; } y = 2
y = 1; if (x > 0) return; y = 2
if (x > 0) goto high; y = 1; goto end; high: y = 2; end: ;
again: y = 1; if (x > y) goto again;
T t = y = x; y += t
T t; t = y = x
x > 0 ? (y = 1) : (y = 2)
(x > 0 && (y = 1) > 0) || (y = 2) > 0
if ((y = x) > 0 && y < 3) { }
if (!(x > 0 || (y = 2) < 0)) y = y; else y = 1
T f; y = modf(x, &f)
modf(x, &y)
T *p = &y; *p = x
T a[2] = {x, 2}; y = a[0] + a[1]
struct { T y; } p; p.y = 1; y = p.y
y = sizeof(y)
__typeof__(y) t = x; y = t
/* y is what */ y = x; // y + y
y = x; { T y = 2; y += 1; }
{ T y; y = 1; } y = 2
y = (T)(int)x
y = x, y += 1
const char *s = "y"; y = s[0]
y = 'y'
if (0) { y += 1; } y = 1
if (1) y = 1
if (x > 0) for (;;) { } else y = 1
unsigned long k = 3; size_t n = k; y = n
for (int k = 0; k < 3; k++) { y = 1; } y = 2
switch (1) { } y = 1
T &r = y; r = 2
if constexpr (1 > 0) y = 1; else y = 2
y = x < 0 ? -x : x > 1 ? 1 : x
y = 1; do continue; while (x < 0)
/* z *//* x */ y = /**/ 1
""".strip().split("\n")

LEAVES = """
if (x) y = 1
if (x > 0) y = 1; else if (x < 0) y = 2;
if (x > 0) y = 1; else { }
while (x > 0) { y = 1; break; }
for (int k = 0; k < 3; k++) y = 1;
for (int k = 0; k < 3; y = k++) { }
do { if (x > 0) break; y = 1; } while (x > 1);
do { if (x > 0) continue; y = 1; } while (x > 1);
for (;;) { if (x > 0) break; y = 1; }
switch ((int)x) { case 0: y = 1; break; case 1: y = 2; }
switch ((int)x) { case 0: y = 1; break; case 1: break; default: y = 3; }
switch ((int)x) { case 0: y = 1; break; default: case 3: ; }
if (x > 0) return; y = 2
while (x > 0) { y = 1; return; }
return; y = 1
if (x > 0) goto end; y = 1; end: ;
goto end; again: y = 1; end: if (x > 1) goto again;
x > 0 ? (y = 1) : 2
x > 0 && (y = 1) > 0
x > 0 || (y = 1) > 0
T t = x
{ T y; y = 1; }
{ T z = 1, y = 2; }
{ T *y; *y = 1; }
p.y = 1
p->y = 1
sizeof(y = 1)
// y = 1
const char *s = "y = 1"
if (0) y = 1
if (x > 0) { if (x > 1) y = 1; } else y = 2
;
for (int y = 0; y < 3; y++) { }
""".strip().split("\n")

READS = """
y += 1
y++
--y
y = y + 1
T t = y; y = t
if (y > 0) y = 1; else y = 2
while (y < x) y = 1;
if (x > 0) y = 1; z += y; y = 3
for (; y < 3;) { y = 1; }
y = x > 0 ? y : 1
z = x > 0 || (y = 1) > 0 ? y : 1; y = 1
y[0] = 1
f(y); y = 1
z = x & y; y = 1
z = (x)&y; y = 1
goto end; again: y = 1; end: z = y; if (x > 1) goto again; y = 1
return y = y
""".strip().split("\n")


@pytest.mark.parametrize("source", ASSIGNS)
def test_what_assigns_on_every_path(source):
    assert problem(source, ["y"]) is None
    assert problem(source.replace(" ", "\n"), ["y"]) is None or "//" in source or "#" in source
    assert problem(f"{{ {source} ; }}", ["y"]) is None or "//" in source


@pytest.mark.parametrize("source", LEAVES)
def test_what_leaves_it_unassigned(source):
    assert problem(source, ["y"]) == ("y", 0)
    assert problem(f"z = 2; {source}", ["w", "y", "z"]) == ("w", 0)
    assert problem(f"y = 2; {source}", ["y"]) is None


@pytest.mark.parametrize("source", READS)
def test_what_reads_it_first(source):
    assert problem("\n/*\n*/ " + source, ["y"]) == ("y", 3)
    assert problem(f"y = 2; {source}", ["y"]) is None


@pytest.mark.parametrize("source", [
    "#define SET y\nSET = 1", "#if 1\ny = 1\n#endif", 'asm("" : "=r"(y));', "y = x }", "{ y = 1",
    "(", "y = ({ T t = x; t; })", "auto f = [&](T t) { y = t; }; f(x);", "if", "if x",
    "case 1: y = 2", "break;", "continue", "goto *p;", "else y = 1", "do y = 1",
    "for (T v : x) y = v;", "x ? y", "`", "'", "/* y", "{ y = 1 }", "switch (x) { case 1 }",
    "while", "for", "switch", "(" * 5000])
def test_what_is_left_to_the_compiler(source):
    assert problem(source, ["z"]) is None or "else" in source


def test_directives_that_do_not_matter():
    assert problem("y = 2;\n# pragma GCC unroll \\\n y\nwhile (x > y) y++", ["y"]) is None
    assert problem("#line 7\ny = y", ["y"]) == ("y", 2)


def test_no_outputs():
    assert problem("if (x) y = 1", []) is None


# Random programs: what the check says is what all paths say


class Program:
    """A random program as C and, by its steps, as something that takes one path after another."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.tree = self.block(3, loop=False, switch=False)
        self.source = text(self.tree)

    def block(self, depth, **around):
        return ("block", [self.statement(depth, **around)
                          for _ in range(self.random.randint(0, 3))])

    def statement(self, depth, loop, switch):
        kinds = ["set", "set", "set", "read", "choice", "and"]
        kinds += ["if", "else", "else", "while", "do", "for", "switch", "block"] * (depth > 0)
        kinds += ["return"] + ["break", "continue"] * loop + ["break"] * switch
        kind, name = self.random.choice(kinds), self.random.choice("ab")
        if kind in ("set", "read", "and"):
            return kind, name
        if kind == "choice":
            return kind, self.random.choice("ab"), name
        if kind in ("if", "else"):
            return (kind, self.random.choice("??10"), *(
                self.block(depth - 1, loop=loop, switch=switch) for _ in range(2)))
        if kind in ("while", "do", "for"):
            return (kind, self.random.choice("??1"), name,
                    self.block(depth - 1, loop=True, switch=False))
        if kind == "switch":
            parts = [self.block(depth - 1, loop=loop, switch=True)
                     for _ in range(self.random.randint(1, 3))]
            return kind, self.random.random() < 0.5, parts
        return self.block(depth - 1, loop=loop, switch=switch) if kind == "block" else (kind,)


def text(node):
    kind, *rest = node
    if kind == "block":
        return "{ " + " ".join(map(text, rest[0])) + " }"
    if kind in ("break", "continue", "return"):
        return kind + ";"
    if kind == "set":
        return f"{rest[0]} = x;"
    if kind == "read":
        return f"t += {rest[0]};"
    if kind == "and":
        return f"t = x > 0 && ({rest[0]} = x) > 1;"
    if kind == "choice":
        return f"t = x > 0 ? ({rest[0]} = x) : ({rest[1]} = 2);"
    if kind == "switch":
        complete, parts = rest
        labels = [f"case {k}:" for k in range(len(parts))]
        labels[-1] = "default:" if complete else labels[-1]
        return "switch ((int)x) { " + " ".join(
            f"{label} {text(part)}" for label, part in zip(labels, parts, strict=True)) + " }"
    condition = {"?": "x > t", "1": "1", "0": "0"}[rest[0]]
    if kind in ("if", "else"):
        more = f" else {text(rest[2])}" if kind == "else" else ""
        return f"if ({condition}) {text(rest[1])}{more}"
    name, body = rest[1], text(rest[2])
    return {"while": f"while ({condition}) {body}", "do": f"do {body} while ({condition});",
            "for": f"for (; {condition}; {name} = 1) {body}"}[kind]


class Left(Exception):
    """A jump out of statements, or the end of a path that is not followed further."""


class Path:
    """One path through a program, by a list of choices, which grows as it goes."""

    def __init__(self, choices):
        self.choices, self.at = choices, 0
        self.assigned, self.bad, self.steps = set(), False, 0

    def choose(self, most):
        """The next choice, from 0 to `most` - 1."""
        if self.at == len(self.choices):
            if self.at > 8:
                raise Left("cut")
            self.choices.append([0, most])
        self.at += 1
        return self.choices[self.at - 1][0]

    def condition(self, what):
        self.steps += 1
        if self.steps > 40:
            raise Left("cut")
        return what == "1" if what in "10" else self.choose(2) == 1

    def run(self, node):
        kind, *rest = node
        if kind == "block":
            for step in rest[0]:
                self.run(step)
        elif kind in ("break", "continue", "return"):
            raise Left(kind)
        elif kind == "set":
            self.assigned.add(rest[0])
        elif kind == "read":
            self.bad |= rest[0] not in self.assigned
        elif kind == "and":
            self.assigned.update(rest[0] * self.choose(2))
        elif kind == "choice":
            self.assigned.add(rest[self.choose(2)])
        elif kind == "switch":
            self.switch(*rest)
        elif kind in ("if", "else"):
            if self.condition(rest[0]):
                self.run(rest[1])
            elif kind == "else":
                self.run(rest[2])
        else:
            self.loop(kind, *rest)

    def switch(self, complete, parts):
        begin = self.choose(len(parts) + (not complete))
        self.within(lambda: [self.run(part) for part in parts[begin:]], "break")

    def within(self, call, *ends):
        """Whether one of the jumps `ends` ended the call."""
        try:
            call()
        except Left as jump:
            if jump.args[0] not in ends:
                raise
            return jump.args[0]
        return None

    def loop(self, kind, condition, name, body):
        first = kind == "do"
        while first or self.condition(condition):
            first = False
            if self.within(lambda: self.run(body), "break", "continue") == "break":
                return
            if kind == "for":
                self.assigned.add(name)


def on_paths(tree):
    """What a path that ends leaves unassigned, and whether one reads too early."""
    choices, left, bad = [], set(), False
    while True:
        path = Path(choices)
        try:
            path.run(tree)
            end = "return"
        except Left as jump:
            end = jump.args[0]
        bad |= path.bad
        left |= {"a", "b"} - path.assigned if end == "return" else set()
        del choices[path.at:]
        while choices and choices[-1][0] + 1 == choices[-1][1]:
            choices.pop()
        if not choices:
            return left, bad
        choices[-1][0] += 1


@pytest.mark.parametrize("seed", range(80))
def test_random_programs(seed):
    for k in range(4):
        program = Program(4 * seed + k)
        found = problem(program.source, ["a", "b"])
        left, bad = on_paths(program.tree)
        if bad:
            assert found is not None, program.source
            assert found.line == 1, program.source
        elif left:
            assert found == (min(left), 0), program.source
        else:
            assert found is None, program.source
