"""The xdsl names in use.

No other module imports xdsl, so a new version is read once.
"""

from __future__ import annotations

from xdsl.context import (
    Context,
)
from xdsl.dialects import (
    get_all_dialects,
)
from xdsl.dialects.arith import (
    ConstantOp,
)
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    ArrayAttr,
    BytesAttr,
    CallSiteLoc,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    DictionaryAttr,
    FileLineColLoc,
    FloatAttr,
    FunctionType,
    FusedLoc,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefLayoutAttr,
    MemRefType,
    ModuleOp,
    NameLoc,
    NoneAttr,
    NoneType,
    OpaqueAttr,
    Signedness,
    StridedLayoutAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    TupleType,
    UnitAttr,
    UnknownLoc,
    UnrankedMemRefType,
    UnrankedTensorType,
    UnregisteredAttr,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
)
from xdsl.dialects.func import (
    CallOp,
    FuncOp,
    ReturnOp,
)
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    BuiltinAttribute,
    Dialect,
    Operation,
    OpResult,
    OpTraits,
    Region,
    SSAValue,
    SSAValues,
    TypeAttribute,
)
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSet,
    AffineSymExpr,
)
from xdsl.irdl import (
    IRDLOperation,
)
from xdsl.parser import (
    Parser,
)
from xdsl.parser.affine_parser import AffineParser
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.printer import (
    Printer,
)
from xdsl.traits import (
    IsTerminator,
)
from xdsl.utils.exceptions import (
    ParseError,
    VerifyException,
)
from xdsl.utils.lexer import (
    Input,
    Span,
    Token,
)
from xdsl.utils.mlir_lexer import (
    MLIRLexer,
    MLIRTokenKind,
)
from xdsl.utils.worklist import (
    Worklist,
)

__all__ = [
    "AffineBinaryOpExpr",
    "AffineBinaryOpKind",
    "AffineConstantExpr",
    "AffineConstraintKind",
    "AffineDimExpr",
    "AffineExpr",
    "AffineMap",
    "AffineMapAttr",
    "AffineParser",
    "AffineSet",
    "AffineSetAttr",
    "AffineSymExpr",
    "ArrayAttr",
    "Attribute",
    "Block",
    "BlockArgument",
    "BuiltinAttribute",
    "BytesAttr",
    "CallOp",
    "CallSiteLoc",
    "ComplexType",
    "ConstantOp",
    "Context",
    "DenseArrayBase",
    "DenseIntOrFPElementsAttr",
    "DenseResourceAttr",
    "Dialect",
    "DictionaryAttr",
    "FileLineColLoc",
    "FloatAttr",
    "FuncOp",
    "FunctionType",
    "FusedLoc",
    "IRDLOperation",
    "IndexType",
    "Input",
    "IntAttr",
    "IntegerAttr",
    "IntegerType",
    "IsTerminator",
    "MLIRLexer",
    "MLIRTokenKind",
    "MemRefLayoutAttr",
    "MemRefType",
    "ModuleOp",
    "NameLoc",
    "NoneAttr",
    "NoneType",
    "OpResult",
    "OpTraits",
    "OpaqueAttr",
    "Operation",
    "ParseError",
    "Parser",
    "PatternRewriteWalker",
    "PatternRewriter",
    "Printer",
    "Region",
    "ReturnOp",
    "RewritePattern",
    "SSAValue",
    "SSAValues",
    "Signedness",
    "Span",
    "StridedLayoutAttr",
    "StringAttr",
    "SymbolRefAttr",
    "TensorType",
    "Token",
    "TupleType",
    "TypeAttribute",
    "UnitAttr",
    "UnknownLoc",
    "UnrankedMemRefType",
    "UnrankedTensorType",
    "UnregisteredAttr",
    "VectorType",
    "VerifyException",
    "Worklist",
    "builtin_float",
    "get_all_dialects",
]

_FLOATS: dict[str, Attribute] = {"bf16": bf16, "f16": f16, "f32": f32, "f64": f64}


def builtin_float(name: str) -> Attribute:
    """Return the float type of that name."""
    return _FLOATS[name]
