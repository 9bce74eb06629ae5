from kit.caches import Recent


def test_the_entry_that_was_not_used_for_longest_is_forgotten() -> None:
    kept = Recent(2)
    kept.put("a", 1)
    kept.put("b", 2)
    assert kept.get("a") == 1
    kept.put("c", 3)
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == (1, None, 3)
