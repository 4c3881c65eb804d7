# Has the worker drain; and removes what belongs to it, if that is wanted.
next drain_seconds
next aborts
next removes

if [ ! -d "$folder" ]; then done_with absent; fi
lock
find_worker
fact pid "$pid"
was=idle
if [ -n "$pid$(strays)" ]; then was=running; fi
drain "$drain_seconds" "$aborts" || refuse_running
forget_unit
fact was "$was"
fact said "$(last_said)"
if [ "$removes" = nothing ]; then
    rm -f "$folder/worker.pid"
    done_with drained
fi
stage removing
rm -rf "$folder/credentials" "$folder/incoming"
rm -f "$folder/worker.pid" "$folder/worker.pid.new" "$folder/run" "$folder/launched"
if [ "$removes" = all ]; then
    rm -f "$folder/jlpns-worker" "$folder/worker.log" "$folder/worker.log.1"
fi
made=$(cat "$folder/made" 2>/dev/null)
if [ "$removes" = all ]; then
    rm -f "$folder/lock" "$folder/made"
    remove_folders "${made:-$folder}"
fi
if [ "$removes" = all ] && [ -d "$folder" ]; then
    fact left "$(ls -A "$folder" | head -n 5)"
fi
done_with removed
