"""Child processes that cannot outlive this one: started in a group of their own, limited, and ended whole.

    launch    what to start, and what came of it, as values
    running   starts it: `await run(launch) -> Ended` on a loop, `run_blocking(launch) -> Ended` on a thread
    keeper    the small process that forks for us, one for each process of ours
    warden    one for each command under way: its parent, its reaper, and whoever ends it when we are gone
    becoming  how a forked child becomes a command
    line      what we and a warden say to each other
    tree      the processes below one
    capture   keeping what is printed, within a bound

Knows processes, their output and their limits. Knows nothing of cases, workspaces or containment: a sandbox
around a command is a matter of its `argv`.
"""
