(* Writes certificates in the plain form for boards small enough for brute force: the tests' own writer, which
   shares nothing with the checker. docs/certificate.md says what it follows.

     generate COLUMNSxROWS MOVES CLAIM...      such as: generate 4x4 '' '>=draw' '<=draw'  *)

type board = { mine : int; theirs : int } (* the claimant's stones, and the other player's *)

let columns, rows, moves, claims =
  match Array.to_list Sys.argv with
  | _ :: size :: moves :: (_ :: _ as claims) ->
    Scanf.sscanf size "%dx%d%!" (fun columns rows -> (columns, rows, moves, claims))
  | _ -> failwith "usage: generate COLUMNSxROWS MOVES CLAIM..."

let height = rows + 1
let () = if columns * height > 62 then failwith "the board has more than 62 bits"
let all = List.init columns Fun.id
let bottoms = List.fold_left (fun bits c -> bits lor (1 lsl (c * height))) 0 all
let column_mask c = ((1 lsl rows) - 1) lsl (c * height)
let cells = List.fold_left (fun bits c -> bits lor column_mask c) 0 all

(* Rows of four go up, to the right, and along the diagonals: so many bits from stone to stone. *)
let four stones =
  List.exists
    (fun step ->
      let pairs = stones land (stones lsr step) in
      pairs land (pairs lsr (2 * step)) <> 0)
    [ 1; height; height + 1; height - 1 ]

let stones b = b.mine lor b.theirs
let full b = stones b = cells
let number b = b.mine lor (stones b + bottoms)

let mirror_bits bits =
  List.fold_left
    (fun image c ->
      let column = (bits lsr (c * height)) land ((1 lsl height) - 1) in
      image lor (column lsl ((columns - 1 - c) * height)))
    0 all

let mirror b = { mine = mirror_bits b.mine; theirs = mirror_bits b.theirs }
let standard b = let m = mirror b in if number m < number b then m else b
let free b c = (stones b + (1 lsl (c * height))) land column_mask c
let legal b = List.filter (fun c -> free b c <> 0) all
let play_mine b c = { b with mine = b.mine lor free b c }
let play_theirs b c = { b with theirs = b.theirs lor free b c }

let nearest_the_centre =
  List.stable_sort (fun a b -> compare (abs ((2 * a) + 1 - columns)) (abs ((2 * b) + 1 - columns)))

(* A claim's proof: which move shows it on each board with the claimant to move. *)
module Proof (Claim : sig val draw_is_enough : bool end) = struct
  let ends_well b = four b.mine || (full b && Claim.draw_is_enough)
  let ends_at_once b = List.exists (fun c -> ends_well (play_mine b c)) (legal b)
  let known : (int, bool) Hashtbl.t = Hashtbl.create 100_000

  let rec holds b =
    ends_at_once b
    ||
    let key = number (standard b) in
    match Hashtbl.find_opt known key with
    | Some answer -> answer
    | None ->
      let answer = List.exists (shown_by b) (nearest_the_centre (legal b)) in
      Hashtbl.add known key answer;
      answer

  and shown_by b c =
    let b = play_mine b c in
    (not (full b)) && every_reply b

  and every_reply b =
    let replies = List.map (play_theirs b) (legal b) in
    (not (List.exists (fun b -> four b.theirs) replies))
    && List.for_all (fun b -> if full b then Claim.draw_is_enough else holds b) replies

  module Layer = Map.Make (Int)

  let enter layer b =
    if full b || ends_at_once b then layer
    else let b = standard b in Layer.add (number b) b layer

  let replies layer b = List.fold_left (fun l c -> enter l (play_theirs b c)) layer (legal b)

  let rec layers now =
    if Layer.is_empty now then []
    else
      let numbers = Buffer.create 1000 in
      let visit _ b next =
        let moves = legal b in
        let move = List.find (shown_by b) (nearest_the_centre moves) in
        let rec index i = function m :: rest -> if m = move then i else index (i + 1) rest | [] -> -1 in
        Buffer.add_char numbers "0123456789abcdefghijklmnopqrstuvwxyz".[index 0 moves];
        replies next (play_mine b move) in
      let next = Layer.fold visit now Layer.empty in
      Buffer.contents numbers :: layers next

  let of_position b claimant_to_move =
    if claimant_to_move then if holds b then layers (enter Layer.empty b) else failwith "not true"
    else if every_reply b then layers (replies Layer.empty b)
    else failwith "not true"
end

let certify claim =
  let claimant_begins = claim.[0] = '>' in
  let draw_is_enough = String.sub claim 2 (String.length claim - 2) = "draw" in
  let place (b, mine_to_move) column =
    ((if mine_to_move then play_mine else play_theirs) b column, not mine_to_move) in
  let names =
    if moves = "" then []
    else if columns < 10 then List.init (String.length moves) (fun i -> String.make 1 moves.[i])
    else String.split_on_char ',' moves in
  let b, claimant_to_move =
    List.fold_left
      (fun state name -> place state (int_of_string name - 1))
      ({ mine = 0; theirs = 0 }, claimant_begins)
      names in
  let module P = Proof (struct let draw_is_enough = draw_is_enough end) in
  let layers = P.of_position b claimant_to_move in
  let positions = List.fold_left (fun sum l -> sum + String.length l) 0 layers in
  Printf.printf "claim: %s, positions: %d\n" claim positions;
  List.iter (fun l -> Printf.printf "layer %d: %s\n" (String.length l) l) layers

let () =
  Printf.printf "jlpns certificate, version 1, plain\ngame: connect4:%dx%d\nrules: 1\nmoves: %s\n"
    columns rows moves;
  List.iter certify claims;
  print_string "end\n"
