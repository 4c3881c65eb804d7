(** The check of a certificate: docs/certificate.md, "How it is checked". *)

From Coq Require Import List Arith Bool.
From Jlpns Require Import Rules Board Layer.
Import ListNotations.

(** [AtLeast Win] is [>=win] in a file, [AtMost Draw] is [<=draw]. *)
Inductive claim := AtLeast (v : outcome) | AtMost (v : outcome).

Definition claimed (c : claim) : outcome -> Prop :=
  match c with AtLeast v => at_least v | AtMost v => at_most v end.

(** The player who can bring about what is claimed. *)
Definition claimant (c : claim) : player :=
  match c with AtLeast _ => Max | AtMost _ => Min end.

Definition draw_is_enough (c : claim) : bool :=
  match c with AtLeast Draw | AtMost Draw => true | _ => false end.

(** For each layer the move of each of its positions, in the positions' order: its number among the
    legal moves, which are counted from 0. *)
Definition layers := list (list nat).

(** The position is the one after [moves], a list of columns, on a board of this size. *)
Record certificate := Certificate
  { columns : nat; rows : nat; moves : list nat; claims : list (claim * layers) }.

Section Claim.
  Variable rows : nat.
  Variable draw_suffices : bool.

  (** The claimant, who is to move, has a move that ends the game as claimed. *)
  Definition ends_at_once (b : Board.board) : bool :=
    existsb
      (fun p => wins Mine p || draw_suffices && is_full rows (put Mine p))
      (places rows b).

  (** The board, on which the claimant is to move, goes into the layer if it needs a move. *)
  Definition enter (b : Board.board) (next : layer) : layer :=
    if ends_at_once b then next else insert rows (standard b) next.

  (** Every reply of the other player. No layer if one of them ends the game otherwise than
      claimed. *)
  Fixpoint replies (ps : list place) (next : layer) : option layer :=
    match ps with
    | [] => Some next
    | p :: rest =>
      if wins Theirs p then None
      else
        let b := put Theirs p in
        if is_full rows b then if draw_suffices then replies rest next else None
        else replies rest (enter b next)
    end.

  (** The claimant's move with this number, and the replies to it. *)
  Definition answer (b : Board.board) (number : nat) (next : layer) : option layer :=
    match nth_error (places rows b) number with
    | None => None
    | Some p =>
      if wins Mine p then Some next
      else
        let b := put Mine p in
        if is_full rows b then if draw_suffices then Some next else None
        else replies (places rows b) next
    end.

  (** The answers that are left, and the next layer as far as it is known; [None] after a failure. *)
  Definition progress := option (list nat * layer).

  Definition visit (state : progress) (b : Board.board) : progress :=
    match state with
    | Some (number :: rest, next) =>
      match answer b number next with
      | Some next => Some (rest, next)
      | None => None
      end
    | _ => None
    end.

  Fixpoint check_layers (ls : layers) (now : layer) : bool :=
    match ls with
    | [] => is_empty now
    | numbers :: rest =>
      if is_empty now then false
      else
        match through visit now (Some (numbers, Nothing)) with
        | Some ([], next) => check_layers rest next
        | _ => false
        end
    end.

  (** The board after these moves, and who is to move there; nothing if a move is not legal, or if the
      game is over before or after it. [s] is to move on [b], on which nobody has four in a row. *)
  Fixpoint replay (s : side) (b : Board.board) (ms : list nat) : option (side * Board.board) :=
    if is_full rows b then None
    else
      match ms with
      | [] => Some (s, b)
      | m :: rest =>
        match find (fun p => length (left p) =? m) (places rows b) with
        | None => None
        | Some p => if wins s p then None else replay (opponent s) (put s p) rest
        end
      end.
End Claim.

Definition check_claim (columns rows : nat) (moves : list nat) (c : claim) (ls : layers) : bool :=
  let first := match claimant c with Max => Mine | Min => Theirs end in
  match replay rows first (repeat [] columns) moves with
  | None => false
  | Some (s, b) =>
    let layer :=
      match s with
      | Mine => Some (enter rows (draw_is_enough c) b Nothing)
      | Theirs => replies rows (draw_is_enough c) (places rows b) Nothing
      end in
    match layer with
    | None => false
    | Some l => check_layers rows (draw_is_enough c) ls l
    end
  end.

(** Every claim of the certificate is shown. *)
Definition check (c : certificate) : bool :=
  forallb (fun item => check_claim (columns c) (rows c) (moves c) (fst item) (snd item)) (claims c).
