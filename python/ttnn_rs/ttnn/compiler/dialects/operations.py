"""Operations made from the tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

from ttnn.compiler.dialects.kinds import check_kind, default_attribute
from ttnn.compiler.dialects.spec import Group, OpSpec, TextSpec, find, find_written
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Operation,
    OpTraits,
    SSAValue,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    VerifyException,
)
from ttnn.compiler.version import Version

__all__ = ["SEGMENTS", "TableOp", "make", "operation_class", "plain", "segment_sizes", "written_class"]

SEGMENTS = "operandSegmentSizes"


RULES: list[Callable[[TableOp], None]] = []
"""Checks beyond the table; the module of rules puts its check here."""


class TableOp(Operation):
    """An operation described by a table.

    Operands are in functional form, outputs given as values last.

    Attributes:
        spec: Its line of the table.
        text: Its text in the version of its module.
        regrouped: Whether that text has other groups of inputs.
        n_outs: How many of the last operands are outputs.
    """

    name: ClassVar[str] = "builtin.unregistered"
    spec: ClassVar[OpSpec]
    text: ClassVar[TextSpec]
    regrouped: ClassVar[bool]
    inherent: ClassVar[frozenset[str]] = frozenset()
    traits: ClassVar[OpTraits] = OpTraits(lambda: ())
    n_outs: int = 0
    problem: str | None = None
    """The error in the text's outputs.

    It is reported after the rules of the operation.
    """
    outs_before: tuple[tuple[Operation, int], ...] = ()
    """Position of its empty outputs in the text.

    The operation after them, and their indices in the block; empty if that was right before this one.
    """
    stated: frozenset[str] | None = None
    """Attributes of its text that repeat its result.

    None if a pass created it.
    """
    _defaults: ClassVar[dict[str, Attribute]]

    @classmethod
    def has_trait(cls, trait: Any, *, value_if_unregistered: bool = True) -> bool:
        """Return whether it has a trait that the IR asks for."""
        del value_if_unregistered
        return _TRAITS.get(getattr(trait, "__name__", type(trait).__name__)) in cls.spec.traits

    def clone_without_regions(self, *args: Any, **kwargs: Any) -> TableOp:
        """Return a copy without regions."""
        copy = super().clone_without_regions(*args, **kwargs)
        assert isinstance(copy, TableOp)
        copy.n_outs, copy.stated = self.n_outs, self.stated
        return copy

    @property
    def written_name(self) -> str:
        """Its name in the text of its module."""
        return self.text.name

    @property
    def inputs(self) -> tuple[SSAValue, ...]:
        """The operands without the outputs."""
        values = tuple(self.operands)
        return values[: len(values) - self.n_outs]

    @property
    def outs(self) -> tuple[SSAValue, ...]:
        """Outputs given as values; empty without any.

        Then the results are the outputs.
        """
        values = tuple(self.operands)
        return values[len(values) - self.n_outs :]

    def group(self, name: str) -> tuple[SSAValue, ...]:
        """Return the operands of a group."""
        groups = self.spec.operands
        sizes = segment_sizes(groups, len(self.inputs), self.properties.get(SEGMENTS))
        at = 0
        for group, size in zip(groups, sizes, strict=True):
            if group.name == name:
                return self.inputs[at : at + size]
            at += size
        raise KeyError(f"{self.name} has no operand {name}")

    def operand(self, name: str) -> SSAValue | None:
        """Return the one operand of a group, or None."""
        values = self.group(name)
        return values[0] if values else None

    def attribute(self, name: str) -> Attribute | None:
        """Return an attribute, its default if it is missing, or None."""
        value = self.properties.get(name)
        if value is None:
            value = self.attributes.get(name)
        if value is None:
            entry = self.text.attributes.get(name) or self.spec.attributes.get(name)
            return default_attribute(entry) if entry is not None else None
        return value

    def get(self, name: str) -> Any:
        """Return an attribute's Python value; None if missing.

        Int, bool, float, str, tuple.
        """
        return plain(self.attribute(name))

    @classmethod
    def defaults(cls) -> Mapping[str, Attribute]:
        """Return the attributes that have a default."""
        found = cls.__dict__.get("_defaults")
        if found is None:
            found = {}
            for entry in cls.text.attributes.values():
                value = default_attribute(entry)
                if value is not None:
                    found[entry.name] = value
            cls._defaults = found
        return found

    @classmethod
    def segments(cls, sizes: Sequence[int]) -> dict[str, Attribute]:
        """Return the attribute for group sizes; empty if counts determine them."""
        if sum(1 for group in cls.spec.operands if group.kind) < 2:
            return {}
        known = {group.name: size for group, size in zip(cls.text.inputs, sizes, strict=True)}
        each = [known.get(group.name, 0) for group in cls.spec.operands]
        return {SEGMENTS: DenseArrayBase.from_list(IntegerType(32), each)}

    def verify_(self) -> None:
        """Check operands, attributes and regions, then the operation's rules."""
        spec, text = self.spec, self.text
        sizes = segment_sizes(spec.operands, len(self.inputs), self.properties.get(SEGMENTS))
        if self.regrouped:
            counts = {group.name: size for group, size in zip(spec.operands, sizes, strict=True)}
            check_sizes(text.inputs, [counts.pop(group.name) for group in text.inputs])
            if any(counts.values()):
                raise VerifyException(f"has no operand {next(name for name, size in counts.items() if size)}")
        for entry in text.attributes.values():
            value = self.properties.get(entry.name)
            if value is None:
                if not entry.optional:
                    raise VerifyException(f"requires attribute '{entry.name}'")
            else:
                check_kind(entry, value)
        fixed = all(not group.kind for group in text.results)
        if fixed and len(self.results) != len(text.results):
            raise VerifyException(f"expected {len(text.results)} results, but found {len(self.results)}")
        if spec.regions >= 0 and len(self.regions) != spec.regions:
            raise VerifyException(f"expected {spec.regions} regions, but found {len(self.regions)}")
        try:
            for rule in RULES:
                rule(self)
        except (ArithmeticError, LookupError) as error:
            # Sizes of zero and lists that are too short, in combinations that no rule names.
            raise VerifyException(f"attributes and types do not go together ({error})") from None
        if self.problem is not None:
            raise VerifyException(self.problem)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


_TRAITS = {"IsTerminator": "terminator", "SymbolTable": "symbols"}


def segment_sizes(groups: tuple[Group, ...], count: int, given: Attribute | None = None) -> tuple[int, ...]:
    """Return how many of `count` operands belong to each group.

    Raises:
        VerifyException: The operands cannot be divided that way.
    """
    if isinstance(given, DenseArrayBase) and sum(1 for group in groups if group.kind) > 1:
        sizes = tuple(int(size) for size in given.get_values())
        if len(sizes) != len(groups):
            raise VerifyException(
                f"'{SEGMENTS}' attribute for specifying operand segments must have {len(groups)} elements, "
                f"but got {len(sizes)}"
            )
        if sum(sizes) != count:
            raise VerifyException(
                f"operand count ({count}) does not match with the total size ({sum(sizes)}) "
                f"specified in attribute '{SEGMENTS}'"
            )
        check_sizes(groups, sizes)
        return sizes
    single = sum(1 for group in groups if not group.kind)
    variable = [group for group in groups if group.kind]
    rest = count - single
    if not variable:
        if rest:
            words = {0: "requires zero operands", 1: "requires a single operand"}
            raise VerifyException(words.get(single, f"expected {single} operands, but found {count}"))
        return (1,) * single
    if rest < 0:
        raise VerifyException(f"expected {single} or more operands, but found {count}")
    if len(variable) == 1:
        if variable[0].kind == "?" and rest > 1:
            raise VerifyException(f"expected {single + 1} operands at most, but found {count}")
        return tuple(rest if group.kind else 1 for group in groups)
    if rest == 0 or rest == len(variable):
        each = 1 if rest else 0
        return tuple(each if group.kind else 1 for group in groups)
    raise VerifyException(f"requires attribute '{SEGMENTS}'")


def check_sizes(groups: tuple[Group, ...], sizes: Sequence[int]) -> None:
    """Check how many operands groups have.

    Raises:
        VerifyException: A group cannot have that many.
    """
    for group, size in zip(groups, sizes, strict=True):
        if size < 0 or (group.kind != "*" and size > 1) or (not group.kind and size != 1):
            raise VerifyException(f"operand group '{group.name}' cannot have {size} values")


def _class(spec: OpSpec, text: TextSpec) -> type[TableOp]:
    words = spec.name.replace(".", "_").split("_")
    return type(
        "".join(word.capitalize() for word in words) + "Op",
        (TableOp,),
        {
            "name": spec.name,
            "spec": spec,
            "text": text,
            "regrouped": text.inputs != spec.operands or "variadic" in text.traits,
            "inherent": frozenset(text.attributes.keys() | text.renamed.keys()).union(
                [SEGMENTS, "resultSegmentSizes"], *(one.repeated for one in spec.texts.values())
            ),
            "__doc__": f"The operation {spec.name}.",
        },
    )


@cache
def operation_class(name: str, version: Version) -> type[TableOp] | None:
    """Return a version's operation class, or None without a table entry."""
    spec = find(name, version)
    return _class(spec, spec.texts[version]) if spec is not None else None


@cache
def written_class(name: str, version: Version) -> type[TableOp] | None:
    """Return the class of an operation's name in text, or None."""
    spec = find_written(name, version)
    return operation_class(spec.name, version) if spec is not None else None


def make(
    name: str,
    version: Version,
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: Mapping[str, Attribute] | None = None,
    *,
    outs: tuple[SSAValue, ...] = (),
    sizes: tuple[int, ...] | None = None,
    attributes: dict[str, Attribute] | None = None,
    regions: Any = (),
    location: Any = None,
) -> TableOp:
    """Return a new operation of a table.

    Args:
        name: `dialect.name`.
        version: The version of the module.
        operands: Operands without outputs.
        result_types: Types of the results.
        properties: Inherent attributes.
        outs: Outputs that are values.
        sizes: Sizes of the groups of inputs in this version, where counts do not say them.
        attributes: Discardable attributes.
        regions: Regions.
        location: Where it comes from.

    Raises:
        KeyError: No table has the operation.
    """
    kind = operation_class(name, version)
    if kind is None:
        raise KeyError(f"{name} is not an operation of version {version}")
    entries = {**kind.defaults(), **(properties or {})}
    if sizes is None and kind.regrouped and SEGMENTS not in entries:
        sizes = segment_sizes(kind.text.inputs, len(operands))
    if sizes is not None:
        entries |= kind.segments(sizes)
    op: TableOp = kind.create(
        operands=[*operands, *outs],
        result_types=result_types,
        properties=entries,
        attributes=attributes or {},
        regions=regions,
        location=location,
    )
    op.n_outs = len(outs)
    return op


def plain(value: Attribute | None) -> Any:
    """Return an attribute as a Python value where it has one."""
    if isinstance(value, IntegerAttr):
        number = value.value.data
        if isinstance(value.type, IntegerType) and value.type.width.data == 1:
            return bool(number)
        return number
    if isinstance(value, (FloatAttr,)):
        return value.value.data
    if isinstance(value, StringAttr):
        return value.data
    if isinstance(value, UnitAttr):
        return True
    if isinstance(value, ArrayAttr):
        return tuple(plain(one) for one in value.data)
    if isinstance(value, DenseArrayBase):
        values = value.get_values()
        element = value.elt_type
        if isinstance(element, IntegerType) and element.width.data == 1:
            return tuple(bool(one) for one in values)
        return tuple(values)
    if isinstance(value, SymbolRefAttr):
        return value.string_value()
    if isinstance(value, DenseAttr):
        return value.ints()
    enum = getattr(value, "enum", None)
    if enum is not None:
        return value.value  # type: ignore[union-attr]
    return value
