"""Sentence pairs of three grades.

2 for paraphrases, 1 for the same subject, 0 for another subject.
"""

from __future__ import annotations

from typing import Final

TRIPLES: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "The train left the station ten minutes late.",
        "The train departed with a delay of ten minutes.",
        "Trains in this region are often crowded.",
    ),
    (
        "She planted tomatoes in the garden.",
        "Tomatoes were planted by her in the garden.",
        "The garden needs more water in summer.",
    ),
    (
        "The company raised the price of its phones.",
        "Its phones have become more expensive.",
        "The company opened a new office last year.",
    ),
    (
        "He forgot his umbrella and got wet.",
        "Without his umbrella he was soaked by the rain.",
        "It rains a lot in this city in autumn.",
    ),
    (
        "The doctor advised him to sleep more.",
        "He was told by his physician to get more sleep.",
        "The doctor works in a hospital near the river.",
    ),
    (
        "A dog is chasing a ball in the park.",
        "In the park a dog runs after a ball.",
        "Dogs must be kept on a leash here.",
    ),
    (
        "The bridge was closed for repairs.",
        "Because of repair work nobody could use the bridge.",
        "The bridge was built a hundred years ago.",
    ),
    (
        "They won the final match by two goals.",
        "The last game ended with their victory by two goals.",
        "The team has a new coach this season.",
    ),
    (
        "My computer is too slow for this program.",
        "This program runs too slowly on my machine.",
        "I bought my computer three years ago.",
    ),
    ("The soup is too salty.", "There is too much salt in the soup.", "The soup is served with fresh bread."),
    (
        "The museum is free on Sundays.",
        "On Sundays you pay nothing to enter the museum.",
        "The museum shows paintings of the last century.",
    ),
    ("She speaks four languages fluently.", "She is fluent in four languages.", "She teaches languages at a school."),
    (
        "The volcano erupted after a long silence.",
        "After being quiet for years the volcano broke out.",
        "Tourists climb the volcano in spring.",
    ),
    (
        "Scientists found water on the moon.",
        "Water was discovered on the moon by researchers.",
        "The moon goes around the earth in a month.",
    ),
    (
        "The child built a tower of wooden blocks.",
        "A tower of wood blocks was made by the child.",
        "The child is five years old.",
    ),
    (
        "The bank refused to give him a loan.",
        "His request for a loan was turned down by the bank.",
        "The bank opens at nine in the morning.",
    ),
    (
        "The violin player practises every day.",
        "Every day the violinist exercises.",
        "The violin is made of maple and spruce.",
    ),
    (
        "The road to the village is covered with snow.",
        "Snow lies on the road that leads to the village.",
        "The village has a small church.",
    ),
    (
        "Coffee keeps me awake at night.",
        "If I drink coffee I cannot sleep at night.",
        "Coffee is grown in warm countries.",
    ),
    (
        "The judge found the man guilty.",
        "The man was convicted by the judge.",
        "The judge has worked in this court for years.",
    ),
)
"""Each: a sentence, a paraphrase, another one about its subject."""

SENTENCES: Final = tuple(sentence for triple in TRIPLES for sentence in triple)


def graded() -> list[tuple[int, int, int]]:
    """Return 60 pairs as places in `SENTENCES`, each with its grade."""
    pairs = []
    for i in range(len(TRIPLES)):
        other = (i + 7) % len(TRIPLES)
        pairs += [(3 * i, 3 * i + 1, 2), (3 * i, 3 * i + 2, 1), (3 * i, 3 * other, 0)]
    return pairs
