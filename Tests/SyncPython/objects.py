"""The objects of a file in memory, and how instructions change them."""

from __future__ import annotations

import copy
from typing import Any

from wire import (ADD, CREATE, DELETE, EMPTY, ERASE, INSERT, MAKE, MOVE, NO_ELEMENT, NULL, REMOVE, SET, SET_ADD, SET_DEFAULT, SET_TAKE,
                  Changeset, Definition, ElementId, Instruction, Path, Value)

Key = tuple[str, Value]
LIST, MAP, SET_OF = 1, 2, 3
ZEROS: dict[int, Value] = {1: (1, False), 5: (5, 0), 6: (6, 0.0), 7: (7, 0.0), 8: (8, ""), 9: (9, b""), 10: (10, (0, 0)),
                           11: (11, bytes(12)), 12: (12, bytes(16)), 13: (13, bytes(16))}


class NotThere(Exception):
    """An instruction names something that does not exist."""


class ListOf:
    """The elements of a list with their ids."""

    def __init__(self) -> None:
        self.elements: list[list[Any]] = []  # id, node

    def find(self, i: ElementId) -> int:
        for at, element in enumerate(self.elements):
            if element[0] == i:
                return at
        return -1


class Embedded(dict[str, Any]):
    """The properties of an embedded object."""

    def __init__(self, table: str) -> None:
        super().__init__()
        self.table = table


class Table:
    def __init__(self, key: Definition | None) -> None:
        self.key = key
        self.properties: dict[str, Definition] = {key.name: key} if key else {}


class Objects:
    def __init__(self) -> None:
        self.schema: dict[str, Table] = {}
        self.objects: dict[Key, dict[str, Any]] = {}

    def copy(self) -> "Objects":
        return copy.deepcopy(self)

    # Schema

    def add_schema(self, changeset: Changeset) -> None:
        for table, definition, is_table in changeset.schema:
            if is_table:
                self.schema.setdefault(table, Table(definition))
            elif definition:
                # If the property exists, its new definition can only differ in whether it is optional.
                properties = self.schema[table].properties
                is_new = definition.name not in properties
                properties[definition.name] = definition
                for key, fields in self.objects.items() if is_new else ():
                    for holder in holders(fields):
                        if (holder.table if isinstance(holder, Embedded) else key[0]) == table:
                            holder.setdefault(definition.name, self.new_value(definition))

    def new_value(self, d: Definition) -> Any:
        if d.collection:
            return [ListOf, dict, set][d.collection - 1]()
        return NULL if d.optional or d.type in (14, 15) else ZEROS[d.type]

    def fill(self, table: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Gives an object the values that a new object has."""
        for name, definition in self.schema[table].properties.items():
            fields.setdefault(name, self.new_value(definition))
        return fields

    def target(self, key: Key, path: Path) -> str:
        """The class of the embedded object at a path."""
        table = key[0]
        for name in [path.property] + [step for kind, step in path.steps if kind == 1]:
            target = self.schema[table].properties[name].target
            if target is None:
                raise NotThere(f"{table}.{name} holds no embedded objects")
            table = target
        return table

    # Instructions

    def apply(self, key: Key, instructions: list[Instruction], exact: bool) -> None:
        """Carries out instructions on an object. Exact instructions are effects, which must fit. Other instructions that
        do not fit have no effect."""
        for instruction in instructions:
            try:
                self.apply_one(key, instruction, exact)
            except NotThere:
                if exact:
                    raise

    def apply_one(self, key: Key, i: Instruction, exact: bool) -> None:
        if i.kind == CREATE:
            table = self.schema[key[0]]
            fields = self.objects.setdefault(key, {})
            if table.key:
                fields[table.key.name] = key[1]
            self.fill(key[0], fields)
            return
        if i.kind == DELETE:
            if self.objects.pop(key, None) is None:
                raise NotThere(f"{key} to delete")
            return
        if i.path is None:
            return  # objects that are sent and not stored
        if key not in self.objects:
            raise NotThere(f"{key}: {i}")
        holder, at = self.walk(self.objects[key], i.path)
        if i.kind in (SET, SET_DEFAULT):
            if i.value[0] == 32:
                holder.pop(at, None)
            else:
                holder[at] = self.node(i.value, key, i.path)
            return
        if i.kind == MAKE:
            if not isinstance(node_at(holder, at), Embedded):
                holder[at] = self.node((39, None), key, i.path)
            return
        if i.kind == REMOVE:
            holder[at] = NULL
            return
        node = node_at(holder, at)
        if node is None:
            raise NotThere(f"{key}: {i}")
        if i.kind == ADD:
            if node[0] == 5:
                holder[at] = (5, (node[1] + i.value + (1 << 63)) % (1 << 64) - (1 << 63))
        elif i.kind == EMPTY:
            node.elements.clear() if isinstance(node, ListOf) else node.clear()
        elif i.kind in (SET_ADD, SET_TAKE):
            node.add(i.value) if i.kind == SET_ADD else node.discard(i.value)
        elif not isinstance(node, ListOf):
            raise NotThere(f"{key}: {i}")
        elif i.kind == INSERT:
            node.elements.insert(self.place(node, i, exact), [i.id, self.node(i.value, key, i.path)])
        elif i.kind == ERASE:
            if (found := node.find(i.id)) < 0:
                raise NotThere(f"{key}: {i}")
            del node.elements[found]
        elif i.kind == MOVE:
            if (found := node.find(i.id)) < 0:
                raise NotThere(f"{key}: {i}")
            element = node.elements.pop(found)
            node.elements.insert(self.place(node, i, exact), element)

    def place(self, node: ListOf, i: Instruction, exact: bool) -> int:
        if i.left == NO_ELEMENT:
            return 0
        left = node.find(i.left)
        if left >= 0:
            return left + 1
        if exact:
            raise NotThere(f"the left neighbour of {i}")
        right = node.find(i.right)
        return right if right >= 0 else len(node.elements)

    def node(self, value: Value, key: Key, path: Path) -> Any:
        """The node in an object for a value of an instruction."""
        if value[0] == 34:
            return ListOf() if value[1] == LIST else {}
        if value[0] == 39:
            table = self.target(key, path)
            return self.fill(table, Embedded(table))
        return value

    def walk(self, fields: dict[str, Any], path: Path) -> tuple[Any, Any]:
        """The holder of the place that a path leads to, and the key or index of the place in it."""
        holder: Any = fields
        at: Any = path.property
        for kind, step in path.steps:
            node = node_at(holder, at)
            wanted = {1: Embedded, 2: dict, 3: ListOf, 4: (ListOf, dict)}[kind]
            if not isinstance(node, wanted):
                raise NotThere(str(path))
            if kind == 3:
                found = node.find(step)
                if found < 0:
                    raise NotThere(str(path))
                holder, at = node.elements[found], 1
            elif kind != 4:
                holder, at = node, step
        return holder, at

    # Reading

    def shown(self, ids: bool = False) -> dict[Key, Any]:
        """All objects in a form that can be compared, with or without the ids of elements. Without ids, a link to an object
        that does not exist is null, and collections leave it out."""
        def show(node: Any) -> Any:
            if isinstance(node, ListOf):
                return [(i, show(n)) if ids else show(n) for i, n in node.elements if ids or not self.waits(n)]
            if isinstance(node, (set, frozenset)):
                return sorted((v for v in node if ids or not self.waits(v)), key=repr)
            if isinstance(node, dict):
                single = isinstance(node, Embedded)
                return {name: show(n) for name, n in sorted(node.items()) if single or ids or not self.waits(n)}
            return NULL if not ids and self.waits(node) else node
        return {key: {name: show(node) for name, node in sorted(fields.items())} for key, fields in sorted(self.objects.items(), key=repr)}

    def waits(self, node: Any) -> bool:
        return isinstance(node, tuple) and node[0] == 33 and node[1] not in self.objects


def node_at(holder: Any, at: Any) -> Any:
    """The node at a place; None if a map has no such entry."""
    return holder.get(at) if isinstance(holder, dict) else holder[at]


def holders(fields: dict[str, Any]) -> list[dict[str, Any]]:
    """An object and all embedded objects in it."""
    found, todo = [fields], list(fields.values())
    while todo:
        node = todo.pop()
        if isinstance(node, Embedded):
            found.append(node)
        if isinstance(node, ListOf):
            todo += [n for _, n in node.elements]
        elif isinstance(node, dict):
            todo += node.values()
    return found
