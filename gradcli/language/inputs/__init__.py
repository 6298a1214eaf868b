"""What a question is given beside its function: values, ranges, directions and gradient vectors, as text or arrays.

values      text, numbers or arrays to the array of a variable
ranges      LOW..HIGH to bounds
cotangents  the gradient vector v
directions  the direction u
"""
