"""A simulated provider of models: quotas, latency, faults and answers; free, and the same every time.

    scenario            how a provider behaves: limits, latency, faults, and how they change over time
    builtin             scenarios that have names
    provider            a scenario carried out, as a machine without waiting
    answers             what a simulated model says
    openai_wire, anthropic_wire    the formats that the official SDKs speak
    http, server        the same over HTTP, for programs that know nothing of it

Knows nothing of pools and controllers: it is what they are judged by.
"""
