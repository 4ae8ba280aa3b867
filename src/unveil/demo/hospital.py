"""An invented regional hospital: one row per visit in one year.

Nobody in it exists. It imitates what makes real hospital files both useful and dangerous:

- *age*: infants, few children, women of childbearing age, then more and more elderly people;
- *place*: one city, smaller towns and villages, so that some postal codes hold hundreds and others a handful;
- *time*: fewer admissions at weekends and in summer; illnesses that return bring the same person back;
- *illness* follows age and sex, *ward* follows illness, *length of stay* grows with age, *cost* follows all of them;
- *names* go with sex, generation and the family's origin;
- values are missing in more than one spelling.

Birth date, sex and postal code together are almost a name, which is the point of the example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unveil.arrays import Bools, Floats, Ints
from unveil.errors import UnveilError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt
    import pyarrow as pa

__all__ = ["make_visits"]


class _Diagnosis(NamedTuple):
    name: str
    ward: str
    weight: float  # how common, at the age where it is most common
    ages: tuple[float, float, float]  # never before, most common at, never after
    women: float  # share of women among the patients: 1 = women only, 0 = men only
    days: float  # typical length of stay
    fee: float  # typical cost of the treatment itself
    returns: bool  # does it bring people back?


_DIAGNOSES = [
    _Diagnosis("preterm birth", "neonatology", 30, (-0.2, 0, 0.2), 0.46, 24, 5200, False),
    _Diagnosis("bronchiolitis", "paediatrics", 16, (-0.5, 0.4, 3), 0.42, 4, 600, False),
    _Diagnosis("gastroenteritis", "internal medicine", 2.5, (-2, 1, 110), 0.51, 3, 350, False),
    _Diagnosis("asthma", "pulmonology", 4, (1, 8, 70), 0.5, 3, 500, True),
    _Diagnosis("type 1 diabetes", "internal medicine", 3, (1, 12, 60), 0.47, 5, 700, True),
    _Diagnosis("epilepsy", "neurology", 2.5, (-1, 10, 95), 0.48, 4, 900, True),
    _Diagnosis("concussion", "surgery", 5, (0, 16, 100), 0.38, 1, 400, False),
    _Diagnosis("forearm fracture", "surgery", 5, (1, 11, 70), 0.45, 2, 1500, False),
    _Diagnosis("tonsillitis", "ear, nose and throat", 4, (2, 14, 45), 0.56, 3, 1100, False),
    _Diagnosis("appendicitis", "surgery", 7, (4, 19, 75), 0.47, 4, 2300, False),
    _Diagnosis("childbirth", "obstetrics", 70, (16, 31, 49), 1.0, 3, 1700, False),
    _Diagnosis("endometriosis", "gynaecology", 6, (15, 34, 55), 1.0, 3, 2100, True),
    _Diagnosis("testicular torsion", "urology", 3, (8, 16, 40), 0.0, 2, 1600, False),
    _Diagnosis("depression", "psychiatry", 6, (13, 38, 95), 0.62, 22, 300, True),
    _Diagnosis("schizophrenia", "psychiatry", 3, (15, 29, 80), 0.42, 28, 300, True),
    _Diagnosis("alcohol dependence", "psychiatry", 6, (16, 47, 80), 0.27, 11, 250, True),
    _Diagnosis("HIV infection", "internal medicine", 2, (17, 42, 80), 0.24, 7, 1400, True),
    _Diagnosis("kidney stones", "urology", 4, (17, 48, 90), 0.38, 3, 1300, False),
    _Diagnosis("gallstones", "surgery", 5, (17, 56, 98), 0.66, 4, 2600, False),
    _Diagnosis("breast cancer", "gynaecology", 7, (27, 63, 98), 1.0, 5, 4800, True),
    _Diagnosis("prostate cancer", "urology", 9, (42, 72, 100), 0.0, 6, 4600, True),
    _Diagnosis("colorectal cancer", "surgery", 4, (32, 73, 100), 0.44, 10, 6200, True),
    _Diagnosis("heart attack", "cardiology", 7, (33, 71, 105), 0.35, 6, 5600, False),
    _Diagnosis("chronic bronchitis", "pulmonology", 6, (38, 73, 102), 0.45, 7, 700, True),
    _Diagnosis("cataract", "ophthalmology", 5, (48, 77, 102), 0.57, 1, 1200, False),
    _Diagnosis("stroke", "neurology", 8, (38, 80, 110), 0.5, 10, 3400, False),
    _Diagnosis("pneumonia", "pulmonology", 8, (-25, 84, 112), 0.47, 8, 900, False),
    _Diagnosis("heart failure", "cardiology", 11, (48, 84, 112), 0.51, 9, 1300, True),
    _Diagnosis("hip fracture", "surgery", 12, (55, 90, 115), 0.7, 12, 5900, False),
]


class _Origin(NamedTuple):
    share: float
    elder_women: str  # given names of those born before _YOUNGER_SINCE, the commonest first
    elder_men: str
    women: str
    men: str
    surnames: str


_YOUNGER_SINCE = 1972
_ORIGINS = [
    _Origin(
        0.46,
        "Margaret Dorothy Jean Barbara Patricia Joan Shirley Eileen Brenda Maureen Sheila Beryl Doris Hazel",
        "John William Robert George Kenneth Ronald Peter Derek Raymond Alan Stanley Gerald Norman Clifford",
        "Emily Sarah Chloe Laura Hannah Jessica Amy Grace Megan Zoe Lucy Holly Ruby Isla",
        "Jack Thomas James Daniel Oliver Ryan Luke Adam Harry Callum Noah Ethan Owen Dylan",
        "Carter Hughes Bennett Walsh Brooks Parker Foster Doyle Marsh Fletcher Harding Pearce Quinn Barlow Thorne "
        "Whitfield Langley Mercer Ashby Cobb Stroud Hartnell Pennock Wexley Reid Gallagher Sutton Holloway "
        "Pryce Drummond Fenwick Lowe Kirby Blackwood Tully Nash Garrick Osborne Redfern Calder Winslow Hobbs Maddox "
        "Sayer Tennant Rowley Birch Kemble Lovell Strand Yates Orchard Farrow",
    ),
    _Origin(
        0.16,
        "Ursula Ingrid Helga Gerda Renate Karin Hannelore Birgit Solveig Elke",
        "Hans Klaus Günter Werner Jürgen Horst Dieter Rolf Sven Heinz",
        "Anna Lena Julia Katrin Freya Leonie Astrid Johanna Mia Greta",
        "Lukas Jonas Felix Max Tobias Erik Florian Nils Moritz Lars",
        "Müller Berger Lindqvist Vogel Hansen Krause Brandt Sommer Nygaard Keller Ziegler Holm Winter Engel Dahl Pohl "
        "Reuter Falk Steiner Bruun Lorenz Kessler Ahlgren Busch Thiele Moe",
    ),
    _Origin(
        0.14,
        "Maria Carmen Rosa Giulia Dolores Teresa Lucia Concetta Pilar Amália",
        "Antonio José Giuseppe Manuel Francisco Carlos Luigi Rafael Salvatore Joaquim",
        "Sofia Elena Martina Paula Valentina Inês Camila Chiara Alba Noemi",
        "Diego Marco Pablo Luca Javier Tiago Matteo Hugo Andrés Leandro",
        "Romero Costa Ferrari Moreno Silva Ricci Navarro Almeida Conti Vargas Serra Pinto Marino Ibáñez Lombardi Teles "
        "Gallo Cabrera Duarte Rinaldi Prieto Fonseca Galli Cruz Bellini Mota",
    ),
    _Origin(
        0.1,
        "Halina Danuta Ludmila Vera Krystyna Olga Jadwiga Milena",
        "Jan Stanislav Josef Zbigniew Boris Miroslav Ivan Tadeusz",
        "Katarzyna Tereza Oksana Agnieszka Petra Ivana Zuzana Nadia",
        "Jakub Pavel Marek Ondrej Dmytro Filip Kamil Luka",
        "Novak Kovač Wójcik Horvat Marek Bondarenko Dudek Babić Shevchuk Mazur Urban Petrović Sobol Král "
        "Lis Jurić Tkachuk Holub Wrona Vlček Zając Savchuk",
    ),
    _Origin(
        0.08,
        "Fatma Emine Hatice Zahra Khadija Leila Nermin Samira",
        "Mehmet Mustafa Ahmed Hassan Ali Ibrahim Osman Karim",
        "Elif Yasmin Aylin Nour Zeynep Amira Selin Salma",
        "Emre Yusuf Omar Can Bilal Deniz Tariq Samir",
        "Çelik Haddad Demir Mansour Şahin Erdem Khalil Aslan Rahimi Öztürk Nasser Koç Saleh "
        "Polat Farouk Güneş Darwish Kaplan",
    ),
    _Origin(
        0.06,
        "Kamala Lakshmi Mei Sunita Thanh Grace Usha Abeni",
        "Rajesh Suresh Wei Minh Ashok Samuel Harish Emeka",
        "Priya Anjali Linh Ananya Xin Ngozi Divya Amara",
        "Arjun Rohan Duc Vikram Jun Chidi Nikhil Kwame",
        "Patel Nguyen Sharma Okafor Chen Reddy Mensah Tran Iyer Adeyemi Zhang Das Rao Boateng Pham Singh Eze Liu",
    ),
]

_YEAR = np.datetime64("2023-01-01")
_AGE_DISTRIBUTION = (
    [0, 0.02, 0.05, 0.13, 0.37, 0.59, 0.83, 0.96, 1],
    [0, 0.04, 1, 16, 45, 65, 80, 90, 103],
)  # share of patients younger than
_SHARE_OF_WOMEN = ([0, 15, 30, 45, 65, 100], [0.47, 0.5, 0.64, 0.5, 0.48, 0.68])  # age, share of women
_ZIP_AREAS = {"091": (18, 8.0), "092": (14, 3.0), "094": (12, 1.5), "101": (10, 2.0), "103": (6, 0.5)}  # zips, people
_MISSING_SPELLINGS = {"zip": ["", "", "NA", "?"], "diagnosis": ["", "NA", "NA", "?"]}
_MISSING_SHARE = 0.03


def make_visits(rng: np.random.Generator, patients: int = 3000) -> pa.Table:
    """Visits of ``patients`` invented people in one year, about 1.2 rows per person, in order of admission.

    All columns are strings, as they would stand in a CSV file: ``patient``, ``name``, ``birth_date``, ``sex``, ``zip``,
    ``admitted``, ``ward``, ``diagnosis``, ``days``, ``cost``. ``patient``, ``name``, ``birth_date`` and ``sex`` are
    the same in all rows of a person; ``zip`` and ``diagnosis`` are missing now and then.
    """
    import pyarrow as pa

    if patients < 1:
        raise UnveilError("hospital: the number of patients must be at least 1")

    age = np.interp(rng.random(patients), *_AGE_DISTRIBUTION)
    women = rng.random(patients) < np.interp(age, *_SHARE_OF_WOMEN)
    sex = np.where(rng.random(patients) < 0.005, "x", np.where(women, "f", "m"))
    first_day = _draw_first_days(rng, patients)
    born = _YEAR + first_day - np.floor(age * 365.25).astype(np.int64)
    name = _draw_names(rng, women, born)
    home = _draw_zip_codes(rng, patients)

    person = np.repeat(np.arange(patients), rng.choice([1, 2, 3], patients, p=[0.79, 0.155, 0.055]))
    illness = _draw_illnesses(rng, person, age, sex)
    days = _draw_stays(rng, illness, age[person])
    day = _draw_admissions(rng, person, first_day, days)
    ward = _draw_wards(rng, illness, age[person])
    cost = _draw_costs(rng, illness, days, ward)

    order = np.argsort(day, kind="stable")
    order = order[day[order] < 365]  # visits in the next year are not in this year's file
    who = person[order]
    columns: dict[str, Iterable[object]] = {
        "patient": [f"P{i + 1:05d}" for i in who],
        "name": name[who],
        "birth_date": born[who].astype(str),
        "sex": sex[who],
        "zip": _add_missing_values(rng, home[who], _MISSING_SPELLINGS["zip"]),
        "admitted": (_YEAR + day[order]).astype(str),
        "ward": ward[order],
        "diagnosis": _add_missing_values(
            rng, _diagnosis_field("name")[illness[order]], _MISSING_SPELLINGS["diagnosis"]
        ),
        "days": days[order].astype(str),
        "cost": [f"{c:.2f}" for c in cost[order]],
    }
    return pa.table({key: pa.array(list(map(str, values)), pa.string()) for key, values in columns.items()})


def _diagnosis_field(field: str) -> npt.NDArray[Any]:
    """One field of all diagnoses, indexed by diagnosis number."""
    return np.array([getattr(d, field) for d in _DIAGNOSES])


def _draw_first_days(rng: np.random.Generator, patients: int) -> Ints:
    """Day of the year of each first admission: busier in winter, quieter at weekends."""
    day = np.arange(365)
    weekend = np.isin((_YEAR + day).astype("datetime64[D]").astype(np.int64) % 7, [2, 3])  # day 0 was a Thursday
    busy = (1 + 0.15 * np.cos(2 * np.pi * day / 365)) * np.where(weekend, 0.55, 1)
    return rng.choice(day, patients, p=busy / busy.sum())


def _draw_names(rng: np.random.Generator, women: Bools, born: npt.NDArray[np.datetime64]) -> npt.NDArray[np.str_]:
    """Full names that go with sex, generation and origin."""
    elder = born < np.datetime64(f"{_YOUNGER_SINCE}-01-01")
    shares = [origin.share for origin in _ORIGINS]
    origin = rng.choice(len(_ORIGINS), women.size, p=np.array(shares) / sum(shares))
    name = np.empty(women.size, dtype="U40")
    for number, o in enumerate(_ORIGINS):
        for is_woman, is_elder, given in [
            (True, True, o.elder_women),
            (False, True, o.elder_men),
            (True, False, o.women),
            (False, False, o.men),
        ]:
            here = np.flatnonzero((origin == number) & (women == is_woman) & (elder == is_elder))
            firsts, lasts = (
                _draw_by_rank(rng, given.split(), here.size),
                _draw_by_rank(rng, o.surnames.split(), here.size),
            )
            name[here] = [f"{first} {last}" for first, last in zip(firsts, lasts, strict=True)]
    return name


def _draw_by_rank(rng: np.random.Generator, values: list[str], size: int) -> npt.NDArray[np.str_]:
    """``size`` draws from ``values``, the first ones more often."""
    weight = 1 / (np.arange(len(values)) + 8)
    return np.array(values)[rng.choice(len(values), size, p=weight / weight.sum())]


def _draw_zip_codes(rng: np.random.Generator, patients: int) -> npt.NDArray[np.str_]:
    """Postal codes: areas of different sizes, each with a few crowded codes and many small ones."""
    codes: list[str] = []
    weights: list[Floats] = []
    for area, (zips, people) in _ZIP_AREAS.items():
        codes += [f"{area}{n:02d}" for n in rng.choice(100, zips, replace=False)]
        weight = 1 / (np.arange(zips) + 1.0)
        weights.append(people * weight / weight.sum())
    weight = np.concatenate(weights)
    return np.array(codes)[rng.choice(len(codes), patients, p=weight / weight.sum())]


def _draw_illnesses(rng: np.random.Generator, person: Ints, age: Floats, sex: npt.NDArray[np.str_]) -> Ints:
    """Diagnosis number of each visit. Later visits are for illnesses that return, mostly for the first one again."""
    by_age = np.stack([d.weight * np.interp(age, d.ages, [0, 1, 0]) for d in _DIAGNOSES], axis=1)
    women = _diagnosis_field("women")
    by_sex = np.select([sex[:, None] == "f", sex[:, None] == "m"], [women, 1 - women], np.minimum(women, 1 - women))
    likely = (by_age * by_sex)[person]

    first = np.unique(person, return_index=True)[1]
    later = np.ones(person.size, dtype=np.bool_)
    later[first] = False
    returns = _diagnosis_field("returns")
    illness = _draw_columns(rng, np.where(later[:, None], likely * returns, likely))
    original: Ints = illness[first][person]
    again = later & returns[original] & (rng.random(person.size) < 0.7)
    return np.where(again, original, illness)


def _draw_columns(rng: np.random.Generator, weight: Floats) -> Ints:
    """One column number per row, drawn with probability proportional to the weights in the row."""
    total = np.cumsum(weight, axis=1)
    target = rng.random(len(weight)) * total[:, -1]
    drawn: Ints = np.argmax(total > target[:, None], axis=1)
    return drawn


def _draw_stays(rng: np.random.Generator, illness: Ints, age: Floats) -> Ints:
    """Length of stay in days: skewed to the right, longer for older patients."""
    typical = _diagnosis_field("days")[illness] * np.interp(age, [60, 95], [1, 1.4])
    return np.maximum(1, np.rint(rng.lognormal(np.log(typical), 0.45))).astype(np.int64)


def _draw_admissions(
    rng: np.random.Generator,
    person: Ints,
    first_day: Ints,
    days: Ints,
) -> Ints:
    """Day of each admission, counted from New Year: a person returns some weeks after going home."""
    until_next = days + 4 + rng.geometric(1 / 45, person.size)
    elapsed = np.cumsum(until_next) - until_next
    before = elapsed[np.unique(person, return_index=True)[1]]
    day: Ints = elapsed + (first_day - before)[person]
    return day


def _draw_wards(rng: np.random.Generator, illness: Ints, age: Floats) -> npt.NDArray[np.str_]:
    """The ward of the illness, except for children and for the severely ill."""
    ward = _diagnosis_field("ward")[illness]
    ward = np.where((age < 16) & (ward != "neonatology"), "paediatrics", ward)
    serious = _diagnosis_field("fee")[illness] > 3000
    severe = serious & (ward != "neonatology") & (rng.random(illness.size) < 0.12)
    return np.where(severe, "intensive care", ward)


def _draw_costs(
    rng: np.random.Generator,
    illness: Ints,
    days: Ints,
    ward: npt.NDArray[np.str_],
) -> Floats:
    """The cost of treatment and of days on the ward, rounded to ten cents."""
    per_day = np.select([ward == "intensive care", ward == "neonatology", ward == "psychiatry"], [1450, 820, 260], 390)
    fee = _diagnosis_field("fee")[illness] * rng.lognormal(0, 0.25, illness.size)
    return np.round(fee + per_day * days * rng.uniform(0.9, 1.1, illness.size), 1)


def _add_missing_values(
    rng: np.random.Generator, values: npt.NDArray[np.generic], spellings: list[str]
) -> npt.NDArray[np.generic]:
    """``values`` with a small share of them replaced by one of the spellings of "missing"."""
    missing = rng.random(values.size) < _MISSING_SHARE
    return np.where(missing, rng.choice(spellings, values.size), values)
