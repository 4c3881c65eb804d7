(** What the checker accepts is true. *)

From Coq Require Import List Arith Bool.
From Jlpns Require Import Rules Board Layer Checker Agreement Mirror.
Import ListNotations.

(** ** Layers lose nothing *)

Fixpoint boards_of (l : layer) : list Board.board :=
  match l with
  | Nothing => []
  | One b => [b]
  | Both zero one => boards_of zero ++ boards_of one
  end.

Lemma through_fold : forall State (visit : State -> Board.board -> State) l state,
  through visit l state = fold_left visit (boards_of l) state.
Proof.
  intros State visit l. induction l as [| b | zero IHzero one IHone]; intro state; simpl; try reflexivity.
  now rewrite fold_left_app, IHzero, IHone.
Qed.

Lemma same_list_equal : forall A (same : A -> A -> bool),
  (forall x y, same x y = true -> x = y) ->
  forall a b, same_list same a b = true -> a = b.
Proof.
  intros A same Hsame a. induction a as [| x a IH]; intros [| y b] H; simpl in H; try discriminate;
    [reflexivity |].
  apply andb_prop in H as [Hx Ha]. f_equal; auto.
Qed.

Lemma same_board_equal : forall a b, same_board a b = true -> a = b.
Proof.
  apply same_list_equal. apply same_list_equal. intros x y. apply same_side_iff.
Qed.

Lemma apart_has : forall bits_a bits_b a b x,
  x = a \/ x = b -> In x (boards_of (apart bits_a bits_b a b)).
Proof.
  intros bits_a. induction bits_a as [| [] rest IH]; intros [| [] bits_b] a b x H; simpl;
    try (destruct H; subst; auto; fail); rewrite ?app_nil_r; now apply IH.
Qed.

Lemma insert_at_has : forall rows l depth path b x,
  x = b \/ In x (boards_of l) -> In x (boards_of (insert_at rows depth path b l)).
Proof.
  intros rows l. induction l as [| a | zero IHzero one IHone]; intros depth path b x H; simpl in *.
  - destruct H as [-> | []]. now left.
  - destruct (same_board a b) eqn:Hsame.
    + apply same_board_equal in Hsame as ->. simpl. destruct H as [-> | H]; auto.
    + apply apart_has. destruct H as [-> | [-> | []]]; auto.
  - destruct path as [| [] path]; simpl; rewrite ?in_app_iff in *.
    + destruct H as [-> | H]; auto.
    + destruct H as [-> | [H | H]]; auto.
    + destruct H as [-> | [H | H]]; auto.
Qed.

(** ** The rules, for the boards of the checker *)

Definition won_by (p : player) : outcome := match p with Max => Win | Min => Loss end.

Lemma won_by_claimant : forall c, claimed c (won_by (claimant c)).
Proof. now intros [[] | []]; repeat constructor. Qed.

Lemma draw_claimed : forall c, draw_is_enough c = true -> claimed c Draw.
Proof. intros [[] | []] H; try discriminate; repeat constructor. Qed.

Lemma owner_onto : forall p q, exists s, owner p s = q.
Proof. intros [] []; (now exists Mine) || (now exists Theirs). Qed.

Section Claim.
  Variable c : claim.
  Variable rows : nat.

  Let me := claimant c.
  Let draw := draw_is_enough c.

  Definition position_of (s : side) (b : Board.board) : position :=
    Position (meaning me b) (owner me s).

  (** The claimant, who is to move, can do what is claimed. *)
  Definition shown (b : Board.board) : Prop :=
    forces rows me (claimed c) (position_of Mine b).

  Definition no_four (b : Board.board) : Prop := forall s, ~ four_of s b.

  (** The game goes on. *)
  Definition open (b : Board.board) : Prop := no_four b /\ is_full rows b = false.

  Lemma nobody_has_four : forall b, no_four b -> forall p, ~ four p (meaning me b).
  Proof.
    intros b Hfour p Hp. destruct (owner_onto me p) as [s <-]. apply (Hfour s).
    now apply four_meaning in Hp.
  Qed.

  Lemma open_not_over : forall b, open b -> ~ over rows (meaning me b).
  Proof.
    intros b [Hfour Hfull] [o H]. pose proof (nobody_has_four b Hfour) as Hplayer.
    destruct o; simpl in H; [now apply (Hplayer Min) | | now apply (Hplayer Max)].
    destruct H as [_ [_ H]]. apply is_full_iff in H. congruence.
  Qed.

  Lemma play_place : forall s b p, In p (places rows b) ->
    play (column_of p) (position_of s b) = position_of (opponent s) (put s p).
  Proof.
    intros s b p Hp. apply places_in in Hp as [<- _].
    unfold play, position_of. simpl. now rewrite drop_put, owner_opponent.
  Qed.

  Lemma no_four_put : forall s b p,
    In p (places rows b) -> no_four b -> wins s p = false -> no_four (put s p).
  Proof.
    intros s b p Hp Hfour Hwins t. apply places_in in Hp as [<- _].
    assert (Ht : t = s \/ t = opponent s) by (destruct s, t; auto).
    destruct Ht as [-> | ->].
    - intro H. apply wins_iff in H; [congruence | apply Hfour].
    - apply put_other, Hfour.
  Qed.

  Lemma claimant_wins : forall s b, four_of Mine b -> forces rows me (claimed c) (position_of s b).
  Proof.
    intros s b H. apply forces_end with (won_by me); [| apply won_by_claimant].
    apply four_meaning with (claimant := me) in H. simpl in *. now destruct me.
  Qed.

  Lemma draw_fulfils : forall s b, draw = true -> no_four b -> is_full rows b = true ->
    forces rows me (claimed c) (position_of s b).
  Proof.
    intros s b Hdraw Hfour Hfull. apply forces_end with Draw; [| now apply draw_claimed].
    repeat split; try now apply nobody_has_four. now apply is_full_iff.
  Qed.

  Lemma own_move : forall b p,
    open b -> In p (places rows b) ->
    forces rows me (claimed c) (position_of Theirs (put Mine p)) -> shown b.
  Proof.
    intros b p Hopen Hp H. apply forces_own with (column_of p).
    - now apply open_not_over.
    - reflexivity.
    - now apply places_legal.
    - now rewrite play_place.
  Qed.

  Lemma ends_at_once_shown : forall b, open b -> ends_at_once rows draw b = true -> shown b.
  Proof.
    intros b Hopen H. apply existsb_exists in H as [p [Hp H]].
    apply own_move with p; [assumption .. |]. destruct Hopen as [Hfour _].
    destruct (wins Mine p) eqn:Hwins.
    - apply claimant_wins. apply wins_iff; [| assumption].
      apply places_in in Hp as [-> _]. apply Hfour.
    - simpl in H. apply andb_prop in H as [Hdraw Hfull].
      apply draw_fulfils; [assumption | | assumption]. now apply no_four_put with b.
  Qed.

  (** ** Mirror images *)

  Lemma meaning_rev : forall b, meaning me (rev b) = rev (meaning me b).
  Proof. intros. unfold meaning. now rewrite map_rev. Qed.

  Lemma open_rev : forall b, open b -> open (rev b).
  Proof.
    intros b [Hfour Hfull]. split.
    - intros s H. apply (Hfour s). apply four_meaning with me. apply four_mirror_iff.
      rewrite <- meaning_rev. now apply four_meaning.
    - apply not_true_iff_false. apply not_true_iff_false in Hfull. intro H. apply Hfull.
      apply is_full_iff with me. apply full_mirror_iff. rewrite <- meaning_rev.
      now apply is_full_iff.
  Qed.

  Lemma shown_rev : forall b, shown (rev b) -> shown b.
  Proof.
    intros b H. apply forces_mirror in H. unfold position_of, mirror in H. simpl in H.
    rewrite meaning_rev, rev_involutive in H. assumption.
  Qed.

  Lemma standard_cases : forall b, standard b = b \/ standard b = rev b.
  Proof.
    intros. unfold standard. rewrite rev_append_rev, app_nil_r.
    destruct (compare_boards b (rev b)); auto.
  Qed.

  (** ** Layers *)

  Definition layer_shown (l : layer) : Prop := forall b, In b (boards_of l) -> open b -> shown b.

  Lemma enter_keeps : forall b next, incl (boards_of next) (boards_of (enter rows draw b next)).
  Proof.
    intros b next x Hx. unfold enter. destruct (ends_at_once rows draw b); [assumption |].
    apply insert_at_has. now right.
  Qed.

  Lemma replies_keep : forall ps next after,
    replies rows draw ps next = Some after -> incl (boards_of next) (boards_of after).
  Proof.
    intros ps. induction ps as [| p ps IH]; intros next after H; simpl in H.
    - injection H as <-. apply incl_refl.
    - destruct (wins Theirs p); [discriminate |]. destruct (is_full rows (put Theirs p)).
      + destruct draw; [now apply IH | discriminate].
      + apply IH in H. now apply incl_tran with (1 := enter_keeps _ _) (2 := H).
  Qed.

  Lemma answer_keeps : forall b number next after,
    answer rows draw b number next = Some after -> incl (boards_of next) (boards_of after).
  Proof.
    intros b number next after H. unfold answer in H.
    destruct (nth_error (places rows b) number) as [p |]; [| discriminate].
    destruct (wins Mine p); [| destruct (is_full rows (put Mine p)); [destruct draw; [| discriminate] |]].
    - injection H as <-. apply incl_refl.
    - injection H as <-. apply incl_refl.
    - now apply replies_keep in H.
  Qed.

  Lemma visits_stop : forall bs, fold_left (visit rows draw) bs None = None.
  Proof. intro bs. induction bs; [reflexivity | assumption]. Qed.

  Lemma visits_keep : forall bs numbers next rest after,
    fold_left (visit rows draw) bs (Some (numbers, next)) = Some (rest, after) ->
    incl (boards_of next) (boards_of after).
  Proof.
    intros bs. induction bs as [| b bs IH]; intros numbers next rest after H; simpl in H.
    - injection H as _ <-. apply incl_refl.
    - destruct numbers as [| number numbers]; [now rewrite visits_stop in H |].
      destruct (answer rows draw b number next) as [between |] eqn:Hanswer;
        [| now rewrite visits_stop in H].
      apply answer_keeps in Hanswer. apply IH in H. now apply incl_tran with (1 := Hanswer).
  Qed.

  Lemma layer_shown_before : forall before after,
    incl (boards_of before) (boards_of after) -> layer_shown after -> layer_shown before.
  Proof. intros before after Hincl H b Hb. apply H. now apply Hincl. Qed.

  (** ** Each step of the check is justified by the layer that it leads to *)

  Lemma enter_shown : forall b next,
    open b -> layer_shown (enter rows draw b next) -> shown b.
  Proof.
    intros b next Hopen. unfold enter. destruct (ends_at_once rows draw b) eqn:Hends; intro H.
    - now apply ends_at_once_shown.
    - assert (Hin := H (standard b) ltac:(apply insert_at_has; now left)).
      destruct (standard_cases b) as [Heq | Heq]; rewrite Heq in Hin; [now apply Hin |].
      apply shown_rev, Hin. now apply open_rev.
  Qed.

  Lemma each_reply_shown : forall b, open b ->
    forall ps next after,
    incl ps (places rows b) -> replies rows draw ps next = Some after -> layer_shown after ->
    forall p, In p ps -> forces rows me (claimed c) (position_of Mine (put Theirs p)).
  Proof.
    intros b Hopen ps. induction ps as [| p ps IH]; intros next after Hps H Hafter q Hq; simpl in H;
      [contradiction |].
    destruct (wins Theirs p) eqn:Hwins; [discriminate |].
    apply incl_cons_inv in Hps as [Hp Hps].
    assert (Hfour : no_four (put Theirs p)) by (destruct Hopen; now apply no_four_put with b).
    destruct (is_full rows (put Theirs p)) eqn:Hfull.
    - destruct draw eqn:Hdraw; [| discriminate].
      destruct Hq as [<- | Hq]; [now apply draw_fulfils | now apply (IH next after)].
    - destruct Hq as [<- | Hq]; [| now apply (IH (enter rows draw (put Theirs p) next) after)].
      apply enter_shown with next; [now split |].
      apply replies_keep in H. now apply layer_shown_before with after.
  Qed.

  Lemma replies_shown : forall b next after,
    open b -> replies rows draw (places rows b) next = Some after -> layer_shown after ->
    forces rows me (claimed c) (position_of Theirs b).
  Proof.
    intros b next after Hopen H Hafter. apply forces_other.
    - now apply open_not_over.
    - reflexivity.
    - simpl. intros column Hlegal. apply places_all in Hlegal as [p [Hp <-]].
      rewrite play_place by assumption.
      apply each_reply_shown with b (places rows b) next after; auto using incl_refl.
  Qed.

  Lemma answer_shown : forall b number next after,
    answer rows draw b number next = Some after -> layer_shown after -> open b -> shown b.
  Proof.
    intros b number next after H Hafter Hopen. unfold answer in H.
    destruct (nth_error (places rows b) number) as [p |] eqn:Hp; [| discriminate].
    apply nth_error_In in Hp. apply own_move with p; [assumption .. |].
    destruct (wins Mine p) eqn:Hwins.
    - apply claimant_wins, wins_iff; [| assumption]. apply places_in in Hp as [-> _]. now destruct Hopen.
    - assert (Hfour : no_four (put Mine p)) by (destruct Hopen; now apply no_four_put with b).
      destruct (is_full rows (put Mine p)) eqn:Hfull.
      + destruct draw eqn:Hdraw; [| discriminate]. now apply draw_fulfils.
      + now apply replies_shown with next after.
  Qed.

  Lemma visits_shown : forall bs numbers next rest after,
    fold_left (visit rows draw) bs (Some (numbers, next)) = Some (rest, after) -> layer_shown after ->
    forall b, In b bs -> open b -> shown b.
  Proof.
    intros bs. induction bs as [| x bs IH]; intros numbers next rest after H Hafter b Hb; simpl in H;
      [contradiction |].
    destruct numbers as [| number numbers]; [now rewrite visits_stop in H |].
    destruct (answer rows draw x number next) as [between |] eqn:Hanswer;
      [| now rewrite visits_stop in H].
    destruct Hb as [<- | Hb]; [| now apply (IH numbers between rest after)].
    apply answer_shown with number next between; [assumption |].
    apply visits_keep in H. now apply layer_shown_before with after.
  Qed.

  Lemma check_layers_shown : forall ls now, check_layers rows draw ls now = true -> layer_shown now.
  Proof.
    intros ls. induction ls as [| numbers ls IH]; intros now H; simpl in H.
    - destruct now; try discriminate. now intros b [].
    - destruct (is_empty now); [discriminate |]. rewrite through_fold in H.
      destruct (fold_left _ _ _) as [[[| ? ?] next] |] eqn:Hvisits; try discriminate.
      unfold layer_shown. apply visits_shown with (1 := Hvisits). now apply IH.
  Qed.

  (** ** The moves to the position in question *)

  Lemma replay_reached : forall columns ms s b before s' b',
    reached columns rows before (position_of s b) -> no_four b ->
    replay rows s b ms = Some (s', b') ->
    reached columns rows (before ++ ms) (position_of s' b') /\ open b'.
  Proof.
    intros columns ms. induction ms as [| m ms IH]; intros s b before s' b' Hreached Hfour H; simpl in H;
      destruct (is_full rows b) eqn:Hfull; try discriminate.
    - injection H as <- <-. rewrite app_nil_r. now repeat split.
    - destruct (find _ _) as [p |] eqn:Hp; [| discriminate].
      apply find_some in Hp as [Hp Hm]. apply Nat.eqb_eq in Hm.
      destruct (wins s p) eqn:Hwins; [discriminate |].
      replace (before ++ m :: ms) with ((before ++ [m]) ++ ms) by now rewrite <- app_assoc.
      apply IH with (3 := H); [| now apply no_four_put with b].
      rewrite <- (play_place s b p Hp). subst m. apply reached_move; [assumption | |].
      + apply open_not_over. now split.
      + now apply places_legal.
  Qed.

  Lemma no_four_at_start : forall columns, no_four (repeat [] columns).
  Proof.
    intros columns s [column [row H]].
    assert (Hempty : forall x y, at_cell (repeat [] columns) x y <> Some s).
    { intros x y. unfold at_cell. destruct (nth_error _ x) as [stones |] eqn:Hx; [| discriminate].
      apply nth_error_In, repeat_spec in Hx as ->. now destruct y. }
    destruct H as [H | [d H]]; now apply (Hempty _ _ (H 0 ltac:(auto with arith))).
  Qed.

  Lemma start_position : forall columns,
    position_of (match claimant c with Max => Mine | Min => Theirs end) (repeat [] columns) = start columns.
  Proof.
    intro columns. unfold position_of, start, meaning, me. f_equal.
    - induction columns; simpl; [reflexivity | now f_equal].
    - now destruct (claimant c).
  Qed.

  Lemma check_claim_sound : forall columns ms ls,
    check_claim columns rows ms c ls = true ->
    exists q, reached columns rows ms q /\ forces rows (claimant c) (claimed c) q.
  Proof.
    intros columns ms ls H. unfold check_claim in H. fold draw in H.
    destruct (replay _ _ _ _) as [[s b] |] eqn:Hreplay; [| discriminate].
    apply replay_reached with (columns := columns) (before := []) in Hreplay as [Hreached Hopen];
      [| rewrite start_position; apply reached_start | apply no_four_at_start].
    exists (position_of s b). split; [assumption |]. destruct s.
    - apply check_layers_shown in H. now apply enter_shown with Nothing.
    - destruct (replies rows draw (places rows b) Nothing) as [l |] eqn:Hreplies; [| discriminate].
      apply check_layers_shown in H. now apply replies_shown with Nothing l.
  Qed.
End Claim.

(** ** The theorem *)

(** If the checker accepts a certificate, then its moves are a game that is not over, and from the position
    after them the claimant of each claim can bring about what is claimed. *)
Theorem check_sound : forall c,
  check c = true ->
  forall claim ls, In (claim, ls) (claims c) ->
  exists q,
    reached (columns c) (rows c) (moves c) q /\
    forces (rows c) (claimant claim) (claimed claim) q.
Proof.
  intros c H claim ls Hin. unfold check in H. rewrite forallb_forall in H.
  apply H in Hin. now apply check_claim_sound with ls.
Qed.
