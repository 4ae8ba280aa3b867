"""Protections of networks weighed against each other: as single protections, mean and variance, pages, JSON."""

from __future__ import annotations

import importlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from jsonschema import Draft202012Validator

import unveil
from unveil import Case, Graph, Policy, UnveilError, WeighedProtection, WeighedProtections
from unveil.assessment import TypedCommand
from unveil.network import protect as network_protect
from unveil.network.compared_graphs import compare_graphs
from unveil.protection import Protection, ProtectionOffer
from unveil.protection_front import unbeaten_protections
from unveil.report import weighed_words as words
from unveil.report.schema import weighed_schema
from unveil.report.weighed_charts import fit_axis, frontier_svg
from unveil.usefulness.repeated_measure import RepeatedMeasure

Unveil = Callable[..., subprocess.CompletedProcess[str]]
NETWORK = nx.barabasi_albert_graph(40, 3, seed=2)
FRIENDS = Graph.from_networkx(NETWORK)
CHEAP = ["network.degree_unique"]


def weigh(graph: Graph = FRIENDS, limits: tuple[float, ...] = (2, 6), **more: Any) -> WeighedProtections:
    return unveil.weigh(graph, **{"goal": "network.degree_k", "limits": limits, "only": CHEAP, **more})


def number(found: WeighedProtection, name: str) -> float:
    measure = found.find(name)
    assert measure is not None
    return measure.mean


def digest(case: Case, original: Graph = FRIENDS) -> str:
    """The released network with its nodes in the order of the original's."""
    assert isinstance(case.release, Graph) and case.truth is not None
    return compare_graphs(original, case.release, case.truth).released.digest


@pytest.mark.parametrize("additions_only", [False, True])
def test_a_deterministic_protection_is_the_one_that_protect_makes(additions_only: bool) -> None:
    policy = Policy(settings={"network": {"additions_only": additions_only}})
    weighed = weigh(policy=policy, only=["network.degree_unique", "network.active"])
    for k in (2, 6):
        found = weighed.find("degrees", k)
        assert (found.releases, found.attacked, found.reached, found.failure) == (1, 1, True, "")
        made = unveil.protect(FRIENDS, replace(policy, tolerance={"network.degree_k": k}), method="degrees")
        (tried,) = (p for p in made.assessment.protections if p.chosen)
        assert tried.sentence.endswith(found.sentence) and found.sentence
        for measure in tried.use:
            if measure.after is not None:
                assert number(found, measure.id) == measure.after, measure.id
        for name in ("network.degree_k", "network.degree_unique", "network.active"):
            assert number(found, name) == made.assessment[name].value, name


def test_deterministic_protections_release_the_same_network_every_time() -> None:
    offers = {name: offer for name, offer in network_protect.PROTECTIONS.items() if offer.is_deterministic}
    assert "degrees" in offers
    case, policy = Case(FRIENDS), Policy(tolerance={"network.degree_k": 5})
    for offer in offers.values():
        made = [offer.fit(case, policy, unveil.Run(), 1.0) for _ in range(3)]
        assert len({digest(each.apply()) for each in made if each is not None}) == 1


def offer_of(edges_left_out: list[int]) -> ProtectionOffer:
    """A protection that leaves out so many edges, another number for each release."""
    left = iter(edges_left_out)

    def fit(case: Case, policy: Policy, run: unveil.Run, strictness: float) -> Protection | None:
        many = next(left)
        if many < 0:
            raise UnveilError("friends: found no network")

        def apply() -> Case:
            graph = NETWORK.copy()
            graph.remove_edges_from(sorted(graph.edges)[:many])
            return replace(case, release=Graph.from_networkx(graph), original=case.release, truth=np.arange(40))

        return Protection(sentence=f"{many} left out.", usefulness=0.5, apply=apply)

    return ProtectionOffer("Leave out", "Leave out.", fit)


def offered(monkeypatch: pytest.MonkeyPatch, offers: dict[str, ProtectionOffer]) -> None:
    module = importlib.import_module("unveil.weigh")  # the package has a function of that name
    monkeypatch.setattr(module, "offered_protections", lambda case, policy: offers)


def test_mean_and_variance_over_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, {"leave": offer_of([3, 10, 5])})
    (found,) = weigh(limits=(2,), releases=3).protections
    removed = found.find("removed")
    assert removed is not None
    assert (removed.releases, removed.mean) == (3, 6.0)
    assert removed.variance == pytest.approx(np.var([3, 10, 5], ddof=1))
    kept = [(FRIENDS.edges - n) / FRIENDS.edges for n in (3, 10, 5)]
    connections = found.find("connections")
    assert connections is not None and found.usefulness == connections.mean == pytest.approx(np.mean(kept))
    assert connections.variance == pytest.approx(np.var(kept, ddof=1))
    assert (found.releases, found.attacked, found.sentence) == (3, 1, "3 left out.")
    attacked = found.find("network.degree_unique")
    assert attacked is not None and (attacked.releases, attacked.variance) == (1, None)


def test_all_releases_are_attacked_if_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, {"leave": offer_of([3, 10, 5])})
    weighed = weigh(limits=(2,), releases=3, attack_all=True)
    found = weighed.protections[0].find("network.degree_unique")
    assert found is not None and found.releases == 3 and found.variance is not None
    assert not any("--attack-all" in said for said in weighed.not_measured)


def test_a_goal_is_reached_if_all_releases_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    anonymous, star = nx.cycle_graph(40), nx.star_graph(39)
    for networks, reached in (([anonymous, anonymous], True), ([anonymous, star], False)):
        drawn = iter(networks)

        def fit(case: Case, *given: Any, drawn: Any = drawn) -> Protection:
            released = Graph.from_networkx(next(drawn))
            made = replace(case, release=released, original=case.release, truth=np.arange(40))
            return Protection(sentence="", usefulness=0.5, apply=lambda: made)

        offered(monkeypatch, {"drawn": ProtectionOffer("Drawn", "Drawn.", fit)})
        assert weigh(limits=(2,), releases=2).protections[0].reached == reached


def test_one_failure_among_several_releases_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, {"leave": offer_of([3, -1])})
    weighed = weigh(limits=(2,), releases=2)
    (found,) = weighed.protections
    assert (found.releases, found.measures, found.reached, found.sentence) == (0, (), False, "")
    assert found.failure.startswith("Release 2 of 2: ")
    assert words.failure_sentences(weighed) == [f"leave at 2: {found.failure}"]
    assert not any("made no release" in said for said in weighed.not_measured), "the table says so"
    assert words.overview_rows(weighed)[1] == ("leave", "2", "no release", "–", "–", "")


@pytest.mark.parametrize(
    ("network", "limit"),
    [(nx.complete_graph(6), 3), (nx.star_graph(7), 3), (nx.empty_graph(4), 2), (nx.cycle_graph(6), 2)],
)
def test_awkward_networks(network: nx.Graph, limit: int) -> None:
    weighed = weigh(Graph.from_networkx(network), (limit,), only=None)
    (found,) = weighed.protections
    assert found.reached and found.failure == ""
    assert weighed.to_text(details=True) and weighed.to_html()
    assert Draft202012Validator(weighed_schema()).is_valid(json.loads(weighed.to_json()))


def test_more_than_there_are_nodes() -> None:
    weighed = weigh(limits=(2, 41))
    assert weighed.find("degrees", 41).failure == (
        "41 nodes cannot share a number of connections where there are only 40; publish measures of the network "
        "instead of its connections (unveil describe)."
    )
    assert weighed.find("degrees", 2).failure == ""
    assert weighed.to_html()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"goal": "network.passive", "limits": (0.1,)},
            "^network.passive: weigh varies network.degree_k or network.degree_unique only; other attackers are "
            "measured at each$",
        ),
        ({"goal": "degree_k"}, "^degree_k: weigh varies network.degree_k or network.degree_unique only"),
        ({"limits": ()}, "name at least one goal"),
        ({"limits": (1, 2)}, "every release meets network.degree_k = "),
        ({"methods": ["relabel"]}, "no protection that can be weighed here is called 'relabel'"),
        ({"releases": 0}, "at least one release"),
        ({"limits": (-1,)}, "network.degree_k"),
    ],
)
def test_what_cannot_be_weighed_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UnveilError, match=said):
        weigh(**change)


def test_more_methods_than_can_be_told_apart_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, {f"m{i}": offer_of([1]) for i in range(7)})
    with pytest.raises(UnveilError, match="7 protections are too many to weigh at once; choose 6 with --methods"):
        weigh()


def test_networks_with_directions_and_other_kinds_are_refused() -> None:
    with pytest.raises(UnveilError, match="nothing to weigh: no protection changes a network with directions"):
        weigh(Graph.from_edges([0, 1], [1, 2], nodes=3, directed=True))
    with pytest.raises(UnveilError, match="graph"):
        unveil.weigh(unveil.Transactions.from_baskets([["a"]]), goal="network.degree_k", limits=[2])


def test_what_is_tried_by_default_depends_on_the_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[float | None]()

    def only_if_named(case: Case, policy: Policy) -> bool:
        seen.append(policy.tolerance.get("network.degree_k"))
        return False

    offered(monkeypatch, {"leave": replace(offer_of([3]), only_if_named=only_if_named)})
    weigh(limits=(7,), releases=1)
    assert seen == [7]


def test_other_tolerances_shape_what_is_made() -> None:
    """With a goal for unique numbers of connections, as many nodes share each as the policy asks for."""
    for k in (2, 6):
        policy = Policy(tolerance={"network.degree_k": k})
        (found,) = weigh(policy=policy, goal="network.degree_unique", limits=(0.1,), only=None).protections
        assert number(found, "network.degree_k") >= k and f"at least {k} nodes share each number" in found.sentence


# ---- what is said ----------------------------------------------------------------------------------------------------


def made(method: str, limit: float, kept: float, found: tuple[float, float, float], best: bool) -> WeighedProtection:
    share = RepeatedMeasure("network.passive", "People found", 0.9, 1, found[0], None, found[1:])
    use = RepeatedMeasure("connections", "Connections in both", 1.0, 2, kept, 0.0004, (kept, kept))
    return WeighedProtection(
        method=method, title=method.title(), limit=limit, reached=True, releases=2, attacked=1, usefulness=kept,
        harmed=found[1:], is_unbeaten=best, attacks=(share,), use=(use,), remaining_risk="This protects little.",
    )  # fmt: skip


def sample() -> WeighedProtections:
    return replace(
        weigh(limits=(2,)),
        protections=(made("one", 2, 0.9, (0.5, 0.4, 0.6), True), made("two", 2, 0.8, (0.6, 0.5, 0.7), False)),
        before=(RepeatedMeasure("network.passive", "People found", 0.9, 1, 0.9, None, (0.8, 1.0)),),
    )


def test_rows_and_sentences() -> None:
    weighed = sample()
    assert words.overview_rows(weighed) == [
        ("as it is", "–", "–", "–", "90% (80% to 100%)", ""),
        ("one", "2", "yes", "90%", "50% (40% to 60%)", "yes"),
        ("two", "2", "yes", "80%", "60% (50% to 70%)", ""),
    ]
    assert words.headline(weighed).endswith(": 2 protections at 1 goal")
    assert words.lead_sentences(weighed)[1] == "One (one) at 2, the first of 2 releases: This protects little."
    assert ["one", "90% (0.0004)"] in words.measure_tables(weighed)[1][2]
    assert words.lead_sentences(weighed)[0].startswith(
        "Goals are for network.degree_k: smallest class of nodes with the same number of connections (k). “Kept” is "
        "the share of all connections, before or after, that are in both. “Found” stands for: people found by someone "
    )
    assert words.follow_up_command(weighed) == ""
    assert words.COMMAND_INTRODUCTION not in weighed.to_text()
    typed = replace(weighed, typed=TypedCommand("my friends.txt", (), {}))
    assert words.follow_up_command(typed) == (
        "unveil protect 'my friends.txt' --kind graph --goal network.degree_k=2 --method one -o "
        "'my friends-protected.gml'"
    )
    for text in (" ".join(typed.to_text().split()), typed.to_html()):
        assert (
            "This makes a release in the same way (drawn anew if the method draws at random, and held to all "
            "tolerances of your policy):" in text
        )


@pytest.mark.parametrize(("goal", "limits", "strictest"), [("network.degree_k", (2, 6), "6"),
                                                          ("network.degree_unique", (0.1, 0.5), "10%")])  # fmt: skip
def test_the_strictest_goal_is_the_one_that_tolerates_least(
    goal: str, limits: tuple[float, ...], strictest: str
) -> None:
    weighed = weigh(goal=goal, limits=limits, only=None)
    (said,) = words.lead_sentences(weighed)[1:]
    assert said.startswith(f"Make numbers of connections alike (degrees) at {strictest}: ")
    assert [row[1] for row in words.overview_rows(weighed)][1:] == [words.limit_text(weighed, x) for x in limits]


def test_goals_that_are_shares_are_told_in_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, {"leave": offer_of([-1])})
    weighed = weigh(goal="network.degree_unique", limits=(0.1,), releases=1)
    assert words.failure_sentences(weighed) == ["leave at 10%: Friends: found no network."]


def test_unbeaten_means_the_same_as_for_protect() -> None:
    """The upper ends of intervals count: what may leave more to be found is beaten, however few were."""
    sure, unsure = ((0.5, 0.4, 0.6), True), ((0.4, 0.0, 0.9), False)
    both = [made(name, 2, 0.9, found, best) for name, (found, best) in (("sure", sure), ("unsure", unsure))]
    assert [p.method for p in unbeaten_protections(both)] == [p.method for p in both if p.is_unbeaten] == ["sure"]
    assert "going by the upper ends of these intervals" in words.FRONTIER_READING


def test_unbeaten_protections_are_those_that_no_other_beats() -> None:
    weighed = weigh(limits=(2, 6, 12), methods=["degrees", "supergraph"], releases=1, only=["network.passive"])
    assert all(p.harmed is not None for p in weighed.protections)
    points = {id(p): (number(p, "connections"), p.harmed[1] if p.harmed else 0) for p in weighed.protections}
    for p in weighed.protections:
        kept, found = points[id(p)]
        beaten = any(k >= kept and f <= found and (k, f) != (kept, found) for k, f in points.values())
        assert p.is_unbeaten == (not beaten)
    drawing = frontier_svg(weighed)
    assert all(f"{p.method} at {p.limit:g}: " in drawing for p in weighed.protections)
    assert "as it is" in drawing


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.0), (1.0, 1.0), (0.994, 0.996), (0.4, 0.43), (0.0, 1.0)])
def test_axes_hold_all_shares_and_are_not_short(low: float, high: float) -> None:
    ticks = fit_axis([low, high], 0, 100).ticks
    assert ticks[0] <= low + 1e-9 and high - 1e-9 <= ticks[-1]
    assert ticks[-1] - ticks[0] >= 0.1 - 1e-9 and ticks[0] >= 0 and ticks[-1] <= 1 + 1e-9
    assert 2 <= len(ticks) <= 7


def test_without_the_attacker_there_is_no_frontier() -> None:
    weighed = weigh(limits=(2,))
    assert frontier_svg(weighed) == "" and not weighed.protections[0].is_unbeaten
    assert weighed.protections[0].harmed is None


def test_nothing_of_the_data_enters_the_page_unescaped() -> None:
    graph = Graph.from_networkx(nx.relabel_nodes(nx.path_graph(6), {0: "<b>zq"}), name="<i>net")
    weighed = weigh(graph, (2,))
    page = weighed.to_html()
    assert "&lt;i&gt;net" in page and "<i>net" not in page
    for text in (page, weighed.to_json(), weighed.to_text(details=True)):
        assert "zq" not in text


def test_the_json_obeys_its_schema() -> None:
    schema = weighed_schema()
    Draft202012Validator.check_schema(schema)
    weighed = weigh(methods=["degrees", "supergraph"], releases=2, limits=(2, 41))
    plain = json.loads(weighed.to_json())
    assert list(Draft202012Validator(schema).iter_errors(plain)) == []
    assert list(schema["properties"]) == list(plain)
    assert list(schema["$defs"]["protection"]["properties"]) == list(plain["protections"][0])
    assert list(schema["$defs"]["measure"]["properties"]) == list(plain["before"][0])


# ---- the command line ------------------------------------------------------------------------------------------------


@pytest.fixture
def friends(tmp_path: Path) -> Path:
    path = tmp_path / "friends.edges"
    path.write_text("".join(f"{a} {b}\n" for a, b in nx.barabasi_albert_graph(30, 2, seed=1).edges))
    return path


def test_the_command(unveil: Unveil, friends: Path) -> None:
    done = unveil(
        "weigh", friends.name, "--goal", "network.degree_k=2,5", "--only", "network.degree_unique", "--report", "r.html"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("friends.edges: 1 protection at 2 goals\n")
    assert "report written to r.html" in done.stderr
    assert "<svg" in (friends.parent / "r.html").read_text()
    done = unveil(
        "weigh", friends.name, "--goal", "network.degree_k=2", "--only", "network.degree_unique", "--format", "json",
        "--quiet",
    )  # fmt: skip
    assert Draft202012Validator(weighed_schema()).is_valid(json.loads(done.stdout))


@pytest.mark.parametrize("goal", ["network.degree_k", "network.degree_k=", "network.degree_k=2,x", "=2"])
def test_a_goal_without_numbers_is_refused(unveil: Unveil, friends: Path, goal: str) -> None:
    done = unveil("weigh", friends.name, "--goal", goal)
    assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_requiring_answers_makes_no_sense_without_a_verdict(unveil: Unveil, friends: Path) -> None:
    done = unveil("weigh", friends.name, "--goal", "network.degree_k=2", "--require", "network")
    assert done.returncode == 2 and "--require" in done.stderr


def test_an_interrupted_command_writes_nothing(friends: Path) -> None:
    arguments = ["weigh", friends.name, "--goal", "network.degree_k=2,3,4,5", "--methods", "relaxed", "--releases",
                 "2000", "--report", "r.html", "-o", "w.txt", "--no-policy"]  # fmt: skip
    running = subprocess.Popen(
        [sys.executable, "-m", "unveil", *arguments], cwd=friends.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(8)
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert running.returncode == 130
    assert [path.name for path in friends.parent.iterdir()] == ["friends.edges"]
