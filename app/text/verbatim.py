"""What is the same in every language and broken by one wrong character: addresses, placeholders, tags, code, numbers.

The patterns look at text alone, not at a vocabulary, and would rather leave something to the model than keep an
ordinary word from being translated. Each takes a time that grows with the length of the text, whatever it is.
"""

import re
import unicodedata
from functools import lru_cache

Span = tuple[int, int]

# What stands in an address after its host: pairs of brackets, an apostrophe inside a word, no mark at the end.
_IN_ADDRESS = r"(?:\([^\s()<>]{0,80}\)|['’](?=\w\w)|[^\s<>\"'`«»“”‘’{}()—…])"
_ADDRESS = rf"(?:{_IN_ADDRESS}*(?:\([^\s()<>]{{0,80}}\)|[\w/=~#]))"
_HOSTS = (
    rf"(?i:[\w-]{{3,}}\.(?:fr|eu)|[\w-]+\.(?:com|org|io|dev|uk)|[\w-]+\.(?:{'|'.join(('net', 'info', 'edu', 'gov'))}"
    r"|app|ca|de|be|ch|us|ai|ly|me|tv|gg|sh)(?=:\d|/\w))"
)
_FILES = "txt|pdf|py|json|html?|csv|md|zip|docx?|xlsx?|pptx?|odt|png|jpe?g|gif|svg|mp[34]|exe|js|css|xml|ya?ml|toml|sql"
_TAGS = (
    "a|abbr|b|blockquote|body|br|button|code|dd|div|dl|dt|em|font|footer|form|g|h[1-6]|head|header|hr|html|i|img|input"
    "|kbd|label|li|link|main|mark|meta|nav|ol|option|p|path|ph|pre|q|s|section|select|small|span|strike|strong|style|sub"
    "|sup|svg|table|tbody|td|textarea|tfoot|th|thead|title|tr|tt|u|ul|var|video|x"
)
_ATTRIBUTE = r"\s+[\w:@.-]+=(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>]++)"
_ENTITIES = "amp|lt|gt|quot|apos|nbsp|copy|reg|euro|hellip|[mn]dash|[lr]aquo|[lr][sd]quo"
_FIELD = r"[\w.$-]+(?:\[\w*\])?(?:[:!][^{}\s]{1,40})?(?:\s?\|\s?[\w.:()'\"-]+)*"

_KINDS = (
    # Code between backticks, which also stand for quotation marks and apostrophes.
    r"(?<![\w`])`(?=[^\s`])(?:(?!'')[^`\n\t]){1,200}(?<!\s)`(?![\w`])",
    # Addresses of pages, of mailboxes, and without a scheme: example.com/page.
    rf"(?i:\b[a-z][a-z0-9+.-]{{1,15}}://|\bwww\.|\bmailto:){_ADDRESS}",
    r"(?<![\w.+-])[\w.+-]{1,64}+@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}\b",
    rf"(?<![\w@.-])(?:[\w-]+\.)*?{_HOSTS}\b(?!\.\w)(?::\d{{2,5}}\b)?(?:[/?#]{_ADDRESS}?)?",
    # Tags and entities: <b>, </b>, <a href="...">, &nbsp;
    rf"(?<!<)</?(?:(?i:{_TAGS})\b|(?=[\w:.-]+\s+[\w:.-]+=)[A-Za-z][\w:-]*+)(?:{_ATTRIBUTE}){{0,12}}+\s*/?>(?!>)",
    rf"&(?:{_ENTITIES}|#\d{{1,6}}|#x[0-9A-Fa-f]{{1,5}});",
    # Placeholders: {name}, {{ name }}, ${name}, %s, %(name)s, %1$s, $name.
    rf"[$%]?(?:\{{\{{\s?{_FIELD}\s?\}}\}}|\{{{_FIELD}\}}|\{{\}})",
    r"(?<![\d%])%(?:\(\w+\)|\d+\$)?\d*(?:\.\d+)?[sdifuxSD]\b(?!['’])",
    r"(?<![\w$])(?<!\d )\$(?!(?:US|CA|CAN|AU|NZ|HK)\b)[A-Za-z_]\w+",
    # Paths and files: /usr/local/bin, C:\Users, src/report.pdf.
    r"(?<![^\s(\"'«“=:])(?:~|\.\.?)?(?:/[\w.@+-]*\w){2,}/?",
    r"\b[A-Za-z]:\\[^\s\"<>|]*\w",
    rf"(?<![\w./-])(?:[\w@.-]+/)*[\w-]+(?:\.[\w-]+)*\.(?i:{_FILES})\b",
    # Code: call(), snake_case, camelCase, --out=x, \textbf{, \n.
    r"(?<![\w.])[A-Za-z_][\w.]*+\(\)",
    r"(?<!\w)_{0,2}[^\W_]++(?:_{1,2}[^\W_]++)++_{0,2}(?!\w)",
    r"\b[a-z]{3,}(?:[A-Z][a-z0-9]{2,}|[A-Z]{2,}|(?:[A-Z][a-z0-9]+){2,})\b",
    r"(?<!\S)--[a-z]+(?:-[a-z]+)*=\S*\w",
    r"\\(?:[A-Za-z]+\{|[nrt](?![A-Za-z]))",
    # @name, #topic, #4711.
    r"(?<![\w@])@\w+(?:[-/.]\w+)*",
    r"(?<![\w&#])#(?:[^\W\d_]\w{2,}(?:-\w+)*|\d{3,}\b)",
    # Identifiers and hashes, AB-4471.
    r"\b(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b",
    r"\b(?=[a-f]*\d)(?=(?:\d*[a-f]){2})[0-9a-f]{7,64}\b",
    r"\b(?!EUR|USD|GBP|CHF|CAD)[A-Z]{1,5}[-/]?\d{3,}+[A-Z\d]*+\b(?:-[A-Z\d]++\b)*+(?![.,]\d)",
    # 2.0.1, 192.168.0.1:80, 05.34.71.00.54; not the amount 1.000.000.
    r"(?<![\w.,])[vV]?(?!\d{1,3}(?:\.\d{3})+(?!\.?\w))\d++(?:\.\d++){2,}+\b(?!,\d)(?::\d{2,5}\b)?",
    # Telephone numbers, and long numbers without groups.
    r"(?<![\w+.,])\+(?=(?:\D?\d){7})\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}\b(?![.,]?\d)",
    r"(?<![\d.,] )(?<![\w.,])\d\d(?: \d\d){4}\b(?! ?\d)",
    r"(?<!\w)\(?\d{3}\)?[ -]\d{3}-\d{4}\b",
    r"(?<![\w.,-])(?!(?:1\d|20)\d\d-(?:1\d|20)\d\d\b)\d{4,}-\d{3,}\b(?![.,-]?\d)",
    r"(?<![\w.,])\d{5,}\b(?![.,]\d)",
)
_VERBATIM = re.compile("|".join(_KINDS))
# What each kind has somewhere; most sentences have none of it.
_SIGN = re.compile(r"[@/\\{%$<&_`#\d]|\w\.\w|\(\)|[a-z][A-Z]|--")


@lru_cache(64)  # a sentence is asked about several times in a row
def verbatim_spans(text: str) -> tuple[Span, ...]:
    """Where such parts stand in ``text``: half-open, ascending, apart from each other, with the marks on their ends."""
    if not _SIGN.search(text):
        return ()
    return tuple((match.start(), _after_marks(text, match.end())) for match in _VERBATIM.finditer(text))


def without_verbatim(text: str) -> str:
    """``text``, of the same length, with spaces in the place of such parts."""
    if not (spans := verbatim_spans(text)):
        return text
    characters = list(text)
    for start, end in spans:
        characters[start:end] = " " * (end - start)
    return "".join(characters)


def _after_marks(text: str, end: int) -> int:
    while end < len(text) and unicodedata.category(text[end]).startswith("M"):
        end += 1
    return end
