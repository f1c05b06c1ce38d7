"""The lexer: one regular expression for all tokens, because most of the time of parsing goes here."""

from __future__ import annotations

import re

from ttnn.compiler.asm.xdsl_adapter import MLIRLexer, MLIRTokenKind, ParseError, Span, Token

__all__ = ["FastLexer"]

_BLANK = re.compile(r"(?://[^\n]*|\s+)*")
_TOKEN = re.compile(
    r"""
    (?P<BARE_IDENT>[a-zA-Z_][\w$.]*)
  | (?P<PREFIXED>[%\#!^](?:\d+|[a-zA-Z$._-][\w$._-]*))
  | (?P<FLOAT_LIT>\d+\.\d*(?:[eE][-+]?\d+)?)
  | (?P<INTEGER_LIT>0x[0-9a-fA-F]+|\d+)
  | (?P<STRING>"(?:[^"\\\n]|\\.)*")
  | (?P<AT_IDENT>@(?:[a-zA-Z_][\w$.]*|"(?:[^"\\\n]|\\.)*"))
  | (?P<PUNCTUATION>->|\.\.\.|\{-\#|\#-\}|[:,=>{(\[<\-+?/})\]*|])
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
        found = _TOKEN.match(text, start)
        if found is None:
            self.pos = start
            char = text[start]
            span = Span(start, start + 1, self.input)
            raise ParseError(
                span, "expected string literal to end" if char == '"' else f"unexpected character {char!r}"
            )
        self.pos = end = found.end()
        group = found.lastgroup
        span = Span(start, end, self.input)
        if group == "PREFIXED":
            return Token(_PREFIX[text[start]], span)
        if group == "PUNCTUATION":
            return Token(_PUNCTUATION[found.group()], span)
        if group == "STRING":
            return Token(self._string(found.group(), start), span)
        assert group is not None
        return Token(_KINDS[group], span)

    def _string(self, literal: str, start: int) -> MLIRTokenKind:
        """Return whether a literal is text or bytes; a wrong escape is an error."""
        if "\\" not in literal:
            return MLIRTokenKind.STRING_LIT
        rest = _ESCAPE.sub("", literal)
        if "\\" in rest:
            at = start + literal.index("\\")
            raise ParseError(Span(at, at + 2, self.input), "unknown escape in string literal")
        high = re.search(r"\\[89a-fA-F][0-9a-fA-F]", literal.replace("\\\\", "  "))
        return MLIRTokenKind.BYTES_LIT if high else MLIRTokenKind.STRING_LIT
