"""What a worker is given of the environment, and who reads it."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.record import Record
from invcheck.sandbox import box, environ

HERE = "tests/sandbox/test_sandbox_environ.py"


def test_keys_become_empty_also_where_they_were_missing() -> None:
    """A key that is only missing comes back from an .env file; an empty one stays empty."""
    env, dropped = environ.scrubbed({"OPENAI_API_KEY": "sk-live", "SHOP_API_KEY": "k", "GITHUB_TOKEN": "t", "DB_PASSWORD": "p"}, "/h")
    assert {env[name] for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SHOP_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD")} == {""}
    assert dropped == ["DB_PASSWORD", "GITHUB_TOKEN", "OPENAI_API_KEY", "SHOP_API_KEY"]


@pytest.mark.parametrize(
    "name", ["AWS_PROFILE", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_TENANT_ID", "ANTHROPIC_BASE_URL", "OPENAI_ORG_ID", "my_secret"]
)
def test_whole_families_become_empty(name: str) -> None:
    """Names of the providers' families, in any case."""
    env, dropped = environ.scrubbed({name: "x"}, "/h")
    assert env[name] == ""
    assert dropped == [name]
    assert environ.scrubbed({name: ""}, "/h")[1] == []


@pytest.mark.parametrize(
    "name",
    [
        *("API_KEY", "TOKEN", "PASSWORD", "CREDENTIALS", "SECRET", "PGPASSWORD", "DB_PASS", "STRIPE_KEY", "MY_PAT", "SLACK_WEBHOOK"),
        *("DATABASE_URL", "OPENAIKEY", "SENTRY_DSN", "MYSQL_PWD", "GH_PAT", "SECRET_KEY_BASE", "NPM_AUTH", "SHOP_DATABASE_URL", "apikey"),
        *("MONGODB_URI", "REDIS_URL", "SIGNING_KEY", "SSH_PASSPHRASE", "SLACK_WEBHOOK_URL", "CI_JOB_JWT", "DOCKER_AUTH_CONFIG", "NETRC"),
    ],
)
def test_a_secret_has_many_names(name: str) -> None:
    """Names that hold a secret by themselves, without the customary prefix, or as part of an address."""
    env, dropped = environ.scrubbed({name: "x"}, "/h")
    assert (env[name], dropped) == ("", [name])


@pytest.mark.parametrize("value", ["postgresql://ada:s3cret@db:5432/shop", "redis://:word@cache/0"])
def test_an_address_with_a_password_is_a_secret_under_any_name(value: str) -> None:
    """Whatever the variable is called: the password stands in the value."""
    assert environ.scrubbed({"SHOP_BACKEND": value}, "/h")[0]["SHOP_BACKEND"] == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KEYBOARD", "us"), ("MONKEY", "x"), ("BYPASS", "1"), ("COMPASS", "n"), ("PATTERN", "a"), ("PASSENGERS", "3"), ("AUTHOR", "ada"),
        ("SHOP_URL", "https://shop.example/a:b@c"), ("TOKENIZERS_PARALLELISM", "false"), ("MAX_TOKENS", "5"), ("OLDPWD", "/a"),
        ("PYTHONPATH", "/a:/b"),
    ],
)  # fmt: skip
def test_what_only_sounds_like_a_secret_is_kept(name: str, value: str) -> None:
    """A name that holds such a word inside another is no secret."""
    assert environ.scrubbed({name: value}, "/h")[0][name] == value


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "NO_PROXY", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"])
def test_ways_out_through_others_are_dropped(name: str) -> None:
    """A proxy or an agent's socket would leave the sandbox in our name."""
    env, dropped = environ.scrubbed({name: "x"}, "/h")
    assert name not in env
    assert dropped == [name]


@pytest.mark.parametrize(
    "name",
    ["PATH", "PYTHONPATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE", "INVCHECK_DEBUG", "SHOP_URL"],
)
def test_what_a_program_needs_is_kept(name: str) -> None:
    """Search paths, language and Python's own switches arrive as they are."""
    assert environ.scrubbed({name: "x"}, "/h")[0][name] == "x"


def test_home_and_temp_are_the_workers_own() -> None:
    """HOME and the XDG folders lead to an empty place, temp files to the worker's; the user's packages stay importable."""
    given_env = {
        "HOME": "/home/ada",
        "XDG_CONFIG_HOME": "/home/ada/.c",
        "XDG_RUNTIME_DIR": "/run/user/1",
        "TMPDIR": "/tmp",
        "TZ": "Asia/Tokyo",
    }  # names only
    env, dropped = environ.scrubbed(given_env, "/w/home", "/w/temp")
    assert env["HOME"] == "/w/home"
    assert (env["XDG_CONFIG_HOME"], env["XDG_CACHE_HOME"]) == ("/w/home/config", "/w/home/cache")
    assert env["TMPDIR"] == env["TEMP"] == env["TMP"] == "/w/temp"
    assert "XDG_RUNTIME_DIR" not in env
    assert env["PYTHONUSERBASE"] == "/home/ada/.local"
    assert env["TZ"] == "UTC"
    assert dropped == []
    assert "TMPDIR" not in environ.scrubbed({}, "/w/home")[0]
    assert "PYTHONUSERBASE" not in environ.scrubbed({}, "/w/home")[0]
    assert environ.scrubbed({"HOME": "/h", "PYTHONUSERBASE": "/u"}, "/w")[0]["PYTHONUSERBASE"] == "/u"


NAMES = st.builds(str.__add__, st.text("ABC_EKNOTY", max_size=6), st.sampled_from(["", "_KEY", "KEY", "TOKEN", "_TOKEN", "_KEY_A"]))


@given(st.dictionaries(NAMES.filter(bool), st.text(max_size=5)))
def test_no_secret_value_survives(env: dict[str, str]) -> None:
    """Whatever matches is empty, whatever does not is untouched, and the names taken are exactly those that had a value."""
    out, dropped = environ.scrubbed(env, "/h")
    for name, value in env.items():
        secret = name.endswith(("_KEY", "TOKEN"))  # of all patterns those that names of these letters can match
        assert out[name] == ("" if secret else value)
        assert (name in dropped) == (secret and value != "")


def test_reads_are_noted_by_name_and_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """get, getenv, [] and `in` are reads, of a missing name too; a copy of all of it is one."""
    monkeypatch.setenv("SHOP", "1")
    record = Record()

    def mode() -> str | None:
        return os.environ.get("SHOP_MODE")

    with box.trial(record):
        assert mode() is None
        assert os.environ["SHOP"] == os.getenv("SHOP") == "1"
        assert "SHOP" in os.environ
        assert dict(os.environ)["SHOP"] == "1"
        assert dict(os.environ)["SHOP"] == "1"
        with pytest.raises(KeyError):
            os.environ["SHOP_NONE"]
    own = f"{HERE}:test_reads_are_noted_by_name_and_place"
    assert record.ambient == {
        ("environ:SHOP_MODE", f"{HERE}:mode"): 1,
        ("environ:SHOP", own): 3,
        ("environ:*", own): 2,
        ("environ:SHOP_NONE", own): 1,
    }


def test_changes_end_with_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a trial sets, changes or deletes is undone, so that no later trial sees it."""
    monkeypatch.setenv("SHOP_A", "1")
    monkeypatch.setenv("SHOP_B", "2")
    monkeypatch.delenv("SHOP_C", raising=False)
    monkeypatch.delenv("SHOP_D", raising=False)
    with box.trial(Record()):
        os.environ["SHOP_A"] = "x"
        os.environ["SHOP_A"] = "y"
        del os.environ["SHOP_B"]
        os.environ["SHOP_C"] = "z"
        os.environ["SHOP_D"] = "z"
        del os.environ["SHOP_D"]
        with pytest.raises(KeyError):
            del os.environ["SHOP_E"]
    assert [os.environ.get(f"SHOP_{name}") for name in "ABCDE"] == ["1", "2", None, None, None]


def test_outside_of_a_trial_the_environment_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is noted, nothing undone."""
    monkeypatch.setenv("SHOP_A", "1")
    os.environ["SHOP_A"] = "2"
    assert list(os.environ.keys()) == list(os.environ)
    assert os.environ.copy()["SHOP_A"] == "2"
