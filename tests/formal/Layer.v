(** A layer: a set of boards that keeps each board once, and gives them in the order of their numbers.

    It is a binary tree along the bits of the boards' numbers, the highest bit first. A branch ends as
    soon as only one board is left in it. *)

From Coq Require Import List Arith Bool.
From Jlpns Require Import Board.
Import ListNotations.

Inductive layer :=
| Nothing
| One (b : board)
| Both (zero one : layer).

Definition is_empty (l : layer) : bool := match l with Nothing => true | _ => false end.

Fixpoint same_list {A : Type} (same : A -> A -> bool) (a b : list A) : bool :=
  match a, b with
  | [], [] => true
  | x :: a, y :: b => same x y && same_list same a b
  | _, _ => false
  end.

Definition same_board : board -> board -> bool := same_list (same_list same_side).

(** Two boards, with the bits that are left of each. *)
Fixpoint apart (bits_a bits_b : list bool) (a b : board) : layer :=
  match bits_a, bits_b with
  | false :: rest_a, false :: rest_b => Both (apart rest_a rest_b a b) Nothing
  | true :: rest_a, true :: rest_b => Both Nothing (apart rest_a rest_b a b)
  | true :: _, false :: _ => Both (One b) (One a)
  | _, _ => Both (One a) (One b)
  end.

(** Adds the board [b] to a part of a layer that is [depth] bits from its root; [path] are the bits of
    [b] from there on. Bits never run out before the end of a branch; the answer in that
    case only has to lose nothing. *)
Fixpoint insert_at (rows depth : nat) (path : list bool) (b : board) (l : layer)
    {struct l} : layer :=
  match l with
  | Nothing => One b
  | One a => if same_board a b then l else apart path (skipn depth (bits rows a)) b a
  | Both zero one =>
    match path with
    | false :: path => Both (insert_at rows (S depth) path b zero) one
    | true :: path => Both zero (insert_at rows (S depth) path b one)
    | [] => Both (One b) l
    end
  end.

Definition insert (rows : nat) (b : board) (l : layer) : layer :=
  insert_at rows 0 (bits rows b) b l.

(** Goes through the boards in the order of their numbers. *)
Fixpoint through {State : Type} (visit : State -> board -> State) (l : layer) (state : State) : State :=
  match l with
  | Nothing => state
  | One b => visit state b
  | Both zero one => through visit one (through visit zero state)
  end.
