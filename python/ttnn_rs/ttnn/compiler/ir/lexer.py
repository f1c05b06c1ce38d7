"""The lexer: one regular expression for all tokens.

Most of the time of parsing is spent here.
"""

from __future__ import annotations

import re

from ttnn.compiler.ir.printing import unquote
from ttnn.compiler.ir.xdsl_adapter import Input, MLIRLexer, MLIRTokenKind, ParseError, Span, Token
from ttnn.compiler.limits import DIGITS, ESCAPES, TOKENS

__all__ = ["QUOTED", "FastLexer"]

# The engine of `re` remembers each repetition of a group: here those are the escapes only, and there is a limit.
QUOTED = rf'"[^"\\\n]*(?:\\.[^"\\\n]*){{0,{ESCAPES}}}"'
"""Pattern of a string literal."""

_BLANK = re.compile(r"\s*(?://[^\n]*\s*)*")
_TOKEN = re.compile(
    rf"""
    (?P<BARE_IDENT>[a-zA-Z_][\w$.]*)
  | (?P<PREFIXED>[%\#!^](?:\d+|[a-zA-Z$._-][\w$._-]*))
  | (?P<FLOAT_LIT>\d+\.\d*(?:[eE][-+]?\d+)?)
  | (?P<INTEGER_LIT>0x[0-9a-fA-F]+|\d+)
  | (?P<STRING>{QUOTED})
  | (?P<AT_IDENT>@(?:[a-zA-Z_][\w$.]*|{QUOTED}))
  | (?P<PUNCTUATION>->|\.\.\.|\{{-\#|\#-\}}|[:,=>{{(\[<\-+?/}})\]*|])
    """,
    re.VERBOSE | re.ASCII,
)
_PREFIX = {
    "%": MLIRTokenKind.PERCENT_IDENT,
    "#": MLIRTokenKind.HASH_IDENT,
    "!": MLIRTokenKind.EXCLAMATION_IDENT,
    "^": MLIRTokenKind.CARET_IDENT,
}
_PUNCTUATION = {kind.value: kind for kind in MLIRTokenKind if isinstance(kind.value, str)}
_KINDS = {
    "BARE_IDENT": MLIRTokenKind.BARE_IDENT,
    "FLOAT_LIT": MLIRTokenKind.FLOAT_LIT,
    "INTEGER_LIT": MLIRTokenKind.INTEGER_LIT,
    "AT_IDENT": MLIRTokenKind.AT_IDENT,
}
_ESCAPE = re.compile(r"\\(?:[nt\\\"]|[0-9a-fA-F]{2})")


class FastLexer(MLIRLexer):
    """The tokens of MLIR text."""

    def __init__(self, input: Input[str]) -> None:
        super().__init__(input)
        self._left = TOKENS

    def count(self, at: int) -> None:
        """Count a token.

        Raises:
            ParseError: There are too many.
        """
        self._left -= 1
        if self._left < 0:
            raise ParseError(Span(at, at + 1, self.input), f"the module has more than {TOKENS:,} tokens")

    def lex(self) -> Token[MLIRTokenKind, str]:
        """Return the next token."""
        text = self.input.content
        blank = _BLANK.match(text, self.pos)
        start = blank.end() if blank else self.pos
        if start >= len(text):
            self.pos = start
            return Token(MLIRTokenKind.EOF, Span(start, start, self.input))
        # `#-}` ends the file metadata; it would also be a name that starts with `-`.
        if text.startswith("#-}", start):
            self.pos = start + 3
            return Token(MLIRTokenKind.FILE_METADATA_END, Span(start, self.pos, self.input))
        self.count(start)
        found = _TOKEN.match(text, start)
        if found is None:
            self.pos = start
            char = text[start]
            span = Span(start, start + 1, self.input)
            if char != '"':
                raise ParseError(span, f"unexpected character {char!r}")
            if text.count("\\", start, start + 4 * ESCAPES) >= ESCAPES:
                raise ParseError(span, f"expected string literal to end, and to have at most {ESCAPES:,} escapes")
            raise ParseError(span, "expected string literal to end")
        self.pos = end = found.end()
        group = found.lastgroup
        span = Span(start, end, self.input)
        if group == "PREFIXED":
            return Token(_PREFIX[text[start]], span)
        if group == "PUNCTUATION":
            return Token(_PUNCTUATION[found.group()], span)
        if group == "STRING":
            return Token(self._string(found.group(), start), span)
        if group in ("INTEGER_LIT", "FLOAT_LIT") and end - start > DIGITS:
            raise ParseError(span, f"a number of {end - start:,} characters; the limit is {DIGITS:,}")
        assert group is not None
        return Token(_KINDS[group], span)

    def _string(self, literal: str, start: int) -> MLIRTokenKind:
        """Return whether a literal is text or bytes.

        A wrong escape is an error.
        """
        if "\\" not in literal:
            return MLIRTokenKind.STRING_LIT
        rest = _ESCAPE.sub("", literal)
        if "\\" in rest:
            at = start + literal.index("\\")
            raise ParseError(Span(at, at + 2, self.input), "unknown escape in string literal")
        try:
            unquote(literal)
        except UnicodeDecodeError:
            return MLIRTokenKind.BYTES_LIT
        return MLIRTokenKind.STRING_LIT
