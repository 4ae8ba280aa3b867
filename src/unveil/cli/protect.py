"""``unveil protect``: make a release safer, and say what that costs."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import click
from click.core import ParameterSource

from unveil import questions
from unveil.cli.holdings import files_read, holding_options, read_case, read_table_beside
from unveil.cli.messages import note_printer, progress_bar
from unveil.cli.output import check_output_files, print_notes, render_assessment, report_options
from unveil.cli.policy import column_names, make_policy, policy_options, refuse_policy_options, renamed_option
from unveil.cli.reading import reading_options, reading_text
from unveil.cli.typed_command import remember_command
from unveil.errors import UnveilError
from unveil.release import Graph, Release, Transactions
from unveil.release.kinds import check_kind, kinds_text
from unveil.wording import safe_text

if TYPE_CHECKING:
    from unveil.case import Case
    from unveil.protect import ProtectedRelease
    from unveil.protection import ProtectionOffer
    from unveil.recipe import Recipe
    from unveil.recipe_protection import Unseen
    from unveil.release.delivery import OutputFile

__all__ = ["command"]

_EPILOG = """\b
Exit code: 0 the new file may be released, 3 your call, 1 no protection reaches the tolerance and nothing was written,
2 bad usage or bad data, 130 interrupted (143 by SIGTERM, 129 by SIGHUP).

\b
Examples:
  unveil protect baskets.dat --tolerance items.expected_cracks=10% -o safe.dat
  unveil protect baskets.dat -o safe.dat --method merge --categories aisles.csv --report safe.html
  unveil assess safe.dat --original baskets.dat --mapping safe.mapping.csv
  unveil protect patients.csv -o safe.csv
  unveil protect patients.csv --goal classes.k=11 --goal classes.t=.2 --keep age,sex --suppress 2% -o safe.csv
  unveil protect people.csv --quasi age,sex,zip,job --hierarchy job=job.csv --method local -o safe.parquet
  unveil protect visits.csv --subject patient --quasi age,sex,zip --sensitive diagnosis -o safe.csv
  unveil protect patients.csv -o safe.csv --write-recipe safe.recipe.toml
  unveil protect june.csv --recipe safe.recipe.toml --released safe.csv -o june-safe.csv
  unveil protect films.csv --ratings user,film,stars,date --known 2 --goal linkage.success=.2 -o safe.csv
  unveil protect friends.edges --goal network.degree_k=10 --additions-only -o safe.edges
"""
_RECIPE_HINT = (
    "this recipe does not protect these rows enough; hold them back until there are more, or protect them without "
    "--recipe"
)

_INTRODUCTION = """Write a safer version of FILE, to be released instead.

No more is done than it takes. Every result is attacked as FILE is, by someone who knows what was done, and the most
useful one within tolerance is written.
"""


def _methods() -> dict[str, dict[str, ProtectionOffer]]:
    """All protections by their names, by the kind of release that they are for."""
    offers: dict[str, dict[str, ProtectionOffer]] = {}
    for question in questions.QUESTIONS:
        for kind in question.kinds:
            suited = {n: o for n, o in question.protections.items() if kind in (o.release_kinds or question.kinds)}
            offers.setdefault(kind, {}).update(suited)
    return {kind: named for kind, named in offers.items() if named}


def _help_text() -> str:
    """What the command does, and by which methods."""
    lines = [_INTRODUCTION]
    for kind, offers in _methods().items():
        width = max(map(len, offers))
        lines += ["\b", f"Methods for {kinds_text([kind])}:"]
        lines += [*(f"  {name:{width}}  {offer.summary}" for name, offer in offers.items()), ""]
    return "\n".join(lines)


def _method_option(command: Any) -> Any:
    names = list(dict.fromkeys(name for offers in _methods().values() for name in offers))
    default = (
        "by default, all but those marked 'only if named' are tried and the most useful one within tolerance is written"
    )
    return click.option("--method", type=click.Choice(names), help=f"Try only this method; {default}.")(command)


@click.command("protect", help=_help_text(), epilog=_EPILOG)
@click.argument("file", type=click.Path())
@click.option("-o", "--output", metavar="FILE", required=True, help="Write the safer release to FILE.")
@click.option(
    "--write-mapping",
    "mapping_file",
    metavar="FILE",
    help="Baskets and graphs: write what each item or node became to FILE; by default beside the release, as "
    "NAME.mapping.csv. An existing file is kept; the mapping then becomes NAME.mapping.2.csv, and so on. Never publish "
    "it.",
)
@_method_option
@click.option(
    "--pseudonymise",
    multiple=True,
    metavar="COLUMNS",
    help="Tables: replace these columns by pseudonyms under your own key, the same in all tables that you protect; "
    "other identifiers are left out. Comma-separated.",
)
@click.option(
    "--keep-order",
    is_flag=True,
    help="Tables: leave the rows in their order, which may undo the protection; the verdict is then 'your call'. By "
    "default rows are shuffled.",
)
@click.option(
    "--predict",
    metavar="COLUMN",
    help="Tables: measure how well COLUMN can be predicted from the others, before and after (needs scikit-learn).",
)
@click.option(
    "--write-recipe",
    metavar="FILE",
    help="Tables: write what was done to each column to FILE, so that the same can be done to new rows; only methods "
    "that allow this are tried. An existing file is kept; the recipe then becomes NAME.2.toml, and so on. Never "
    "publish it.",
)
@click.option(
    "--recipe",
    "recipe_file",
    metavar="FILE",
    help="Tables: apply the recipe in FILE, with its own policy, and check that its goals still hold.",
)
@click.option(
    "--released",
    multiple=True,
    metavar="FILE",
    help="With a recipe: an earlier release of other rows that it made; old and new rows together must meet the goals "
    "too. Repeatable.",
)
@click.option(
    "--unseen",
    type=click.Choice(["refuse", "root"]),
    default="refuse",
    show_default=True,
    help="With a recipe: whether to refuse values that it has no label for, or to show them as *.",
)
@policy_options(protecting=True)
@holding_options(protecting=True)
@reading_options
@report_options
@renamed_option("mapping", "write_mapping")
def command(
    file: str,
    output: str,
    mapping_file: str | None,
    method: str | None,
    pseudonymise: tuple[str, ...],
    keep_order: bool,
    predict: str | None,
    write_recipe: str | None,
    recipe_file: str | None,
    released: tuple[str, ...],
    unseen: Unseen,
    form: str,
    details: bool,
    report: str | None,
    exposed: int,
    reveal: bool,
    exit_zero: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """Protect, write the release and whatever belongs to it, and print its assessment."""
    from unveil.protect import protect
    from unveil.release.delivery import OutputFile, deliver_files
    from unveil.release.write import check_writable, choose_writer

    for what, name, ending in (("mapping", mapping_file, ".csv"), ("recipe", write_recipe, ".toml")):
        if name and Path(name).suffix.lower() != ending:
            raise UnveilError(f"{safe_text(name, 200)}: a {what} is written as {ending}")

    tell = note_printer(quiet)
    recipe = _read_recipe(recipe_file, released, write_recipe)
    policy = make_policy(given, tell) if recipe is None else recipe.policy
    sources = [*files_read(file, given, policy), recipe_file, *released]
    check_output_files([output, mapping_file, write_recipe, report], sources)
    with progress_bar(reading_text(file), quiet) as report_progress:
        case = read_case(file, given)
        mapping = _choose_mapping_file(case, mapping_file, output)
        if write_recipe:
            check_kind("--write-recipe", ["table"], case.release.name, case.release.kind)
        check_output_files([output, mapping, write_recipe, report], sources)
        write = choose_writer(case.release.kind, output)
        check_writable(case.release, output)
        made = protect(
            case,
            policy if recipe is None else None,
            recipe_methods_only=write_recipe is not None,
            recipe=recipe,
            released=[read_table_beside(each, given) for each in released],
            unseen=unseen,
            method=method,
            pseudonymise=tuple(column for text in pseudonymise for column in column_names(text)),
            keep_order=keep_order,
            predict=predict,
            reveal=reveal,
            exposed=exposed,
            progress=report_progress,
        )
        report_progress("writing", None)
        held = io.BytesIO()
        if made.case is not None:
            _write_named(made.release, output, write, held)
        assessment = (
            made.assessment if made.case is None else made.assessment_of_file(Path(output).name, held.getvalue())
        )
        typed = remember_command(file)
        if made.case is not None:
            typed = replace(typed, file=output, reading=(), options=_options_of_assess(typed.options))
        assessment = replace(assessment, typed=typed)
        text = render_assessment(assessment, form, details=details, reveal=reveal, to_file=False)
        page = assessment.to_html() if report else ""
    print_notes(case, tell)
    if made.case is not None:
        secret = _secret_file(made, mapping, write_recipe)
        files = [OutputFile(report, page.encode(), private=reveal)] if report else []
        files = [*([secret.file] if secret else []), *files]
        first, *_ = deliver_files([*files, OutputFile(output, held.getvalue())])  # the release when its mapping is safe
        tell(f"{safe_text(output, 200)} written{f'; {safe_text(first, 200)} {secret.sentence}' if secret else ''}")
        if report:
            tell(f"report written to {safe_text(report, 200)}")
    click.echo(text, nl=False)
    if made.case is None:
        tried, written = len(made.assessment.protections) > 1, "nothing was written"
        if report:
            deliver_files([OutputFile(report, page.encode(), private=reveal)])
            written = f"no release was written; {safe_text(report, 200)} shows {'what was tried' if tried else 'why'}"
        tell(f"{'none of the protections tried' if tried else 'no protection'} meets the tolerances; {written}")
        for sentence in [_RECIPE_HINT] if recipe is not None else made.advice:
            tell(sentence)
        return 0 if exit_zero else 1
    for caveat in made.caveats:
        tell(caveat)
    return 0 if exit_zero else assessment.verdict.exit_code


def _write_named(release: Release, output: str, write: Callable[[Release, BinaryIO], None], held: BinaryIO) -> None:
    """Write a release under the name of its own file, so that a refusal does not blame the file it was made from."""
    if isinstance(release, Graph):
        release = replace(release, name=Path(output).name)
    write(release, held)


def _options_of_assess(typed: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """What was typed, as the command ``assess`` spells it, without what only protecting understands."""
    from unveil.cli.assess import command as assess

    known = {name for option in assess.params for name in option.opts}
    found = dict[str, tuple[str, ...]]()
    for option in command.params:
        name = next((name for name in option.opts if name in known), None)
        if name is not None and option.opts[0] in typed:
            found[name] = tuple(text.replace(option.opts[0], name, 1) for text in typed[option.opts[0]])
    return found


def _read_recipe(file: str | None, released: tuple[str, ...], written: str | None) -> Recipe | None:
    """The recipe, which says everything that a policy says."""
    from unveil.recipe import Recipe

    context = click.get_current_context()
    if file is None:
        if released or context.get_parameter_source("unseen") is ParameterSource.COMMANDLINE:
            raise click.UsageError("--released and --unseen need --recipe.", context)
        return None
    if written is not None:
        raise click.UsageError(
            "--write-recipe cannot be combined with --recipe, which stays as it is; leave it out.", context
        )
    refuse_policy_options("method", "pseudonymise", instead="--recipe")
    return Recipe.read(file)


class _SecretFile(NamedTuple):
    """A file that belongs to a release and stays with its owner, and what it is for, to follow its name."""

    file: OutputFile
    sentence: str


def _secret_file(made: ProtectedRelease, mapping: str | None, recipe: str | None) -> _SecretFile | None:
    """The mapping of baskets or a graph, or the recipe of a table."""
    from unveil.release.delivery import OutputFile
    from unveil.release.secret_csv import secret_csv

    if mapping:
        held = OutputFile(mapping, secret_csv(made.mapping()), private=True, keep_existing=True)
        subjects = "nodes" if isinstance(made.release, Graph) else "items"
        return _SecretFile(held, f"maps {subjects} to their new names: keep it secret")
    if recipe:
        own = made.recipe()
        held = OutputFile(recipe, own.to_toml(Path(recipe).parent).encode(), private=True, keep_existing=True)
        lists = " and lists values of the data: keep it secret" if own.lists_values else ""
        return _SecretFile(held, f"says how to do the same to new rows{lists}")
    return None


def _choose_mapping_file(case: Case, given: str | None, output: str) -> str | None:
    """Where it is written what each item or node became; tables have neither."""
    if isinstance(case.release, (Transactions, Graph)):
        return given or str(Path(output).with_name(f"{Path(output).stem}.mapping.csv"))
    if given:
        check_kind("--write-mapping", ["transactions", "graph"], case.release.name, case.release.kind)
    return None
