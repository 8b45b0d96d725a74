"""Questions of the development set that its tables cannot answer, though they name what stands in them."""

TRAPS: dict[str, str] = {
    "bridges": """
Which city has the most pedestrians?
How many ships pass under Tower Bridge?
What is the average weight of the bridges?
Which bridge has the tallest towers?
How many people built the Humber Bridge?
Which bridge in Germany is the longest?
How many bridges are in Sweden?
What is the toll price of the Humber Bridge?
Who designed Tower Bridge?
How many lanes does the Golden Gate Bridge have?
Which bridge collapsed?
How many bridges were closed in 1964?
When was Tower Bridge demolished?
Which mayor opened the Humber Bridge?
What colour is the Golden Gate Bridge?
How many accidents happened on bridges in New York?
Is the Humber Bridge safer than Tower Bridge?
What is the maintenance cost of the Humber Bridge?
What is the height of Tower Bridge?
Which country has the most rivers?
How many bridges cost more than the average toll?
How many bridges will open in 2050 in London?
What is the length of the second span of Tower Bridge?
Which bridge was repaired most recently?
Which city has the largest population?
    """,
    "lakes": """
Which lake has the most fish?
How many islands are in lake Superior?
What is the temperature of Baikal?
Which continent has the most rivers?
How many countries border lake Victoria?
What is the average rainfall in Africa?
Which lake is the oldest?
How many tourists visited Titicaca in 2019?
How many lakes are polluted?
What is the minimum depth of Erie?
Which lake in Asia has the cleanest water?
How long is lake Tanganyika?
Which lake is closest to Berlin?
How many lakes dried up?
What is the volume of lake Chad?
What percentage of lakes are polluted?
Is Baikal cleaner than Victoria?
How many lakes have dams?
    """,
    "peaks": """
How many people climbed K2 in 1999?
Which peak has the most deaths?
Who first climbed Everest?
What is the snow depth on Denali?
How many peaks are volcanoes?
Which climber reached Everest first?
What is the temperature on K2?
What is the height of the base camp of Everest?
How long does it take to climb Denali?
What is the population of Nepal?
Which country has the most climbers?
    """,
    "moons": """
How many rings does Saturn have?
What is the mass of Titan?
Which moon has an ocean?
Which planet is closest to the sun?
How many astronauts visited the Moon?
Which moon has the thickest atmosphere?
How many moons does Venus have?
What is the age of Europa?
How far is Titan from Saturn?
Which planet has the shortest day?
    """,
    "releases": """
How many packages did Woody have?
Which release had the most bugs?
Who released Potato?
How many developers worked on Lenny?
What is the kernel version of Etch?
Which release was delayed the longest?
    """,
    "statuses": """
Which status is most used?
How many servers return 404?
Which code was deprecated?
What is the average response time of 200?
    """,
}
"""One question a line, by table."""
