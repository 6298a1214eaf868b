"""What the part adds to tables of the tests of the core."""

from gradcli import Function

ANSWERS = {"Source": lambda: Function("sin(x)/3").code({"x": [1.0, 2.0]}, "ones")}

QUESTIONS = {"code": ["sin(x)", "--at", "1,2", "--v", "1,1"]}

RULES = {
    "parts/code/self_writing.py": "rules of constant tensors",
    "parts/code/numpy_script.py": "names in scipy.special",
    "parts/code/script.py": "constant tensors in the words of torch",
}

GRADIENTS = {
    "parts/code/numpy_script.py": "scripts, as they are written",
}

NARROW = {
    ("parts.code", "report"): {"gradcli.report", "gradcli.report.document"},  # a LaTeX document is an answer in LaTeX
}

COMMAND_LINES = {
    ("parts/code/code.py", " --to "): "a command to type",
    ("parts/code/script_files.py", " and --to latex exclude each other"): "files are written by the shell alone",
}

RECORDED = dict.fromkeys(["code"])
