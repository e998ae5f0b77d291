"""The split and its audit as one HTML page that needs nothing else.

`source` says what a page is made from, `findings`, `balance` and `map_data` gather numbers, `figures` draws them,
`sections` puts them in order, `page` writes the HTML; its template, style and scripts are the files in the folder
`page/` beside it. What may be on a public page stands in `docs/report.md`.
"""

from __future__ import annotations

from spatialsplit.report.writing import NAME, report_page, write_report, write_report_of

__all__ = ["NAME", "report_page", "write_report", "write_report_of"]
