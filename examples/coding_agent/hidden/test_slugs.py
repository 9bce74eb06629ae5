from kit.slugs import slugify


def test_separators_become_one_dash() -> None:
    assert slugify("Rock & Roll -- live") == "rock-roll-live"


def test_there_is_no_dash_at_the_ends() -> None:
    assert slugify("  (Encore!) ") == "encore"
