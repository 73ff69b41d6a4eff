"""What the text of a Python check file says that its objects do not: asserts that cannot fail, functions that are no checks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from invcheck.errors import CheckFileError
from invcheck.vocabulary import Place

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Written:
    """The text of a file that Python has imported."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self._tree = ast.parse(text)

    def faults(self) -> Iterator[CheckFileError]:
        """Give every assert that always holds, and every function that looks like a check and is none.

        >>> [fault.code for fault in Written("assert (1 == 2, 'no')\\ndef check_b(trial): ...\\n", "check_a.py").faults()]
        ['ASSERT_ALWAYS_HOLDS', 'UNDECORATED']
        """
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Assert) and _always(node.test):
                pair = isinstance(node.test, ast.Tuple)
                hint = "leave the parentheses out: assert condition, message" if pair else "assert something that can fail"
                yield self._fault("ASSERT_ALWAYS_HOLDS", f"this assert always holds: {ast.unparse(node.test)}", node, hint)
        for node in self._tree.body:
            if isinstance(node, _Function) and _like_a_check(node) and node.name not in _names(self._tree, without=node):
                message = f"{node.name} looks like a check, and nothing makes it one: it is never run"
                yield self._fault("UNDECORATED", message, node, "put @check(...) above it, or name its first parameter otherwise")

    def asserts(self, line: int) -> bool:
        """Tell whether the function whose first line this is holds an assert of its own, or in what it calls inside of itself."""
        found = [node for node in ast.walk(self._tree) if isinstance(node, _Function) and _first_line(node) == line]
        return not found or any(_asserts(node) for node in found)

    def _fault(self, code: str, message: str, node: ast.stmt, hint: str) -> CheckFileError:
        return CheckFileError(message, code=code, place=Place(self.file, node.lineno, node.col_offset + 1), hint=hint)


def _always(test: ast.expr) -> bool:
    if isinstance(test, ast.Tuple):
        return bool(test.elts)
    return isinstance(test, ast.Constant) and bool(test.value)


def _like_a_check(node: _Function) -> bool:
    first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
    return not node.decorator_list and node.name.startswith(("check_", "test_")) and first is not None and first.arg == "trial"


def _first_line(node: _Function) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _names(node: ast.AST, *, without: ast.AST) -> set[str]:
    """The names that are read below a node, but for what stands in one part of it."""
    if node is without:
        return set()
    found = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else set()
    return found.union(*(_names(each, without=without) for each in ast.iter_child_nodes(node)))


def _asserts(function: ast.AST) -> bool:
    """Whether an assert stands below a node; in an inner function or class it counts where that is used."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Assert) or (isinstance(node, ast.Name) and node.id == "AssertionError"):
            return True
        if isinstance(node, _Function | ast.ClassDef) and not node.decorator_list:
            if node.name in _names(function, without=node) and _asserts(node):
                return True
        else:
            waiting += ast.iter_child_nodes(node)
    return False
