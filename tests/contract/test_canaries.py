"""No value of any file is in what is printed or written, but for the protected release, mappings and matches: not in
results of any format, and not in errors. Every value is a canary; names of columns are not.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fuzz.harness import FuzzInput, find_defects

SOURCE = Path(__file__).parents[2] / "src" / "unveil"
FORMATS = ("text", "json", "html", "markdown", "junit")
ROLES = ("--identifier", "name", "--quasi", "town,job,income", "--sensitive", "diagnosis")
HEAD = "name,town,job,income,diagnosis"


def _canary(kind: int, number: int) -> str:
    return f"Kq{kind}{number:03}zj"


def _table(rows: int = 12, start: int = 0) -> str:
    """People: names are all different, of other values there are few."""
    return "".join(
        f"{_canary(1, k)},{_canary(2, k % 3)},{_canary(3, k % 2)},73{k:03}19,{_canary(4, k % 5)}\n"
        for k in range(start, start + rows)
    )


TABLE = f"{HEAD}\n{_table()}"
ITEMS = [_canary(5, k) for k in range(8)]
BASKETS = "".join(" ".join(ITEMS[: k % 7 + 1]) + "\n" for k in range(20))
HIERARCHY = "".join(f"{_canary(4, k)};{_canary(6, k // 2)};*\n" for k in range(5))
MATRIX = f",{ITEMS[0]},{ITEMS[1]}\n{ITEMS[2]},1,1\n{ITEMS[3]},0,1\n"
PAIRS = f"item,other\n{ITEMS[0]},{ITEMS[1]}\n"


def _make(code: int | None, *arguments: str, **files: str | bytes) -> FuzzInput:
    """A command; the file t_csv is called t.csv."""
    data = {name.replace("_", "."): text.encode() if isinstance(text, str) else text for name, text in files.items()}
    return FuzzInput(arguments[0], (*arguments, "--quiet") if arguments[0] != "compare" else arguments, data, code=code)


# ---- results ---------------------------------------------------------------------------------------------------------


def _results() -> Iterator[FuzzInput]:
    for form in ("text", "json", "graphml", "svg"):
        yield _make(0, "lattice", "t.csv", "--columns", "town,job,diagnosis", "--format", form, t_csv=TABLE)
        yield _make(0, "lattice", "b.dat", "--format", form, b_dat=BASKETS)
    for form in FORMATS:
        told = ("--format", form, "--details", "--exposed", "99")
        yield _make(1, "assess", "t.csv", *ROLES, *told, t_csv=TABLE)
        yield _make(1, "assess", "b.dat", "--only", "items.expected_cracks,classes.known_items", *told, b_dat=BASKETS)
        yield _make(1, "crack", "m.csv", *told, m_csv=MATRIX)
        yield _make(1, "assess", "g.edges", *told, g_edges="".join(f"{a} {b}\n" for a in ITEMS for b in ITEMS[:3]))
        linked = ("--people", "p.csv", "--quasi", "town,job,income", "--matches", "matches.csv")
        yield _make(None, "link", "t.csv", *linked, *told, t_csv=TABLE, p_csv=TABLE)
        both = ("--quasi", "town,job", "--sensitive", "diagnosis", "--matches", "matches.csv")
        yield _make(None, "intersect", "t.csv", "u.csv", *both, *told, t_csv=TABLE, u_csv=f"{HEAD}\n{_table(9, 3)}")
    told = ("--format", "json", "--details", "--exposed", "99")
    yield _make(1, "assess", "t.csv", *ROLES, *told, "--report", "r.html", "-o", "a.json", t_csv=TABLE)
    files = ("--population", "p.csv", "--earlier", "p.csv", "--people", "p.csv", "--hierarchy", "diagnosis=h.csv")
    yield _make(1, "assess", "t.csv", *ROLES, *files, *told, t_csv=TABLE, p_csv=TABLE, h_csv=HIERARCHY)
    beliefs, sets = f"item,low,high\n{ITEMS[0]},.1,.9\n", f"items,class\n{ITEMS[0]} {ITEMS[1]},{_canary(7, 0)}\n"
    for option, text in {"beliefs": beliefs, "similar": BASKETS, "pairs": PAIRS, "itemsets-file": sets}.items():
        asked = ("--only", "items.expected_cracks,items.itemsets_vulnerable,items.correlation")
        held = ("--itemsets", "pairs", f"--{option}", "h.dat" if option == "similar" else "h.csv")
        yield _make(None, "assess", "b.dat", *held, *asked, *told, b_dat=BASKETS, h_dat=text, h_csv=text)
    tolerated = ("--tolerance", "items.expected_cracks=95%", "--method", "suppress")
    yield _make(None, "protect", "b.dat", "-o", "safe.dat", *tolerated, b_dat=BASKETS)
    yield _make(None, "protect", "t.csv", *ROLES, "-o", "safe.csv", "--tolerance", "linkage.success=.9", t_csv=TABLE)
    for form in ("text", "json"):
        yield _make(0, "describe", "t.csv", "--format", form, t_csv=TABLE)
        yield _make(0, "describe", "b.dat", "--format", form, b_dat=BASKETS)
    yield _make(0, "init", "t.csv", "-o", "new.toml", t_csv=TABLE)


# ---- errors ----------------------------------------------------------------------------------------------------------


def _bad_tables() -> Iterator[FuzzInput]:
    one = _canary(7, 1)
    bodies = [f"{one},{one}\n", f'{one},"{one}\n', f"{one},\0,1,1,1\n", f'"{one}"{one},1,1,1,1\n']
    for body in bodies:
        yield _make(2, "describe", "t.csv", t_csv=TABLE + body)
        yield _make(2, "assess", "t.csv", *ROLES, t_csv=TABLE + body)
    yield _make(2, "describe", "t.csv", t_csv=TABLE.encode() + b"\xff" + one.encode() + b",1,1,1,1\n")
    yield _make(2, "describe", "t.csv", t_csv=_table())  # line 1 looks like data
    yield _make(2, "describe", "t.txt", "--kind", "graph", t_txt=f"{one}\n")
    yield _make(2, "describe", "t.csv", "--kind", "matrix", t_csv=TABLE)
    yield _make(2, "init", "t.parquet", t_parquet=f"PAR1{one}PAR1")
    for column in ({"town": pa.array([b"\xff" + one.encode()] * 3)}, {"town": pa.array([[one]] * 3)}):
        written = io.BytesIO()
        pq.write_table(pa.table(column), written)
        rule = ("--hierarchy", "town=prefixes")
        yield _make(2, "assess", "t.parquet", "--quasi", "town", *rule, t_parquet=written.getvalue())


def _bad_policies() -> Iterator[FuzzInput]:
    """What a policy says does not fit the values."""
    for column in ("name", "town", "diagnosis"):
        for how in ("intervals:5", "dates"):
            yield _make(2, "assess", "t.csv", *ROLES, "--hierarchy", f"{column}={how}", t_csv=TABLE)
        yield _make(2, "assess", "t.csv", "--weight", column, t_csv=TABLE)
    for how in ("2", "~5", "30d"):
        yield _make(2, "assess", "t.csv", *ROLES, "--compare", f"town={how}", t_csv=TABLE)
        yield _make(2, "link", "t.csv", "--people", "t.csv", "--compare", f"town={how}", t_csv=TABLE)
    yield _make(2, "assess", "t.csv", "--subject", "name", t_csv=TABLE + f",{_canary(2, 1)},1,1,1\n")
    again = HIERARCHY.splitlines(keepends=True)
    one, other = _canary(4, 0), _canary(6, 9)
    bad = (again[0], f"{HIERARCHY}{one};{other};*\n", f"{HIERARCHY}{other};{_canary(6, 0)};{other}\n",
    f"{HIERARCHY}{other}\n",
           f'{HIERARCHY}"{other};*;*\n', f"{HIERARCHY}{other};;*\n", f"{HIERARCHY}{other}\0;*;*\n", f"{one}\n",
           f"{other};{other};*\n", f"{other};{_canary(6, 8)};{other}\n{HIERARCHY}")  # fmt: skip
    for text in bad:
        yield _make(2, "assess", "t.csv", *ROLES, "--hierarchy", "diagnosis=h.csv", t_csv=TABLE, h_csv=text)


def _bad_holdings() -> Iterator[FuzzInput]:
    """What an attacker holds does not fit the release."""
    one = _canary(7, 2)
    for text in (f"known,row\n{one},1\n", f"known,row\n1,{one}\n", "known,row\n1,99\n", f"a,b\n{one},{one}\n"):
        files = ("--people", "t.csv", "--true-links", "l.csv")
        yield _make(2, "link", "t.csv", "--quasi", "town,job", *files, t_csv=TABLE, l_csv=text)
    for option in ("--people", "--population", "--earlier", "--original"):
        yield _make(2, "assess", "t.csv", *ROLES, option, "p.csv", t_csv=TABLE, p_csv=f"other\n{one}\n")
    edges = {"g_edges": "n1 n2\nn2 n3\n", "k_edges": f"{one} p2\np2 p3\n"}
    for text in (
        f"a,b\n{one},n1\n",
        f"known,node\n{one},{one}\n",
        "known,node\np4,n1\n",
        f"known,node\n{one},n1\n{one},n2\n",
    ):
        for option in ("--seeds", "--true-matches"):
            yield _make(2, "unmask", "g.edges", "--known", "k.edges", option, "s.csv", s_csv=text, **edges)
    a, b = ITEMS[0], ITEMS[7]
    held = {
        "beliefs": (f"item,low,high\n{one},0,1\n", f"item,low,high\n{a},{one},1\n", f"item,low,high\n{a},.9,.1\n",
                    f"item,low,high\n{a},0,1\n{a},0,1\n"),
        "pairs": (f"item,other\n{a},{one}\n", f"item,other\n{a},{a}\n", f"item,other\n{a},{b}\n", f"x\n{one}\n"),
        "never-together": (f"item,other\n{a},{ITEMS[1]}\n", f"item,other\n{one},{a}\n"),
        "itemsets-file": (f"items\n{one} {a}\n", f"items,sigma\n{a} {ITEMS[1]},{one}\n", f"items\n{a} {a}\n"),
        "similar": (f"{one} x\n",),
        "mapping": (f"item,pseudonym\n{one},{a}\n", f"item,pseudonym\n{a},{one}\n", f"x,y\n{one},{one}\n"),
    }  # fmt: skip
    for option, texts in held.items():
        more = ("--original", "o.dat") if option == "mapping" else ()
        for text in texts:
            yield _make(2, "assess", "b.dat", f"--{option}", "h.csv", *more, b_dat=BASKETS, o_dat=BASKETS, h_csv=text)


def _bad_baskets_and_graphs() -> Iterator[FuzzInput]:
    one, other = _canary(7, 3), _canary(7, 4)
    for text in (
        f"basket,item\n{one}\n",
        f'basket,item\n1,"{one}\n',
        f"basket,item\n,{one}\n",
    ):
        yield _make(2, "describe", "b.csv", "--kind", "transactions", b_csv=text)
    for text in (f'["{one}"', f'{{"x": ["{one}"]}}', f'["{one}"]\n"{one}"\n', f'[["{one}"]]'):
        yield _make(2, "describe", "b.jsonl", b_jsonl=text)
    yield _make(2, "describe", "b.dat", b_dat=b"\xff" + one.encode())
    node = f'node [ id "{one}" label "{other}" ]'
    for text in (f"graph [ {node} {node} ]", f'graph [ {node} edge [ source "{other}" target "{one}" ] ]',
    f"graph [ {node}",
                 f"graph [ directed {one} ]", f"graph [ {node} ] graph [ {node} ]",
                 f'graph [ node [ label "{one} ] ]'):  # fmt: skip
        yield _make(2, "assess", "g.gml", g_gml=text)
    start = '<graphml><graph edgedefault="directed">'
    for text in (f'{start}<node id="{one}"/><node id="{one}"/></graph></graphml>', f"{start}<{one}></graph></graphml>",
                 f'{start}<edge source="{one}" target="{one}"/></graph></graphml>',
                 f"{start}<node {one}/>"):  # fmt: skip
        yield _make(2, "assess", "g.graphml", g_graphml=text)
    yield _make(2, "assess", "g.edges", g_edges=f"{one} {other}\n{one}\n")
    market = "%%MatrixMarket matrix coordinate real general\n"
    for text in (f"{market}3 3 1\n{one} 1 1\n", f"{market}{one}\n", f"%%MatrixMarket {one}\n"):
        yield _make(2, "assess", "g.mtx", g_mtx=text)


def _bad_matrices() -> Iterator[FuzzInput]:
    a, b = ITEMS[2], ITEMS[3]
    one = _canary(7, 5)
    for text in (f"{MATRIX}{one}\n", MATRIX.replace("0,1", f"{one},1"), MATRIX.replace("0,1", "-1,1"),
    f"x,{a},{a}\nx,1,1\ny,1,1\n",
                 f'{MATRIX}"{one}', f"{one},{one}\n"):  # fmt: skip
        yield _make(2, "crack", "m.csv", m_csv=text)
    for text in (f"{a},{one}\n", f"{one},{a}\n", f"{a},{ITEMS[0]}\n{a},{ITEMS[1]}\n", f"{a},{ITEMS[0]}\n"):
        yield _make(2, "crack", "m.csv", "--truth", "r.csv", m_csv=MATRIX, r_csv=text)
    for text in (f"entries\n{one}\n", f"entries\n{a} {a}\n", f"x\n{a} {b}\n"):
        yield _make(2, "crack", "m.csv", "--sets", "s.csv", m_csv=MATRIX, s_csv=text)
    for text in (
        one,
        f'"{one}"',
        f'{{"{one}": 1}}',
        f'{{"schema_version": 2, "{one}": 1}}',
    ):
        yield _make(2, "compare", "a.json", "b.json", a_json=text, b_json=text)


ALL: dict[str, Callable[[], Iterator[FuzzInput]]] = {
    "results": _results,
    "tables": _bad_tables,
    "policies": _bad_policies,
    "holdings": _bad_holdings,
    "baskets and graphs": _bad_baskets_and_graphs,
    "matrices": _bad_matrices,
}


@pytest.mark.parametrize("what", ALL)
def test_no_value_is_quoted(what: str) -> None:
    given = list(ALL[what]())
    found = find_defects(given.__getitem__, range(len(given)))
    assert not found, "\n".join(map(str, found[:10]))


def test_no_value_is_quoted_in_comparisons(unveil: Callable[..., object], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    unveil("assess", "t.csv", *ROLES, "--format", "json", "-o", "a.json", "--quiet")
    data = (tmp_path / "a.json").read_bytes()
    given = [
        _make(1, "compare", "a.json", "b.json", "--format", form, a_json=data, b_json=data)
        for form in ("text", "json", "markdown")
    ]
    assert not find_defects(given.__getitem__, range(len(given)))


def test_values_are_there_to_be_quoted() -> None:
    """With --reveal they are."""
    told = ("--format", "json", "--reveal", "--only", "classes,release")
    given = [_make(1, "assess", "t.csv", *ROLES, *told, t_csv=TABLE)]
    assert [d.what for d in find_defects(given.__getitem__, range(1))] == ["quotes a value"]


# ---- in the source ---------------------------------------------------------------------------------------------------

NAMES = {
    "name", "path", "file", "table", "column", "target", "directory", "output", "mapping_file", "subject",
     # of files and columns
    "text", "key", "key_id", "room", "method", "risk_id", "given", "kind", "number", "step", "version", "chosen",
     # typed by the user
    "requested", "role", "memory_limit", "place", "names", "predict", "person_column", "word", "undeclared", "goal",
}  # fmt: skip
LISTS = {
    "lacking", "strange", "varying", "unknown", "lost", "refused", "columns", "twice", "repeated", "released", "known",
    "names", "reserved", "both",
     # columns
    "writers", "offered", "THEOREMS", "RecordSimilarity", "get_args", "sorted", "set", "tables",
}  # fmt: skip


def test_errors_quote_names_and_what_was_typed() -> None:
    """Whoever adds another kind of name to an error thinks twice: may it be a value?"""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "UnveilError":
                found |= {(path.name, node.lineno, name) for name in _quoted_names(node)}
    assert not found


def _quoted_names(error: ast.Call) -> Iterator[str]:
    """The last names of what an error quotes that are not known to be harmless."""
    for call in ast.walk(error):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id in ("safe_text", "list_text")
        ):
            known = NAMES if call.func.id == "safe_text" else LISTS
            inner = call.args[0]
            name = inner.attr if isinstance(inner, ast.Attribute) else next(
                (n.id for n in ast.walk(inner) if isinstance(n, ast.Name)), "")  # fmt: skip
            if name not in known:
                yield f"{call.func.id}({ast.unparse(inner)})"
