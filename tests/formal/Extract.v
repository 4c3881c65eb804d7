(** The checker as OCaml. Only types whose values are the same in both languages are mapped (booleans, lists,
    pairs, options); numbers stay as they are in the proof. *)

From Coq Require Import Extraction ExtrOcamlBasic.
From Jlpns Require Import Rules Checker.

Extraction Language OCaml.
Extraction "checker.ml" check.
