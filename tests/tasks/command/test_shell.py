"""Values in a command that a shell reads stay values, whatever is in them."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.tasks.command.shell import script_of
from paceline.tasks.template import Template

VALUES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
NASTY = st.sampled_from(
    ["'; echo no; '", '"$(echo no)"', "`echo no`", "$HOME", "a  b\n", "\\", "-n", "*", "'", "#"]
)


def printed(command: str, **inputs: str) -> list[str]:
    """The words that a command prints, each followed by a NUL."""
    script = script_of(Template(command))
    values = [Template(f"{{{{ {place.written} }}}}").fill(inputs) for place in script.places]
    done = subprocess.run([*script.argv, *values], capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


@given(VALUES | NASTY, VALUES | NASTY)
def test_a_value_is_one_word_where_it_stands_by_itself_and_within_double_quotes(a: str, b: str) -> None:
    command = (
        "printf '%s\\0' {{ inputs.a }} x{{ inputs.b }}y "
        '"in {{ inputs.a }} quotes" "$(printf %s {{ inputs.b }})"'
    )
    assert printed(command, a=a, b=b) == [a, f"x{b}y", f"in {a} quotes", b.rstrip("\n")]


def test_a_script_is_what_it_was_otherwise() -> None:
    command = "for i in 1 2; do printf '%s\\0' \"$i\" 'it''s' # a comment's end\ndone | cat"
    assert printed(command) == ["1", "its", "2", "its"]
    assert printed("case {{ inputs.a }} in (a) printf 'yes\\0';; b) printf 'no\\0';; esac", a="a") == ["yes"]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo '{{ inputs.a }}'", "leave them out"),
        ("echo \"$(echo '{{ inputs.a }}')\"", "leave them out"),
        ("echo `echo {{ inputs.a }}`", r"write \$\(\.\.\.\)"),
        ("echo $((1 + {{ inputs.a }}))", "put it into a variable"),
        ("cat <<EOF\n{{ inputs.a }}\nEOF", "give it by `stdin:`"),
    ],
)
def test_a_place_where_a_value_would_not_stay_one_is_refused_with_the_way_out(command: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        script_of(Template(command))


@pytest.mark.parametrize(
    "command",
    [
        "echo it\\'s {{ inputs.a }}",
        "echo 'quoted' {{ inputs.a }}",
        'echo "it\'s" {{ inputs.a }}',
        "echo a#b 'c' {{ inputs.a }}",
        "# don't\necho {{ inputs.a }}",
        "cat <<< {{ inputs.a }}",
        "echo $((1 + 1)) {{ inputs.a }}",
        "(echo {{ inputs.a }})",
    ],
)
def test_quotes_that_are_closed_and_comments_are_no_trouble(command: str) -> None:
    assert script_of(Template(command)).text.count('"${1}"') == 1
