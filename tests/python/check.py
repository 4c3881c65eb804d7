#!/usr/bin/env python3
"""Checks a certificate of Connect Four or Woodpush: `check.py FILE`. Needs Python 3.8 and nothing else.

It was written from docs/certificate.md alone, to be another opinion and to be read: it is for small boards. Exit code 0:
proved; 1: the file's proof fails; 2: it is no certificate, or asks too much. One sentence says which and why.
"""
import hashlib, re, struct, sys, zlib

# Whatever a file says, it makes this program hold and do no more than this.
FILE, HEADER, MOVES = 1 << 26, 1 << 20, 1 << 10  # bytes, bytes, and moves in the header
CELLS, BOARDS = 1 << 10, 1 << 20  # of Connect Four, and boards of Woodpush that moves lead to
LAYER, PLAN = 1 << 23, 1 << 14  # numbers that a layer's positions are made of, and positions that a plan comes to

MAX, MIN, PLANNED = 0, 1, 128
EMPTY = 0, 0, zlib.compress(b"")  # in the place of a block, behind the last one
NUMBER = "([1-9][0-9]{0,5})"
CLAIM = "claim: (>=|<=)(-?[a-z0-9]+), positions: ([0-9]{20})\n"
SPELLING = re.compile(
    "jlpns certificate, version 1\n"
    f"game: (connect4:{NUMBER}x{NUMBER}|woodpush:(?:([6-9]|[12][0-9]|3[0-2])|([LR.]{{6,32}})))\n"
    f"rules: 1\nmoves: (.*)\nkind: (full|compact)\n{CLAIM}(?:{CLAIM})?\n")

class Fails(Exception):
    """The file is a certificate, and what it claims does not follow from it."""

def need(holds, otherwise, error=ValueError):
    """A ValueError is about a file that is no certificate, or not one for this checker."""
    if not holds:
        raise error(otherwise)

class ConnectFour:
    """A position is: who is to move, the stones of the player who is not, and all stones. Each column has
    rows + 1 bits, the lowest cell first; the last one is never a stone."""
    names = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-="
    outcomes = ["loss", "draw", "win"]
    move, start = re.compile("."), (MAX, 0, 0)

    def __init__(self, columns, rows):
        need(columns <= len(self.names) and columns * rows <= CELLS, "its board is too large")
        self.height, self.column = rows + 1, (2 << rows) - 1  # bits, and all of them
        self.shifts = range(0, columns * self.height, self.height)
        self.bottom = sum(1 << shift for shift in self.shifts)
        self.cells = self.bottom * (self.column >> 1)

    def moves(self, position):
        mover, others, stones = position
        cells = [(stones + self.bottom) & self.cells & self.column << shift for shift in self.shifts]
        return [(name, (1 - mover, stones ^ others | cell, stones | cell))
                for name, cell in zip(self.names, cells) if cell]

    def outcome(self, position):
        mover, others, stones = position
        for step in (1, self.height - 1, self.height, self.height + 1):
            pairs = others & (others >> step)
            if pairs & (pairs >> 2 * step):
                return 2 if mover == MIN else 0
        return 1 if stones == self.cells else None

    def answer(self, before, position, plan):
        """What comes after the claimant's answer, by a plan, to the stone that has led to this position."""
        mover, others, stones = position
        column, row = divmod((stones ^ before[2]).bit_length() - 1, self.height)
        named = self.names[(column + plan[column * (self.height - 1) + row]) % len(self.shifts)]
        def wishes(move):
            cell = move[1][2] ^ stones
            stops, below = (self.outcome((mover, others | at, 0)) is not None for at in (cell, cell << 1 & self.cells))
            return self.outcome(move[1]) in (0, 2), stops, not below, move[0] == named
        return max(self.moves(position), key=wishes)[1]  # the leftmost of the best

    def standard(self, position):
        def mirror(bits):
            return sum((bits >> shift & self.column) << self.shifts[-1] - shift for shift in self.shifts)
        mover, others, stones = position
        both = (others, stones), (mirror(others), mirror(stones))
        return min((((s ^ o) | (s + self.bottom),), (mover, o, s)) for o, s in both)

class Woodpush:
    """A position is: who is to move, the board as text, and the boards before it that matter."""
    move = re.compile("[sp](?:0|[1-9][0-9]?)")

    def __init__(self, board):
        left, right, self.cells = board.count("L"), board.count("R"), range(len(board))
        need(left and right, "only one player has pieces")
        self.start, self.components = (MAX, board, frozenset()), None
        self.outcomes = [str(value) for value in range(-right, left + 1) if value != 0]

    def boards(self, mover, board):
        """What the player could do if no board were forbidden. Turned, their pieces go right."""
        piece, enemy, turn = ("L", "R", 1) if mover == MAX else ("R", "L", -1)
        for cell in self.cells:
            if board[cell] == piece:
                place = cell if mover == MAX else len(board) - 1 - cell
                behind, ahead = board[::turn][:place], board[::turn][place + 1:]
                yield f"s{cell}", (behind + "." + ahead.replace(".", piece, 1))[::turn]
                if behind.endswith(enemy):
                    gap = max(behind.rfind("."), 0)
                    yield f"p{cell}", (behind[:gap] + behind[gap + 1:] + piece + "." + ahead)[::turn]

    def moves(self, position):
        mover, board, earlier = position
        before = earlier | {board}
        return [(name, (1 - mover, to, before)) for name, to in self.boards(mover, board) if to not in before]

    def outcome(self, position):
        mover, board, _ = position
        left, right = board.count("L"), board.count("R")
        if left and right:
            return None if self.moves(position) else self.outcomes.index("-1" if mover == MAX else "1")
        return self.outcomes.index(str(left - right))

    def standard(self, position):
        mover, board, earlier = position
        def number(board):
            return sum(1 << cell + 32 * (board[cell] == "R") for cell in self.cells if board[cell] != ".")
        self.components = self.components or self.belong_together()
        kept = [other for other in earlier if self.components[other] == self.components[board]]
        return (number(board), *sorted(map(number, kept))), (mover, board, frozenset(kept))

    def belong_together(self):
        """For each board that moves lead to from the start, one that it belongs together with: the strongly
        connected components, by Kosaraju's algorithm."""
        after, before, left, todo, components = {}, {}, [], [(self.start[1], False)], {}
        while todo:
            board, is_left = todo.pop()
            if is_left:
                left.append(board)
                for to in after[board]:
                    before.setdefault(to, []).append(board)
            elif board not in after:
                need(len(after) < BOARDS, "moves lead to more boards than this checker can hold")
                after[board] = {to for mover in (MAX, MIN) for _, to in self.boards(mover, board)}
                todo += [(board, True), *((to, False) for to in after[board])]
        for root in reversed(left):
            todo = [root]
            while todo:
                board = todo.pop()
                if components.setdefault(board, root) == root:
                    todo += before.pop(board, ())
        return components

def blocks(content, at, entry):
    """What each block holds. The last one has the checksum of the header, and the file ends with it."""
    found, header = [], zlib.crc32(content[:at])
    while True:
        count, size, crc = struct.unpack_from("<III", content, at)
        need(count <= 1 << 16 and size <= 2 * count * entry + 128, "a block is larger than blocks are")
        start, at = at + 12, at + 12 + size
        if count == 0:
            need((size, crc, at) == (0, header, len(content)), "its end is damaged")
            return iter(found)
        found.append((count * entry, crc, content[start:at]))

def unpacked(size, crc, packed):
    """The bytes of a block."""
    stream = zlib.decompressobj()
    found = stream.decompress(packed, size + 1)
    need(stream.eof and not stream.unused_data and (len(found), zlib.crc32(found)) == (size, crc), "a block is damaged")
    return found

def prove(game, question, bound, outcome, named, blocks, entry):
    """Checks one claim, for which the header names so many positions of so many bytes."""
    claimant, better = (MAX, 1) if bound == ">=" else (MIN, -1)

    def fulfils(end):
        return end is not None and (end - outcome) * better >= 0
    def goes_on(position):
        end = game.outcome(position)
        need(end is None or fulfils(end), f"a game ends with outcome {end}", Fails)
        return end is None
    def add(layer, position):
        """Adds what needs a move of the claimant, now or after any reply; says how much that holds."""
        moves = game.moves(position) if goes_on(position) else []
        if moves and position[0] != claimant:
            return sum(add(layer, after) for _, after in moves)
        if not moves or any(fulfils(game.outcome(after)) for _, after in moves):
            return 0
        key, layer[key] = game.standard(position)
        return len(key)
    def walk(position, plan):
        """Plays a plan against every reply."""
        need(max(plan) < len(game.shifts), "a plan names no column", Fails)
        met, layer = 0, set(filter(goes_on, [position]))
        while layer:
            met += len(layer)
            need(met <= PLAN, "a plan comes to too many positions", Fails)
            played = ((before, reply) for before in layer for _, reply in game.moves(before) if goes_on(reply))
            layer = set(filter(goes_on, (game.answer(*both, plan) for both in played)))

    layer = {}
    add(layer, question)
    while layer:
        todo, held, layer = [layer[key] for key in sorted(layer, reverse=True)], 0, {}
        while todo:
            block = unpacked(*next(blocks, EMPTY))
            named -= len(block) // entry
            need(0 < len(block) <= len(todo) * entry and named >= 0, "there are too many or too few numbers", Fails)
            for number, *plan in (block[at:at + entry] for at in range(0, len(block), entry)):
                moves, planned = game.moves(todo.pop()), plan and number >= PLANNED
                number -= PLANNED if planned else 0
                need(number < len(moves) and (planned or not any(plan)), "there is no such move, or no plan", Fails)
                held += (walk(moves[number][1], plan) or 0) if planned else add(layer, moves[number][1])
                need(held <= LAYER, "a layer is larger than this checker can hold")
    need(named == 0, "there are too few numbers", Fails)

def check(content):
    """What the certificate proves, in words."""
    end = content.find(b"\n\n", 0, HEADER) + 2
    spelt = SPELLING.fullmatch(content[:end].decode("ascii", "replace"))
    need(spelt, "its header is not spelt as that of a certificate")
    spec, columns, rows, cells, board, moves, kind, *claims = spelt.groups()
    board = "L.L" + "." * (int(cells) - 6) + "R.R" if cells else board
    need(kind == "full" or not board, "its kind is one of Connect Four")
    game = Woodpush(board) if board else ConnectFour(int(columns), int(rows))
    entry = 1 if kind == "full" else 1 + int(columns) * int(rows)
    played = game.move.findall(moves)
    need("".join(played) == moves and len(played) <= MOVES, "its moves are no moves, or too many")
    question = game.start
    for name in played:
        legal = dict(game.moves(question)) if game.outcome(question) is None else {}
        need(name in legal, f"its move {name!a} is not legal")
        question = legal[name]
    claims = [claims[:3], claims[3:]][:1 + bool(claims[3])]
    need(len(claims) == 1 or claims[0][0] == ">=" != claims[1][0], "its claims are in the wrong order")
    for bound, outcome, positions in claims:
        sayable = game.outcomes[1:] if bound == ">=" else game.outcomes[:-1]
        need(outcome in sayable and int(positions) < 1 << 64, f"{bound}{outcome} is no claim")
    left = blocks(content, end, entry)
    for bound, outcome, positions in claims:
        prove(game, question, bound, game.outcomes.index(outcome), int(positions), left, entry)
    need(not unpacked(*next(left, EMPTY)), "there are too many numbers", Fails)
    return f"{spec}{moves and ' after ' + moves} is worth {' and '.join(b + o for b, o, _ in claims)}"

def main(arguments):
    file = ""
    try:
        need(len(arguments) == 1, "say which: check.py FILE")
        with open(arguments[0], "rb") as opened:
            content = opened.read(FILE + 1)
        need(len(content) <= FILE, "it is too large for this checker")
        file = f", file with sha256 {hashlib.sha256(content).hexdigest()}"
        code, says = 0, f"proved: {check(content)}"
    except (Fails, OSError, ValueError, MemoryError, struct.error, zlib.error) as error:
        code, says = (1, "not proved") if isinstance(error, Fails) else (2, "cannot be checked")
        says += f": {error or 'out of memory'}"
    print(says + file, file=sys.stderr if code == 2 else sys.stdout, flush=True)
    return code

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
