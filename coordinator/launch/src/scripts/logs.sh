# The end of the worker's log.
next lines
if [ ! -r "$folder/worker.log" ]; then trouble no-log "$folder/worker.log"; fi
tail -n "$lines" "$folder/worker.log" | sed 's/^/log /'
done_with told
