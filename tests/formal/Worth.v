(** What a position is worth is one outcome: the rules of [Rules.v] make sense, and a certificate that
    shows both bounds shows all there is to know. *)

From Coq Require Import List Arith Lia.
From Jlpns Require Import Rules Checker Soundness.
Import ListNotations.

(** ** In a game, at most one player has four in a row *)

Lemma drop_other : forall p b column x y,
  cell (drop p column b) x y = Some (other p) -> cell b x y = Some (other p).
Proof.
  intros p b. induction b as [| stones b IH]; intros column x y H; [now destruct column |].
  destruct column as [| column]; destruct x as [| x]; simpl in H; try assumption.
  - unfold cell in *. simpl in *.
    destruct (lt_dec y (length stones)); [now rewrite nth_error_app1 in H |].
    rewrite nth_error_app2 in H by lia.
    destruct (y - length stones) as [| [| k]]; try discriminate. injection H as H. now destruct p.
  - exact (IH column x y H).
Qed.

Lemma four_drop_other : forall p b column, four (other p) (drop p column b) -> four (other p) b.
Proof.
  intros p b column [x [y H]]. exists x, y.
  destruct H as [H | [H | [H | H]]]; [left | right; left | right; right; left | right; right; right];
    intros k Hk; apply drop_other with column; now apply H.
Qed.

Lemma reached_one_four : forall columns rows moves q,
  reached columns rows moves q -> ~ (four Max (stones q) /\ four Min (stones q)).
Proof.
  intros columns rows moves q H. destruct H as [| moves q column _ Hover _]; intros [Hmax Hmin].
  - destruct Hmax as [x [y H]].
    assert (Hempty : forall x y, cell (repeat [] columns) x y <> Some Max).
    { clear. intros x y. unfold cell. destruct (nth_error _ x) as [s |] eqn:Hx; [| discriminate].
      apply nth_error_In, repeat_spec in Hx as ->. now destruct y. }
    destruct H as [H | [H | [H | H]]]; exact (Hempty _ _ (H 0 ltac:(lia))).
  - simpl in *. apply Hover. destruct (turn q).
    + exists Loss. now apply (four_drop_other Max) in Hmin.
    + exists Win. now apply (four_drop_other Min) in Hmax.
Qed.

Lemma ends_unique : forall rows b o o',
  ~ (four Max b /\ four Min b) -> ends rows b o -> ends rows b o' -> o = o'.
Proof. intros rows b [] []; simpl; tauto. Qed.

(** ** No two players can force what excludes each other *)

Theorem forces_meet : forall rows p goal goal' q,
  forces rows p goal q -> forces rows (other p) goal' q ->
  forall columns moves, reached columns rows moves q -> exists o, goal o /\ goal' o.
Proof.
  intros rows p goal goal' q H.
  induction H as [q o Hends Hgoal | q column Hover Hturn Hlegal _ IH | q Hover Hturn Hall IH];
    intros H' columns moves Hreached.
  - destruct H' as [q o' Hends' Hgoal' | q column' Hover' | q Hover']; try (destruct Hover'; now exists o).
    exists o. split; [assumption |].
    now rewrite (ends_unique rows (stones q) o o') by eauto using reached_one_four.
  - destruct H' as [q o' Hends' _ | q column' _ Hturn' | q _ _ Hall'].
    + destruct Hover. now exists o'.
    + rewrite Hturn in Hturn'. now destruct p.
    + apply (IH (Hall' column Hlegal) columns (moves ++ [column])). now apply reached_move.
  - destruct H' as [q o' Hends' _ | q column' _ Hturn' Hlegal' Hforces' | q _ Hturn'].
    + destruct Hover. now exists o'.
    + apply (IH column' Hlegal' Hforces' columns (moves ++ [column'])). now apply reached_move.
    + rewrite Hturn in Hturn'. now destruct p.
Qed.

Theorem worth_unique : forall columns rows moves q v v',
  reached columns rows moves q -> worth rows q v -> worth rows q v' -> v = v'.
Proof.
  intros columns rows moves q v v' Hreached [Hmax Hmin] [Hmax' Hmin'].
  destruct (forces_meet _ Max _ _ q Hmax Hmin' _ _ Hreached) as [o [H1 H2]].
  destruct (forces_meet _ Max _ _ q Hmax' Hmin _ _ Hreached) as [o' [H3 H4]].
  unfold at_least, at_most in *. destruct v, v', o, o'; simpl in *; lia || reflexivity.
Qed.

(** ** What a certificate of both bounds shows *)

Lemma reached_unique : forall columns rows moves q,
  reached columns rows moves q -> forall q', reached columns rows moves q' -> q = q'.
Proof.
  intros columns rows moves q H. induction H as [| moves q column _ IH _ _]; intros q' H'.
  - inversion H' as [| moves q column _ _ _ Hmoves]; [reflexivity | now destruct moves].
  - inversion H' as [Hmoves | moves' q1 column' Hreached _ _ Hmoves]; [now destruct moves |].
    apply app_inj_tail in Hmoves as [-> ->]. f_equal. now apply IH.
Qed.

Theorem check_worth : forall c v at_least_v at_most_v,
  check c = true ->
  In (AtLeast v, at_least_v) (claims c) -> In (AtMost v, at_most_v) (claims c) ->
  exists q, reached (columns c) (rows c) (moves c) q /\ worth (rows c) q v.
Proof.
  intros c v l l' H Hleast Hmost.
  destruct (check_sound c H _ _ Hleast) as [q [Hreached Hmax]].
  destruct (check_sound c H _ _ Hmost) as [q' [Hreached' Hmin]].
  rewrite (reached_unique _ _ _ _ Hreached' q Hreached) in Hmin.
  exists q. now repeat split.
Qed.

(** Without moves, of the empty board. *)
Corollary check_start : forall columns rows v at_least_v at_most_v,
  check (Certificate columns rows [] [(AtLeast v, at_least_v); (AtMost v, at_most_v)]) = true ->
  worth rows (start columns) v.
Proof.
  intros columns rows v l l' H.
  destruct (check_worth _ v l l' H) as [q [Hreached Hworth]]; [simpl; auto .. |].
  simpl in *. now rewrite (reached_unique _ _ _ _ Hreached (start columns) (reached_start _ _)) in Hworth.
Qed.
