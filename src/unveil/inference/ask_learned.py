"""The findings about what a few facts tell, in words and curves: how many, how surely, how few suffice, and which.

The facts are values of a table or items of baskets; :class:`LearnedWords` says what each is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from unveil.finding import Curve, ExposedSubject, Finding
from unveil.inference import risks
from unveil.policy import Policy
from unveil.risk import Risk
from unveil.wording import capitalise_text, count_text, number_word, percent_text, plural_noun

if TYPE_CHECKING:
    from unveil.arrays import Floats
    from unveil.inference.belief_gains import TellingColumns
    from unveil.inference.learned_values import LearnedValues

__all__ = ["TOP_RULES", "WHITE", "LearnedText", "LearnedWords", "known_facts_text"]

WHITE = (
    "L. A. White, A privacy score for anonymous databases, thesis, 2021 (partial inferences, measured by their gain)"
)
TOP_RULES = 8
_THRESHOLDS = tuple(x / 20 for x in range(1, 20))
_BELIEFS = tuple(x / 20 for x in range(21))


def known_facts_text(count: int, fact: str) -> str:
    """How many facts are known.

    >>> known_facts_text(1, "fact"), known_facts_text(3, "item")
    ('one fact', 'three items or fewer')
    """
    return f"one {fact}" if count == 1 else f"{number_word(count)} {plural_noun(fact)} or fewer"


@dataclass(frozen=True)
class LearnedWords:
    """What things are called in sentences: the ``subject`` that is attacked and ``subjects``, what is known (``fact``),
    what is learned of one subject (``target``) or of nobody (``no_target``), and what facts are about if they can be
    about other things (``about_target``). ``exposed_title`` is the title of the curve over facts, ``certainty`` says
    when something is certain, and ``unrelated`` what the baseline assumes. ``titles`` are those of the findings, by
    risk."""

    subject: str
    subjects: str
    fact: str
    target: str
    no_target: str
    about_target: str
    exposed_title: str
    certainty: str
    unrelated: str
    titles: Mapping[str, str]

    @property
    def facts(self) -> str:
        """Several facts."""
        return plural_noun(self.fact)


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedText:
    """What was measured, and everything that findings about it say. ``telling`` are the most telling sets of facts;
    ``telling_names`` names one by its place. ``beliefs`` are those in everybody's own value, without facts and with
    them, if there is one such value. ``exposed`` lists the most exposed and ``rules`` the most telling rules.
    ``common`` is what all findings have, and ``confidence`` that of intervals."""

    learned: LearnedValues
    words: LearnedWords
    policy: Policy
    confidence: float
    suffix: str
    telling: Sequence[TellingColumns]
    telling_names: Callable[[int], str]
    beliefs: tuple[Floats, Floats] | None
    exposed: Callable[[], tuple[ExposedSubject, ...]]
    rules: Callable[[], tuple[ExposedSubject, ...]]
    common: dict[str, Any]

    def subjects_text(self, count: int) -> str:
        """A number of subjects."""
        return count_text(count, self.words.subject, self.words.subjects)

    @property
    def facts_text(self) -> str:
        """How many facts are known."""
        return known_facts_text(self.learned.facts, self.words.fact)

    @property
    def fewest_text(self) -> str:
        """How many must share the facts."""
        fewest = self.learned.fewest
        return f"{number_word(fewest)} {self.words.subject if fewest == 1 else self.words.subjects}"

    @property
    def shared_facts_text(self) -> str:
        """So many facts, shared by enough people; the beginning of a sentence."""
        share = "shares" if self.learned.fewest == 1 else "share"
        return f"{capitalise_text(self.facts_text)} that at least {self.fewest_text} {share}"

    def _facts_verb(self, singular: str, plural: str) -> str:
        """The form that goes with the number of facts."""
        return singular if self.learned.facts == 1 else plural

    @property
    def gain_text(self) -> str:
        """By how much belief must rise."""
        return f"{100 * self.learned.gain:.3g} points or more"

    def share_text(self, share: float) -> str:
        """A share of all subjects, with their number, or as an estimate."""
        found = self.learned
        if found.drawn is None:
            some = round(share * found.people)
            return f"{some:,} of {self.subjects_text(found.people)} ({percent_text(share)})"
        low, high = (percent_text(end) for end in found.interval(share, self.confidence))
        return (
            f"an estimated {percent_text(share)} of {self.subjects_text(found.people)} ({low} to {high}, from "
            f"{len(found.drawn):,} drawn at random)"
        )

    def finding(self, risk: Risk, value: float, sentence: str, **more: Any) -> Finding:
        """A finding about all of them."""
        found = self.learned
        aside = (
            f" Sets of more than {count_text(found.facts, self.words.fact)} were not tried." if found.is_limited else ""
        )
        return risk.finding(
            self.policy,
            title=self.words.titles[risk.id] + self.suffix,
            value=value,
            sentence=sentence + aside,
            subjects=found.people,
            source=WHITE,
            **self.common,
            **more,
        )

    def _share_ends(self, share: float) -> dict[str, Any]:
        """Between which shares the true one lies, and why: if not everybody was looked at, it is an estimate, and if
        not all facts were tried, it may be larger."""
        found = self.learned
        low, high = found.interval(share, self.confidence)
        ends = (low, 1.0 if found.is_limited else high)
        if found.drawn is not None:
            return {"method": "simulation", "interval": ends, "share": ends, "confidence": self.confidence}
        return {"method": "bound" if found.is_limited else "exact", "interval": ends, "share": ends}

    def findings(self) -> Iterator[Finding]:
        """All findings, unless there is nobody."""
        if self.learned.people:
            yield self._learned_finding()
            yield self._certain_finding()
            yield self._facts_finding()
            yield self._rules_finding()

    def _learned_finding(self) -> Finding:
        found, words = self.learned, self.words
        share, chance = found.share(found.facts), found.by_chance[:, -1]
        raises = self._facts_verb("raises", "raise")
        if share:
            sentence = (
                f"{capitalise_text(self.facts_text)} {raises} belief in {words.target} by {self.gain_text} for "
                f"{self.share_text(share)}, without finding them: at least {self.fewest_text} "
                f"{'shares' if found.fewest == 1 else 'share'} the {words.facts}."
            )
        else:
            sentence = (
                f"{self.shared_facts_text} {raises} belief in {words.target} by {self.gain_text} for none of "
                f"{self._looked_at_text()}."
            )
        if self.telling:
            sentence += f" Most telling: {self.telling_text(0)}."
        return self.finding(
            risks.LEARNED,
            share,
            f"{sentence} {self._chance_sentence(chance)}",
            baseline=float(chance.mean()),
            **self._share_ends(share),
            curves=(self._facts_curve(), self._gain_curve(), *self._belief_curves()),
            exposed=self.exposed(),
        )

    def _looked_at_text(self) -> str:
        found = self.learned
        everybody = self.subjects_text(found.people)
        return everybody if found.drawn is None else f"{len(found.drawn):,} drawn at random from {everybody}"

    def _chance_sentence(self, chance: Floats) -> str:
        low, mean, high = (percent_text(float(x)) for x in (chance.min(), chance.mean(), chance.max()))
        spread = "" if low == high else f" ({low} to {high} in {len(chance)} shuffles)"
        return f"{self.words.unrelated}, it would be {mean}{spread}."

    def _certain_finding(self) -> Finding:
        found, words = self.learned, self.words
        share, chance = found.certain_share(found.facts), found.certain_by_chance[:, -1]
        makes = self._facts_verb("makes", "make")
        if share:
            who = self.share_text(share)
            sentence = f"{self.shared_facts_text} {makes} {words.target} certain for {who}: {words.certainty}."
        elif found.drawn is None:
            sentence = f"{self.shared_facts_text} {makes} {words.no_target} certain."
        else:
            sentence = f"{self.shared_facts_text} {makes} {words.target} certain for none of {self._looked_at_text()}."
        return self.finding(
            risks.CERTAIN,
            share,
            f"{sentence} {self._chance_sentence(chance)}",
            baseline=float(chance.mean()),
            **self._share_ends(share),
        )

    def _facts_finding(self) -> Finding:
        found, words = self.learned, self.words
        fewest, is_everybody = found.fewest_facts, found.drawn is None
        if fewest is None:
            return self._no_facts_finding()
        count = f"{number_word(fewest)} {words.fact if fewest == 1 else words.facts}" if fewest else "no fact at all"
        sentence = (
            f"{capitalise_text(count)}, shared by at least {self.fewest_text}, "
            f"{'is' if fewest < 2 else 'are'} enough to raise belief in {words.target} by {self.gain_text} for "
            f"{self.share_text(found.share(fewest))}."
        )
        ends = found.interval(found.share(fewest), self.confidence)
        more: dict[str, Any] = {} if is_everybody else {"method": "bound", "interval": (0.0, float(fewest))}
        return self.finding(risks.FACTS, float(fewest), sentence, unit=words.facts, share=ends, **more)

    @property
    def _nobody_sentence(self) -> str:
        """That nobody's belief rises enough."""
        raises = self._facts_verb("raises", "raise")
        among = "" if self.learned.drawn is None else f" among {self._looked_at_text()}"
        return f"{self.shared_facts_text} {raises} belief in {self.words.no_target} by {self.gain_text}{among}."

    def _no_facts_finding(self) -> Finding:
        """No number of facts is enough; but if not all were tried, or not everybody was looked at, more may be."""
        found, words = self.learned, self.words
        sentence = self._nobody_sentence
        if found.drawn is None and found.facts == found.most_facts:
            return self.finding(risks.FACTS, inf, sentence, unit=words.facts, share=0.0)
        value = found.facts + 1.0
        ends = value if found.drawn is None else 1.0, max(value, found.most_facts + 1.0)
        return self.finding(
            risks.FACTS, value, sentence, unit=words.facts, method="bound", interval=ends, share=(0.0, 1.0)
        )

    def _rules_finding(self) -> Finding:
        """Of a sample, the sets that tell most about those drawn; others may tell more about everybody."""
        found, words = self.learned, self.words
        telling = self.telling
        value = telling[0].people / found.people if telling else 0.0
        is_known = found.drawn is None and not found.is_limited
        more: dict[str, Any] = {"share": value} if is_known else {"method": "bound", "interval": (value, 1.0)}
        if not telling:
            sentence = self._nobody_sentence
            return self.finding(risks.RULES, 0.0, sentence, **more)
        each = "; ".join(self.telling_text(place) for place in range(min(3, len(telling))))
        sentence = f"The {words.facts} that give away most{words.about_target}: {each}."
        return self.finding(risks.RULES, value, sentence, curves=(self._rules_curve(),), exposed=self.rules(), **more)

    # ---- curves ----

    def _facts_curve(self) -> Curve:
        found, words = self.learned, self.words
        facts = tuple(float(f) for f in range(found.facts + 1))
        lines = {
            "learned": [found.share(int(f)) for f in facts],
            "certain": [found.certain_share(int(f)) for f in facts],
            "by chance": found.by_chance.mean(axis=0).tolist(),
        }
        return Curve(
            title=f"{words.exposed_title}, by the number of {words.facts} known",
            kind="line",
            x_label=f"{words.facts} known, at most",
            y_label=f"share of {words.subjects}",
            x=facts * len(lines),
            y=tuple(y for line in lines.values() for y in line),
            series=tuple(label for label in lines for _ in facts),
            reading=f"The share of {words.subjects} that is given away to someone who knows at most so many "
            f"{words.facts}. By chance: {words.unrelated[0].lower()}{words.unrelated[1:]}.",
        )

    def _gain_curve(self) -> Curve:
        found, words = self.learned, self.words
        return Curve(
            title=f"{capitalise_text(words.subjects)} by how far belief in {words.target} rises",
            kind="line",
            x_label="belief rises by at least, as a share",
            y_label=f"share of {words.subjects}",
            x=_THRESHOLDS,
            y=tuple(found.gains.share_of_people(found.facts, x) for x in _THRESHOLDS),
            mark=found.gain,
            mark_label="what counts as learned",
            reading=f"The share of {words.subjects} for which belief rises by at least so much.",
        )

    def _belief_curves(self) -> Iterator[Curve]:
        """Belief with facts, and without any beside it: a common value is believed anyway."""
        from unveil.inference.belief_gains import reaches

        words = self.words
        if self.beliefs is None:
            return
        lines = {f"with {self.facts_text}": self.beliefs[1], "without any": self.beliefs[0]}
        yield Curve(
            title=f"{capitalise_text(words.subjects)} by how firmly {words.target} is believed",
            kind="line",
            x_label="belief, at least, as a share",
            y_label=f"share of {words.subjects}",
            x=_BELIEFS * len(lines),
            y=tuple(float(reaches(own, x).mean()) for own in lines.values() for x in _BELIEFS),
            series=tuple(label for label in lines for _ in _BELIEFS),
            reading="What lies between the lines is due to the release. Only the gain counts: a value that nearly "
            "everybody has is believed without any facts.",
        )

    def _rules_curve(self) -> Curve:
        words, telling = self.words, self.telling
        return Curve(
            title=f"The {words.facts} that give most {words.subjects} away",
            kind="bars",
            x_label=words.facts,
            y_label=words.subjects,
            x=tuple(self.telling_names(place) for place in range(len(telling))),
            y=tuple(float(t.people) for t in telling),
            x_scale="category",
            reading=f"How many {words.subjects} these {words.facts} give away; one may be counted in several bars.",
        )

    def telling_text(self, place: int) -> str:
        """A telling set of facts, and about how many of those who share it tells enough."""
        found, words = self.telling[place], self.words
        names = self.telling_names(place)
        return f"{names} ({found.people:,} of {found.sharing:,} {words.subjects} with such {words.facts})"
