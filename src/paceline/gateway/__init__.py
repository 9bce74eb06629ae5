"""The gateway: the pace and the recorder for programs in any language, as a proxy on this machine.

    tickets      who may ask: one attempt each, with what it may use, and what it has used
    upstreams    where calls go from here, with the real keys, which no child ever sees
    requests     what a child asks, checked: whose it is, where it is to go, what of it may pass
    refusals     how a child is told no, in the words of the wire that it speaks
    server       all of that over HTTP

A call that passes here goes through the same door as those of this process (`pace.transport`): its pool, its
retries, its price and its record are no others. Listens on the loopback interface only.

Knows wires and tickets. Knows nothing of cases, commands or journals.
"""
