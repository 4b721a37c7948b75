"""Words without content: those for greeting, going on, agreeing, referring and asking for help."""

import re
import unicodedata

_WORD = re.compile(r"\w+(?:['’]\w+)?")


def words_of(text: str) -> list[str]:
    """The words of a text, however they are spelled."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _words(text: str) -> frozenset[str]:
    return frozenset(words_of(text))


_GREETS = _words(
    "hi hiya hello hey there hallo hej guten tag morgen moin "
    "bonjour salut hola buenas ciao salve olá oi merhaba selam "
    "привет здравствуйте 你好 您好 こんにちは 안녕 안녕하세요 namaste morning "
    "evening afternoon good day thanks thank you thx danke merci "
    "gracias grazie obrigado obrigada bedankt tack dziękuję спасибо "
    "谢谢 ありがとう 감사합니다 bye good ahoj aloha ahlan assalamualaikum bok "
    "bună bonjou cześć dobrý dobry dzień den deň habari halo hei "
    "hej helló hujambo jambo jó napot kívánok kamusta kumusta "
    "mabuhay hyvää päivää pagi selamat siang malam terve tere salam "
    "salaam sawubona shalom sveiki szia sziasztok xin chào chao "
    "zdravo здраво здравейте вітаю привіт сәлем γεια γειά σας σου "
    "καλημέρα مرحبا السلام عليكم أهلا سلام שלום नमस्ते नमस्कार "
    "สวัสดี வணக்கம் নমস্কার નમસ્તે ਸਤ ਸ੍ਰੀ ਅਕਾਲ ನಮಸ್ಕಾರ ഗამარჯობა "
    "გამარჯობა բարև ආයුබෝවන් សួស្តី ສະບາຍດີ မင်္ဂလာပါ сайн байна уу "
    "おはよう こんばんは 早上好 晚上好 여보세요"
)
_CONTINUES = _words(
    "go on continue continuing keep going carry proceed resume next "
    "more weiter mach weitermachen fortfahren continuez continua "
    "continúa continúe sigue siga seguir poursuis poursuivez suite "
    "avanti prosegui verder door ga fortsätt dalej kontynuuj "
    "продолжай продолжайте дальше 继续 続けて 계속 devam et"
)
_HELPS = _words(
    "help assist assistance support hilfe hilf helfen aide aider "
    "aidez ayuda ayúdame ayudame aiuto aiutami ajuda socorro pomoc "
    "помоги помогите помощь 帮助 帮我 助けて 도와주세요 yardım me i us we my "
    "need some want get mir moi ich brauche"
)
"""Words that only say that help is wanted."""
_STEPS = _words("step steps schritt schritte étape paso passo nächster next siguiente")
OPENERS = _GREETS | _CONTINUES | _HELPS | _STEPS
FILLS = _words(
    "a an and bitte now please pls then und por favor plaît s'il svp vous te the to with"
)
_AGREES = _words(
    "ahead alright correct d'accord da do evet fine genau hai it "
    "jawohl ja k klar ok okay okej oui right si sim sounds sure sí "
    "tak tamam that vale yeah yep yes yup да хорошо 好 好的 是 はい 네 예"
)
REFERS = _AGREES | _words(
    "this these those them both all either each one ones first "
    "second third last former latter so just go let's lets make "
    "happen perfect great y 1 2 3 4 5 a b c d beide beides erste "
    "zweite deuxième premier première segundo segunda primero "
    "primera secondo primo 二 一"
)
"""Words that agree, or choose among what was said."""
EMPTY = (
    OPENERS
    | FILLS
    | _words(
        "i'm i've i'd am is are was were be been being we're you're your yours our mine its "
        "they he she him her who what what's whats which when where why how can could would "
        "will should may might must have has had of for in at by from as if or not no but "
        "here any something anything nothing everything someone thing things stuff up out "
        "again only also too very really well task tasks job jobs work works started start "
        "begin beginning need want like think question questions ready waiting wait hurry "
        "best try assistant agent bot ai dude friend sir finish complete test testing lol hm "
        "hmm cool nice asdf foo thoughts today update status run ping anyone x"
    )
)
"""Words from which no one can tell what is wanted."""
