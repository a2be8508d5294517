"""What a compiler would make of a program, and how long its warps would take."""
