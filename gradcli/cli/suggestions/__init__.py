"""Command lines that a wrong or foreign one may mean: each is tried before anybody sees it.

A line that cannot be read is parted into words (`typed_line`); rows of functions rewrite them (`respelling`), and what
the parser then reads is shown as a hint (`tried_hints`).  Patterns of what people type stand here, and nowhere else in
the shell.

typed_line                       the words of a command line that may be wrong, told apart
typed_values                     values of options as they were typed
unicode_words                    full-width signs and odd blanks of words, as those of ASCII

questions_in_words               questions in the words of a textbook or of another tool, as command lines
derivatives_in_words             derivatives among them: `d/dx x^2`, `derivative of x^2`, `diff(x^2, x)`
points_in_words                  points after a function: `x^2 at 3`, `.subs(x, 1)`
primes_in_words                  derivatives by a prime, and claims of them: `f(x) = x^4; f''(2)`
limits_in_words                  limits, as values
derivatives_on_ranges            derivatives on a range, as bounds and proofs of which they are a part
vector_operators                 operators of vector analysis: `laplacian(x^2)`, `div([a, b])`
compared_functions               two functions that are to be equal: `--equals "x*x"`
other_tools                      scripts of SymPy, functions of MATLAB, lambdas of JAX
equations_in_words               equations of two variables, as command lines for their partial derivatives
ranges_in_words                  functions with the range of a variable, `x^2 on [0, 1]`
written_ranges                   ranges as people write them, `x between 0 and 1`, with two dots between the ends
higher_derivatives               derivatives above the second, as people ask for them, refused
plain_words                      words of English for signs and commands: `x squared`, `slope of x^2 at 3`

respelling                       rows that rewrite the words of a command line
respelled_options                those that rewrite options
typed_ranges                     those that join the words of ranges, and give infinite ones finite ends
respelled_values                 those that rewrite values
random_values                    those that rewrite random numbers and seeds
respelled_mathematics            those that ask what signs of paper ask: integrals, lengths of vectors
respelled_orders                 those that ask for higher derivatives as the second one of a formula

spelled_hints                    command lines that the words of a hint spell
kept_words                       what a hint keeps of an equation that was typed
tried_hints                      command lines that are read before a hint shows them
"""
