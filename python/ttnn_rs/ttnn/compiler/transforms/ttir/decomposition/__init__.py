"""Operations that the library does not have become those that it has."""
