"""What a translation copies as it stands: made-up addresses, file names, code and placeholders, alone and in sentences.

Half of their parts are words of either language, so that a model learns to leave words alone there.
"""

import random
import unicodedata
from collections.abc import Sequence

from model.corpus import Pair

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LONGEST_WORD = 12
_ENDINGS = ("com", "org", "net", "fr", "io", "ca", "co.uk", "eu")
_FILE_ENDINGS = ("txt", "pdf", "py", "json", "html", "csv", "md", "zip")
_MENTIONS = (
    ("You will find it here: {}", "Vous le trouverez ici : {}"),
    ("More information: {}", "Plus d'informations : {}"),
    ("For details, see {}.", "Pour plus de détails, voir {}."),
    ("Look at {} first.", "Regardez d'abord {}."),
    ("I found {} yesterday.", "J'ai trouvé {} hier."),
    ("Send me {} tomorrow.", "Envoyez-moi {} demain."),
    ("The address is {}.", "L'adresse est {}."),
    ("Copy {} here.", "Copiez {} ici."),
    ("Delete {} and try again.", "Supprimez {} et réessayez."),
    ("Type {} and press Enter.", "Tapez {} et appuyez sur Entrée."),
    ("What does {} mean?", "Que signifie {} ?"),
    ("{} does not work.", "{} ne fonctionne pas."),
    ("{} was not found", "{} est introuvable"),
    ("Use {} instead.", "Utilisez plutôt {}."),
    ("Add {} to the list.", "Ajoutez {} à la liste."),
    ("Why is {} empty?", "Pourquoi {} est-il vide ?"),
    ("We have changed {} since then.", "Nous avons changé {} depuis."),
    ("With {}, it is easier.", "Avec {}, c'est plus facile."),
    ("For more, see {}", "Pour en savoir plus, voir {}"),
    ("Visit {}.", "Visitez {}."),
    ("Go to {} and sign in.", "Allez sur {} et connectez-vous."),
)
_PLACEHOLDERS = (
    ("{", "}"),
    ("{", "}"),
    ("{{", "}}"),
    ("{{ ", " }}"),
    ("${", "}"),
    ("%{", "}"),
    ("%(", ")s"),
    ("[", "]"),
)
_LETTERS_TO = (
    ("Write to us at {}.", "Écrivez-nous à {}."),
    ("You can write to {} at any time.", "Vous pouvez écrire à {} à tout moment."),
    ("Please reply to {}.", "Veuillez répondre à {}."),
    ("Send an e-mail to {}.", "Envoyez un e-mail à {}."),
    ("I wrote to {} yesterday.", "J'ai écrit hier à {}."),
    ("Contact {} for help.", "Contactez {} pour obtenir de l'aide."),
    ("His address is {}.", "Son adresse est {}."),
)


class Verbatim:
    """Draws texts that are the same in both languages."""

    def __init__(self, words: Sequence[Pair]) -> None:
        """``words``: pairs in small letters, as ``model.lexicon`` finds them."""
        bare = {_bare(word) for pair in words for word in pair}
        self._words = sorted(word for word in bare if word.isascii() and word.isalpha() and len(word) <= _LONGEST_WORD)

    def __call__(self, source: random.Random) -> str:
        """An address, a file name, an identifier or a piece of code."""
        one, two, three = (self._part(source) for _ in range(3))
        number = source.randint(1, 9_999)
        domain = f"{one}.{source.choice(_ENDINGS)}"
        return source.choice(
            (
                f"https://www.{domain}/{two}",
                f"https://{domain}/{two}/{number}?{three}={number}",
                f"https://{two}.{domain}/{three}-{number}.html",
                f"www.{domain}",
                f"{two}.{three}@{domain}",
                f"{two}{number}@{domain}",
                f"{one}_{two}()",
                f"{one}.{two}({number})",
                f'`{one}("{two}")`',
                f"`{one} {two} --{three}`",
                f"`{one}_{two} = {number}`",
                f"{one}{two.title()}",
                f"{one}-{two}.{source.choice(_FILE_ENDINGS)}",
                f"{one}.{source.choice(_FILE_ENDINGS)}",
                f"--{one}-{two}",
            )
        )

    def placeholder(self, source: random.Random) -> str:
        """What software and letters put in the place of a name or number."""
        if source.random() < 0.3:
            return source.choice(("%s", "%d", "%1$s", "{0}", "{1}", "{}", "$1"))
        opening, closing = source.choice(_PLACEHOLDERS)
        parts = [self._part(source) for _ in range(source.choice((1, 1, 2)))]
        return f"{opening}{'_'.join(parts)}{closing}"

    def mention(self, source: random.Random) -> Pair:
        """A sentence with one of them inside, one in four with an e-mail address."""
        if source.random() < 0.25:
            (first, second), text = source.choice(_LETTERS_TO), self._mailbox(source)
        else:
            (first, second), text = source.choice(_MENTIONS), self(source)
        return first.format(text), second.format(text)

    def _mailbox(self, source: random.Random) -> str:
        one, two, three = (self._part(source) for _ in range(3))
        name = source.choice((one, f"{one}.{two}", f"{one}{source.randint(1, 99)}"))
        return f"{name}@{three}.{source.choice(_ENDINGS)}"

    def _part(self, source: random.Random) -> str:
        if self._words and source.random() < 0.5:
            return source.choice(self._words)
        return "".join(source.choices(_LETTERS, k=source.randint(2, 8)))


def _bare(word: str) -> str:
    """Without accents, as addresses are written."""
    return "".join(letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter))
