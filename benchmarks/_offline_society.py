"""What people call the rows and columns of the benchmark's tables of society: traffic, money, people."""

from _offline_tables import Category, Measure, Table

AIRPORTS = Table(
    file="airports.csv", domain="airports", row="airport", rows="airports", key="iata", names=("iata", "name"),
    key_word="airport", at="of airport {e}", of="of",
    measures=(
        Measure(column="latitude", words=("latitude",), most="northernmost", least="southernmost",
                over="north of latitude {v}", under="south of latitude {v}"),
        Measure(column="longitude", words=("longitude",), most="easternmost", least="westernmost"),
    ),
    categories=(
        Category(column="state", words=("state",), plural="states",
                 filters=("{rows} in {v}", "{rows} in the state of {v}"),
                 asks=("How many airports does {v} have?", "How many airports can you find in {v}?"),
                 held=("Tell me how many airports there are in {v}.", "{v}: how many airports?"),
                 looks=("Which state is {e} in?", "In what state is the airport {e}?")),
        Category(column="city", words=("city", "town"), plural="cities", filters=("{rows} in the city of {v}",),
                 looks=("Which city does {e} serve?", "What city is the airport with the code {e} in?")),
        Category(column="name", words=("name",), groups=False,
                 looks=("What is the name of the airport with IATA code {e}?", "What's {e} called?")),
    ),
    strangers=("QQX", "ZZ9", "XKQ"),
    absent=("How many passengers used the airports in TX?", "What is the elevation of airport ABE?",
            "How long is the runway at ABE?"),
    held_absent=("Which airport has the most gates?", "When was airport ACY opened?"),
)  # fmt: skip

COUNTRIES = Table(
    file="iso3166.tab", domain="country codes", row="country", rows="countries", key="country", names=("country",),
    key_word="country", columns=("code", "country"), missing=("",),
    categories=(
        Category(column="code", words=("code", "ISO code", "two-letter code"), groups=False,
                 looks=("What is the country code for {e}?", "What's the ISO code of {e}?",
                        "Which two-letter code stands for {e}?")),
    ),
    strangers=("Atlantis", "Wakanda", "Narnia"),
    absent=("What is the capital of France?", "Which country has the largest population?"),
    held_absent=("What currency is used in Japan?", "How big is Brazil?"),
)  # fmt: skip

MACRO = Table(
    file="us_macro.csv", domain="economics", row="quarter", rows="quarters", of="in",
    measures=(
        Measure(column="realgdp", words=("real GDP",)),
        Measure(column="unemp", words=("unemployment", "unemployment rate"), unit="%",
                over="with unemployment above {v}%", under="in which unemployment was below {v}%"),
        Measure(column="infl", words=("inflation", "inflation rate"), over="with inflation above {v}%"),
        Measure(column="cpi", words=("CPI",)),
        Measure(column="tbilrate", words=("T-bill rate", "tbilrate")),
        Measure(column="realcons", words=("real consumption", "realcons")),
        Measure(column="pop", words=("population",)),
        Measure(column="m1", words=("M1", "M1 money stock")),
    ),
    categories=(
        Category(column="year", words=("year",), plural="years", filters=("{v}", "the year {v}")),
    ),
    absent=("What was the average price of gold?", "In which year was the trade deficit largest?"),
    held_absent=("What was the exchange rate of the euro in 2005?", "Who chaired the Federal Reserve in 1990?"),
)  # fmt: skip

CRIME = Table(
    file="statecrime.csv", domain="crime", row="state", rows="states", key="state", names=("state",), key_word="state",
    at="in {e}", of="in",
    measures=(
        Measure(column="violent", words=("violent crime rate", "rate of violent crime"), most="most violent",
                looks=("What is the violent crime rate in {e}?", "How much violent crime is there in {e}?")),
        Measure(column="murder", words=("murder rate", "rate of murders"), over="with a murder rate above {v}",
                looks=("What is the murder rate in {e}?", "How high is the murder rate of {e}?")),
        Measure(column="poverty", words=("poverty rate", "poverty"), over="where poverty is above {v}%",
                under="with a poverty rate under {v}", looks=("What is {e}'s poverty rate?",
                                                                "How high is poverty in {e}?")),
        Measure(column="hs_grad", words=("high school graduation rate", "hs_grad")),
        Measure(column="urban", words=("urban share", "urban percentage"), most="most urban", least="least urban"),
        Measure(column="single", words=("percentage of single households", "single-parent share")),
    ),
    strangers=("Ontario", "Bavaria", "Tasmania"),
    absent=("Which state has the highest unemployment rate?", "Who is the governor of Ohio?"),
    held_absent=("What is the divorce rate in Nevada?", "How many police officers work in Texas?"),
)  # fmt: skip

FLIGHTS = Table(
    file="flights.csv", domain="flights", row="flight", rows="flights",
    measures=(
        Measure(column="distance", words=("distance", "flight distance"), unit="miles", total=True,
                over="longer than {v} miles", under="shorter than {v} miles"),
        Measure(column="dep_delay", words=("departure delay", "dep_delay"), unit="minutes",
                over="that departed more than {v} minutes late"),
        Measure(column="arr_delay", words=("arrival delay", "delay on arrival"), unit="minutes",
                over="that arrived more than {v} minutes late"),
        Measure(column="air_time", words=("air time", "time in the air"), unit="minutes",
                over="that spent more than {v} minutes in the air"),
    ),
    categories=(
        Category(column="carrier", words=("carrier", "airline"), plural="carriers",
                 filters=("{rows} operated by {v}", "{v} {rows}"), asks=("How many flights did carrier {v} have?",),
                 held=("How many planes did {v} send?", "How many times did {v} fly?")),
        Category(column="origin", words=("origin", "origin airport"), plural="origins", filters=("{rows} from {v}",),
                 asks=("How many flights left from {v}?",), held=("How many departures were scheduled at {v}?",)),
        Category(column="dest", words=("destination", "dest"), plural="destinations", filters=("{rows} to {v}",),
                 asks=("How many flights went to {v}?",), held=("How many flights were bound for {v}?",)),
    ),
    gaps=(("dep_time", "no departure time"), ("tailnum", "no tail number")),
    absent=("What was the average ticket price of flights to BOS?", "How many passengers flew from JFK?"),
    held_absent=("Who was the captain of the first flight to MIA?", "How much fuel did the flights to LAX burn?"),
)  # fmt: skip

AIRLINES = Table(
    file="airlines.csv", domain="airlines", row="airline", rows="airlines", key="name", names=("name", "carrier"),
    key_word="airline",
    categories=(
        Category(column="carrier", words=("carrier code", "code"), groups=False,
                 looks=("What is the carrier code of {e}?", "Which code stands for {e}?")),
    ),
    strangers=("Lufthansa", "Aeroflot"),
    absent=("Where does Delta Air Lines Inc. have its headquarters?",),
    held_absent=("How many planes does Hawaiian Airlines Inc. own?",),
)  # fmt: skip

PLANES = Table(
    file="planes.csv", domain="aircraft", row="plane", rows="planes", key="tailnum", names=("tailnum",),
    key_word="plane", at="of plane {e}",
    measures=(
        Measure(column="seats", words=("number of seats", "seat count"), over="with more than {v} seats", total=True,
                under="with fewer than {v} seats",
                looks=("How many seats does {e} have?", "How many seats are on {e}?")),
        Measure(column="engines", words=("number of engines",), over="with more than {v} engines",
                looks=("How many engines does plane {e} have?",)),
    ),
    categories=(
        Category(column="manufacturer", words=("manufacturer", "maker"), plural="manufacturers",
                 filters=("{rows} made by {v}", "{v} {rows}"), asks=("How many planes did {v} build?",),
                 held=("How many of the aircraft come from {v}?",), looks=("Who made plane {e}?",
                                                                           "Who is the manufacturer of {e}?")),
        Category(column="engine", words=("engine", "type of engine"), plural="engine types",
                 filters=("{rows} with a {v} engine",), looks=("What kind of engine does {e} have?",)),
        Category(column="model", words=("model",), plural="models", filters=("{rows} of model {v}",),
                 looks=("What model is {e}?", "Which model is the plane {e}?")),
    ),
    gaps=(("year", "no year"), ("speed", "no speed")),
    strangers=("N00000", "N99ZZZ"),
    absent=("What is the wingspan of plane N10575?", "Which plane is the most expensive?"),
    held_absent=("Who owns the plane N10575?", "What is the fuel capacity of the BOEING planes?"),
)  # fmt: skip

PRESIDENTS = Table(
    file="us_presidents.csv", domain="people", row="president", rows="presidents", key="president",
    names=("president", "number"), key_word="president", date="inaugurated", date_words="were inaugurated",
    categories=(
        Category(column="party", words=("party", "political party"), plural="parties",
                 filters=("{v} {rows}", "{rows} from the {v} party"), asks=("How many presidents were {v}?",),
                 held=("How many presidents belonged to the {v} party?",),
                 looks=("Which party did {e} belong to?", "What was {e}'s party?")),
        Category(column="birth_state", words=("birth state", "state of birth"), plural="birth states",
                 filters=("{rows} born in {v}",), asks=("How many presidents were born in {v}?",),
                 held=("How many presidents came from {v}?",),
                 looks=("In which state was {e} born?", "What is {e}'s birth state?")),
        Category(column="inaugurated", words=("inauguration date",), groups=False,
                 looks=("When was {e} inaugurated?",)),
        Category(column="born", words=("birth date",), groups=False, looks=("When was {e} born?",
                                                                            "What is the birthday of {e}?")),
    ),
    strangers=("Winston Churchill", "Charles de Gaulle"),
    absent=("How tall was Abraham Lincoln?", "Who was vice president under John Adams?"),
    held_absent=("How many children did John Tyler have?", "What was the salary of Ulysses S. Grant?"),
)  # fmt: skip

CRIMEA = Table(
    file="crimea.json", domain="war (JSON)", row="month", rows="months", key="date", names=("date",), key_word="month",
    at="in {e}", of="in",
    measures=(
        Measure(column="disease", words=("deaths from disease", "disease deaths"), total=True,
                looks=("How many died of disease in {e}?", "How many deaths from disease were there in {e}?")),
        Measure(column="wounds", words=("deaths from wounds",), total=True,
                over="with more than {v} deaths from wounds",
                looks=("How many soldiers died of wounds in {e}?",)),
        Measure(column="other", words=("deaths from other causes",), total=True),
    ),
    absent=("How many horses died in March 1855?", "Which general was in command in January 1855?"),
    held_absent=("How many French soldiers fought in June 1855?",),
)  # fmt: skip

ELECTRICITY = Table(
    file="iowa_electricity.xlsx", domain="energy (XLSX)", row="row", rows="rows", of="for", held_out=True,
    measures=(Measure(column="Net generation (GWh)", words=("net generation", "generation"), total=True,
                      over="with a net generation above {v} GWh"),),
    categories=(
        Category(column="Source", words=("source", "energy source"), plural="sources", filters=("{v}",)),
        Category(column="Year", words=("year",), plural="years", filters=("{v}",)),
    ),
    absent=("What did a kilowatt hour cost in 2010?",), held_absent=("How many wind turbines stood in Iowa in 2015?",),
)  # fmt: skip

EMPLOYMENT = Table(
    file="us-employment.csv", domain="employment", row="month", rows="months", key="month", names=("month",),
    key_word="month", at="in {e}", of="in", date="month", held_out=True,
    measures=(
        Measure(column="construction", words=("construction employment", "employment in construction")),
        Measure(column="manufacturing", words=("manufacturing employment", "employment in manufacturing")),
        Measure(column="retail_trade", words=("retail trade employment", "employment in the retail trade")),
        Measure(column="government", words=("government employment",)),
        Measure(column="leisure_and_hospitality", words=("employment in leisure and hospitality",)),
        Measure(column="nonfarm_change", words=("nonfarm change", "change in nonfarm employment"), total=True),
    ),
    absent=("What was the average hourly wage?",), held_absent=("How many strikes were there in 2009?",),
)  # fmt: skip

WHEAT = Table(
    file="wheat.json", domain="history (JSON)", row="year", rows="years", key="year", names=("year",), key_word="year",
    at="in {e}", of="in", held_out=True,
    measures=(
        Measure(column="wheat", words=("price of wheat", "wheat price"), looks=("How much did wheat cost in {e}?",),
                over="with a wheat price above {v}"),
        Measure(column="wages", words=("wages", "weekly wage"), looks=("What were the wages in {e}?",)),
    ),
    absent=("What did a pound of beef cost in 1700?",), held_absent=("Who was the monarch in 1650?",),
)  # fmt: skip

CARS = Table(
    file="vega_datasets:_data/cars.json", domain="cars (package)", row="car", rows="cars", key="Name", names=("Name",),
    key_word="car", at="of the {e}",
    measures=(
        Measure(column="Horsepower", words=("horsepower",), most="most powerful", over="with more than {v} horsepower",
                looks=("How much horsepower does the {e} have?",)),
        Measure(column="Miles_per_Gallon", words=("miles per gallon", "fuel economy"), most="most economical",
                over="that do more than {v} miles per gallon"),
        Measure(column="Weight_in_lbs", words=("weight",), most="heaviest", least="lightest",
                over="heavier than {v} pounds", under="lighter than {v} lbs", looks=("How heavy is the {e}?",)),
        Measure(column="Displacement", words=("displacement",)),
    ),
    categories=(
        Category(column="Origin", words=("origin", "country of origin"), plural="origins",
                 filters=("{rows} from {v}",)),
        Category(column="Cylinders", words=("number of cylinders",), plural="numbers of cylinders",
                 filters=("{rows} with {v} cylinders", "{v}-cylinder {rows}")),
    ),
    gaps=(("Horsepower", "no horsepower"),), strangers=("tesla model s",),
    absent=("What is the top speed of the bmw 2002?",), held_absent=("How much did the datsun pl510 cost?",),
)  # fmt: skip

PUNISHMENT = Table(
    file="statsmodels:datasets/cpunish/cpunish.csv", domain="justice (package)", row="state", rows="states",
    key="STATE", names=("STATE",), key_word="state", at="in {e}", of="in",
    measures=(
        Measure(column="EXECUTIONS", words=("executions", "number of executions"), total=True,
                looks=("How many executions were there in {e}?",)),
        Measure(column="INCOME", words=("income", "median income"), most="richest", least="poorest",
                over="with an income above {v}"),
        Measure(column="PERPOVERTY", words=("poverty percentage", "percent in poverty")),
    ),
    absent=("Which state has the most prisons?",), held_absent=("How many judges are there in Texas?",),
)  # fmt: skip

SOCIETY = (
    AIRPORTS,
    AIRLINES,
    COUNTRIES,
    MACRO,
    CRIME,
    FLIGHTS,
    PLANES,
    PRESIDENTS,
    CRIMEA,
    ELECTRICITY,
    EMPLOYMENT,
    WHEAT,
    CARS,
    PUNISHMENT,
)
