# What there is on this host, and what runs there.
fact system "$(uname -s)"
fact machine "$(uname -m)"
fact host "$(uname -n)"
fact folder "$folder"
fact clock "$(date +%s)"
fact cores "$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null)"
fact memory "$(sed -n 's/^MemAvailable: *\([0-9]*\) kB$/\1/p' /proc/meminfo 2>/dev/null)"
there=$folder
while [ ! -d "$there" ]; do there=$(dirname "$there"); done
set -- $(df -Pk "$there" 2>/dev/null | tail -n 1)
fact free "${4-}"
missing=
for tool in sha256sum dd tail nohup sed; do has "$tool" || missing="$missing $tool"; done
fact missing "${missing# }"
if find_worker; then fact pid "$pid"; fi
fact strays "$(strays)"
if [ -r "$folder/launched" ]; then
    while read -r key value; do
        case $key in build | settings | since | under | version) fact "$key" "$value" ;; esac
    done <"$folder/launched"
fi
if [ -f "$folder/jlpns-worker" ]; then fact file "$(digest "$folder/jlpns-worker")"; fi
if [ -n "$pid" ]; then
    fact slots "$(sed -n 's/^.*connected: .* with \([0-9]*\) slots.*$/\1/p' "$folder/worker.log" 2>/dev/null | tail -n 1)"
fi
fact said "$(last_said)"
if has_user_manager; then
    fact manager usable
elif has_systemd; then
    fact manager unreachable
else
    fact manager absent
fi
if lingers; then fact lingers yes; fi
