(** Boards as the checker has them, seen by the claimant of one claim; their moves, and a test for
    four in a row that looks only at the lines through the stone that was played last. *)

From Coq Require Import List Arith Bool.
Import ListNotations.

(** The claimant's stones, and the other player's. *)
Inductive side := Mine | Theirs.

Definition opponent (s : side) : side := match s with Mine => Theirs | Theirs => Mine end.

Definition same_side (a b : side) : bool :=
  match a, b with
  | Mine, Mine | Theirs, Theirs => true
  | _, _ => false
  end.

(** A column's stones from the bottom, and the columns from the left. *)
Notation column := (list side).
Definition board := list column.

(** ** Moves *)

(** A column to play in, with the columns on both sides of it, the nearest one first. *)
Record place := Place { left : list column; here : column; right : list column }.

Definition has_room (rows : nat) (c : column) : bool := length c <? rows.

(** The places among [later] in which a stone can be played, from the left; [earlier] are the columns
    before those, the nearest one first. *)
Fixpoint places_from (rows : nat) (earlier later : list column) : list place :=
  match later with
  | [] => []
  | c :: rest =>
    let others := places_from rows (c :: earlier) rest in
    if has_room rows c then Place earlier c rest :: others else others
  end.

Definition places (rows : nat) (b : board) : list place := places_from rows [] b.

(** The board after a stone is played. *)
Definition put (s : side) (p : place) : board :=
  rev_append (left p) ((here p ++ [s]) :: right p).

Definition is_full (rows : nat) (b : board) : bool :=
  forallb (fun c => negb (has_room rows c)) b.

(** ** Four in a row *)

Definition holds (s : side) (c : column) (row : nat) : bool :=
  match nth_error c row with
  | Some other => same_side s other
  | None => false
  end.

(** How a line's row changes from column to column, away from the stone that was played. *)
Inductive slope := Flat | Up | Down.

Definition opposite (d : slope) : slope :=
  match d with Flat => Flat | Up => Down | Down => Up end.

Definition next_row (d : slope) (row : nat) : option nat :=
  match d, row with
  | Flat, _ => Some row
  | Up, _ => Some (S row)
  | Down, S below => Some below
  | Down, 0 => None
  end.

(** How many stones of [s] without a gap a line has in these columns; [row] is the line's row just before
    them. *)
Fixpoint run (s : side) (d : slope) (row : nat) (columns : list column) : nat :=
  match columns, next_row d row with
  | c :: rest, Some row => if holds s c row then S (run s d row rest) else 0
  | _, _ => 0
  end.

(** A stone of [s] in this place has three more in line with it. *)
Definition sideways (s : side) (p : place) (row : nat) (d : slope) : bool :=
  3 <=? run s (opposite d) row (left p) + run s d row (right p).

(** A stone of [s] in this place has three below it. *)
Definition upright (s : side) (p : place) (row : nat) : bool :=
  match row with
  | S (S (S r)) => holds s (here p) (S (S r)) && holds s (here p) (S r) && holds s (here p) r
  | _ => false
  end.

(** A stone of [s] in this place makes four in a row, if there were none before. *)
Definition wins (s : side) (p : place) : bool :=
  let row := length (here p) in
  upright s p row || sideways s p row Flat || sideways s p row Up || sideways s p row Down.

(** ** The order of boards *)

(** Which of two lists is less if the last items count most, and a longer list is greater. *)
Fixpoint compare_from_last {A : Type} (compare : A -> A -> comparison) (a b : list A) : comparison :=
  match a, b with
  | [], [] => Eq
  | [], _ :: _ => Lt
  | _ :: _, [] => Gt
  | x :: a, y :: b =>
    match compare_from_last compare a b with
    | Eq => compare x y
    | unequal => unequal
    end
  end.

Definition compare_sides (a b : side) : comparison :=
  match a, b with
  | Theirs, Mine => Lt
  | Mine, Theirs => Gt
  | _, _ => Eq
  end.

Definition compare_boards : board -> board -> comparison :=
  compare_from_last (compare_from_last compare_sides).

(** The lesser one of the board and its mirror image. *)
Definition standard (b : board) : board :=
  let mirrored := rev_append b [] in
  match compare_boards b mirrored with
  | Gt => mirrored
  | _ => b
  end.

(** A board's number, the highest bit first: see docs/certificate.md. A column has [rows + 1] bits, and
    a board's last column the highest ones. *)
Fixpoint zeros (count : nat) (tail : list bool) : list bool :=
  match count with
  | 0 => tail
  | S count => zeros count (false :: tail)
  end.

Fixpoint column_bits (room : nat) (c : column) (tail : list bool) : list bool :=
  match c with
  | [] => zeros room (true :: tail)
  | s :: above => column_bits (pred room) above (same_side s Mine :: tail)
  end.

Definition bits (rows : nat) (b : board) : list bool :=
  fold_left (fun tail c => column_bits rows c tail) b [].
