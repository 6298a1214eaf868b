"""Text of a function to text of the same function that rounds, overflows or poisons less; knows no numbers of torch."""
