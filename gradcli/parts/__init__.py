"""Parts: what gradcli can do besides its main job, each in a folder that may be deleted; the core imports none.

claims           proofs and refutations of derivatives that somebody states
improve          why a number lost digits, and a form that loses fewer
code             scripts that compute the same
running          functions and scripts of Python, run and recorded
paste            pasted statements: definitions, tensors, backward passes
tables           one function over tables: into a file, or in parts into a folder, on many machines
batch            requests as lines of JSON, answered one after the other
warm             a process that answers the calls of the shell at once
"""
