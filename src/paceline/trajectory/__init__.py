"""Trajectories: what a model was told, said and called tools with, read from the bodies of its calls.

    reading     one call, of any wire format, as messages of ours
    streams     a streamed answer put together again, as if it had come whole
    folding     the calls of one attempt as one sequence of messages, each told once

Needs no instrumentation: whatever speaks to a model over HTTP leaves these bodies behind. What cannot be
understood is left out, and nothing is raised: a trajectory is read from what foreign programs write.

Knows wire formats. Knows nothing of who made the calls, or of what is thought of them.
"""
