"""A process that has imported all and forks one for each call, so that an answer takes no import.

paths                            the folder of the socket, its name, and what a start of Python depends on
protocol                         what is said on the socket, and with which descriptors
client                           the installed command: hands its call to that process, or runs it
server                           that process: what it imports and runs at its start, its loop, and what it forks
control                          to start it, to stop it, and to ask for its number

`paths`, `protocol` and `client` are imported by every call, before anything else: they import nothing that Python has
not imported at its start, but `_socket` and `resource`.
"""
