"""When a store node is left alone."""

from hypothesis import given
from hypothesis import strategies as st

from murmuration_runtime.breaker import Breaker


@given(st.lists(st.booleans()), st.integers(1, 5))
def test_it_is_open_exactly_after_so_many_calls_in_a_row_without_an_answer(answers, tries):
    """Whatever came before them, and an answer closes it."""
    breaker = Breaker(tries)
    for answered in answers:
        (breaker.answered if answered else breaker.unanswered)()
    assert breaker.is_open == (len(answers) >= tries and not any(answers[-tries:]))
