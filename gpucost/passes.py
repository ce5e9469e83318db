"""The typed row: one pass as a pydantic model, built from the columns' description when somebody asks for one.

It parses with the very grammar of the reader (`gpucost.cells`), so a value means the same thing in both. Empty cells
are None. Contract, section 2.
"""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from gpucost.cells import CellType, Fault
from gpucost.columns import COLUMNS, NAMES, Column
from gpucost.table import Table

_TYPES: dict[CellType, type] = {
    CellType.IDENTIFIER: str,
    CellType.TEXT: str,
    CellType.INTEGER: int,
    CellType.DECIMAL: Decimal,
    CellType.BOOLEAN: bool,
}


def _field(column: Column) -> tuple[Any, Any]:
    def parse(text: object) -> object:
        if not isinstance(text, str):
            return text
        cell = column.parse(text)
        if isinstance(cell.fault, Fault):
            raise ValueError(cell.fault.value)  # noqa: TRY004 - pydantic reports a ValueError as the field's error
        return cell.value

    kind: Any = _TYPES[column.cell_type]
    return Annotated[kind | None, BeforeValidator(parse)], Field(
        default=None, title=column.title, description=column.help
    )


_FIELDS: dict[str, Any] = {column.name: _field(column) for column in COLUMNS}
Pass: type[BaseModel] = create_model(
    "Pass",
    __config__=ConfigDict(frozen=True, extra="forbid"),
    __doc__="One pass: the 38 columns, typed.",
    **_FIELDS,
)


def typed_pass(table: Table, row: int) -> BaseModel:
    """The typed row at a position. Raises pydantic.ValidationError where a cell is faulty, and KeyError for a row
    that could not be separated into cells."""
    if row in table.unreadable:
        raise KeyError(row)
    return Pass(**{name: table.text(row, name) for name in NAMES})
