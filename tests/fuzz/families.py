"""Inputs by format: each family makes a plausible file, damages some of them, and picks a command for it.

Every value is a canary (:data:`fuzz.mutations.CANARY`), an odd number or an odd text. Names of columns never are
canaries, because messages may quote those.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from random import Random

from fuzz.arrow_family import make_arrow
from fuzz.harness import FuzzInput
from fuzz.mutations import ODD_NAMES, ODD_NUMBERS, ODD_TEXTS, canary, damage, damage_some

__all__ = ["FAMILIES", "make_input"]

_COLUMNS = ("name", "age", "zip", "sex", "diagnosis")
_ROLES = ("--quasi", "age,zip,sex", "--sensitive", "diagnosis")
_CHEAP = ("release", "classes.k", "classes.uniques")
_DEEP = ("classes", "linkage", "classes.t", "linkage.success", "classes.intersection")
_FORMATS = ("text", "json", "markdown", "junit")


def make_input(number: int, deep: float = 0.1) -> FuzzInput:
    """The input of this number; ``deep`` is the share of those that ask slow questions."""
    random = Random(number)
    family = random.choices(list(FAMILIES), _WEIGHTS)[0]
    return FAMILIES[family](random, random.random() < deep)


def _pick_value(random: Random, kind: str) -> str:
    if random.random() < 0.04:
        return random.choice(ODD_TEXTS + ODD_NUMBERS)
    match kind:
        case "age":
            return str(random.randrange(20, 90))
        case "zip":
            return f"{random.randrange(100):02}{random.choice('0123')}"
        case "sex":
            return random.choice("fm")
        case _:
            return canary(random)


def _table_rows(random: Random, rows: int) -> list[list[str]]:
    found = [[_pick_value(random, kind) for kind in _COLUMNS] for _ in range(rows)]
    return found + found[: random.choice((0, 0, rows))]


def _csv_text(random: Random, names: tuple[str, ...], rows: list[list[str]], delimiter: str = ",") -> bytes:
    """A table as text whose body may be damaged; its header stays."""

    def quoted(value: str) -> str:
        needs = any(c in value for c in f'{delimiter}"\r\n') or random.random() < 0.05
        return '"' + value.replace('"', '""') + '"' if needs else value

    body = "".join(delimiter.join(map(quoted, row)) + "\n" for row in rows)
    return delimiter.join(names).encode() + b"\n" + damage_some(random, body.encode("utf-8", "surrogatepass"))


def _table_command(random: Random, file: str, deep: bool) -> tuple[str, ...]:
    """A command for a table with the usual columns."""
    if deep:
        match random.randrange(6):
            case 0:
                return ("link", file, "--people", file, "--quasi", "age,zip", "--matches", "matches.csv", "--quiet")
            case 1:
                return ("intersect", file, file, *_ROLES, "--format", random.choice(_FORMATS), "--quiet")
            case 2:
                return ("protect", file, "--quasi", "age,zip,sex", "-o", "safe.csv", "--quiet", "--tolerance",
                        "linkage.success=.9")  # fmt: skip
            case _:
                return ("assess", file, *_ROLES, "--only", random.choice(_DEEP), *_table_options(random), "--quiet")
    match random.randrange(6):
        case 0 | 1 | 2:
            return ("describe", file, "--format", random.choice(("text", "json")), "--quiet", *_reading(random))
        case 3:
            return ("init", file, "-o", "unveil-new.toml", "--quiet")
        case _:
            return ("assess", file, *_ROLES, "--only", random.choice(_CHEAP), *_table_options(random), "--quiet",
                    "--format", random.choice(_FORMATS))  # fmt: skip


def _reading(random: Random) -> tuple[str, ...]:
    return random.choice(
        ((), (), (), (), ("--strip",), ("--header",), ("--no-header",), ("--delimiter", ";"), ("--quote", "'"),
         ("--encoding", "latin-1"), ("--encoding", "utf-16"), ("--kind", "table"), ("--missing", "f"))
    )  # fmt: skip


def _table_options(random: Random) -> tuple[str, ...]:
    column = random.choice(_COLUMNS)
    rule = random.choice(("prefixes", "prefixes:2,1", "intervals:5,10", "intervals:.5", "dates", "intervals:0"))
    how = random.choice(("equal", "support", "2", "~5", "30d", "x", "0", "~0", "1e400"))
    return random.choice(
        ((), (), ("--hierarchy", f"{column}={rule}"), ("--compare", f"{column}={how}"), ("--missing-as", "wildcard"),
         ("--subject", column), ("--weight", column), ("--household", column), ("--ratings", "name,zip,age"),
         ("--missing-as", "excluded"), ("--rows-are-people",), ("--ruled-out", "diagnosis=x"), ("--reveal",)[:0])
    )  # fmt: skip


def _make_csv(random: Random, deep: bool) -> FuzzInput:
    name = random.choice(("t.csv", "t.csv", "t.tsv", "t.txt", "t"))
    delimiter = "\t" if name == "t.tsv" else random.choice(",,,;|")
    data = _csv_text(random, _COLUMNS, _table_rows(random, random.choice((1, 2, 6, 20))), delimiter)
    secret = random.random() < 0.7
    if not secret:
        data = damage_some(random, data)
    if random.random() < 0.1:
        data = data.decode("utf-8", "replace").encode(random.choice(("utf-8-sig", "utf-16", "utf-16-le", "utf-32")))
    return FuzzInput("csv", _table_command(random, name, deep), {name: data}, secret)


def _make_compressed(random: Random, deep: bool) -> FuzzInput:
    import pyarrow as pa

    inner = FAMILIES[random.choice(("csv", "baskets", "graph"))](random, deep)
    name = next(iter(inner.files))
    how = random.choice(("gzip", "zstd", "zip", "twice"))
    data = inner.files[name]
    if how == "zip":
        data = _pack({name: data})
    else:
        data = pa.compress(data, codec="zstd", asbytes=True) if how == "zstd" else gzip.compress(data, 1, mtime=0)
        data = gzip.compress(data, 1, mtime=0) if how == "twice" else data
    packed_name = name + random.choice((".gz", ".zst", "", ".zip"))
    arguments = tuple(packed_name if a == name else a for a in inner.arguments)
    files = {packed_name: damage_some(random, data), **{k: v for k, v in inner.files.items() if k != name}}
    return FuzzInput("compressed", arguments, files, inner.secret)


def _make_baskets(random: Random, deep: bool) -> FuzzInput:
    items = [canary(random) if random.random() < 0.8 else random.choice(ODD_TEXTS + ODD_NUMBERS) for _ in range(9)]
    baskets = [random.sample(items, random.randrange(1, 6)) for _ in range(random.choice((1, 3, 12)))]
    name = random.choice(("b.dat", "b.dat", "b.jsonl", "b.csv"))
    if name == "b.dat":
        data = "".join(" ".join(items) + "\n" for items in baskets).encode()
    elif name == "b.jsonl":
        wrap: Callable[[list[str]], object] = random.choice((lambda items: items, lambda items: {"items": items}))
        data = "".join(json.dumps(wrap(items), ensure_ascii=random.random() < 0.5) + "\n" for items in baskets).encode()
    else:
        data = _csv_text(random, ("basket", "item"), [[str(k), item] for k, b in enumerate(baskets) for item in b])
    data = data if name == "b.csv" else damage_some(random, data)
    only = ("--only", random.choice(("items.expected_cracks", "classes.known_items") if deep else ("items.alpha_max",)))
    files, more = _attacker_file(random, items)
    command = random.choice((("describe", name, "--quiet"), ("assess", name, *only, *more, "--quiet")))
    if deep and random.random() < 0.05:
        command = ("protect", name, "-o", "safe.dat", "--quiet")
    return FuzzInput("baskets", command, {name: data, **files})


def _attacker_file(random: Random, items: list[str]) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """What an attacker may hold about baskets."""
    option = random.choice(("", "beliefs", "pairs", "never-together", "itemsets-file", "similar", "mapping"))
    pick = lambda: random.choice((*items, "x"))  # noqa: E731
    number = lambda: random.choice(("0", ".1", ".5", "1", *ODD_NUMBERS))  # noqa: E731
    match option:
        case "":
            return {}, ()
        case "beliefs":
            names, rows = ("item", "low", "high"), [[pick(), number(), number()] for _ in range(4)]
        case "itemsets-file":
            names, rows = ("items", "sigma"), [[f"{pick()} {pick()}", number()] for _ in range(3)]
        case "similar":
            return {"s.dat": damage_some(random, " ".join(items).encode())}, ("--similar", "s.dat")
        case "mapping":
            names, rows = ("item", "pseudonym"), [[pick(), pick()] for _ in range(4)]
            return {"h.csv": _csv_text(random, names, rows)}, ("--mapping", "h.csv", "--original", "b.dat")
        case _:
            names, rows = ("item", "other"), [[pick(), pick()] for _ in range(3)]
    return {"h.csv": _csv_text(random, names, rows)}, (f"--{option}", "h.csv")


def _make_graph(random: Random, deep: bool) -> FuzzInput:
    nodes = [canary(random) for _ in range(6)] + [random.choice(ODD_TEXTS)]
    edges = [(random.choice(nodes), random.choice(nodes)) for _ in range(random.choice((1, 5, 12)))]
    name = random.choice(("g.edges", "g.gml", "g.graphml", "g.mtx", "g.csv"))
    if name == "g.edges":
        data = "".join(f"{a} {b}\n" for a, b in edges).encode()
    elif name == "g.gml":
        places = {node: k for k, node in enumerate(dict.fromkeys(nodes))}
        quoted = {node: node.replace("&", "&amp;").replace('"', "&quot;") for node in nodes}
        parts = [f'node [ id {k} label "{quoted[node]}" ]' for node, k in places.items()]
        parts += [
            f"edge [ source {places[a]} target {places[b]} weight {random.choice(ODD_NUMBERS)} ]" for a, b in edges
        ]
        data = ("graph [ directed 0\n" + "\n".join(parts) + "\n]").encode()
    elif name == "g.graphml":
        data = _graphml_text(nodes, edges).encode("utf-8", "xmlcharrefreplace")
    elif name == "g.mtx":
        size = random.choice(("5 5", "9999999999 9999999999", "5 6", "-1 -1")) if random.random() < 0.1 else "9 9"
        kind = random.choice(("pattern", "real", "integer", "complex"))
        data = f"%%MatrixMarket matrix coordinate {kind} {random.choice(('general', 'symmetric'))}\n".encode()
        data += f"{size} {len(edges)}\n".encode()
        value = lambda: "" if kind == "pattern" else random.choice(ODD_NUMBERS)  # noqa: E731
        data += "".join(f"{random.randint(1, 9)} {random.randint(1, 9)} {value()}\n" for _ in edges).encode()
    else:
        data = _csv_text(random, ("source", "target"), [list(edge) for edge in edges])
    more = ("--kind", "graph") if name == "g.csv" else ()
    command = random.choice((("describe", name, *more, "--quiet"), ("assess", name, *more, "--quiet")))
    directed = ("--directed",) if random.random() < 0.2 else ()
    return FuzzInput("graph", (*command, *directed), {name: data if name == "g.csv" else damage_some(random, data)})


def _graphml_text(nodes: list[str], edges: list[tuple[str, str]]) -> str:
    from xml.sax.saxutils import quoteattr

    parts = [
        '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">'
    ]
    parts += [f"<node id={quoteattr(node)}/>" for node in dict.fromkeys(nodes)]
    parts += [f"<edge source={quoteattr(a)} target={quoteattr(b)}/>" for a, b in edges]
    return "\n".join([*parts, "</graph></graphml>"])


def _make_matrix(random: Random, deep: bool) -> FuzzInput:
    n = random.choice((1, 2, 4))
    entries, names = ([canary(random) for _ in range(n)] for _ in range(2))
    weight = lambda: random.choice(("0", "1", "1", ".5", *(ODD_NUMBERS if random.random() < 0.1 else ())))  # noqa: E731
    rows = [[entry, *(weight() for _ in names)] for entry in entries]
    text = "\n".join(",".join(row) for row in [["", *names], *rows]) + "\n"
    truth = _csv_text(random, ("entry", "pseudonym"), [list(pair) for pair in zip(entries, names, strict=True)])
    sets = _csv_text(random, ("entries",), [[" ".join(random.sample(entries, min(2, n)))]])
    more = random.choice(((), ("--truth", "truth.csv"), ("--sets", "sets.csv"), ("--pattern-only",)))
    files = {"m.csv": damage_some(random, text.encode()), "truth.csv": truth, "sets.csv": sets}
    command = ("crack", "m.csv", *more, "--may-exclude-truth", "--quiet", "--format", random.choice(_FORMATS))
    return FuzzInput("matrix", command, files)


_TOML_VALUES = (
    '""', '"age"', '["age", "zip"]', '[["age"], ["zip"]]', "[]", "[[]]", "{}", "0", "-1", "1.5", "nan", "inf", "true",
    "false", "1987-06-05", "10:00:00", '"a\\nb"', '["a\\nb"]', "99999999999999999999", '{ age = "prefixes" }',
    '{ age = "30d" }', '{ age = ["x"] }', '{ "a.b" = 1 }', "[1, [2, [3]]]", '"1e999"', '"10%"', '"\\u202e"', "1e400",
    '{ age = "intervals:0" }', '{ age = "prefixes:999999999999999999999" }', '{ age = "no-such-file.csv" }',
    '{ age = "" }',
    "0x7fffffffffffffffffff", '[""]', '{ "" = "dates" }', '"sex"', '["name", "name"]', "{ classes.k = 5 }",
    "1979-05-27T07:32:00Z",
)  # fmt: skip
_TOML_KEYS = (
    "identifier", "quasi", "sensitive", "insensitive", "subject", "rows_are_people", "weight", "household", "ratings",
    "missing", "missing_as", "hierarchy", "preset", "tolerance", "require", "seed", "guessed", "columns", "settings",
    "classes", "inference", "linkage", "items", "matching", "network", "release", "classes.known", "linkage.known",
    "linkage.compare",
    "classes.ruled_out", "classes.population_size", "classes.sampling_fraction", "linkage.outside", "linkage.errors",
    "linkage.column_errors", "items.itemsets", "items.frequency_precision", "matching.set_threshold",
    "tolerance.classes.k",
    "tolerance.classes", "columns.quasi", "columns.subject", "unknown", '""', '"a\\nb"', "x" * 200,
)  # fmt: skip


def _make_toml(random: Random, deep: bool) -> FuzzInput:
    match random.randrange(20):
        case 0:
            depth = random.choice((50, 500, 5000, 100_000))
            text = random.choice(("quasi = " + "[" * depth, "a" + ".a" * depth + " = 1", "x = " + "{a=" * depth,
                                  "quasi = " + "[" * depth + "]" * depth, "[" + "a." * depth + "a]"))  # fmt: skip
        case 1:
            text = random.choice(("seed = " + "1" * 5000, 'preset = "' + "x" * 1_000_000 + '"', "# " + "x" * 1_000_000,
                                  "quasi = [" + '"age",' * 50_000 + "]"))  # fmt: skip
        case _:
            keys = random.sample(_TOML_KEYS, random.choice((1, 2, 3)))
            text = "".join(f"{key} = {random.choice(_TOML_VALUES)}\n" for key in keys)
    data = damage_some(random, text.encode()) if random.random() < 0.3 else text.encode()
    table = ",".join(_COLUMNS) + "\n" + "".join(f"{canary(random)},3{k},0{k},f,{canary(random)}\n" for k in range(4))
    more = random.choice(((), ("--quasi", "age"), ("--sensitive", "diagnosis")))
    command = ("assess", "t.csv", "--policy", "p.toml", "--only", "classes.k", *more, "--quiet")
    return FuzzInput("toml", command, {"t.csv": table.encode(), "p.toml": data})


def _make_hierarchy(random: Random, deep: bool) -> FuzzInput:
    values = [canary(random) for _ in range(5)]
    tops = [canary(random), canary(random)]
    rows = [[value, random.choice(tops), *(["*"] if random.random() < 0.95 else [])] for value in values]
    delimiter = random.choice(";;,|")
    data = damage_some(random, "".join(delimiter.join(row) + "\n" for row in rows).encode())
    told = [[v, "34", "012", "f", v] for v in (*values, *(canary(random) for _ in range(random.choice((0, 0, 2)))))]
    column = random.choice(("diagnosis", "name"))
    asked = ("--only", random.choice(("classes.t", "linkage.unicity")) if deep else "classes.k")
    command = ("assess", "t.csv", *_ROLES, "--hierarchy", f"{column}=h.csv", *asked, "--quiet")
    return FuzzInput("hierarchy", command, {"t.csv": _csv_text(random, _COLUMNS, told), "h.csv": data})


_OPTIONS = (
    "--quasi", "--sensitive", "--identifier", "--insensitive", "--subject", "--weight", "--household", "--ratings",
    "--missing", "--missing-as", "--hierarchy", "--preset", "--require", "--seed", "--known", "--ruled-out",
    "--population-size", "--sampling-fraction", "--compare", "--outside", "--errors", "--column-errors", "--itemsets",
    "--frequency-precision", "--tolerance", "--only", "--delimiter", "--encoding", "--quote", "--sheet",
    "--memory-limit",
    "--spill", "-o", "--report", "--format", "--exposed", "--population", "--people", "--earlier", "--original",
    "--kind",
    "--policy", "--set-threshold", "--known-pairs", "--itemset-threshold", "--true-links", "--known-network",
    "--seeds", "--true-matches",
)  # fmt: skip
_OPTION_VALUES = (
    "age", "age,zip", "age=2", "age=30d", "diagnosis=prefixes", "diagnosis=intervals:5", "name=dates", "age\nzip",
    "age=\n",
    "\n", ",", "=", "age=", "=x", "classes.k=5", "classes.k=off", "classes.k=nan", "linkage.success=1e999%", "classes",
    "classes.k,", "utf-16", "base64", "rot13", "hex", "zlib", "idna", "undefined", "1KB", "1e9GB", "-1GB", "0",
    "nosuch",
    "out.json", "t.csv", "/nosuch/x", "prefixes", "diagnosis=Flu", "top:3", "pairs", "age=prefixes:1", "age=prefixes:0",
    "age=intervals:5,7", "zip=prefixes:99999999999999", "age=intervals:" + "9" * 400, "'", "\udcff", '"a,b"', '"',
)  # fmt: skip


def _make_options(random: Random, deep: bool) -> FuzzInput:
    rows = [[canary(random), f"3{k}", f"01{k % 3}", "fm"[k % 2], canary(random)] for k in range(5)]
    table = "\n".join(",".join(row) for row in [list(_COLUMNS), *rows]).encode() + b"\n"
    values = _OPTION_VALUES + ODD_NUMBERS + ODD_TEXTS + ODD_NAMES
    chosen = [part for _ in range(random.choice((1, 1, 2, 3)))
              for part in (random.choice(_OPTIONS), random.choice(values).replace("\0", ""))]  # fmt: skip
    head = random.choice((("assess", "t.csv", "--only", "classes.k"), ("describe", "t.csv"), ("assess", "t.csv",
    "--only",
           "release"), ("link", "t.csv", "--people", "t.csv"), ("theory", random.choice(("cracks", "linkage"))),
           ("init", "t.csv"), ("crack", "t.csv"), ("intersect", "t.csv", "t.csv"), ("schema", "policy"),
           ("compare", "t.csv", "t.csv"), ("protect", "t.csv", "-o", "safe.csv", "--method", "columns")))  # fmt: skip
    if head[0] in ("link", "intersect", "protect") and not deep:
        head = ("describe", "t.csv")
    return FuzzInput("options", (*head, *chosen, "--quiet"), {"t.csv": table})


_WORKBOOK = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Target="xl/workbook.xml" Type='
    '"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
    '<sheets><sheet name="people" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Target="worksheets/sheet1.xml" Type='
    '"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"/></Relationships>',
}


def _make_workbook(random: Random, deep: bool) -> FuzzInput:
    rows = [list(_COLUMNS), *_table_rows(random, 3)]
    cells = ("".join(f'<c t="inlineStr"><is><t>{_xml_text(value)}</t></is></c>' for value in row) for row in rows)
    sheet = "".join(f"<row>{row}</row>" for row in cells)
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    parts = {
        **_WORKBOOK,
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{space}"><sheetData>{sheet}</sheetData></worksheet>',
    }
    hurt = random.choice((None, *parts))
    files = {name: text.encode() for name, text in parts.items()}
    if hurt is not None:
        files[hurt] = damage(random, files[hurt])
    data = _pack(files)
    data = damage(random, data) if hurt is None and random.random() < 0.5 else data
    command = random.choice((("describe", "w.xlsx"), ("init", "w.xlsx", "-o", "n.toml")))
    return FuzzInput("workbook", (*command, "--quiet"), {"w.xlsx": data}, secret=False)


def _xml_text(value: str) -> str:
    from xml.sax.saxutils import escape

    return escape(value if value.isprintable() else "x")


def _pack(files: Mapping[str, bytes]) -> bytes:
    """A ZIP archive, the same at any time."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return packed.getvalue()


def _make_assessment(random: Random, deep: bool) -> FuzzInput:
    """Two files for compare that look like assessments."""
    made = {"schema_version": random.choice((1, 2, 3, "1", None)), "findings": [{"id": "classes.k", "value": 3}],
            "verdict": {"decision": "release"}, "release": {"kind": "table", "name": "t"}}  # fmt: skip
    data = damage_some(random, json.dumps(made).encode())
    deeply = b"[" * 100_000
    command = ("compare", "a.json", "b.json", "--format", random.choice(("text", "json", "markdown")))
    return FuzzInput("assessment", command, {"a.json": data, "b.json": random.choice((data, deeply, b"{}", b"1"))})


def _make_arrow_input(random: Random, deep: bool) -> FuzzInput:
    name, data, columns = make_arrow(random)
    quasi = ",".join('"' + column.replace('"', '""') + '"' for column in columns[:2])
    one = columns[0]
    rule = random.choice(("prefixes", "prefixes:2,1", "intervals:5", "dates"))
    how = random.choice(("2", "~5", "30d", "equal", "support"))
    roles = ("--quasi", quasi) if random.random() < 0.7 else ()
    asked = ("--only", random.choice(("classes", "linkage", "linkage.success") if deep else _CHEAP))
    more = random.choice(((), ("--hierarchy", f"{one}={rule}"), ("--compare", f"{one}={how}"), ("--subject", one),
                          ("--weight", one), ("--reveal",)[:0]))  # fmt: skip
    commands = [("describe", name), ("init", name, "-o", "n.toml"), ("assess", name, *roles, *asked, *more)]
    if deep:
        commands += [("link", name, "--people", name, *roles, *more), ("intersect", name, name, *roles),
                     ("protect", name, *roles, "-o", random.choice(("safe.csv", "safe.parquet",
                     "safe.arrow")))]  # fmt: skip
    return FuzzInput("arrow", (*random.choice(commands), "--quiet"), {name: data})


FAMILIES: Mapping[str, Callable[[Random, bool], FuzzInput]] = {
    "csv": _make_csv,
    "arrow": _make_arrow_input,
    "baskets": _make_baskets,
    "graph": _make_graph,
    "matrix": _make_matrix,
    "toml": _make_toml,
    "hierarchy": _make_hierarchy,
    "options": _make_options,
    "workbook": _make_workbook,
    "compressed": _make_compressed,
    "assessment": _make_assessment,
}
_WEIGHTS = (20, 20, 12, 12, 5, 12, 8, 12, 2, 8, 2)
