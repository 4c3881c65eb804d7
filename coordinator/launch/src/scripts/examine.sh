# What could keep a worker from running here; after the survey.
next address
next port
fact others "$(all_workers | while read -r number program; do
    [ "$program" = "$real/jlpns-worker" ] || printf '%s ' "$number"
done)"
probe=$there/.jlpns-probe.$$
if error=$( (printf '#!/bin/sh\nexit 0\n' >"$probe") 2>&1) && chmod 700 "$probe"; then
    if "$probe" 2>/dev/null; then fact executes yes; else fact executes no; fi
else
    fact unwritable "$error"
fi
rm -f "$probe"
if has busctl; then
    manager='org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager'
    case $(limited busctl get-property $manager KillUserProcesses 2>/dev/null) in
    *true*) fact kills yes ;;
    esac
fi
if [ -n "$address" ]; then
    stage connecting
    if has bash; then
        error=$(limited bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$address" "$port" 2>&1)
        case $? in
        0) fact reaches yes ;;
        124) fact reaches 'no answer in 10 s' ;;
        *) fact reaches "${error##*: }" ;;
        esac
    elif has nc; then
        if limited nc -z "$address" "$port" >/dev/null 2>&1; then
            fact reaches yes
        else
            fact reaches 'no connection'
        fi
    fi
fi
done_with examined
