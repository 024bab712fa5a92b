"""The words of the grammar, in tables that a speaker of English and French can proofread.

Each English word has one French word and each French word one English word (no "love" beside
"like", both *aimer*). So a translation is never a matter of taste, and two English sentences never
meet in one French sentence.
"""

from collections.abc import Iterator
from typing import NamedTuple


class Noun(NamedTuple):
    """A noun: singular and plural in both languages, its French gender, the kind of thing it is."""

    english: tuple[str, str]
    french: tuple[str, str]
    feminine: bool
    kind: str


class Adjective(NamedTuple):
    """An adjective and the kinds of nouns that it can be said of."""

    english: str
    french: tuple[str, ...]  # masculine, feminine, masculine plural, feminine plural
    liaison: str  # masculine before a vowel, where that differs: un bel oiseau
    position: str  # where it stands in French, see the table
    kinds: tuple[str, ...]


class Verb(NamedTuple):
    """A verb, and the preposition that leads to its object in each language ("" for none)."""

    english: tuple[str, str, str]  # base form, third person singular, past
    particle: str
    french: str  # infinitive
    preposition: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]

    @property
    def name(self) -> str:
        """The verb as a dictionary lists it: "look for"."""
        return f"{self.english[0]} {self.particle}".rstrip()


class Determiner(NamedTuple):
    """An article, demonstrative, possessive or number; "-" for a form that does not exist."""

    english: tuple[str, str]  # singular, plural
    tag: str
    french: tuple[str, str, str]  # masculine, feminine, plural
    liaison: tuple[str, str]  # masculine and feminine before a vowel


class Adverb(NamedTuple):
    """An adverb and the tenses that it goes with, or "verb" if it stands beside the verb."""

    english: str
    tag: str
    french: str
    tenses: tuple[str, ...]


# Names for several kinds of nouns together; repeated to be drawn more often.
GROUPS = {
    "people": (*["person"] * 6, "child", *["family"] * 2),
    "animate": (*["person"] * 6, "child", *["family"] * 2, *["animal"] * 9),
    "movable": ("furniture", "container"),
    "place": ("road", "water", "land", "building", "spot"),
}

# Singular and plural in English, singular and plural in French, gender; "-" where it is not used.
_NOUNS = """
person:
    man men                homme hommes              m
    king kings             roi rois                  m
    prince princes         prince princes            m
    hero heroes            héros héros               m
    actor actors           acteur acteurs            m
    soldier soldiers       soldat soldats            m
    woman women            femme femmes              f
    queen queens           reine reines              f
    princess princesses    princesse princesses      f
    actress actresses      actrice actrices          f
    witch witches          sorcière sorcières        f
    lady ladies            dame dames                f
child:
    boy boys               garçon garçons            m
    girl girls             fille filles              f
family:
    brother brothers       frère frères              m
    uncle uncles           oncle oncles              m
    sister sisters         sœur sœurs                f
    aunt aunts             tante tantes              f
animal:
    animal animals         animal animaux            m
    bear bears             ours ours                 m
    bird birds             oiseau oiseaux            m
    cat cats               chat chats                m
    dog dogs               chien chiens              m
    donkey donkeys         âne ânes                  m
    elephant elephants     éléphant éléphants        m
    hamster hamsters       hamster hamsters          m
    horse horses           cheval chevaux            m
    wolf wolves            loup loups                m
    ant ants               fourmi fourmis            f
    bee bees               abeille abeilles          f
    cow cows               vache vaches              f
    frog frogs             grenouille grenouilles    f
    goat goats             chèvre chèvres            f
    goose geese            oie oies                  f
    hen hens               poule poules              f
    mouse mice             souris souris             f
    spider spiders         araignée araignées        f
    turtle turtles         tortue tortues            f
food:
    biscuit biscuits       biscuit biscuits          m
    cake cakes             gâteau gâteaux            m
    cheese cheeses         fromage fromages          m
    melon melons           melon melons              m
    apple apples           pomme pommes              f
    carrot carrots         carotte carottes          f
    pear pears             poire poires              f
    tart tarts             tarte tartes              f
meal:
    bread -                pain -                    m
    rice -                 riz -                     m
    meat -                 viande -                  f
    soup -                 soupe -                   f
drink:
    coffee -               café -                    m
    milk -                 lait -                    m
    tea -                  thé -                     m
    water -                eau -                     f
text:
    book books             livre livres              m
    letter letters         lettre lettres            f
    story stories          histoire histoires        f
clothes:
    coat coats             manteau manteaux          m
    hat hats               chapeau chapeaux          m
    dress dresses          robe robes                f
    shirt shirts           chemise chemises          f
vehicle:
    boat -                 bateau -                 m
    plane -                avion -                  m
    train -                train -                  m
    car -                  voiture -                f
furniture:
    bed -                  lit -                    m
    chair -                chaise -                 f
    table -                table -                  f
container:
    bag -                  sac -                    m
    basket -               panier -                 m
    box -                  boîte -                  f
object:
    gift gifts             cadeau cadeaux            m
    mirror mirrors         miroir miroirs            m
    umbrella umbrellas     parapluie parapluies      m
    clock clocks           horloge horloges          f
    key keys               clé clés                  f
    lamp lamps             lampe lampes              f
opening:
    door -                 porte -                  f
    window -               fenêtre -                f
road:
    boulevard -            boulevard -               m
    path -                 chemin -                  m
    pavement -             trottoir -                m
    avenue -               avenue -                  f
    road -                 route -                   f
    street -               rue -                     f
water:
    canal -                canal -                   m
    lake -                 lac -                     m
    stream -               ruisseau -                m
    bay -                  baie -                    f
    pool -                 piscine -                 f
    river -                rivière -                 f
land:
    field -                champ -                   m
    garden -               jardin -                  m
    park -                 parc -                    m
    forest -               forêt -                   f
    meadow -               prairie -                 f
    valley -               vallée -                  f
building:
    castle -               château -                 m
    hospital -             hôpital -                 m
    hotel -                hôtel -                   m
    museum -               musée -                   m
    shop -                 magasin -                 m
    church -               église -                  f
    house -                maison -                  f
    library -              bibliothèque -            f
    school -               école -                   f
    station -              gare -                    f
spot:
    bridge -               pont -                    m
    market -               marché -                  m
    village -              village -                 m
    farm -                 ferme -                   f
    town -                 ville -                   f
"""

# Masculine, feminine, masculine plural, feminine plural, [masculine before a vowel] | said of.
# "before only" is not said with "is", "is" only so, "have" with avoir: a faim.
_ADJECTIVES = """
before:
    big       grand grande grands grandes                | vehicle movable building
    small     petit petite petits petites                | person child animal vehicle movable spot
    old       vieux vieille vieux vieilles vieil         | person family animal text building
    beautiful beau belle beaux belles bel                | animal object text land water
    young     jeune jeune jeunes jeunes                  | animate
    good      bon bonne bons bonnes                      | food meal drink text
    bad       mauvais mauvaise mauvais mauvaises         | food meal drink text
    kind      gentil gentille gentils gentilles          | animate
    long      long longue longs longues                  | text clothes road
    vast      vaste vaste vastes vastes                  | land
before only:
    new       nouveau nouvelle nouveaux nouvelles nouvel | clothes vehicle object text building
after:
    black     noir noire noirs noires                    | animal clothes vehicle movable
    white     blanc blanche blancs blanches              | animal clothes vehicle movable
    grey      gris grise gris grises                     | animal clothes vehicle movable
    red       rouge rouge rouges rouges                  | clothes vehicle movable object opening
    green     vert verte verts vertes                    | clothes movable object opening land
    blue      bleu bleue bleus bleues                    | clothes vehicle movable opening
    yellow    jaune jaune jaunes jaunes                  | clothes vehicle object opening
    tired     fatigué fatiguée fatigués fatiguées        | animate
    sick      malade malade malades malades              | animate
    shy       timide timide timides timides              | animate
    nervous   nerveux nerveuse nerveux nerveuses         | animate
    curious   curieux curieuse curieux curieuses         | animate
    brave     courageux courageuse courageux courageuses | animate
    happy     heureux heureuse heureux heureuses         | people
    famous    célèbre célèbre célèbres célèbres          | person text
    rich      riche riche riches riches                  | people
    slow      lent lente lents lentes                    | animal vehicle
    fast      rapide rapide rapides rapides              | animal vehicle
    wide      large large larges larges                  | road water
    narrow    étroit étroite étroits étroites            | road water
    deep      profond profonde profonds profondes        | water
    steep     raide raide raides raides                  | road
    muddy     boueux boueuse boueux boueuses             | road land
    dry       sec sèche secs sèches                      | road land food
    flat      plat plate plats plates                    | road land
    empty     vide vide vides vides                      | container vehicle building
    heavy     lourd lourde lourds lourdes                | movable
    light     léger légère légers légères                | movable
    hard      dur dure durs dures                        | food
    bitter    amer amère amers amères                    | food drink
    fresh     frais fraîche frais fraîches               | food
    delicious délicieux délicieuse délicieux délicieuses | food meal drink
    clean     propre propre propres propres              | clothes vehicle opening
    dirty     sale sale sales sales                      | clothes vehicle opening
    expensive cher chère chers chères                    | clothes vehicle object
is:
    closed    fermé fermée fermés fermées                | container opening building
    open      ouvert ouverte ouverts ouvertes            | container opening building
have:
    hungry    faim faim faim faim                        | animate
    thirsty   soif soif soif soif                        | animate
"""

# Colours stand beside other adjectives: a small black cat. What is absolute is never "very" so.
COLOURS = {"black", "white", "grey", "red", "green", "blue", "yellow"}
ABSOLUTE = COLOURS | {"delicious", "empty", "closed", "open", "vast"}

# Base form, third person, past, [preposition] | French verb, [preposition] | subjects | objects.
_VERBS = """
intransitive:
    sleep sleeps slept       | dormir      | animate         |
    run runs ran             | courir      | animate         |
    swim swims swam          | nager       | animate         |
    fall falls fell          | tomber      | animate         |
    arrive arrives arrived   | arriver     | animate vehicle |
    sing sings sang          | chanter     | people          |
    dance dances danced      | danser      | people          |
    work works worked        | travailler  | people          |
motion:
    go goes went to          | aller à     | animate         | building spot
    come comes came from     | venir de    | animate         | building spot land
    enter enters entered     | entrer dans | animate         | building
transitive:
    see sees saw             | voir        | animate         | animate vehicle object place
    look looks looked for    | chercher    | animate         | animal food object
    find finds found         | trouver     | animate         | animal food object
    like likes liked         | aimer       | people          | animal food text clothes building
    follow follows followed  | suivre      | animate         | animate vehicle road
    cross crosses crossed    | traverser   | animate         | road water land
    leave leaves left        | quitter     | animate         | building spot land
    avoid avoids avoided     | éviter      | animate         | animate road water
    eat eats ate             | manger      | animate         | food meal
    drink drinks drank       | boire       | people          | drink
    help helps helped        | aider       | animate         | animate
    wait waits waited for    | attendre    | people          | people vehicle
    visit visits visited     | visiter     | people          | building spot
    write writes wrote       | écrire      | people          | text
    buy buys bought          | acheter     | people          | food meal drink clothes text object
    open opens opened        | ouvrir      | people          | opening container
    close closes closed      | fermer      | people          | opening container
    carry carries carried    | porter      | people          | movable object
    wash washes washed       | laver       | people          | clothes vehicle opening
indirect:
    speak speaks spoke to    | parler à    | people          | people
    speak speaks spoke of    | parler de   | people          | person animal text place
    think thinks thought of  | penser à    | people          | person animal text place
    obey obeys obeyed        | obéir à     | animate         | person
    answer answers answered  | répondre à  | people          | people
    play plays played with   | jouer avec  | animate         | animal
giving:
    give gives gave          | donner      | people          | food clothes text object
    show shows showed        | montrer     | people          | animal clothes text object
saying:
    think thinks thought     | penser      | people          |
    know knows knew          | savoir      | people          |
    say says said            | dire        | people          |
    believe believes believed | croire      | people          |
effect:
    stop stops stopped       | arrêter     | road water land movable | animal
    slow slows slowed        | ralentir    | road            | animal
    frighten frightens frightened | effrayer    | road water land | animal
    attract attracts attracted | attirer     | land building food | animal
    push pushes pushed       | pousser     | animal          | movable
"""

# What does not go like *parler*: present for je, tu, il, nous, vous, ils, and the past participle.
IRREGULAR = {
    "être": "suis es est sommes êtes sont été",
    "avoir": "ai as a avons avez ont eu",
    "acheter": "achète achètes achète achetons achetez achètent acheté",
    "aller": "vais vas va allons allez vont allé",
    "attendre": "attends attends attend attendons attendez attendent attendu",
    "boire": "bois bois boit buvons buvez boivent bu",
    "courir": "cours cours court courons courez courent couru",
    "croire": "crois crois croit croyons croyez croient cru",
    "dire": "dis dis dit disons dites disent dit",
    "dormir": "dors dors dort dormons dormez dorment dormi",
    "écrire": "écris écris écrit écrivons écrivez écrivent écrit",
    "effrayer": "effraie effraies effraie effrayons effrayez effraient effrayé",
    "obéir": "obéis obéis obéit obéissons obéissez obéissent obéi",
    "ouvrir": "ouvre ouvres ouvre ouvrons ouvrez ouvrent ouvert",
    "ralentir": "ralentis ralentis ralentit ralentissons ralentissez ralentissent ralenti",
    "répondre": "réponds réponds répond répondons répondez répondent répondu",
    "savoir": "sais sais sait savons savez savent su",
    "suivre": "suis suis suit suivons suivez suivent suivi",
    "venir": "viens viens vient venons venez viennent venu",
    "voir": "vois vois voit voyons voyez voient vu",
}
IMPERFECT = {
    "être": "étais étais était étions étiez étaient",
    "avoir": "avais avais avait avions aviez avaient",
}
WITH_ETRE = {"aller", "arriver", "entrer", "tomber", "venir"}  # elle est allée
ASPIRATED = {"hamster", "hamsters", "héros"}  # le héros, but l'hôtel

# Singular, plural, part of speech | masculine, feminine, plural, [both before a vowel].
_DETERMINERS = """
    the    the    DT    | le la les
    a      -      DT    | un une -
    -      some   DT    | - - des
    this   these  DT    | ce cette ces cet cette
    my     my     PRP$  | mon ma mes mon mon
    our    our    PRP$  | notre notre nos
    -      two    CD    | - - deux
    -      three  CD    | - - trois
    -      four   CD    | - - quatre
    -      five   CD    | - - cinq
    -      ten    CD    | - - dix
"""

# English, part of speech | French | tenses.
_ADVERBS = """
    now        RB  | maintenant   | present
    today      NN  | aujourd'hui  | present past
    yesterday  NN  | hier         | past
    often      RB  | souvent      | verb
    always     RB  | toujours     | verb
"""


def kinds(names: str) -> tuple[str, ...]:
    """Returns the kinds that some kinds and groups amount to."""
    return tuple(kind for name in names.split() for kind in GROUPS.get(name, (name,)))


def rows(table: str) -> Iterator[tuple[str, ...]]:
    """Yields the rows of a table: the heading that a row stands under, then its fields."""
    heading = ""
    for line in table.strip().splitlines():
        if line.endswith(":"):
            heading = line[:-1]
        else:
            yield heading, *(field.strip() for field in line.split("|"))


def _noun(kind, row):
    one, many, un, des, gender = row.split()
    return Noun((one, many), (un, des), gender == "f", kind)


def _adjective(position, row, said_of):
    english, *french = row.split()
    return Adjective(english, tuple(french[:4]), "".join(french[4:]), position, kinds(said_of))


def _verb(english, french, subjects, objects):
    base, third, past, particle = [*english.split(), ""][:4]
    verb, preposition = [*french.split(), ""][:2]
    return Verb((base, third, past), particle, verb, preposition, kinds(subjects), kinds(objects))


def _determiner(english, french):
    one, many, tag = english.split()
    masculine, feminine, plural, *liaison = french.split()
    before_vowel = tuple(liaison) or (masculine, feminine)
    return Determiner((one, many), tag, (masculine, feminine, plural), before_vowel)


def _adverb(english, french, tenses):
    return Adverb(*english.split(), french, tuple(tenses.split()))


NOUNS = tuple(_noun(*row) for row in rows(_NOUNS))
ADJECTIVES = {row[1].split()[0]: _adjective(*row) for row in rows(_ADJECTIVES)}
VERBS: dict[str, tuple[Verb, ...]] = {}  # by heading
for _heading, *_row in rows(_VERBS):
    VERBS[_heading] = (*VERBS.get(_heading, ()), _verb(*_row))
DETERMINERS = {
    row[1].replace("-", "").split()[0]: _determiner(*row[1:]) for row in rows(_DETERMINERS)
}
ADVERBS = tuple(_adverb(*row) for _, *row in rows(_ADVERBS))
BE = Verb(("be", "is", "was"), "", "être", "", (), ())
