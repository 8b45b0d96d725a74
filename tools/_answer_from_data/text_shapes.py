"""How amounts, dates, places, persons and reasons are written, as patterns."""

SURE_COUNT = (
    r"(?:\d[\d.,]*|\b(?:half|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    r"|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand"
    r"|million|billion|dozen)\b)"
)
COUNT = rf"(?:{SURE_COUNT}|\b(?:an?|several|few|couple)\b)"
NONE = r"\b(?:no|none|unlimited)\b"
SCALE = r"(?:(?:hundred|thousand|million|billion) )?"
TIMES = r"(?:seconds?|minutes?|mins?|hours?|days?|nights?|weeks?|fortnight|months?|quarters?|years?|decades?|centur\w+)"
LENGTHS = (
    r"(?:mm|cm|km|m|ft|yd|mi|(?:milli|centi|kilo)?met(?:re|er)s?|inch(?:es)?|foot|feet|yards?|miles?|fathoms?|"
    r"light[- ]years?|storeys|stories|floors)\b"
)
MASSES = r"(?:mg|g|kg|t|lbs?|oz|(?:kilo|milli)?gram(?:me)?s?|tons?|tonnes?|pounds?|ounces?|stone)\b"
MONTHS = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
DAYS = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays?|weekends?|working days)"
CLOCK = (
    r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?[ap]\.?m\b|\b(?:noon|midday|midnight|dusk|dawn|sunrise|sunset)\b|o'clock"
    r"|\b(?:half|quarter|five|ten|twenty) (?:past|to)\b|\b(?:morning|afternoon|evening)\b"
)
YEAR = r"\b(?:1\d|20)\d\d\b"
DATED = (
    rf"{YEAR}|\d{{4}}-\d\d|\b\d{{1,2}}/\d{{1,2}}\b|\b{MONTHS}\b|\b{DAYS}\b|\bcentury\b"
    r"|\b(?:spring|summer|autumn|winter|christmas|easter|today|tomorrow|yesterday)\b|\b(?:year|month|week|day)s? ago\b"
)
CONDITION = r"\b(?:after|before|until|within|if|when|while|during|once|upon|unless|as soon as|by the|every|except)\b"
MONEY = (
    r"[$€£¥]\s?\d|(?<!-)\b(?:free|gratis|no charge)\b|" + COUNT + r" ?(?:million |billion |thousand )?"
    r"(?:[a-z]{4,12} )?(?:dollars?|euros?|pounds?|pence|cents?|crowns?|francs?|kron\w+|yen|rupees?|pesos?|marks?|usd|"
    r"eur|gbp|chf|percent|%)"
)
REASON = (
    r"\b(?:because|since|so that|due to|owing to|thanks to|as a result|result(?:ed|s)? (?:of|from)|after|caused?"
    r"|reasons?|in order|to (?!the\b|a\b|an\b)[a-z]{3,}|so as|otherwise|therefore|for (?:the|a|fear)|following|avoid\w*"
    r"|prevent\w*|which (?:would|could|can|may|might)|by [a-z]+ing|as (?:it|they|he|she|this|the)|would|damages?)\b"
)
PLACE = (
    r"\b(?:in|at|on|near|to|from|into|onto|under|above|below|within|along|across|around|off|through|over|against|by) "
    rf"(?!\d|{MONTHS}\b|{DAYS}|(?:the )?(?:\w+ )?(?:end|beginning|start|middle|time|day|week|month|year|hour|morning|"
    r"afternoon|evening|night)s?\b|order\b|addition\b|general\b|case\b|writing\b)\w"
    r"|\b(?:behind|beside|opposite|outside|inside|between|upstairs|downstairs|next to|in front of|home)\b"
    r"|@|https?:|www\."
)
CALENDAR = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|Christmas|Easter"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)\b"
)
NAMED_THING = rf"(?<=[\s(])[\"“']?(?!{CALENDAR})[A-Z0-9][\w.'’-]+|(?<=[\"“])\w"
PROPER_NAME = rf"(?<=[\s(])[\"“']?(?!{CALENDAR})[A-Z][\w.'’-]+|(?<=[\"“])\w"
DOER = r"[\w-]*(?:ers?|ors?|ists?|ians?|m[ae]n|wom[ae]n|ants?|ents?)"
PERSON = (
    rf"(?<=[\s(])(?!{CALENDAR})[A-Z][\w.'’-]+"
    r"|^[A-Z]\w+ (?:shall|will|is|was|has|had|may|can|must|and|are|were|[A-Z]\w+)\b"
    rf"|(?:^(?:An?|The|Our|My|His|Her|Two|Three|Some)|\bby (?:an?|the|two|three|some|[a-z]+teen)) {DOER}\b"
    r"|\b(?:anyone|anybody|everyone|everybody|nobody|adults?|members?|people|persons?|officers?|staff|wom[ae]n|m[ae]n"
    r"|council|committee|board|court|department|team|office)\b"
)
