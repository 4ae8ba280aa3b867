"""What is guaranteed without attacking: the theorems, and what counting on the data adds."""
