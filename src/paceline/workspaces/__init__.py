"""Workspaces: a folder for each attempt, made from a template, a repository, an archive, or nothing.

    sources    what a workspace can be made from, as values
    stores     one store of objects for each repository, however many workspaces are made from it
    archives   unpacking what may be hostile
    inside     writing and reading below a folder, and never outside of it
    git        asking git, without what anybody has set up for it
    changes    what has changed since a workspace was made: a patch, and a list of files
    glimpse    what is in a small folder, where git need not be asked
    ground     where the workspaces of a run lie, whose they are, and sweeping what a killed run has left
    spreading  having them lie apart on their disk
    workspace  making one, seeing what came of it, making it anew from its source and the patch

Knows folders, files and git. Knows nothing of commands, cases or scores.
"""
