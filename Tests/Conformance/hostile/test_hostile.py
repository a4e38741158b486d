"""The rows of `table.py`, short, and without judging times: what freezes, grows or gets lost does so on any machine."""

import pytest

from table import ROWS, carry_out

# Seconds that an attack lasts.
SHORT = 1
# What shows its effect only after long is asked by hand, with `make hostile`.
SHORT_ROWS = [pytest.param(row, id=f"{row.number} {row.what}") for row in ROWS if not row.is_long]


@pytest.mark.parametrize("row", SHORT_ROWS)
def test_withstands(row, hostile_certs):
    checks = carry_out(row, hostile_certs, SHORT, is_short=True)
    assert checks, "nothing was looked at"
    wrong = [str(check) for check in checks if not check.is_right and not check.is_timed]
    assert not wrong, "\n".join(wrong)
