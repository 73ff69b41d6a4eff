"""How the help desk reaches a provider."""

from __future__ import annotations

from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from checks.helpdesk.provider import Send


def over_http(url: str, key: str, *, seconds: float = 30.0) -> Send:
    """Give what posts to ``url``; the provider has ``seconds`` to answer, else TimeoutError, and ConnectionError where it is not there."""

    def send(body: bytes) -> tuple[int, bytes]:
        headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
        try:
            with urlopen(Request(url, body, headers), timeout=seconds) as answer:  # noqa: S310  # the address is the operator's own
                return answer.status, answer.read()
        except HTTPError as error:
            with error:
                return error.code, error.read()
        except (URLError, HTTPException) as error:
            if isinstance(getattr(error, "reason", None), TimeoutError):
                raise TimeoutError("the provider did not answer in time") from error
            raise ConnectionError(f"the provider cannot be reached: {error}") from error

    return send
