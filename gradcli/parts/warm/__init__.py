"""Process that has imported all and forks a child for each call, so that an answer takes no import.

paths                            folder and name of the socket, and the conditions of a start of Python
protocol                         the messages on the socket, and their descriptors
client                           the installed command: hands its call to that process, or runs it
server                           that process: its imports and first calls, its loop, and its children
control                          starts it, stops it, and asks for its number

`paths`, `protocol` and `client` are imported by every call, before anything else: they import nothing that Python has
not imported at its start, but `_socket` and `resource`.
"""
