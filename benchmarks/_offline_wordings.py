"""The wordings of the tuning set: class of question to templates, filled in by the generator."""

WORDINGS: dict[str, tuple[str, ...]] = {
    "count all": (
        "How many {rows} are there?",
        "How many {rows} are in {file}?",
        "Count the {rows}.",
        "What is the total number of {rows} in the data?",
    ),
    "count where": (
        "How many {subject} are there?",
        "Count the {subject}.",
        "What is the number of {subject}?",
        "How many {subject} does the file list?",
        "Number of {subject}?",
    ),
    "count above": (
        "How many {rows} have a {np} greater than {v}?",
        "How many {rows} have a {np} of more than {v}?",
        "Count the {rows} whose {np} exceeds {v}.",
    ),
    "count below": (
        "How many {rows} have a {np} below {v}?",
        "How many {rows} have a {np} less than {v}?",
    ),
    "count at least": ("How many {rows} have a {np} of at least {v}?",),
    "count between": (
        "How many {rows} have a {np} between {a} and {b}?",
        "Count the {rows} with a {np} between {a} and {b}.",
    ),
    "count two": (
        "How many {subject} {over} are there?",
        "How many {subject} have a {np} above {v}?",
        "Count the {subject} with a {np} above {v}.",
    ),
    "distinct": (
        "How many different {plural} are there?",
        "How many distinct {plural} appear in {file}?",
        "How many {plural} are represented?",
    ),
    "list values": ("What are the different {plural}?", "List all {plural} in the data.", "Which {plural} occur?"),
    "list rows": ("List the {subject}.", "Which {subject} are there?", "Name all {subject}."),
    "mean": (
        "What is the average {np}{scope}?",
        "What's the mean {np}{scope}?",
        "What is the {np}{scope} on average?",
    ),
    "median": ("What is the median {np}{scope}?", "Give me the median of the {np}{scope}."),
    "sum": ("What is the total {np}{scope}?", "What is the sum of {np}{scope}?", "Add up the {np}{scope}."),
    "max": (
        "What is the highest {np}{scope}?",
        "What was the maximum {np}{scope}?",
        "What is the largest {np}{scope}?",
    ),
    "min": ("What is the lowest {np}{scope}?", "What's the minimum {np}{scope}?", "What is the smallest {np}{scope}?"),
    "range": ("What is the difference between the highest and the lowest {np}?", "What is the range of the {np}?"),
    "top row": (
        "Which {row} has the highest {np}?",
        "Which {row} had the largest {np}?",
        "What is the {row} with the highest {np}?",
    ),
    "bottom row": ("Which {row} has the lowest {np}?", "Which {row} has the smallest {np}?"),
    "superlative": ("Which is the {most} {row}?", "Which {row} is the {most}?", "What is the {most} {row}?"),
    "superlative where": (
        "Which of the {subject} has the highest {np}?",
        "Among {subject}, which has the highest {np}?",
    ),
    "rank": ("Which {row} has the second highest {np}?", "Which {row} ranks third by {np}?"),
    "top n": (
        "What are the {n} {rows} with the highest {np}?",
        "List the top {n} {rows} by {np}.",
        "Which {n} {rows} have the highest {np}?",
    ),
    "most rows": (
        "Which {cat} has the most {rows}?",
        "What {cat} has the largest number of {rows}?",
        "Which {cat} has the highest number of {rows}?",
        "Which {cat} appears most often?",
    ),
    "fewest rows": ("Which {cat} has the fewest {rows}?", "Which {cat} has the smallest number of {rows}?"),
    "top groups": ("What are the {n} {plural} with the most {rows}?", "Give the top {n} {plural} by number of {rows}."),
    "most common": (
        "What is the most common {cat}?",
        "Which {cat} is the most frequent?",
        "What's the commonest {cat}?",
    ),
    "group mean": (
        "Which {cat} has the highest average {np}?",
        "Which {cat} has the lowest mean {np}?",
        "Which {cat} has the largest average {np}?",
    ),
    "group sum": ("Which {cat} has the highest total {np}?", "Which {cat} comes first by total {np}?"),
    "look up": ("What is the {np} {at}?", "What was the {np} {at}?", "{np_title} {at}?"),
    "look up own": (),
    "reverse": (
        "Which {row} has a {np} of {v}?",
        "Which {row} has the {np} {v}?",
        "What {row} has a {np} of {v}?",
    ),
    "yes no": (
        "Are there any {subject}?",
        "Are there more than {n} {subject}?",
        "Is there a {row} with a {np} above {v}?",
        "Is the {np} {at} higher than {v}?",
    ),
    "compare rows": (
        "Which has the higher {np}, {e} or {f}?",
        "Which is higher: the {np} {at} or {at_f}?",
    ),
    "compare groups": (
        "Are there more {subject} or more {other}?",
        "Which {cat} has more {rows}, {v} or {w}?",
    ),
    "difference": (
        "What is the difference in {np} between {e} and {f}?",
        "How much higher is the {np} {at} than {at_f}?",
    ),
    "difference of counts": ("How many more {subject} than {other} are there?",),
    "share": (
        "What percentage of the {rows} are {subject}?",
        "What share of {rows} have {cat} {v}?",
        "What percent of {rows} have a {np} above {v}?",
    ),
    "date": (
        "How many {rows} {verb} in {year}?",
        "How many {rows} {verb} before {year}?",
        "How many {rows} {verb} after {year}?",
        "How many {subject} were there in {year}?",
        "How many {subject} were there in {month}?",
        "What was the average {np} in {year}?",
        "What was the highest {np} in {month}?",
    ),
    "missing": (
        "How many {rows} have {gap}?",
        "For how many {rows} is the {column} missing?",
        "How many missing values does the column {column} have?",
    ),
}

ARITHMETIC = (
    ("What is {a} + {b}?", "a + b"),
    ("What is {a} times {b}?", "a * b"),
    ("How much is {a} minus {b}?", "a - b"),
    ("What is {p}% of {a}?", "p * a / 100"),
    ("Divide {m} by {p}.", "m / p"),
    ("Calculate ({a} + {b}) * {p}.", "(a + b) * p"),
    ("What is {p} squared?", "p * p"),
    ("What is the square root of {q}?", "s"),
    ("I buy {p} tickets at {x} dollars each. How much do I pay?", "p * x"),
    ("What is the average of {a}, {b} and {p}?", "(a + b + p) / 3"),
    ("What is the sum of {a}, {b} and {p}?", "a + b + p"),
    ("What is 2 to the power of {p}?", "2 ** p"),
)

TEXT = (
    ("How many years must someone have been a citizen to become a senator?", ("nine years",)),
    ("How old must a person be to be a Representative?", ("twenty five years", "twenty-five")),
    ("Which amendment protects the freedom of speech?", ("amendment i", "first amendment")),
    ("Which amendment is about excessive bail?", ("amendment viii", "eighth amendment")),
    ("Which amendment says no soldier shall be quartered in any house?", ("amendment iii", "third amendment")),
    ("What does the text say about granting titles of nobility?", ("no title of nobility shall be granted",)),
    ("Where must bills for raising revenue originate?", ("house of representatives",)),
    ("Who has the sole power to try all impeachments?", ("senate shall have the sole power", "=the senate", "=senate")),
    ("For how long does the President hold his office?", ("term of four years", "four years")),
    ("What is needed to convict someone of treason?", ("testimony of two witnesses",)),
    ("What does the text say about unreasonable searches and seizures?", ("against unreasonable searches",)),
    ("When was the Bill of Rights ratified?", ("december 15, 1791",)),
    ("What does it say about a speedy and public trial?", ("speedy and public trial",)),
    (
        "Who is President of the Senate?",
        ("vice president of the united states", "=vice president", "=the vice president"),
    ),
)

TEXT_ABSENT = (
    "What does the text say about artificial intelligence?",
    "Who was the architect of the White House?",
    "What is the speed limit on highways?",
)
