(* check FILE: reads a certificate in the plain form (docs/certificate.md) and hands it to the proved
   checker. Nothing here is proved, so it only reads, calls, and says what was read. Exit code 0: proved;
   1: not proved; 2: the file cannot be read. *)

open Checker

exception Unreadable of string

let unreadable line expected = raise (Unreadable (Printf.sprintf "line %d should be %s" line expected))

(* Numbers as the proof has them, made once each. *)
let largest = 36

let nats =
  let nats = Array.make (largest + 1) O in
  for i = 1 to largest do nats.(i) <- S nats.(i - 1) done;
  nats

type file = { input : in_channel; mutable line : int }

let next_line file =
  file.line <- file.line + 1;
  try input_line file.input with End_of_file -> ""

(* What follows a prefix, if the text begins with it. *)
let after prefix text =
  let n = String.length prefix in
  if String.length text >= n && String.sub text 0 n = prefix then
    Some (String.sub text n (String.length text - n))
  else None

let field file prefix example =
  match after prefix (next_line file) with
  | Some value -> value
  | None -> unreadable file.line (Printf.sprintf "'%s', such as '%s%s'" prefix prefix example)

let decimal text =
  let digit c = c >= '0' && c <= '9' in
  if text <> "" && String.length text <= 20 && String.for_all digit text then
    int_of_string_opt ("0u" ^ text)
  else None

let read_size file =
  let spec = field file "game: connect4:" "7x6" in
  match List.map decimal (String.split_on_char 'x' spec) with
  | [ Some columns; Some rows ]
    when 1 <= columns && columns <= largest && 1 <= rows && rows <= largest -> (columns, rows)
  | _ -> unreadable file.line "'game: connect4:COLUMNSxROWS', both from 1 to 36"

(* The proof counts columns from 0, files from 1. *)
let read_moves file columns =
  let text = field file "moves: " "4455" in
  let names =
    if text = "" then []
    else if columns < 10 then List.map (String.make 1) (List.of_seq (String.to_seq text))
    else String.split_on_char ',' text in
  let move name =
    match decimal name with
    | Some column when 1 <= column && column <= columns -> nats.(column - 1)
    | _ -> unreadable file.line "'moves: ' and numbers of columns, counted from 1" in
  (text, List.map move names)

let claim_of_name = function
  | ">=win" -> Some (AtLeast Win)
  | ">=draw" -> Some (AtLeast Draw)
  | "<=draw" -> Some (AtMost Draw)
  | "<=loss" -> Some (AtMost Loss)
  | _ -> None

let read_layer file text =
  let expected = "'layer N: ' and N of the characters 0-9 and a-z" in
  let number c =
    match c with
    | '0' .. '9' -> nats.(Char.code c - Char.code '0')
    | 'a' .. 'z' -> nats.(Char.code c - Char.code 'a' + 10)
    | _ -> unreadable file.line expected in
  match String.index_opt text ':' with
  | Some colon
    when colon + 2 <= String.length text
         && text.[colon + 1] = ' '
         && decimal (String.sub text 0 colon) = Some (String.length text - colon - 2) ->
    let numbers = ref [] in
    for i = String.length text - 1 downto colon + 2 do numbers := number text.[i] :: !numbers done;
    (!numbers, String.length text - colon - 2)
  | _ -> unreadable file.line expected

(* A claim's layers, and the line after them. *)
let rec read_layers file layers positions =
  let text = next_line file in
  match after "layer " text with
  | Some text ->
    let layer, count = read_layer file text in
    read_layers file (layer :: layers) (positions + count)
  | None -> (List.rev layers, positions, text)

(* The claims from this line on, each with its name, and how many positions they have. *)
let rec read_claims file text =
  match after "claim: " text with
  | None ->
    if text <> "end" then unreadable file.line "'layer N: ...', 'claim: ...' or 'end'";
    ([], 0)
  | Some claim -> (
    let line = file.line in
    let name, count =
      match String.split_on_char ',' claim with
      | [ name; count ] -> (name, Option.bind (after " positions: " count) decimal)
      | _ -> (claim, None) in
    match (claim_of_name name, count) with
    | Some claim, Some count ->
      let layers, positions, text = read_layers file [] 0 in
      if count <> positions then
        unreadable line (Printf.sprintf "'claim: %s, positions: %d', as so many follow" name positions);
      let claims, others = read_claims file text in
      ((name, (claim, layers)) :: claims, positions + others)
    | _ -> unreadable line "'claim: CLAIM, positions: N' with >=win, >=draw, <=draw or <=loss")

let read file =
  if next_line file <> "jlpns certificate, version 1, plain" then
    unreadable file.line "'jlpns certificate, version 1, plain'";
  let columns, rows = read_size file in
  if field file "rules: " "1" <> "1" then unreadable file.line "'rules: 1', the only ones that are proved here";
  let moves_text, moves = read_moves file columns in
  let claims, positions = read_claims file (next_line file) in
  if claims = [] then unreadable file.line "a claim; there is none";
  (match input_char file.input with
   | exception End_of_file -> ()
   | _ -> unreadable file.line "the last one, as it says 'end'");
  let what =
    Printf.sprintf "connect4:%dx%d%s %s" columns rows
      (if moves_text = "" then "" else " after " ^ moves_text)
      (String.concat ", " (List.map fst claims)) in
  let claims = List.map snd claims in
  (what, positions, { columns = nats.(columns); rows = nats.(rows); moves; claims })

let () =
  (* Few, large steps of the garbage collector. *)
  Gc.set { (Gc.get ()) with minor_heap_size = 4_194_304; space_overhead = 120 };
  let path =
    match Sys.argv with
    | [| _; path |] -> path
    | _ -> prerr_endline "usage: check FILE, a certificate in the plain form"; exit 2 in
  match
    let what, positions, certificate = read { input = open_in_bin path; line = 0 } in
    (what, positions, check certificate)
  with
  | what, positions, true -> Printf.printf "proved: %s (%d positions)\n" what positions
  | what, _, false ->
    Printf.printf
      "not proved: %s; a move in %s is missing, left over, not legal, or does not keep the claim\n" what path;
    exit 1
  | exception Unreadable why -> Printf.eprintf "%s is not a plain certificate: %s\n" path why; exit 2
  | exception Sys_error why -> Printf.eprintf "the certificate cannot be read: %s\n" why; exit 2
  | exception Out_of_memory -> Printf.eprintf "%s needs more memory than there is\n" path; exit 2
  | exception Stack_overflow -> Printf.eprintf "%s needs more stack than there is\n" path; exit 2
