# Takes the worker and its credentials, has an old worker drain, and starts the new one.
next build
next settings
next under
next drain_seconds
next aborts
next run_bytes
next credential_count
next binary_bytes

incoming=$folder/incoming
tidy() {
    rm -rf "$incoming"
    remove_folders "$made"
}
# Of a worker that does not run only the log is left, for whoever wants to know why.
withdraw() {
    rm -rf "$folder/credentials"
    rm -f "$folder/run" "$folder/launched" "$folder/worker.pid" "$folder/jlpns-worker"
}
trap tidy EXIT
trap 'exit 1' HUP INT TERM PIPE

# The first of the folders that are not there yet.
made=$(cat "$folder/made" 2>/dev/null)
if [ -z "$made" ]; then
    made=$folder
    if [ ! -d "$folder" ]; then
        while parent=$(dirname "$made") && [ ! -d "$parent" ]; do made=$parent; done
    fi
fi
error=$(mkdir -p "$folder" 2>&1) || trouble write "$error"
chmod 700 "$folder"
real=$(cd "$folder" && pwd -P)
lock
rm -rf "$incoming"
error=$(mkdir "$incoming" "$incoming/credentials" 2>&1) || trouble write "$error"

# Takes so many bytes from stdin, and no more: the rest is for who comes next.
take() {
    error=$(dd bs=1 count="$2" 2>&1 >"$1") || trouble write "$error"
    [ "$(wc -c <"$1")" -eq "$2" ] || trouble cut-off "$1"
}
take "$incoming/run" "$run_bytes"
while [ "$credential_count" -gt 0 ]; do
    next name
    next size
    take "$incoming/credentials/$name" "$size"
    credential_count=$((credential_count - 1))
done

program=$folder/jlpns-worker
if [ "$binary_bytes" -gt 0 ]; then
    stage copying
    program=$incoming/jlpns-worker
    error=$(cat 2>&1 >"$program") || trouble write "$error"
    [ "$(wc -c <"$program")" -eq "$binary_bytes" ] || trouble cut-off "the worker"
    chmod 700 "$program"
fi
[ "$(digest "$program")" = "$build" ] || trouble damaged "$program"
version=$("$program" --version 2>&1) || trouble run "$version"
{
    printf 'build %s\nsettings %s\nsince %s\n' "$build" "$settings" "$(date +%s)"
    printf 'version %s\n' "$(printf '%s' "$version" | head -n 1)"
} >"$incoming/launched" || trouble write 'No space left on device'
printf '%s\n' "$made" >"$incoming/made" || trouble write 'No space left on device'
[ "$(wc -l <"$incoming/launched")" -eq 4 ] && [ -s "$incoming/made" ] || trouble write 'No space left on device'

drain "$drain_seconds" "$aborts" || refuse_running

# From here on it goes to the end, whoever listens.
trap '' HUP PIPE
stage starting
if [ "$binary_bytes" -gt 0 ]; then mv -f "$program" "$folder/jlpns-worker"; fi
rm -rf "$folder/credentials"
mv "$incoming/credentials" "$folder/credentials"
mv -f "$incoming/run" "$folder/run"
mv -f "$incoming/launched" "$folder/launched"
mv -f "$incoming/made" "$folder/made"
rm -f "$folder/worker.pid"
forget_unit
if [ "$(wc -c 2>/dev/null <"$folder/worker.log" || echo 0)" -gt 16777216 ]; then
    mv -f "$folder/worker.log" "$folder/worker.log.1"
fi
before=$(wc -c 2>/dev/null <"$folder/worker.log" || echo 0)

detached() {
    how=detached
    if has setsid; then
        (cd "$folder" && exec setsid nohup sh ./run) </dev/null >/dev/null 2>&1 9>&- &
    else
        (cd "$folder" && exec nohup sh ./run) </dev/null >/dev/null 2>&1 9>&- &
    fi
}
# A unit's settings give a meaning to some characters.
case $folder in *[!A-Za-z0-9/._+,@:=-]*) [ "$under" = always ] || under=never ;; esac
how=
error=
case $under in
always) has_user_manager && how=systemd ;;
auto) has_user_manager && lingers && how=systemd ;;
*) how=detached ;;
esac
if [ "$how" = systemd ]; then
    error=$(limited systemd-run --user --quiet --collect --unit="$unit" --working-directory="$folder" \
        -p KillMode=mixed -p TimeoutStopSec="$drain_seconds" /bin/sh ./run 2>&1 9>&-) || how=
fi
if [ -z "$how" ]; then
    if [ "$under" = always ]; then
        withdraw
        trouble no-manager "$error"
    fi
    how=detached
fi
if [ "$how" = detached ]; then detached; fi

# It has a moment to write its pid, and to say whether it is connected.
until=$(($(date +%s) + 10))
new_log() { tail -c "+$((before + 1))" "$folder/worker.log" 2>/dev/null; }
until find_worker; do
    if [ "$(date +%s)" -gt "$until" ] || new_log | grep . >/dev/null; then break; fi
    nap
done
until=$(($(date +%s) + 10))
while find_worker; do
    case $(new_log) in *connected*) break ;; esac
    [ "$(date +%s)" -le "$until" ] || break
    nap
done
if ! find_worker; then
    said=$(new_log | tail -n 1)
    withdraw
    # Who comes when nothing is left to do has not failed.
    case $said in
    *'the solve is over'*)
        fact said "$said"
        done_with over
        ;;
    esac
    trouble ended "$said"
fi
printf 'under %s\n' "$how" >>"$folder/launched"
fact pid "$pid"
fact under "$how"
fact since "$(sed -n 's/^since //p' "$folder/launched")"
fact version "$(sed -n 's/^version //p' "$folder/launched")"
fact folder "$folder"
case $(new_log) in *connected*) fact connected yes ;; esac
fact slots "$(new_log | sed -n 's/^.*connected: .* with \([0-9]*\) slots.*$/\1/p' | tail -n 1)"
fact said "$(new_log | tail -n 1)"
done_with started
