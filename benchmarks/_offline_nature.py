"""What people call the rows and columns of the benchmark's tables of nature: sky, sea, animals, clocks."""

from _offline_tables import Category, Measure, Table

ZONES = Table(
    file="zone.tab", domain="time zones", row="time zone", rows="time zones", key="TZ", names=("TZ",),
    key_word="time zone", columns=("code", "coordinates", "TZ", "comments"), missing=("",),
    categories=(
        Category(column="code", words=("country code",), plural="country codes",
                 filters=("{rows} with country code {v}", "{rows} of {v}"),
                 asks=("How many time zones does the country with code {v} have?",),
                 held=("How many different zones are listed under {v}?",),
                 looks=("Which country code does {e} belong to?", "What is the country code of {e}?")),
        Category(column="coordinates", words=("coordinates",), groups=False,
                 looks=("What are the coordinates of {e}?", "Where is {e}? Give its coordinates.")),
    ),
    strangers=("Europe/Atlantis", "Asia/Xanadu"),
    absent=("What is the UTC offset of Europe/Paris?", "How many people live in Asia/Tokyo?"),
    held_absent=("When does daylight saving time start in America/New_York?",),
)  # fmt: skip

LEAP_SECONDS = Table(
    file="leap_seconds.csv", domain="time keeping", row="leap second", rows="leap seconds", key="date", names=("date",),
    key_word="leap second", at="on {e}", of="of", date="date", date_words="were introduced",
    categories=(Category(column="month", words=("month",), plural="months", filters=("{rows} in month {v}",)),),
    absent=("Who decides about leap seconds?",), held_absent=("How fast does the Earth spin?",),
)  # fmt: skip

WEATHER = Table(
    file="seattle-weather.csv", domain="weather", row="day", rows="days", key="date", names=("date",),
    key_word="day", at="on {e}", of="on", date="date",
    measures=(
        Measure(column="precipitation", words=("precipitation", "rainfall"), unit="mm", most="wettest", total=True,
                looks=("How much precipitation was there on {e}?", "How much did it rain on {e}?"),
                over="with more than {v} mm of precipitation"),
        Measure(column="temp_max", words=("maximum temperature", "daily high temperature"), unit="degrees",
                looks=("What was the maximum temperature on {e}?", "How hot did it get on {e}?"), most="hottest",
                over="with a maximum temperature above {v}", under="with a high temperature below {v} degrees"),
        Measure(column="temp_min", words=("minimum temperature", "daily low temperature"), unit="degrees",
                looks=("How cold did it get on {e}?", "What was the low temperature on {e}?"), least="coldest",
                under="with a minimum temperature below {v}"),
        Measure(column="wind", words=("wind speed", "wind"), looks=("How strong was the wind on {e}?",),
                most="windiest", over="with wind stronger than {v}"),
    ),
    categories=(
        Category(column="weather", words=("weather", "type of weather"), plural="types of weather",
                 filters=("{rows} with {v}",), asks=("On how many days was there {v}?", "How many days had {v}?"),
                 held=("How often was the weather {v}?",), looks=("What was the weather like on {e}?",)),
    ),
    strangers=("2019-05-01", "1999-12-31"),
    absent=("What was the average humidity?", "Which day had the highest air pressure?"),
    held_absent=("How many hours of sunshine were there on 2013-07-04?", "What was the UV index on 2014-08-01?"),
)  # fmt: skip

ELEMENTS = Table(
    file="elements.csv", domain="chemistry", row="element", rows="elements", key="element",
    names=("element", "symbol"), key_word="element",
    measures=(
        Measure(column="Z", words=("atomic number",), looks=("What is the atomic number of {e}?",)),
        Measure(column="atomic_weight", words=("atomic weight", "atomic mass"), most="heaviest", least="lightest",
                looks=("What is the atomic weight of {e}?", "What's {e}'s atomic mass?")),
        Measure(column="density_g_cm3", words=("density",), unit="g/cm3", most="densest", least="least dense",
                looks=("How dense is {e}?", "What is the density of {e} in g/cm3?"),
                over="denser than {v} g/cm3", under="with a density below {v} g/cm3"),
        Measure(column="covalent_radius_A", words=("covalent radius",),
                looks=("What is the covalent radius of {e}?", "How big is the covalent radius of {e}?")),
    ),
    categories=(
        Category(column="crystal_structure", words=("crystal structure", "structure"), plural="crystal structures",
                 filters=("{rows} with a {v} crystal structure", "{v} {rows}"),
                 asks=("How many elements have the crystal structure {v}?",),
                 held=("How many of the elements crystallise as {v}?",),
                 looks=("What crystal structure does {e} have?",)),
        Category(column="symbol", words=("symbol", "chemical symbol"), groups=False,
                 looks=("What is the symbol for {e}?", "What's the chemical symbol of {e}?")),
    ),
    gaps=(("density_g_cm3", "no density"), ("crystal_structure", "no crystal structure given")),
    strangers=("vibranium", "kryptonite", "phlogiston"),
    absent=("What is the melting point of iron?", "In which year was oxygen discovered?"),
    held_absent=("Who discovered radium?", "What is the electronegativity of fluorine?"),
)  # fmt: skip

PENGUINS = Table(
    file="penguins.csv", domain="biology", row="penguin", rows="penguins",
    measures=(
        Measure(column="body_mass_g", words=("body mass", "weight"), unit="g", over="that weigh more than {v} g",
                under="that weigh less than {v} grams", most="heaviest", least="lightest", total=True),
        Measure(column="flipper_length_mm", words=("flipper length", "length of the flippers"), unit="mm",
                over="with flippers longer than {v} mm", under="with flippers shorter than {v} mm"),
        Measure(column="bill_length_mm", words=("bill length",), unit="mm",
                over="with a bill longer than {v} mm", under="with a bill shorter than {v} mm"),
        Measure(column="bill_depth_mm", words=("bill depth", "depth of the bill"), unit="mm",
                over="with a bill deeper than {v} mm"),
    ),
    categories=(
        Category(column="species", words=("species",), plural="species",
                 filters=("{v} {rows}", "{rows} of the species {v}"), asks=("How many {v} penguins were measured?",),
                 held=("How big is the sample of {v} penguins?",)),
        Category(column="island", words=("island",), plural="islands",
                 filters=("{rows} on {v}", "{rows} from {v} island"), asks=("How many penguins live on {v}?",),
                 held=("How many birds come from {v}?",)),
        Category(column="sex", words=("sex",), plural="sexes", filters=("{v} {rows}",)),
        Category(column="year", words=("year",), plural="years", filters=("{rows} observed in {v}", "{rows} in {v}"),
                 asks=("How many penguins were observed in {v}?",)),
    ),
    gaps=(("sex", "no recorded sex"), ("body_mass_g", "no body mass")),
    absent=("What is the average wingspan of Gentoo penguins?", "How many eggs did the Adelie penguins lay?",
            "What is the average body mass of Emperor penguins?"),
    held_absent=("How deep can the penguins dive?", "What is the median age of the penguins on Dream?"),
)  # fmt: skip

PLANETS = Table(
    file="planets.csv", domain="astronomy", row="planet", rows="planets", key="planet", names=("planet",),
    key_word="planet",
    measures=(
        Measure(column="diameter_km", words=("diameter",), unit="km", most="largest", least="smallest",
                looks=("How big is the diameter of {e}?", "What is the diameter of {e} in km?"),
                over="with a diameter above {v} km", under="with a diameter below {v} km"),
        Measure(column="mass_1e24_kg", words=("mass",), looks=("What is the mass of {e}?",)),
        Measure(column="gravity_m_s2", words=("gravity",), looks=("How strong is gravity on {e}?",),
                over="with gravity above {v}"),
        Measure(column="sun_distance_mkm", words=("distance from the sun", "sun distance"), unit="million km",
                looks=("How far is {e} from the sun?", "What is {e}'s distance from the sun?")),
        Measure(column="orbital_period_d", words=("orbital period",), unit="days", total=True,
                looks=("What is the orbital period of {e}?", "How many days does {e} take to go round the sun?")),
        Measure(column="mean_temp_c", words=("temperature",), most="hottest", least="coldest",
                looks=("How warm is it on {e}?",)),
    ),
    strangers=("Pluto", "Tatooine", "Vulcan"),
    absent=("How many moons does Jupiter have?", "Who discovered Neptune?"),
    held_absent=("What is the atmosphere of Venus made of?", "How long is a day on Mars?"),
)  # fmt: skip

SUNSPOTS = Table(
    file="statsmodels:datasets/sunspots/sunspots.csv", domain="sunspots (package)", row="year", rows="years",
    key="YEAR", names=("YEAR",), key_word="year", at="in {e}", of="in",
    measures=(
        Measure(column="SUNACTIVITY", words=("sun activity", "sunspot activity"), total=True,
                looks=("How many sunspots were there in {e}?", "What was the sun activity in {e}?"), most="most active",
                over="with sun activity above {v}", under="with a sun activity below {v}"),
    ),
    strangers=("1650", "2035"),
    absent=("Who discovered sunspots?", "What was the average length of the solar cycle in days?"),
    held_absent=("How many solar flares were there in 1859?",),
)  # fmt: skip

EL_NINO = Table(
    file="elnino.csv", domain="oceanography", row="year", rows="years", key="YEAR", names=("YEAR",), key_word="year",
    at="in {e}", of="in",
    measures=tuple(
        Measure(column=month[:3].upper(), words=(f"{month} temperature", f"temperature in {month}"),
                over=f"with a {month} temperature above {{v}} degrees",
                looks=(f"What was the temperature in {month} {{e}}?", f"How warm was the sea in {month} {{e}}?"))
        for month in ("January", "March", "July", "October", "December")
    ),
    strangers=("1931", "2021"),
    absent=("What was the salinity of the sea in 1983?", "How strong was the current in March 1990?"),
    held_absent=("How much rain fell in January 1970?",),
)  # fmt: skip

BARLEY = Table(
    file="vega_datasets:_data/barley.json", domain="farming (package)", row="plot", rows="plots",
    measures=(Measure(column="yield", words=("yield", "harvest"), over="with a yield above {v}", total=True),),
    categories=(
        Category(column="variety", words=("variety",), plural="varieties", filters=("{rows} of {v}",)),
        Category(column="site", words=("site",), plural="sites", filters=("{rows} at {v}",)),
        Category(column="year", words=("year",), plural="years", filters=("{rows} in {v}",)),
    ),
    absent=("How much fertiliser was used at Morris?",), held_absent=("What did the farmers at Duluth earn?",),
)  # fmt: skip

NATURE = (ZONES, LEAP_SECONDS, WEATHER, ELEMENTS, PENGUINS, PLANETS, SUNSPOTS, EL_NINO, BARLEY)
