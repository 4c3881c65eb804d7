# What all scripts share. They run under whatever sh the host has, and read what they are told as lines on stdin.
LC_ALL=C
export LC_ALL
PATH=${PATH:-/usr/bin}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
umask 077
# What a login shell has printed before this line is not ours.
echo 'jlpns-launch 1'

flat() { tr '\n\r\t' '   '; }
fact() { printf 'fact %s %s\n' "$1" "$(printf '%s' "$2" | flat)"; }
stage() { printf 'stage %s\n' "$1"; }
done_with() {
    printf 'done %s\n' "$1"
    exit 0
}
trouble() {
    printf 'trouble %s %s\n' "$1" "$(printf '%s' "${2-}" | flat)"
    exit 1
}
next() { IFS= read -r "$1" || trouble cut-off "the values ended before $1"; }
has() { command -v "$1" >/dev/null 2>&1; }
limited() { if has timeout; then timeout 10 "$@"; else "$@"; fi; }
nap() { sleep 0.1 2>/dev/null || sleep 1; }

next path
case $path in
'~') path=$HOME ;;
'~/'*) path=$HOME/${path#??} ;;
/*) ;;
*) path=$HOME/$path ;;
esac
# A home may be shared by many machines: each has a folder of its own.
folder=$path/$(uname -n)
# /proc has the path without links.
real=$(cd "$folder" 2>/dev/null && pwd -P) || real=$folder

# Sets `ticks` to the time at which a process was started, if it is alive.
alive() {
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    set -- ${stat##*) }
    case ${1-X} in Z | X) return 1 ;; esac
    ticks=${20}
}

# Sets `pid` to the process that the pid file names, if it is that very one: numbers come again.
find_worker() {
    pid=
    [ -r "$folder/worker.pid" ] || return 1
    read -r number since boot <"$folder/worker.pid" || return 1
    case $number in '' | *[!0-9]*) return 1 ;; esac
    [ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ] || return 1
    alive "$number" && [ "$ticks" = "$since" ] || return 1
    pid=$number
}

# All processes of this user whose program has the name of the worker, with its path.
all_workers() {
    ls -l /proc/[0-9]*/exe 2>/dev/null |
        sed -n 's|^.* /proc/\([0-9][0-9]*\)/exe -> \(.*/jlpns-worker\)$|\1 \2|p
                s|^.* /proc/\([0-9][0-9]*\)/exe -> \(.*/jlpns-worker\) (deleted)$|\1 \2|p'
}

# The processes of the worker in this folder that the pid file does not name.
strays() {
    all_workers | while read -r number program; do
        [ "$program" = "$real/jlpns-worker" ] || continue
        [ "$number" = "${pid-}" ] || printf '%s ' "$number"
    done
}

runtime_folder() {
    : "${XDG_RUNTIME_DIR:=/run/user/$(id -u)}"
    export XDG_RUNTIME_DIR
}
has_systemd() { [ -d /run/systemd/system ] && has systemd-run; }
has_user_manager() {
    runtime_folder
    has_systemd && [ -e "$XDG_RUNTIME_DIR/systemd/private" ] &&
        limited systemctl --user show-environment >/dev/null 2>&1
}
lingers() { [ -e "/var/lib/systemd/linger/$(id -un)" ]; }
unit=jlpns-worker-$(printf '%s' "$folder" | cksum | cut -d ' ' -f 1).service

lock() {
    error=$( (true >>"$folder/lock") 2>&1) || trouble write "$error"
    exec 9>>"$folder/lock"
    if has flock; then flock -n 9 || trouble busy; fi
}

# Asks every worker of this folder to drain, and waits until all have ended: false if one has not in so many seconds.
drain() {
    find_worker
    running=
    for number in ${pid:+"$pid"} $(strays); do
        alive "$number" && running="$running $number:$ticks"
    done
    if [ -z "$running" ]; then
        rm -f "$folder/asked"
        return 0
    fi
    stage draining
    ask_to_drain
    if ! ended_within "$1"; then
        [ "$2" = yes ] || return 1
        stage aborting
        # The second one aborts.
        signal_all TERM
        if ! ended_within 3; then
            signal_all KILL
            ended_within 5 || return 1
        fi
    fi
    rm -f "$folder/asked"
}
still() {
    alive "${1%:*}" && [ "$ticks" = "${1#*:}" ]
}
# Once each: a second signal aborts, however much later it comes.
ask_to_drain() {
    for each in $running; do
        grep -qxF "$each" "$folder/asked" 2>/dev/null && continue
        if still "$each" && kill -TERM "${each%:*}" 2>/dev/null; then
            printf '%s\n' "$each" >>"$folder/asked" || :
        fi
    done
}
signal_all() {
    for each in $running; do
        if still "$each"; then kill "-$1" "${each%:*}" 2>/dev/null; fi
    done
}
ended_within() {
    until=$(($(date +%s) + $1))
    while :; do
        left=
        for each in $running; do
            if still "$each"; then left="$left $each"; fi
        done
        running=$left
        [ -n "$running" ] || return 0
        [ "$(date +%s)" -le "$until" ] || return 1
        nap
    done
}
refuse_running() {
    named=
    for each in $running; do named="$named ${each%:*}"; done
    trouble still-running "${named# }"
}
# The unit of a worker that has ended is gone a moment later, and one whose process was killed stays.
forget_unit() {
    runtime_folder
    if has systemctl && [ -e "$XDG_RUNTIME_DIR/systemd/private" ]; then
        tries=50
        while [ "$tries" -gt 0 ] && limited systemctl --user is-active --quiet "$unit" 2>/dev/null; do
            nap
            tries=$((tries - 1))
        done
        limited systemctl --user reset-failed "$unit" >/dev/null 2>&1
    fi
    return 0
}
# Removes the folders that were made for the worker, if nothing is left in them.
remove_folders() {
    others=$(ls -A "$folder" 2>/dev/null | grep -v -x -e lock -e made)
    [ -z "$others" ] || return 0
    rm -f "$folder/lock" "$folder/made"
    dir=$folder
    while rmdir "$dir" 2>/dev/null && [ "$dir" != "$1" ]; do dir=$(dirname "$dir"); done
    rmdir "$path" 2>/dev/null
    return 0
}
digest() { sha256sum "$1" 2>/dev/null | cut -d ' ' -f 1; }
# The last line of the log.
last_said() { tail -n 1 "$folder/worker.log" 2>/dev/null; }
