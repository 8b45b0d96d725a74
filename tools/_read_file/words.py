"""Words in their compared form, and words near in meaning."""

import re
import unicodedata
from functools import cache, lru_cache

_LIGHT = """a an the of in on at to for from by with as is are was were be been being do does did has have had and or
not no what which who whom whose when where why how much many that this these those it its there their they he she his
her him i you we me my our your us can could would should will may might shall must than then so if but into about over
under up also just only yes according file document text passage please
someone somebody one anyone everyone all any each every ever"""
_STOP = frozenset(_LIGHT.split())
_IRREGULAR_FORMS = """
stand stood; pay paid; build built; write wrote written; make made; hold held; sell sold; begin began begun; lead led;
win won; come came; go went gone; take took taken; give gave given; run ran; find found; grow grew grown; know knew
known; become became; buy bought; bring brought; fall fell fallen; keep kept; leave left; lose lost loss; meet met;
send sent; spend spent; teach taught; think thought; man men; woman women; person people; child children; sink sank
sunk; sow sown; feed fed; steal stole stolen; break broke broken; speak spoke spoken; drive drove driven; ride rode
ridden; rise rose risen; eat ate eaten; drink drank drunk; see saw seen; sing sang sung; swim swam swum; choose chose
chosen; freeze froze frozen; wear wore worn; tear tore torn; draw drew drawn; fly flew flown; throw threw thrown; show
shown; lie lay lain; shoot shot; strike struck; stick stuck; sit sat; sleep slept; feel felt; lend lent; bend bent;
hear heard; bear born borne; catch caught; fight fought; seek sought; hide hid hidden; forget forgot forgotten; get
got gotten; wake woke woken; dig dug; hang hung; shine shone; light lit; shrink shrank shrunk; deal dealt; mean meant;
dream dreamt; burn burnt; learn learnt; say said; lay laid; tell told; foot feet; tooth teeth; mouse mice; shelf
shelves; knife knives; half halves; wife wives; die dying died; tie tying tied; analysis analyses; datum data; drop
dropped; swear sworn swore; withdraw withdrew withdrawn; arise arose arisen; overcome overcame; undergo underwent;
understand understood; use used; ice iced; age aged; owe owed; bind bound; wind wound; fit fitted
"""
_IRREGULAR = {form: line.split()[0] for line in _IRREGULAR_FORMS.split(";") for form in line.split()[1:]}
_NUMBER_WORDS = """
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
twenty
"""
_NUMBERS = {word: str(number) for number, word in enumerate(_NUMBER_WORDS.split(), start=2)}
_ENDINGS = (
    ("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ing", ""), ("edly", ""), ("ed", ""), ("ly", ""), ("es", ""),
    ("s", ""),
)  # fmt: skip
_SUFFIX_LIST = """
ational ation ator ativ at ition ement ional ment ship ness ance ence ancy ency anc enc able ible abl ibl ion ity
ist ism ive ian ant ent ary ory age iv ag al er or ur th y
"""
_SUFFIXES = tuple(_SUFFIX_LIST.split())
_SHORTEST = 4
_NEAR = """
buy purchase acquire sell sale shop order; price cost pay payment charge fee fare rate; fine penalty charge; free
gratis; salary wage pay earn income; build construct erect; design architect plan; found establish create start; begin
start commence; end finish close conclude; stop cease end; allow permit may permission admit; ban forbid prohibit
disallow; repair mend fix; broken break damage fault faulty; big large size great huge hold capacity; small little
tiny; tall high height elevation altitude; long length last duration; deep depth; wide width broad; heavy weigh weight
mass; old age; fast speed quick rapid; far distance; hot cold warm temperature heat degree; strong strength power;
often frequency interval every; maximum most max limit up; minimum least min; captain skipper commander; boss manager
head director lead leader run charge chief responsible; chair chairman chairwoman chairperson preside; write author
pen; letter mail post; teach teacher instructor; doctor physician; boat ship vessel ferry carrier craft; car vehicle
automobile; plane aircraft; bike bicycle cycle; train rail railway; road street lane; house home; town city village;
country nation; job work occupation profession; company firm business manufacturer maker; make produce manufacture
production; use employ utilise usage; need require necessary must requirement compulsory mandatory obligatory;
recommend advise suggest best suit ideal suitable; buyer customer client; staff employee worker personnel; member join
membership; phone telephone call number; email e-mail mail address contact; contact reach call; reply answer respond
response; ask request; child kid; mother mum mom parent; father dad parent; picture photo photograph image; movie
film; food dish meal eat; drink beverage; kitchen galley; fridge refrigerator; bin trash rubbish waste garbage; throw
discard dispose; clean wash rinse; keep store storage preserve stay; stay remain last keep spend; live reside inhabit
home; die death dead; born birth; kill murder; marry wedding marriage; ill sick disease; illness disease; medicine
drug; hurt injure injury; accident crash; fire blaze; rain rainfall precipitation; happen occur place event; hold
place host; attend present participant participate; speak talk say; discuss discussion talk; choose select pick elect;
vote ballot; agree decide decision approve accept adopt resolve; reject refuse decline deny; propose proposal suggest
motion; change alter modify amend amendment alteration; replace substitute succeed; remove delete take; add include;
put place set install stand position; fit install; get obtain receive; give grant donate award provide supply; offer
provide; benefit proceeds go; rent hire lease; borrow lend loan lent; return back bring; late overdue delay; renew
extend; cancel cancellation terminate; terminate end termination expire; breach violate violation infringe break;
remedy cure fix; law legal statute legislation; court tribunal; govern rule govern jurisdiction; copy duplicate
reproduce; distribute share redistribute; publish release public publication; release launch; launch lift; find
discover discovery locate; see spot observe observation; count number total; collect gather; return bring; arrive
arrival come reach; depart departure leave; travel journey trip voyage; cross crossing; land touch; recover rescue
retrieve; rescue save; sink wreck; grow plant cultivate; seed sow; soil earth compost; pot container tub; flower bloom
blossom; ripe ripen; fruit berry; feed fertilise fertiliser; gas vapour; colour color; near nearby close nearest
closest; kind type sort; part component piece; tool equipment instrument device; machine appliance device; lamp light;
switch turn button; press push; version edition release; password passcode; computer pc; wireless wifi wi-fi internet;
web website internet online page site; user account; error fault problem failure fail; update upgrade; install setup;
ice freeze frozen; measure reading gauge; sample sampling; operator operate run; owner own belong; property own; tax
duty levy; war battle conflict; king queen monarch; soldier troop; election elect vote; president head; rule
regulation; power authority; right entitle; crime offence offense; judge justice; trial try; name call title known;
nickname known; meaning mean define definition; cause reason lead because; result effect consequence; goal aim
purpose; help assist assistance support aid; teach lesson class course; school college; pupil student; exam test
examination; subject topic; guarantee warranty; delivery deliver ship; parcel package; refund reimburse money; invoice
bill; discount reduction; meeting session assembly; minutes record; break pause rest; holiday vacation leave; guest
visitor; visit tour; ticket admission entry entrance; entrance door gate entry; dog pet animal; bird animal; tree
plant; forest wood; river stream; sea ocean; mountain peak summit; hill slope; island isle; harbour port harbor; area
region; border boundary frontier; north northern; south southern; east eastern; west western; audience viewer
spectator people; people person inhabitant population; crew team; astronaut crew; pilot fly; moon lunar; sun solar;
star stellar; wind breeze; storm gale; centre center middle; top summit; bottom base; back rear; cook boil simmer
bake; cut chop slice; mix stir combine; season spice; serve serving portion; stew soup broth; wine drink; attract lure
draw; house accommodate contain; steal theft thief; lock shut; catch trap; win victory winner; lose defeat; score
point; player team; competition contest tournament; prize award; record best; first initial original; last final
latest recent; new recent; current present now today; former previous past; yearly annual year; monthly month; weekly
week; daily day; hourly hour; weekday day; evening night; noon midday; once time; child young; adult grown; equipment
gear; wear clothes clothing dress; shoe boot; bed bedroom; leaf leave; life live; room chamber; floor storey level;
stair step; car park parking; fuel petrol gas; battery cell; electricity electric power; voltage volt; supervise
supervisor oversee; assistant deputy vice; manage manager administer; treasurer treasury finance; secretary clerk;
sign signature; deadline due until; submit send hand; apply application; available access; secure safe safety
security; danger dangerous hazard risk; warn warning caution; protect protection against prevent; avoid prevent; check
inspect inspection examine verify; test try; sale sell; deal handle process; disappear vanish; appear emerge; exclude
ineligible except; eligible qualify entitle apply; meet introduce encounter; marry husband wife spouse; parent
ancestor; grandfather grandmother; son boy; daughter girl; invent inventor invention devise; compose composer music;
paint painter painting; win gain; earn gain; teach tutor; study studied student; train coach; serve offer; command
commander order; fight battle; attack raid; destroy demolish ruin; flood inundate; survive survivor; escape flee; hide
conceal; reveal disclose; explain explanation describe; translate translation; speak language; read reader reading;
compare comparison; increase rise raise grow; decrease fall drop reduce cut lower; expand enlarge; shrink contract;
double twice; half fifty; percent percentage share; majority most; minority few; average mean typical; complete
finish; success succeed; fail failure; correct right; wrong false mistake; easy simple; difficult hard; important
significant; main chief principal major; famous known renowned; rare scarce uncommon; common usual frequent; popular
favourite; dangerous unsafe; ill unwell; hungry starve; rich wealthy; poor poverty; clever intelligent; beautiful
pretty; quiet silent; loud noisy noise sound; bright light; dark night; sharp edge; smooth even; empty vacant; full
complete; legal lawful; illegal unlawful; native indigenous; foreign abroad overseas; local regional; nation national;
world global international; religion religious church faith; god deity; priest clergy; holy sacred; grave tomb bury
buried burial; statue monument memorial; bridge span; tower spire; castle fortress; palace residence; museum gallery
exhibition; theatre stage; concert performance perform; sing singer song; dance dancer; act actor actress; journalist
reporter; newspaper press; book novel volume; story tale; poem poet poetry; chapter section; page sheet; title
headline; language tongue; word term; alphabet letter; money cash fund; credit loan; save deposit; insure insurance
cover; invest investor investment; profit gain surplus; loss deficit; debt owe; budget funding finance; wealth
fortune; import export trade; factory plant mill works; mine coal; steel iron metal; wood timber; glass window; stone
rock; sand beach; water liquid; air atmosphere; fire burn; energy power; engine motor; wheel tyre; speed velocity;
passenger traveller; driver drive; flight fly; airport airfield; station stop; platform track; luggage baggage; bag
suitcase; map plan; hotel inn lodging accommodation; stay accommodation; checkout departure; breakfast meal; lunch
meal; dinner supper meal; menu dish; bread loaf; cheese dairy; meat beef pork; vegetable greens; sweet sugar; salt
salty; taste flavour; smell scent; hospital clinic; dose dosage; tablet pill; side effect; symptom sign; infection
infect; vaccine vaccinate; heart cardiac; head skull; eye see vision; ear hear; bone skeleton; weight kilogram;
employee employer employ; hire recruit appoint; dismiss fire; resign resignation quit; retire retirement; promote
promotion; report inform notify; notice notify notification; permission approval approve consent; reimburse repay;
allowance payment; overtime extra; remote home; office workplace; schedule timetable calendar; appointment booking;
book reserve reservation; queue line wait; delay postpone; cancel call; refund repay; exchange swap; complain
complaint; feedback comment; survey poll; question query; search find; download fetch; file document; folder
directory; delete erase remove; backup copy; crash fail; bug defect error; patch fix; default standard preset; setting
option configuration configure parameter; support compatible; platform system; server host; network connection
connect; encrypt encryption; log record; monitor watch track; limit restrict restriction cap exceed; minimum lowest;
timeout expire; retry attempt try; memory ram; disk drive storage; screen display monitor; keyboard key; camera lens;
sound audio; record recording; battery charge
"""


@cache
def _near() -> dict[str, frozenset[str]]:
    """Return, for every root of the groups above, the roots near in meaning."""
    groups = [frozenset(root(stem(word)) for word in group.split()) for group in _NEAR.split(";")]
    found: dict[str, frozenset[str]] = {}
    for group in groups:
        for one in group:
            found[one] = found.get(one, frozenset()) | group
    return found


def content_words(text: str) -> list[str]:
    """Return the meaningful words of a text, without case and accents."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(letter for letter in folded if not unicodedata.combining(letter)).replace("’", "'")
    words = re.findall(r"\d[\d.,]*\d|[^\W_]+(?:'[^\W_]+)?", bare)
    words = [re.sub(r"'s$|n't$", "", word) for word in words]
    return [word for word in words if word and word not in _STOP]


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return a word without its inflection."""
    if word[:1].isdigit():
        return word.replace(",", "")
    word = _NUMBERS.get(word) or _IRREGULAR.get(word, word)
    for ending, kept in _ENDINGS:
        if (
            word.endswith(ending)
            and len(word) - len(ending) >= 3
            and not (ending == "s" and word.endswith(("ss", "us", "is")))
        ):
            word = word[: -len(ending)] + kept
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


@lru_cache(maxsize=50_000)
def root(stemmed: str) -> str:
    """Return a stem without the endings of nouns and adjectives: operation and operator to operat."""
    for suffix in _SUFFIXES:
        if stemmed.endswith(suffix) and len(stemmed) - len(suffix) >= _SHORTEST:
            stemmed = stemmed[: -len(suffix)]
            break
    return stemmed[:-1] + "s" if stemmed.endswith("iz") else stemmed


def near(stemmed: str) -> frozenset[str]:
    """Return the roots of the words near in meaning, its own among them."""
    own = root(stemmed)
    return _near().get(own, frozenset()) | {own}
