"""Section 1.3: Which of two limits do you hit?"""
