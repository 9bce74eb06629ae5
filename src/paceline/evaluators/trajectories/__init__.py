"""Evaluators of trajectories: which tools were called, with what, in which order, and what came of it.

    calls        the tool calls of a trajectory in one form, whoever told of them
    sources      where the trajectory of a case comes from, and what there is to say where there is none
    tools        ToolCorrectness, ForbiddenTools, CalledBefore, NoFailedTools
    matching     TrajectoryMatch
    arguments    ArgumentCorrectness
    limits       MaxToolCalls, MaxModelRequests
    accepting    whether a call is among those accepted, by the rules of the BFCL benchmark
    accepted     AcceptedCalls

No instrumentation is needed, and no model is asked. Of what nobody knows, nothing is said: an evaluator that
finds no trajectory has failed, which is neither a pass nor a zero.
"""
