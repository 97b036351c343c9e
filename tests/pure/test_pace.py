"""How fast a surface may be written to, on whatever clock."""

from farhand.channels.kit.pace import Bucket


def test_a_clock_that_is_set_back_makes_nobody_wait() -> None:
    bucket = Bucket(rate=1.0, size=8.0)
    assert bucket.wait(10_000.0) == 0.0
    assert bucket.wait(6_400.0) == 0.0
    bucket.level = 0.0
    assert bucket.wait(6_400.5) == 0.5
