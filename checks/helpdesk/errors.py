"""What can go wrong at the help desk, in one tree.

HelpDeskError
├── ModelError        the model could not be used; TimeoutError and ConnectionError stand beside it
│   ├── RateLimited   asked too often
│   ├── BadRequest    the provider refuses this request, and would refuse it again
│   └── Truncated     the reply was cut at the length limit
└── Refused           we say no before the model is asked
    ├── QuotaExceeded
    ├── BudgetSpent
    ├── Forbidden
    └── TooLarge
"""


class HelpDeskError(Exception):
    """The root."""


class ModelError(HelpDeskError):
    """The model could not be used."""


class RateLimited(ModelError):
    """The provider was asked too often."""


class BadRequest(ModelError):
    """The provider refuses this request, and would refuse it again."""


class Truncated(ModelError):
    """The reply was cut at the length limit."""


class Refused(HelpDeskError):
    """We say no before the model is asked."""


class QuotaExceeded(Refused):
    """The tenant has no request left."""


class BudgetSpent(Refused):
    """The tokens of this job are used up."""


class Forbidden(Refused):
    """A document that this tenant may not read, or that does not exist: the two are not told apart."""


class TooLarge(Refused):
    """The text is longer than we take."""
