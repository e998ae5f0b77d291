"""What is in a table as we would read it: a newcomer's first look, and a recipe to start from.

Nothing is changed and nothing is decided: what is guessed is said to be guessed, with its reason. How the rows are
counted stands in `counting`, which column is what in `mapping`, and the recipe in `drafting`.
"""

from spatialsplit.describing.counting import Suspicion
from spatialsplit.describing.description import Description, describe_table, describe_tables

__all__ = ["Description", "Suspicion", "describe_table", "describe_tables"]
