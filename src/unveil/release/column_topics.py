"""What a column is about, as its name says: a vocabulary in English, German, French and Spanish.

A topic has a role, and its words. ``krank-`` stands for every word that begins so, ``-einkommen`` for every word that
ends so. Accents and umlauts do not matter, nor whether an umlaut is written as two letters. A word that also means
something harmless belongs to a topic in ``AMBIGUOUS_TOPICS``, which counts only where the values are numbers or flags.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from unveil.policy import Role

__all__ = ["AMBIGUOUS_TOPICS", "TOPICS", "Topic", "find_topics", "name_words"]


class Topic(NamedTuple):
    """What columns with these words in their names are about, and the role that this suggests."""

    role: Role
    words: frozenset[str]
    beginnings: tuple[str, ...]
    endings: tuple[str, ...]

    def is_like(self, word: str) -> bool:
        """Whether a word begins or ends like the topic's words."""
        return word.startswith(self.beginnings) or word.endswith(self.endings)


def _topic(role: Role, text: str) -> Topic:
    words = text.split()
    return Topic(
        role,
        frozenset(w for w in words if "-" not in w),
        tuple(w[:-1] for w in words if w.endswith("-")),
        tuple(w[1:] for w in words if w.startswith("-")),
    )


TOPICS: dict[str, Topic] = {
    # ---- identifiers
    "name": _topic(
        "identifier",
        "name firstname lastname surname forename givenname familyname fullname maiden initials vorname nachname "
        "familienname zuname rufname nom prenom nombre apellido apellidos",
    ),
    "address": _topic(
        "identifier",
        "address street adresse anschrift strasse hausnummer rue direccion calle domicilio",
    ),
    "phone": _topic(
        "identifier",
        "phone telephone mobile cellphone tel handy telefon- telefono movil",
    ),
    "fax": _topic(
        "identifier",
        "fax telefax",
    ),
    "email": _topic(
        "identifier",
        "email mail courriel correo",
    ),
    "social security": _topic(
        "identifier",
        "ssn sin nino nhs security sozialversicherung- svnr ahv insee nir securite dni nss curp seguridad",
    ),
    "medical record": _topic(
        "identifier",
        "mrn fallnummer patientennummer krankenblatt",
    ),
    "health plan": _topic(
        "identifier",
        "beneficiary versichertennummer versicherungsnummer",
    ),
    "account": _topic(
        "identifier",
        "account iban konto kontonummer compte cuenta",
    ),
    "licence": _topic(
        "identifier",
        "licence license passport passnummer ausweis- fuhrerschein permis passeport pasaporte",
    ),
    "vehicle": _topic(
        "identifier",
        "vin plate kennzeichen immatriculation",
    ),
    "device": _topic(
        "identifier",
        "imei mac serial seriennummer udid",
    ),
    "url": _topic(
        "identifier",
        "url website homepage",
    ),
    "ip address": _topic(
        "identifier",
        "ip",
    ),
    "biometric": _topic(
        "identifier",
        "biometric- fingerprint- retina voiceprint fingerabdruck empreinte huella",
    ),
    "photograph": _topic(
        "identifier",
        "photo photograph portrait picture foto lichtbild",
    ),
    "number": _topic(
        "identifier",
        "id uid uuid guid patient subject person customer client member employee student participant respondent "
        "user username login record rec kunde kundennummer mitglied mitgliedsnummer benutzer personalnummer "
        "matrikelnummer cliente usuario utilisateur",
    ),
    # ---- sensitive
    "health": _topic(
        "sensitive",
        "diagnos- -diagnose -diagnosen diag dx disease diseases illness sick sickness condition conditions "
        "comorbid- icd icd10 symptom- treatment treatments therap- medication medications medicine drug drugs "
        "prescri- surgery health hospitali- stroke hypertens- depress- anxi- bipolar schizo- psych- suicid- mental "
        "diabet- cancer tumor- tumour- carcinom- leukemia leukaemia lymphoma melanoma asthma copd heart cardi- cvd "
        "chd infarct- coronary angina arrhythm- afib renal kidney liver hepat- hiv aids sti syphilis chlamydia "
        "gonorrh- tubercul- covid covid19 influenza flu pneumonia infect- vaccin- pregnan- abortion- miscarr- "
        "contracept- fertil- infertil- menopaus- anaemia anemia epilep- dementia alzheimer- parkinson- arthritis "
        "obes- bmi cholesterol chol glucose hba1c blood bloodpressure bp hyp meds sysbp diabp systolic diastolic "
        "triglycer- creatinine insulin biopsy lesion disab- allerg- pain chronic smok- cig- tobacco alcohol- drink- "
        "drinking addict- substance overdose opioid- opiate- cannabis marijuana cocaine heroin mortality surviv- "
        "prognosis relapse remission metasta- genetic- genotype genom- dna handicap- medical procedure- readmi- "
        "cause serum platelets ejection krank- -krankheit -krankheiten erkrank- -erkrankung befund- schlaganfall "
        "bluthochdruck hypertonie angst- krebs karzinom- herz- infekt- impf- schwanger- behinder- raucher- rauch- "
        "alkohol- sucht- medika- gesundheit- therapie behandlung schmerz- maladie- avc tumeur- grossesse sante "
        "traitement fumeur- tabac alcool medicament- asthme ordonnance enfermedad- ictus hipertens- depresi- "
        "ansiedad embaraz- salud tratamiento- sintoma- fumador- tabaco discapacidad medicamento- vacuna- drogen- "
        "drogas droga drogue- toxicoman- gambl- glucksspiel- spielsucht ludopatia ckd esrd t1dm t2dm hep adhd ptsd ocd "
        "pcos chf cad std stds",
    ),
    "condition": _topic(
        "sensitive",
        "mi dm ms ra tb",
    ),
    "sexuality": _topic(
        "sensitive",
        "orientation homosexual- gay lesbian bisexual- transgender lgbt- sexual- orientacion orientierung",
    ),
    "money": _topic(
        "sensitive",
        "salary salaries income -income wage wages earnings debt debts loan loans mortgage wealth savings poverty "
        "welfare gehalt -gehalt lohn -lohn einkommen -einkommen verdienst vermogen schulden kredit rente "
        "sozialhilfe revenu revenus salaire- dette- ingreso ingresos sueldo salario renta deuda patrimonio",
    ),
    "amount": _topic(
        "sensitive",
        "pay payment payments cost costs charge charges credit balance capital price fee amount spending "
        "expenditure kosten betrag preis guthaben cout couts prix montant solde coste costo precio importe monto "
        "saldo",
    ),
    "belief": _topic(
        "sensitive",
        "religio- faith belief beliefs creed confession konfession glaube party vote votes voted voting politic- "
        "ideology partei wahl gewerkschaft- parti politi- syndicat syndique- partido voto sindicato union "
        "unions unionized",
    ),
    "crime": _topic(
        "sensitive",
        "offence- offense- crime crimes criminal- convict- arrest- felony misdemean- recid- prison- jail probation "
        "violence abuse straftat- vorstrafe- verurteil- delit delits condamn- delito- condena-",
    ),
    "result": _topic(
        "sensitive",
        "outcome outcomes result results grade grades score scores gpa resultat resultate resultats noten zensur "
        "resultado resultados calificacion puntaje",
    ),
    # ---- quasi-identifiers
    "person": _topic(
        "quasi",
        "age ages male female birth- birthdate birthday dob yob born sex gender race racial ethnic- native "
        "national- citizen- language marital- married widowed divorced relationship children child kids household "
        "siblings immigra- migra- foreign foreigner hispanic civil veteran alter geburt- geschlecht familienstand "
        "kinder haushalt- staatsangehorig- nationalitat muttersprache sprache herkunft sexe naissance langue "
        "enfants menage edad sexo genero nacimiento nacionalidad idioma hijos hogar raza etnia",
    ),
    "body": _topic(
        "quasi",
        "height weight hair eye eyes groesse korpergrosse gewicht -gewicht haarfarbe augenfarbe taille poids "
        "cheveux yeux altura estatura peso pelo ojos",
    ),
    "place": _topic(
        "quasi",
        "zip zipcode zcta postcode postal plz postleitzahl city town village municipality county district borough "
        "parish neighborhood neighbourhood suburb tract ward latitude longitude lat lon lng location place "
        "residence hospital wohnort ort geburtsort standort gemeinde stadt kreis landkreis bezirk stadtteil "
        "krankenhaus klinik commune ville arrondissement quartier hopital ciudad municipio barrio distrito "
        "localidad codigopostal",
    ),
    "region": _topic(
        "quasi",
        "state region country province nation bundesland kanton canton departement pays provincia pais departamento "
        "estado",
    ),
    "time": _topic(
        "quasi",
        "date day month year time timestamp datetime admitted admission discharge discharged death died visit "
        "-datum datum monat jahr -jahr uhrzeit zeitpunkt aufnahme entlassung tod sterbe- mois annee jour heure "
        "deces fecha dia mes ano hora",
    ),
    "work": _topic(
        "quasi",
        "occupation- job jobtitle profession- employ- unemploy- work workclass industry department education- "
        "degree school- college university hours beruf berufs- tatigkeit arbeit- schulabschluss abschluss bildung- "
        "ausbildung- studium metier emploi travail ecole etudes diplome ocupacion profesion empleo trabajo "
        "educacion estudios escuela",
    ),
    # ---- neither
    "sampling weight": _topic(
        "insensitive",
        "fnlwgt wgt -wgt pweight finalweight sampweight samplingweight surveyweight gewichtung hochrechnung- "
        "ponderation ponderacion",
    ),
    "household number": _topic(
        "insensitive",
        "hhid haushaltsnummer haushaltsnr",
    ),
}
"""The topics by name, those of identifiers first."""

AMBIGUOUS_TOPICS = ("amount", "condition")
"""Topics whose words also mean something harmless: MI is a heart attack, or a middle initial."""

_PHRASES = (
    ("sampling weight", {"weight", "weights"}, {"sampling", "sample", "survey", "final", "design"}),
    ("household number", {"household", "hh", "haushalt", "menage", "hogar", "family"}, {"id", "nr", "key", "uid"}),
)
"""Topics of names that have one word of each kind, whatever else these words are about."""

_UMLAUTS = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe"})


def name_words(name: str) -> set[str]:
    """The words of a column's name, without accents; a word that ends in digits counts also without them.

    >>> sorted(name_words("dateOf_Birth")), sorted(name_words("HIVStatus2"))
    (['birth', 'date', 'of'], ['hiv', 'status', 'status2'])
    >>> sorted(name_words("Année de décès"))
    ['annee', 'de', 'deces']
    """
    apart = re.sub(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    folded = unicodedata.normalize("NFKD", apart.lower().translate(_UMLAUTS))
    bare = "".join(c for c in folded if not unicodedata.combining(c))
    words = {word for word in re.split(r"[^a-z0-9]+", bare) if word}
    return words | {short for word in words if (short := word.rstrip("0123456789"))}


def find_topics(name: str) -> dict[str, str]:
    """The topics of a column's name, each with the word that says so.

    >>> find_topics("Staatsangehörigkeit"), find_topics("staatsangehoerigkeit"), find_topics("prevalentStroke")
    ({'person': 'staatsangehorigkeit'}, {'person': 'staatsangehoerigkeit'}, {'health': 'stroke'})
    """
    found: dict[str, str] = {}
    words = name_words(name)
    for topic, some, others in _PHRASES:
        if words & some and words & others:
            return {topic: min(words & some)}
    for word in sorted(words):
        for topic in _word_topics(word):
            found.setdefault(topic, word)
    return {topic: found[topic] for topic in TOPICS if topic in found}


def _word_topics(word: str) -> list[str]:
    """The topics that have this word, or else those with a word that it begins or ends like."""
    one_letter = word.replace("ae", "a").replace("oe", "o").replace("ue", "u")  # ä written as ae is as good as ä
    exact = [name for name, topic in TOPICS.items() if {word, one_letter} & topic.words]
    return exact or [name for name, topic in TOPICS.items() if topic.is_like(word) or topic.is_like(one_letter)]
