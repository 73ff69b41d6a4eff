"""How a double is asked: as a plain callable, or as an object that satisfies the app's own Protocol."""

from invcheck.faces.binding import bind
from invcheck.faces.call import CallFace
from invcheck.faces.compare import check_port
from invcheck.faces.ports import port

__all__ = ["CallFace", "bind", "check_port", "port"]
