"""Official operators that raise, with the reason."""

from __future__ import annotations

from operator import attrgetter

import pytest

import ttnn

_SENTENCES = {
    "experimental.moe_compute": "experts of several chips in one program are not implemented",
}


@pytest.mark.parametrize("name", _SENTENCES)
def test_a_call_says_why(name: str) -> None:
    with pytest.raises(ttnn.UnsupportedError, match=_SENTENCES[name]):
        attrgetter(name)(ttnn)(None, layer_id=0)


@pytest.mark.parametrize("name", _SENTENCES)
def test_sentences_name_operators_that_are_there(name: str) -> None:
    try:
        attrgetter(name)(ttnn)()
    except ttnn.UnsupportedError as error:
        named = [word.strip(".,:") for word in str(error).split() if word.startswith("ttnn.")]
        assert all(callable(attrgetter(word.removeprefix("ttnn."))(ttnn)) for word in named)
