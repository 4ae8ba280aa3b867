"""What is guaranteed without attacking: by theorems, and by counting on the data."""
