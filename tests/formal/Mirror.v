(** A position and its mirror image are worth the same. *)

From Coq Require Import List Arith Lia.
From Jlpns Require Import Agreement Rules.
Import ListNotations.

Definition mirror (q : position) : position := Position (rev (stones q)) (turn q).

Lemma cell_mirror : forall b column row,
  column < length b -> cell (rev b) (length b - 1 - column) row = cell b column row.
Proof. intros. unfold cell. now rewrite nth_error_rev. Qed.

Lemma cell_on_board : forall b column row p, cell b column row = Some p -> column < length b.
Proof.
  intros b column row p H. unfold cell in H. apply nth_error_Some. now destruct (nth_error b column).
Qed.

Lemma four_mirror : forall p b, four p b -> four p (rev b).
Proof.
  intros p b [column [row H]].
  assert (Hcell : forall x y, cell b x y = Some p ->
                  x < length b /\ cell (rev b) (length b - 1 - x) y = Some p).
  { intros x y Hs. assert (x < length b) by now apply cell_on_board in Hs.
    split; [assumption |]. now rewrite cell_mirror. }
  destruct H as [H | [H | [H | H]]].
  - exists (length b - 1 - (column + 3)), row. left. intros k Hk.
    destruct (Hcell _ _ (H 3 ltac:(lia))). destruct (Hcell _ _ (H (3 - k) ltac:(lia))) as [? <-].
    f_equal; lia.
  - exists (length b - 1 - column), row. right. left. intros k Hk.
    destruct (Hcell _ _ (H k Hk)) as [? <-]. f_equal; lia.
  - exists (length b - 1 - (column + 3)), row. right. right. right. intros k Hk.
    destruct (Hcell _ _ (H 3 ltac:(lia))). destruct (Hcell _ _ (H (3 - k) ltac:(lia))) as [? <-].
    f_equal; lia.
  - exists (length b - 1 - (column + 3)), row. right. right. left. intros k Hk.
    destruct (Hcell _ _ (H 3 ltac:(lia))). destruct (Hcell _ _ (H (3 - k) ltac:(lia))) as [? <-].
    f_equal; lia.
Qed.

Lemma four_mirror_iff : forall p b, four p (rev b) <-> four p b.
Proof.
  intros p b. split; intro H; [| now apply four_mirror].
  rewrite <- (rev_involutive b). now apply four_mirror.
Qed.

Lemma full_mirror_iff : forall rows b, full rows (rev b) <-> full rows b.
Proof. intros rows b. unfold full. split; intros H c Hc; apply H; now apply in_rev in Hc || apply -> in_rev. Qed.

Lemma ends_mirror_iff : forall rows b o, ends rows (rev b) o <-> ends rows b o.
Proof.
  intros rows b []; simpl; [apply four_mirror_iff | | apply four_mirror_iff].
  now rewrite !four_mirror_iff, full_mirror_iff.
Qed.

Lemma over_mirror_iff : forall rows b, over rows (rev b) <-> over rows b.
Proof. intros. unfold over. split; intros [o H]; exists o; now apply ends_mirror_iff. Qed.

Lemma legal_mirror : forall rows b column,
  legal rows b column ->
  column < length b /\ legal rows (rev b) (length b - 1 - column).
Proof.
  intros rows b column [stones [H Hroom]].
  assert (column < length b) by (apply nth_error_Some; congruence).
  split; [assumption |]. exists stones. now rewrite nth_error_rev.
Qed.

Lemma play_mirror : forall q column,
  column < length (stones q) ->
  play (length (stones q) - 1 - column) (mirror q) = mirror (play column q).
Proof.
  intros [b p] column H. unfold play, mirror. simpl in *. f_equal.
  destruct (nth_error b column) as [c |] eqn:Hc; [| now apply nth_error_None in Hc; lia].
  apply nth_error_split in Hc. destruct Hc as [before [after [-> <-]]].
  rewrite drop_at_length, !rev_app_distr, app_length. simpl. rewrite <- !app_assoc. simpl.
  replace (length before + S (length after) - 1 - length before) with (length (rev after))
    by (rewrite rev_length; lia).
  apply drop_at_length.
Qed.

Theorem forces_mirror : forall rows p goal q, forces rows p goal q -> forces rows p goal (mirror q).
Proof.
  intros rows p goal q H.
  induction H as [q o Hends Hgoal | q column Hover Hturn Hlegal _ IH | q Hover Hturn _ IH].
  - apply forces_end with o; [| assumption]. now apply ends_mirror_iff.
  - apply legal_mirror in Hlegal as [Hcolumn Hlegal].
    apply forces_own with (length (stones q) - 1 - column); try assumption.
    + intro H. now apply Hover, over_mirror_iff.
    + now rewrite play_mirror.
  - apply forces_other; [| assumption |].
    + intro H. now apply Hover, over_mirror_iff.
    + simpl. intros column Hlegal. apply legal_mirror in Hlegal as [Hcolumn Hlegal].
      rewrite rev_involutive, rev_length in Hlegal. rewrite rev_length in Hcolumn.
      specialize (IH _ Hlegal). rewrite <- play_mirror in IH by lia.
      replace (length (stones q) - 1 - (length (stones q) - 1 - column)) with column in IH by lia.
      assumption.
Qed.
