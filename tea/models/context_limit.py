def limit_in(problem: str):
    return None
