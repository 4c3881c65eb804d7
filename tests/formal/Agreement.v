(** The checker's boards, moves and test for four in a row agree with the rules. *)

From Coq Require Import List Arith Bool Lia.
From Jlpns Require Import Rules Board.
Import ListNotations.

(** ** What the checker's boards mean *)

Definition owner (claimant : player) (s : side) : player :=
  match s with Mine => claimant | Theirs => other claimant end.

Definition meaning (claimant : player) (b : Board.board) : Rules.board :=
  map (map (owner claimant)) b.

Lemma owner_injective : forall claimant s t, owner claimant s = owner claimant t -> s = t.
Proof. intros [] [] [] H; simpl in H; congruence. Qed.

Lemma owner_opponent : forall claimant s, owner claimant (opponent s) = other (owner claimant s).
Proof. intros [] []; reflexivity. Qed.

Lemma same_side_iff : forall a b, same_side a b = true <-> a = b.
Proof. intros [] []; simpl; split; congruence. Qed.

Definition at_cell (b : Board.board) (column row : nat) : option side :=
  match nth_error b column with Some stones => nth_error stones row | None => None end.

Lemma cell_meaning : forall claimant b column row s,
  cell (meaning claimant b) column row = Some (owner claimant s) <-> at_cell b column row = Some s.
Proof.
  intros. unfold cell, meaning, at_cell. rewrite nth_error_map.
  destruct (nth_error b column) as [stones |]; simpl; [| split; intro; discriminate].
  rewrite nth_error_map. destruct (nth_error stones row) as [t |]; simpl; [| split; intro; discriminate].
  split; intro H; injection H as H; [| congruence].
  f_equal. now apply owner_injective in H.
Qed.

(** ** Lines *)

(** The rows of a line that begins in this row; the line of slope [Down] ends in it. *)
Definition line_row (d : slope) (row k : nat) : nat :=
  match d with Flat => row | Up => row + k | Down => row + 3 - k end.

Definition line (s : side) (b : Board.board) (d : slope) (column row : nat) : Prop :=
  forall k, k < 4 -> at_cell b (column + k) (line_row d row k) = Some s.

Definition stack (s : side) (b : Board.board) (column row : nat) : Prop :=
  forall k, k < 4 -> at_cell b column (row + k) = Some s.

Definition four_of (s : side) (b : Board.board) : Prop :=
  exists column row, stack s b column row \/ exists d, line s b d column row.

Lemma four_meaning : forall claimant s b,
  four (owner claimant s) (meaning claimant b) <-> four_of s b.
Proof.
  intros claimant s b. unfold four, four_of, stack, line. split.
  - intros [column [row [H | [H | [H | H]]]]]; exists column, row.
    + right. exists Flat. intros k Hk. now apply cell_meaning with (1 := H k Hk).
    + left. intros k Hk. now apply cell_meaning with (1 := H k Hk).
    + right. exists Up. intros k Hk. now apply cell_meaning with (1 := H k Hk).
    + right. exists Down. intros k Hk. now apply cell_meaning with (1 := H k Hk).
  - intros [column [row [H | [[] H]]]]; exists column, row; simpl in H.
    + right. left. intros k Hk. now apply cell_meaning, H.
    + left. intros k Hk. now apply cell_meaning, H.
    + right. right. left. intros k Hk. now apply cell_meaning, H.
    + right. right. right. intros k Hk. now apply cell_meaning, H.
Qed.

(** ** Places *)

Definition whole (p : place) : Board.board := rev (left p) ++ here p :: right p.
Definition column_of (p : place) : nat := length (left p).
Definition row_of (p : place) : nat := length (here p).

Lemma put_whole : forall s p, put s p = rev (left p) ++ (here p ++ [s]) :: right p.
Proof. intros. unfold put. now rewrite rev_append_rev. Qed.

Lemma has_room_iff : forall rows c, has_room rows c = true <-> length c < rows.
Proof. intros. unfold has_room. apply Nat.ltb_lt. Qed.

Lemma places_from_in : forall rows later earlier p,
  In p (places_from rows earlier later) ->
  whole p = rev earlier ++ later /\ length (here p) < rows.
Proof.
  intros rows later. induction later as [| c rest IH]; intros earlier p H; simpl in H; [contradiction |].
  assert (Hrest : In p (places_from rows (c :: earlier) rest) ->
                  whole p = rev earlier ++ c :: rest /\ length (here p) < rows).
  { intro Hp. apply IH in Hp. destruct Hp as [Hp Hroom]. split; [| assumption].
    rewrite Hp. simpl. now rewrite <- app_assoc. }
  destruct (has_room rows c) eqn:Hc; [| auto].
  destruct H as [H | H]; [| auto].
  subst p. simpl. split; [reflexivity |]. now apply has_room_iff.
Qed.

Lemma places_in : forall rows b p,
  In p (places rows b) -> whole p = b /\ length (here p) < rows.
Proof. intros rows b p H. now apply places_from_in in H. Qed.

Lemma places_from_all : forall rows later earlier k c,
  nth_error later k = Some c -> length c < rows ->
  exists p, In p (places_from rows earlier later) /\ column_of p = length earlier + k.
Proof.
  intros rows later. induction later as [| x rest IH]; intros earlier k c Hk Hc;
    [now destruct k |].
  destruct k as [| k]; simpl in *.
  - injection Hk as ->. apply has_room_iff in Hc. rewrite Hc.
    eexists. split; [left; reflexivity |]. unfold column_of. simpl. lia.
  - destruct (IH (x :: earlier) k c Hk Hc) as [p [Hp Hcol]].
    exists p. split; [| simpl in Hcol; lia].
    destruct (has_room rows x); [now right | assumption].
Qed.

Lemma whole_here : forall p, nth_error (whole p) (column_of p) = Some (here p).
Proof.
  intros. unfold whole, column_of. rewrite nth_error_app2; rewrite rev_length; [| lia].
  now rewrite Nat.sub_diag.
Qed.

(** Every legal move is one of the places, and they all are legal. *)
Lemma places_all : forall claimant rows b column,
  legal rows (meaning claimant b) column ->
  exists p, In p (places rows b) /\ column_of p = column.
Proof.
  intros claimant rows b column [stones [H Hroom]].
  unfold meaning in H. rewrite nth_error_map in H.
  destruct (nth_error b column) as [c |] eqn:Hc; [| discriminate].
  simpl in H. injection H as <-. rewrite map_length in Hroom.
  destruct (places_from_all rows b [] column c Hc Hroom) as [p Hp]. now exists p.
Qed.

Lemma places_legal : forall claimant rows b p,
  In p (places rows b) -> legal rows (meaning claimant b) (column_of p).
Proof.
  intros claimant rows b p H. apply places_in in H. destruct H as [<- Hroom].
  exists (map (owner claimant) (here p)). rewrite map_length. split; [| assumption].
  unfold meaning. rewrite nth_error_map. now rewrite whole_here.
Qed.

Lemma drop_at_length : forall p before stones after,
  drop p (length before) (before ++ stones :: after) = before ++ (stones ++ [p]) :: after.
Proof.
  intros p before. induction before as [| x before IH]; intros; simpl; [reflexivity |].
  now rewrite IH.
Qed.

Lemma drop_put : forall claimant s p,
  drop (owner claimant s) (column_of p) (meaning claimant (whole p)) = meaning claimant (put s p).
Proof.
  intros. rewrite put_whole. unfold meaning, whole, column_of.
  rewrite !map_app. simpl. rewrite map_app. simpl.
  rewrite <- drop_at_length. f_equal. now rewrite map_length, rev_length.
Qed.

Lemma is_full_iff : forall claimant rows b,
  is_full rows b = true <-> full rows (meaning claimant b).
Proof.
  intros. unfold is_full, full, meaning. rewrite forallb_forall. split.
  - intros H stones Hin. apply in_map_iff in Hin. destruct Hin as [c [<- Hc]].
    rewrite map_length. specialize (H c Hc). unfold has_room in H.
    apply negb_true_iff, Nat.ltb_ge in H. assumption.
  - intros H c Hc. apply negb_true_iff, Nat.ltb_ge.
    specialize (H (map (owner claimant) c)). rewrite map_length in H.
    apply H. now apply in_map.
Qed.

(** ** A stone that is put on a board *)

Lemma put_here : forall s p, at_cell (put s p) (column_of p) (row_of p) = Some s.
Proof.
  intros. rewrite put_whole. unfold at_cell, column_of, row_of.
  rewrite nth_error_app2; rewrite rev_length; [| lia]. rewrite Nat.sub_diag. simpl.
  rewrite nth_error_app2; [| lia]. now rewrite Nat.sub_diag.
Qed.

Lemma put_elsewhere : forall s p column row,
  column <> column_of p \/ row <> row_of p ->
  at_cell (put s p) column row = at_cell (whole p) column row.
Proof.
  intros s p column row H. rewrite put_whole. unfold at_cell, whole, column_of, row_of in *.
  destruct (lt_eq_lt_dec column (length (left p))) as [[Hc | Hc] | Hc].
  - rewrite !nth_error_app1; rewrite ?rev_length; auto.
  - rewrite !nth_error_app2; rewrite ?rev_length; try lia.
    replace (column - length (left p)) with 0 by lia. simpl.
    destruct (lt_eq_lt_dec row (length (here p))) as [[Hr | Hr] | Hr]; [| lia |].
    + now rewrite nth_error_app1.
    + rewrite nth_error_app2; [| lia].
      destruct (row - length (here p)) as [| k] eqn:Hk; [lia |]. simpl.
      assert (Hnone : nth_error (here p) row = None) by (apply nth_error_None; lia).
      rewrite Hnone. now destruct k.
  - rewrite !nth_error_app2; rewrite ?rev_length; try lia.
    now destruct (column - length (left p)) as [| k] eqn:Hk; [lia |].
Qed.

Lemma nth_error_rev : forall (A : Type) (l : list A) i,
  i < length l -> nth_error (rev l) (length l - 1 - i) = nth_error l i.
Proof.
  intros A l. induction l as [| x l IH]; intros i Hi; simpl in *; [lia |].
  destruct i as [| i]; simpl.
  - rewrite nth_error_app2; rewrite rev_length; [| lia].
    now replace (length l - 0 - 0 - length l) with 0 by lia.
  - rewrite nth_error_app1; rewrite ?rev_length; [| lia].
    rewrite <- IH; [| lia]. f_equal. lia.
Qed.

Lemma whole_left : forall p i, i < column_of p ->
  nth_error (whole p) (column_of p - 1 - i) = nth_error (left p) i.
Proof.
  intros p i Hi. unfold whole, column_of in *.
  rewrite nth_error_app1; rewrite ?rev_length; [| lia]. now apply nth_error_rev.
Qed.

Lemma whole_right : forall p i,
  nth_error (whole p) (column_of p + 1 + i) = nth_error (right p) i.
Proof.
  intros p i. unfold whole, column_of.
  rewrite nth_error_app2; rewrite rev_length; [| lia].
  now replace (length (left p) + 1 + i - length (left p)) with (S i) by lia.
Qed.

(** ** Runs *)

(** [row'] is the row of a line, [i] columns away from where its row is [row]. *)
Definition on_line (d : slope) (row i row' : nat) : Prop :=
  match d with Flat => row' = row | Up => row' = row + i | Down => row' + i = row end.

Lemma holds_iff : forall s c row, holds s c row = true <-> nth_error c row = Some s.
Proof.
  intros. unfold holds. destruct (nth_error c row) as [t |]; [| split; intro; discriminate].
  rewrite same_side_iff. split; congruence.
Qed.

Lemma next_row_on_line : forall d row row' i row'',
  next_row d row = Some row' -> on_line d row' i row'' <-> on_line d row (S i) row''.
Proof.
  intros [] row row' i row'' H; simpl in *; [| |destruct row as [| below]; [discriminate |]];
    injection H as <-; lia.
Qed.

Lemma run_at_least : forall s d columns row n,
  n <= run s d row columns <->
  forall i, i < n -> exists row' c,
    on_line d row (S i) row' /\ nth_error columns i = Some c /\ nth_error c row' = Some s.
Proof.
  intros s d columns. induction columns as [| c rest IH]; intros row n; simpl.
  - split; [intros H i Hi; lia |].
    intro H. destruct n as [| n]; [lia |].
    destruct (H 0 ltac:(lia)) as [row' [c [_ [Hc _]]]]. discriminate.
  - destruct n as [| n]; [split; intros; lia |].
    destruct (next_row d row) as [row1 |] eqn:Hrow; [destruct (holds s c row1) eqn:Hholds |].
    + rewrite holds_iff in Hholds. split.
      * intros H [| i] Hi.
        -- exists row1, c. split; [| auto]. now apply next_row_on_line with (1 := Hrow); destruct d; simpl; lia.
        -- assert (Hn : n <= run s d row1 rest) by lia.
           rewrite IH in Hn. destruct (Hn i ltac:(lia)) as [row' [c' [Hline H']]].
           exists row', c'. split; [| assumption]. now apply next_row_on_line with (1 := Hrow).
      * intro H. apply le_n_S. apply IH. intros i Hi.
        destruct (H (S i) ltac:(lia)) as [row' [c' [Hline H']]].
        exists row', c'. split; [| assumption]. now apply next_row_on_line with (1 := Hrow).
    + split; [lia |]. intro H. exfalso.
      destruct (H 0 ltac:(lia)) as [row' [c' [Hline [Hc Hs]]]]. injection Hc as <-.
      apply next_row_on_line with (1 := Hrow) in Hline.
      assert (row' = row1) as -> by (destruct d; simpl in Hline; lia).
      apply holds_iff in Hs. congruence.
    + split; [lia |]. intro H. exfalso.
      destruct (H 0 ltac:(lia)) as [row' [c' [Hline _]]].
      destruct d, row; simpl in *; try discriminate. lia.
Qed.

(** ** The test for four in a row *)

(** Among the lines of this slope, one through the stone's cell has the other three stones. *)
Lemma sideways_line : forall s p d,
  sideways s p (row_of p) d = true -> exists column row, line s (put s p) d column row.
Proof.
  intros s p d H. unfold sideways in H. apply Nat.leb_le in H.
  set (before := run s (opposite d) (row_of p) (left p)) in *.
  set (after := run s d (row_of p) (right p)) in *.
  set (i := Nat.min before 3).
  assert (Hbefore : i <= before) by lia. assert (Hafter : 3 - i <= after) by lia.
  assert (Hi : i <= 3) by lia. clearbody i. unfold before in Hbefore. unfold after in Hafter.
  clear H before after.
  rewrite run_at_least in Hbefore, Hafter.
  assert (Hleft : forall j, j < i -> j < column_of p /\ exists row',
    on_line (opposite d) (row_of p) (S j) row' /\
    at_cell (put s p) (column_of p - 1 - j) row' = Some s).
  { intros j Hj. destruct (Hbefore j Hj) as [row' [c [Hline [Hc Hs]]]].
    assert (Hcol : j < column_of p) by (apply nth_error_Some; congruence).
    split; [assumption |]. exists row'. split; [assumption |].
    rewrite put_elsewhere; [| lia]. unfold at_cell. now rewrite whole_left, Hc. }
  assert (Hright : forall j, j < 3 - i -> exists row',
    on_line d (row_of p) (S j) row' /\ at_cell (put s p) (column_of p + 1 + j) row' = Some s).
  { intros j Hj. destruct (Hafter j Hj) as [row' [c [Hline [Hc Hs]]]].
    exists row'. split; [assumption |].
    rewrite put_elsewhere; [| lia]. unfold at_cell. now rewrite whole_right, Hc. }
  assert (Hcolumn : i <= column_of p).
  { destruct i as [| j]; [lia |]. destruct (Hleft j ltac:(lia)) as [? _]. lia. }
  assert (Hup : d = Up -> i <= row_of p).
  { intros ->. destruct i as [| j]; [lia |].
    destruct (Hleft j ltac:(lia)) as [_ [row' [Hline _]]]. simpl in Hline. lia. }
  assert (Hdown : d = Down -> 3 - i <= row_of p).
  { intros ->. destruct (3 - i) as [| j] eqn:Hj; [lia |].
    destruct (Hright j ltac:(lia)) as [row' [Hline _]]. simpl in Hline. lia. }
  exists (column_of p - i),
    (match d with Flat => row_of p | Up => row_of p - i | Down => row_of p - (3 - i) end).
  intros k Hk. destruct (lt_eq_lt_dec k i) as [[Hki | ->] | Hki].
  - destruct (Hleft (i - 1 - k) ltac:(lia)) as [_ [row' [Hline Hs]]].
    rewrite <- Hs. f_equal; [lia |].
    destruct d; cbn [line_row on_line opposite] in *; [lia | specialize (Hup eq_refl); lia | specialize (Hdown eq_refl); lia].
  - etransitivity; [| apply put_here]. f_equal; [lia |].
    destruct d; cbn [line_row on_line opposite] in *; [lia | specialize (Hup eq_refl); lia | specialize (Hdown eq_refl); lia].
  - destruct (Hright (k - i - 1) ltac:(lia)) as [row' [Hline Hs]].
    rewrite <- Hs. f_equal; [lia |].
    destruct d; cbn [line_row on_line opposite] in *; [lia | specialize (Hup eq_refl); lia | specialize (Hdown eq_refl); lia].
Qed.

Lemma line_sideways : forall s p d column row k,
  line s (put s p) d column row -> k < 4 ->
  column + k = column_of p -> line_row d row k = row_of p ->
  sideways s p (row_of p) d = true.
Proof.
  intros s p d column row k H Hk Hcolumn Hrow. unfold sideways. apply Nat.leb_le.
  assert (Hbefore : k <= run s (opposite d) (row_of p) (left p)).
  { apply run_at_least. intros i Hi.
    specialize (H (k - 1 - i) ltac:(lia)). rewrite put_elsewhere in H by lia.
    replace (column + (k - 1 - i)) with (column_of p - 1 - i) in H by lia.
    unfold at_cell in H. rewrite whole_left in H by lia.
    destruct (nth_error (left p) i) as [c |]; [| discriminate].
    exists (line_row d row (k - 1 - i)), c. split; [| auto].
    destruct d; cbn [line_row on_line opposite] in *; lia. }
  assert (Hafter : 3 - k <= run s d (row_of p) (right p)).
  { apply run_at_least. intros i Hi.
    specialize (H (k + 1 + i) ltac:(lia)). rewrite put_elsewhere in H by lia.
    replace (column + (k + 1 + i)) with (column_of p + 1 + i) in H by lia.
    unfold at_cell in H. rewrite whole_right in H.
    destruct (nth_error (right p) i) as [c |]; [| discriminate].
    exists (line_row d row (k + 1 + i)), c. split; [| auto].
    destruct d; cbn [line_row on_line opposite] in *; lia. }
  lia.
Qed.

Lemma at_here : forall p row, at_cell (whole p) (column_of p) row = nth_error (here p) row.
Proof. intros. unfold at_cell. now rewrite whole_here. Qed.

Lemma upright_stack : forall s p,
  upright s p (row_of p) = true -> exists row, stack s (put s p) (column_of p) row.
Proof.
  intros s p H. unfold upright in H.
  destruct (row_of p) as [| [| [| r]]] eqn:Hrow; try discriminate.
  apply andb_prop in H. destruct H as [H H0]. apply andb_prop in H. destruct H as [H2 H1].
  rewrite holds_iff in *. exists r. intros k Hk.
  destruct k as [| [| [| [| k]]]]; [| | | | lia].
  1-3: rewrite put_elsewhere by lia; rewrite at_here.
  - now rewrite Nat.add_0_r.
  - now replace (r + 1) with (S r) by lia.
  - now replace (r + 2) with (S (S r)) by lia.
  - replace (r + 3) with (row_of p) by lia. apply put_here.
Qed.

Lemma stack_upright : forall s p row k,
  stack s (put s p) (column_of p) row -> k < 4 -> row + k = row_of p ->
  upright s p (row_of p) = true.
Proof.
  intros s p row k H Hk Hrow.
  assert (Hlength : forall j, j < 4 -> row + j <> row_of p -> nth_error (here p) (row + j) = Some s).
  { intros j Hj Hne. rewrite <- at_here. rewrite <- (put_elsewhere s p) by lia. now apply H. }
  assert (k = 3) as ->.
  { destruct (Nat.eq_dec k 3) as [| Hne]; [assumption |].
    specialize (Hlength 3 ltac:(lia) ltac:(lia)).
    assert (row + 3 < row_of p) by (apply nth_error_Some; congruence). lia. }
  unfold upright. rewrite <- Hrow. replace (row + 3) with (S (S (S row))) by lia.
  rewrite !andb_true_iff, !holds_iff. repeat split.
  - replace (S (S row)) with (row + 2) by lia. apply Hlength; lia.
  - replace (S row) with (row + 1) by lia. apply Hlength; lia.
  - replace row with (row + 0) by lia. apply Hlength; lia.
Qed.

(** The new stone's cell is one of the cells of a line, or none. *)
Lemma some_cell_or_none : forall (cell_of : nat -> nat * nat) target,
  (exists k, k < 4 /\ cell_of k = target) \/ (forall k, k < 4 -> cell_of k <> target).
Proof.
  intros cell_of target.
  assert (Hdec : forall k, {cell_of k = target} + {cell_of k <> target}).
  { intro k. decide equality; apply Nat.eq_dec. }
  destruct (Hdec 0); [left; exists 0; auto with arith |].
  destruct (Hdec 1); [left; exists 1; auto with arith |].
  destruct (Hdec 2); [left; exists 2; auto with arith |].
  destruct (Hdec 3); [left; exists 3; auto with arith |].
  right. intros k Hk. destruct k as [| [| [| [| k]]]]; [assumption .. | lia].
Qed.

Theorem wins_iff : forall s p,
  ~ four_of s (whole p) -> wins s p = true <-> four_of s (put s p).
Proof.
  intros s p Hnone. unfold wins. fold (row_of p). rewrite !orb_true_iff. split.
  - intros [[[H | H] | H] | H].
    1: apply upright_stack in H; destruct H as [row H]; exists (column_of p), row; now left.
    all: apply sideways_line in H; destruct H as [column [row H]]; exists column, row; right; eauto.
  - intros [column [row [H | [d H]]]].
    + destruct (some_cell_or_none (fun k => (column, row + k)) (column_of p, row_of p))
        as [[k [Hk Heq]] | Hne].
      * injection Heq as -> Hrow. left. left. left. now apply stack_upright with row k.
      * exfalso. apply Hnone. exists column, row. left. intros k Hk.
        specialize (H k Hk). specialize (Hne k Hk). rewrite put_elsewhere in H; [assumption |].
        destruct (Nat.eq_dec column (column_of p)); [right; congruence | now left].
    + destruct (some_cell_or_none (fun k => (column + k, line_row d row k)) (column_of p, row_of p))
        as [[k [Hk Heq]] | Hne].
      * injection Heq as Hcolumn Hrow.
        assert (Hd : sideways s p (row_of p) d = true) by now apply line_sideways with column row k.
        destruct d; auto.
      * exfalso. apply Hnone. exists column, row. right. exists d. intros k Hk.
        specialize (H k Hk). specialize (Hne k Hk). rewrite put_elsewhere in H; [assumption |].
        destruct (Nat.eq_dec (column + k) (column_of p)); [right; congruence | now left].
Qed.

(** A stone makes no line of the other player. *)
Theorem put_other : forall s p,
  ~ four_of (opponent s) (whole p) -> ~ four_of (opponent s) (put s p).
Proof.
  intros s p Hnone [column [row H]]. apply Hnone. exists column, row.
  assert (Hcell : forall c r, at_cell (put s p) c r = Some (opponent s) ->
                              at_cell (whole p) c r = Some (opponent s)).
  { intros c r Hs. rewrite put_elsewhere in Hs; [assumption |].
    destruct (Nat.eq_dec c (column_of p)) as [-> |]; [| now left].
    destruct (Nat.eq_dec r (row_of p)) as [-> |]; [| now right].
    rewrite put_here in Hs. injection Hs as Hs. now destruct s. }
  destruct H as [H | [d H]]; [left | right; exists d]; intros k Hk; now apply Hcell, H.
Qed.
