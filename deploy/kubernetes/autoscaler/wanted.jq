# How many workers are wanted, from what `jlpns status --output json` says of the solve, with the numbers of workers that
# there are to be now ($now), at least ($least) and at most ($most).
#
# Work waits where every slot has a job: then there are twice as many workers the next time. Where slots wait for work
# instead, there are as many as would be nine tenths at work. A solve that is over needs none.
([.workers[].slots] | add // 0) as $slots
| ([.workers[].running] | add // 0) as $running
| if .value != null or .proved != null then 0
  elif $slots == 0 then [$now, $least] | max
  elif $running >= 0.9 * $slots then [[$now * 2, $least] | max, $most] | min
  else [[($now * $running / $slots / 0.9 | ceil), $least] | max, $most] | min
  end
