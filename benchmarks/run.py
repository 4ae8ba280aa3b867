"""Every figure of speed and memory as a ratio against a named baseline measured in the same run, and how far estimates
are off."""

from __future__ import annotations

import active_attack
import attack
import cold_start
import diversity
import estimators
import exact
import fakes
import febrl
import graph_measures
import known_items
import link_people
import mondrian
import pairs
import passive_attack
import private_answers
import private_mechanisms
import protect_classes
import protect_graphs
import protect_tables
import reader_memory
import reading
import similar
import sparsity
import startup
import uniques
import wildcard

import classes
import inference
import items
import ledger
import matching

if __name__ == "__main__":
    for benchmark in (
        startup,
        cold_start,
        reading,
        reader_memory,
        classes,
        diversity,
        uniques,
        wildcard,
        known_items,
        attack,
        exact,
        sparsity,
        similar,
        febrl,
        link_people,
        protect_tables,
        protect_classes,
        mondrian,
        matching,
        estimators,
        items,
        pairs,
        inference,
        fakes,
        active_attack,
        graph_measures,
        protect_graphs,
        passive_attack,
        private_answers,
        private_mechanisms,
        ledger,
    ):
        benchmark.main()
