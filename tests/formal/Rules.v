(** Connect Four on a board of any size: what the theorem of this folder is about.

    Nothing here is made to be fast, or is ever run. Whoever wants to know what is proved reads this
    file and the theorem in [Soundness.v]; all other files are proved to agree with this one, or do
    not matter. Columns and rows are counted from 0. *)

From Coq Require Import List Arith.
Import ListNotations.

(** ** Positions *)

(** Max moves first. *)
Inductive player := Max | Min.

Definition other (p : player) : player := match p with Max => Min | Min => Max end.

(** The columns from the left, and in each its stones from the bottom. *)
Definition board := list (list player).

Record position := Position { stones : board; turn : player }.

(** Whose stone lies in a cell: [None] if it is empty, or not on the board. *)
Definition cell (b : board) (column row : nat) : option player :=
  match nth_error b column with
  | Some stones => nth_error stones row
  | None => None
  end.

(** ** Where a game ends *)

(** Four stones of a player in a row: to the right, upwards, or along one of the diagonals. *)
Definition four (p : player) (b : board) : Prop :=
  exists column row,
    (forall k, k < 4 -> cell b (column + k) row = Some p) \/
    (forall k, k < 4 -> cell b column (row + k) = Some p) \/
    (forall k, k < 4 -> cell b (column + k) (row + k) = Some p) \/
    (forall k, k < 4 -> cell b (column + k) (row + 3 - k) = Some p).

(** No column has room for another stone. *)
Definition full (rows : nat) (b : board) : Prop :=
  forall stones, In stones b -> rows <= length stones.

(** What a game may be worth, for Max. *)
Inductive outcome := Loss | Draw | Win.

(** The game is over on this board, with this outcome. *)
Definition ends (rows : nat) (b : board) (o : outcome) : Prop :=
  match o with
  | Win => four Max b
  | Loss => four Min b
  | Draw => ~ four Max b /\ ~ four Min b /\ full rows b
  end.

Definition over (rows : nat) (b : board) : Prop := exists o, ends rows b o.

(** ** Moves *)

(** There is such a column, and it has room. *)
Definition legal (rows : nat) (b : board) (column : nat) : Prop :=
  exists stones, nth_error b column = Some stones /\ length stones < rows.

(** A stone of [p] on top of the others in a column. *)
Fixpoint drop (p : player) (column : nat) (b : board) : board :=
  match b, column with
  | [], _ => []
  | stones :: rest, 0 => (stones ++ [p]) :: rest
  | stones :: rest, S next => stones :: drop p next rest
  end.

Definition play (column : nat) (q : position) : position :=
  Position (drop (turn q) column (stones q)) (other (turn q)).

Definition start (columns : nat) : position := Position (repeat [] columns) Max.

(** These moves lead from the start to this position: each is legal, and none is made after the game
    is over. *)
Inductive reached (columns rows : nat) : list nat -> position -> Prop :=
| reached_start : reached columns rows [] (start columns)
| reached_move : forall moves q column,
    reached columns rows moves q ->
    ~ over rows (stones q) ->
    legal rows (stones q) column ->
    reached columns rows (moves ++ [column]) (play column q).

(** ** What a position is worth *)

(** From this position [p] can play so that the game ends with an outcome that fulfils [goal],
    whatever the other player does. *)
Inductive forces (rows : nat) (p : player) (goal : outcome -> Prop) : position -> Prop :=
| forces_end : forall q o,
    ends rows (stones q) o ->
    goal o ->
    forces rows p goal q
| forces_own : forall q column,
    ~ over rows (stones q) ->
    turn q = p ->
    legal rows (stones q) column ->
    forces rows p goal (play column q) ->
    forces rows p goal q
| forces_other : forall q,
    ~ over rows (stones q) ->
    turn q = other p ->
    (forall column, legal rows (stones q) column -> forces rows p goal (play column q)) ->
    forces rows p goal q.

(** The outcomes from worst to best for Max. *)
Definition rank (o : outcome) : nat := match o with Loss => 0 | Draw => 1 | Win => 2 end.

Definition at_least (v o : outcome) : Prop := rank v <= rank o.
Definition at_most (v o : outcome) : Prop := rank o <= rank v.

(** Max gets at least [v], and Min keeps it to [v] at most. *)
Definition worth (rows : nat) (q : position) (v : outcome) : Prop :=
  forces rows Max (at_least v) q /\ forces rows Min (at_most v) q.
