"""What is released: tables, transactions and graphs, read, written and told apart; and matrices of candidates."""

from unveil.release.graph import Graph
from unveil.release.matrix import Matrix
from unveil.release.table import Table
from unveil.release.transactions import Transactions

__all__ = ["Graph", "Matrix", "Release", "Table", "Transactions"]

Release = Table | Transactions | Graph | Matrix
