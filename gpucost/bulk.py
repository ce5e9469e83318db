"""Separating a long, plain file into columns at the speed of pyarrow.

It takes only files on which any CSV reader agrees: valid UTF-8, the exact header, one line a row, every quotation mark
opening or closing a whole cell. Anything else is left to `gpucost.reader`, which reads the same grammar one record at a
time and says what is wrong. Both give the same table; a test holds them to it.
"""

import numpy as np
import numpy.typing as npt

from gpucost.columns import BY_NAME, HEADER, NAMES
from gpucost.table import CodedColumn, Codes, Table

SHORT_BYTES = 1 << 20
"""Files up to this size are read record by record: importing pyarrow would cost more than it saves."""
_COMMA, _QUOTE, _LF, _CR = 0x2C, 0x22, 0x0A, 0x0D
_BOM = b"\xef\xbb\xbf"

Bytes = npt.NDArray[np.uint8]


def read_plain(data: bytes) -> Table | None:
    """The table of a long, plain file; None where the careful reader must look. `data` is valid UTF-8."""
    if len(data) <= SHORT_BYTES or b"\0" in data:
        return None
    start = len(_BOM) if data.startswith(_BOM) else 0
    body = start + len(HEADER)
    if not data.startswith(HEADER.encode(), start) or data[body : body + 1] not in (b"\n", b"\r"):
        return None
    return _columns(data) if _one_line_a_row(np.frombuffer(data, np.uint8)) else None


def _one_line_a_row(data: Bytes) -> bool:
    """Whether every line is one record: no blank line, no lone CR, and every quotation mark opens or closes a cell
    within its line."""
    ends = np.flatnonzero(data == _LF)
    returns = np.flatnonzero(data == _CR)
    if len(returns) and (len(returns) != len(ends) or (returns + 1 != ends).any()):
        return False
    if (np.diff(ends) <= (2 if len(returns) else 1)).any():
        return False
    quotes = np.flatnonzero(data == _QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[0::2], quotes[1::2]
    before = data[opening - 1]
    after = data[np.minimum(closing + 1, len(data) - 1)]
    at_end = closing == len(data) - 1
    opens = (before == _COMMA) | (before == _LF)
    closes = (after == _COMMA) | (after == _LF) | (after == _CR) | at_end
    same_line = np.searchsorted(ends, opening) == np.searchsorted(ends, closing)
    return bool(opens.all() and closes.all() and same_line.all())


def _columns(data: bytes) -> Table | None:
    import pyarrow as pa
    from pyarrow import csv

    texts = pa.dictionary(pa.int32(), pa.string())
    try:
        read = csv.read_csv(
            pa.BufferReader(data),
            parse_options=csv.ParseOptions(newlines_in_values=False, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(NAMES, texts), strings_can_be_null=False, quoted_strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None  # a row of 37 or 39 cells: the careful reader names it
    if not read.num_rows:
        return None
    columns = {name: _column(name, read.column(name).unify_dictionaries().combine_chunks()) for name in NAMES}
    if NAMES[0] in columns[NAMES[0]].texts:
        return None  # the header may stand again in the middle
    count = read.num_rows
    return Table(
        columns,
        np.zeros(count, np.int32),
        np.arange(1, count + 1, dtype=np.int64),
        np.arange(2, count + 2, dtype=np.int64),
    )


def _column(name: str, coded: "object") -> CodedColumn:
    codes: Codes = coded.indices.to_numpy(zero_copy_only=False)  # type: ignore[attr-defined]
    texts: list[str] = coded.dictionary.to_pylist()  # type: ignore[attr-defined]
    return CodedColumn(BY_NAME[name], texts, codes)
