"""A command line program as the thing under test: an agent, a script, anything that can be started.

spec         what may be said of it, checked before anything starts
shell        commands that a shell reads, with values put in so that they stay values
environment  what the program sees of our environment, which is little
engines      containers: docker and podman
output       where its answer is
failures     the ways in which an attempt can fail, told apart
keeping      what is kept of an attempt in the run directory
grounds      the workspaces of the runs that go on
task         the task itself
returning    the workspace of an attempt, for whoever scores it: where it still is, or made anew
"""

from paceline.tasks.command.task import CommandTask

__all__ = ["CommandTask"]
