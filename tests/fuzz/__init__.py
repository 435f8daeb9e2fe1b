"""Fuzzing of every boundary: files, the native module, the command line, Python arguments.

`make fuzz` runs it. A case starts from valid input, changes it at random and runs in a worker
process that has limits of memory and time. A finding is a death by signal, a case that neither
ends nor hears Ctrl-C, an internal error, a panic, an exception that is not documented, or a
warning of another class than ours. Case number N of a target is the same for the same seed.
"""
