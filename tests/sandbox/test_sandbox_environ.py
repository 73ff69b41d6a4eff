"""What a worker is given of the environment, and who reads it."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

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
    "name",
    [
        *("GOOGLE_APPLICATION_CREDENTIALS", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE"),
        *("ANTHROPIC_PROFILE", "ANTHROPIC_CONFIG_DIR", "ANTHROPIC_IDENTITY_TOKEN_FILE", "ANTHROPIC_IDENTITY_TOKEN"),
    ],
)
def test_where_sdks_find_credentials_becomes_empty_too(name: str) -> None:
    """A path to a file of credentials comes back from an .env file like a key, so it is empty also where it was missing."""
    env, dropped = environ.scrubbed({name: "/home/ada/secret.json"}, "/h")
    assert (env[name], dropped) == ("", [name])
    env, dropped = environ.scrubbed({}, "/h")
    assert (env[name], dropped) == ("", [])


@pytest.mark.parametrize(
    "name",
    [
        *("AWS_PROFILE", "AWS_DEFAULT_REGION", "AZURE_TENANT_ID", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "aws_profile"),
        *("CLOUDSDK_CONFIG", "GOOGLE_CLOUD_PROJECT", "GEMINI_MODEL", "OLLAMA_HOST", "LANGCHAIN_TRACING_V2", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        *("BOTO_CONFIG", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CA_BUNDLE", "AWS_MAX_ATTEMPTS"),
    ],
)
def test_what_else_is_of_the_providers_is_gone(name: str) -> None:
    """To their clients an empty profile or address is a mistake, and a run must not depend on this machine's."""
    env, dropped = environ.scrubbed({name: "x"}, "/h")
    assert name not in env
    assert dropped == [name]


def test_no_sdk_asks_the_machine_for_credentials() -> None:
    """The metadata services of the clouds are switched off, whatever this machine says."""
    env, dropped = environ.scrubbed({"AWS_EC2_METADATA_DISABLED": "false"}, "/h")
    assert (env["AWS_EC2_METADATA_DISABLED"], env["NO_GCE_CHECK"]) == ("true", "true")
    assert dropped == ["AWS_EC2_METADATA_DISABLED"]


SCRUBBED = {  # what a developer's machine may hold, all of it real to these SDKs
    "AWS_PROFILE": "prod", "AWS_CA_BUNDLE": "/etc/ca.pem", "AWS_MAX_ATTEMPTS": "9", "AWS_ACCESS_KEY_ID": "AKIA", "AWS_ROLE_ARN": "arn:x",
    "AWS_SECRET_ACCESS_KEY": "s", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.2/", "AWS_BEARER_TOKEN_BEDROCK": "b",
    "AWS_WEB_IDENTITY_TOKEN_FILE": "/t", "GOOGLE_APPLICATION_CREDENTIALS": "/no/such.json", "CLOUDSDK_CONFIG": "/home/ada/.g",
    "GOOGLE_API_KEY": "g", "OPENAI_BASE_URL": "https://proxy.example/v1", "OPENAI_API_KEY": "sk", "OPENAI_ORG_ID": "o",
    "ANTHROPIC_BASE_URL": "https://proxy.example", "ANTHROPIC_PROFILE": "dev", "ANTHROPIC_CONFIG_DIR": "/home/ada/.a",
    "ANTHROPIC_IDENTITY_TOKEN_FILE": "/t", "ANTHROPIC_FEDERATION_RULE_ID": "f", "ANTHROPIC_ORGANIZATION_ID": "o",
}  # fmt: skip
ASKED = {
    "boto3": """
        session = boto3.session.Session()
        assert session.get_credentials() is None
        keys = {"region_name": "eu-west-1", "aws_access_key_id": "a", "aws_secret_access_key": "b"}
        assert session.client("s3", **keys).meta.region_name == "eu-west-1"
        assert session.client("bedrock-runtime", region_name="eu-west-1").meta.config.signature_version == "v4"
        """,
    "google.auth": """
        import google.auth.exceptions
        try:
            google.auth.default()
        except google.auth.exceptions.DefaultCredentialsError:
            pass
        else:
            raise SystemExit("credentials were found")
        """,
    "google.genai": """
        try:
            google.genai.Client()
        except ValueError:
            pass
        else:
            raise SystemExit("a key was found")
        """,
    "anthropic": """
        client = anthropic.Anthropic()
        assert (client.api_key, client.auth_token, client.credentials) == (None, None, None)
        assert str(client.base_url) == "https://api.anthropic.com"
        """,
    "openai": """
        try:
            openai.OpenAI()
        except openai.OpenAIError:
            pass
        else:
            raise SystemExit("a key was found")
        assert openai.chat.completions is not None
        client = openai.OpenAI(api_key="x")
        assert (str(client.base_url), client.organization) == ("https://api.openai.com/v1/", None)
        """,
}
_HOOK = """
import sys

def hook(event, args):
    if event in ("socket.connect", "socket.getaddrinfo"):
        sys.exit(f"{event} {args}")

sys.addaudithook(hook)
"""


@pytest.mark.parametrize("module", ASKED)
def test_an_sdk_finds_nothing_and_no_mistake(module: str, tmp_path: Path) -> None:
    """Each real SDK takes the scrubbed environment for a machine without credentials, and asks nobody on the network for some."""
    pytest.importorskip(module)
    python = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG")}
    env, _ = environ.scrubbed({**python, **SCRUBBED}, str(tmp_path))
    code = f"{_HOOK}\nimport {module}\n{textwrap.dedent(ASKED[module])}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_user_keeps_what_is_no_providers_key() -> None:
    """By its exact name: a false alarm, a model's name; what may not be kept is not."""
    env = {
        "SHOP_SIGNING_KEY": "k",
        "OPENAI_MODEL": "m",
        "OPENAI_API_KEY": "sk",
        "HTTPS_PROXY": "p",
        "PYTHONOPTIMIZE": "1",
        "AWS_PROFILE": "x",
    }
    given, dropped = environ.scrubbed(env, "/h", keep=[*env.keys() - {"AWS_PROFILE"}, "aws_profile"])
    assert {name: given.get(name) for name in env} == {
        "SHOP_SIGNING_KEY": "k", "OPENAI_MODEL": "m", "OPENAI_API_KEY": "", "HTTPS_PROXY": None, "PYTHONOPTIMIZE": None, "AWS_PROFILE": None
    }  # fmt: skip
    assert dropped == ["AWS_PROFILE", "HTTPS_PROXY", "OPENAI_API_KEY", "PYTHONOPTIMIZE"]
    assert [environ.keepable(name) for name in env] == [True, True, False, False, False, True]


@pytest.mark.parametrize(
    "name",
    [
        *("API_KEY", "TOKEN", "PASSWORD", "CREDENTIALS", "SECRET", "PGPASSWORD", "DB_PASS", "STRIPE_KEY", "MY_PAT", "SLACK_WEBHOOK"),
        *("DATABASE_URL", "OPENAIKEY", "SENTRY_DSN", "MYSQL_PWD", "GH_PAT", "SECRET_KEY_BASE", "NPM_AUTH", "SHOP_DATABASE_URL", "apikey"),
        *("my_secret", "HF_TOKEN_PATH", "PGPASSFILE", "DB_PASSWORD_FILE", "SSL_KEY_FILE", "VAULT_TOKEN_FILE", "GOOGLE_CREDENTIALS"),
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
        ("PYTHONPATH", "/a:/b"), ("GIT_AUTHOR_NAME", "ada"), ("GIT_ASKPASS", "echo"), ("KEYBOARD_LAYOUT", "us"), ("SSL_CERT_FILE", "/c"),
        ("REQUESTS_CA_BUNDLE", "/c"), ("OTEL_SERVICE_NAME", "shop"), ("TOKEN_LIMIT", "9"), ("HF_HOME", "/m"), ("PASSPORT", "x"),
        ("DATABASE_NAME", "shop"), ("AWSOME", "x"), ("OPENAIR", "x"),
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
