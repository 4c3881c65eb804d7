(** The checker as OCaml: the same [check] that the theorems are about.

    Only types that have the same values in both languages are mapped to OCaml's: booleans, lists, pairs
    and options. Numbers stay what they are in the proof. *)

From Coq Require Import Extraction ExtrOcamlBasic.
From Jlpns Require Import Checker Soundness Worth.

Print Assumptions check_sound.
Print Assumptions check_worth.
Print Assumptions worth_unique.

Extraction Language OCaml.
Extraction "checker.ml" check.
