"""What is released: tables, transactions and graphs, read, written and told apart."""

from unveil.release.graph import Graph
from unveil.release.table import Table
from unveil.release.transactions import Transactions

__all__ = ["Graph", "Release", "Table", "Transactions"]

Release = Table | Transactions | Graph
