"""What is the same in every language and broken by one wrong character: addresses, placeholders, tags, code, numbers.

The patterns look at text alone, not at a vocabulary, and would rather leave something to the model than keep an
ordinary word from being translated. Each takes a time that grows with the length of the text, whatever it is.
"""

import re
import unicodedata
from functools import lru_cache

Span = tuple[int, int]

# What stands in an address after its host: pairs of brackets, an apostrophe inside a word, no mark at the end.
_BRACKETS = r"\([^\s()<>]{0,80}\)|\[[^\s\[\]<>]{0,80}\]"
_IN_ADDRESS = rf"(?:{_BRACKETS}|['’](?=\w\w)|[^\s<>\"'`«»“”‘’{{}}()\[\]|—…])"
_ADDRESS = rf"(?:{_IN_ADDRESS}*(?:{_BRACKETS}|[\w/=~#]))"
_HOSTS = (
    rf"(?i:[\w-]{{3,}}\.(?:fr|eu)|[\w-]+\.(?:com|org|io|dev|uk)|[\w-]+\.(?:{'|'.join(('net', 'info', 'edu', 'gov'))}"
    r"|app|ca|de|be|ch|us|ai|ly|me|tv|gg|sh)(?=:\d|/\w))"
)
_FILES = "txt|pdf|py|json|html?|csv|md|zip|docx?|xlsx?|pptx?|odt|png|jpe?g|gif|svg|mp[34]|exe|js|css|xml|ya?ml|toml|sql"
_BLOCKS = (
    "article|aside|blockquote|body|br|caption|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|head"
    "|header|hr|html|legend|li|main|nav|ol|optgroup|option|p|pre|section|select|summary|table|tbody|td|tfoot|th|thead"
    "|title|tr|ul"
)
_TAGS = (
    f"{_BLOCKS}|a|abbr|audio|b|button|center|cite|code|col|colgroup|del|em|embed|font|g|i|iframe|img|input|ins|kbd|label"
    "|link|mark|meta|object|path|ph|picture|q|s|script|small|source|span|strike|strong|style|sub|sup|svg|template"
    "|textarea|time|tt|u|var|video|x"
)
_ATTRIBUTE = r"\s+[\w:@.-]+(?:=(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>]++))?"
BLOCK_TAG = rf"</?(?i:{_BLOCKS})\b(?:{_ATTRIBUTE}){{0,12}}+\s*/?>"
"""A tag that parts what is before it from what is after it."""

_FENCE = r"[ \t>*+-]{0,12}(`{3,}|~{3,})"
_DUNDERS = (
    "all|call|class|del|dict|doc|enter|exit|file|getitem|init|iter|len|main|name|new|next|repr|setitem|str|version"
)
_ENTITIES = "amp|lt|gt|quot|apos|nbsp|copy|reg|euro|hellip|[mn]dash|[lr]aquo|[lr][sd]quo"
_FIELD = r"[\w.$-]+(?:\[\w*\])?(?:[:!][^{}\s]{1,40})?(?:\s?\|\s?[\w.:()'\"-]+)*"

_KINDS = (
    # Lines of code between fences, and a fence alone.
    rf"\A{_FENCE}[^`\n]*(?:\n[^\n]*)*\n[ \t>]*\1[`~]*[ \t]*\Z",
    r"\A[ \t>*+-]{0,12}(?:`{3,}|~{3,})[ \t]*[\w+#.-]*[ \t]*\Z",
    # Code between backticks, which also stand for quotation marks and apostrophes.
    r"(?<![\w`])`(?=[^\s`])(?:(?!'')[^`\n\t]){1,200}(?<!\s)`(?![\w`])",
    # Tags of forums: [b], [url=https://example.com].
    r"\[/?(?i:b|i|u|s|url|img|quote|code|color|size|list|spoiler)(?:=[^\[\]\s]{0,200})?\]",
    # Addresses of pages, of mailboxes, and without a scheme: example.com/page.
    rf"(?i:\b[a-z][a-z0-9+.-]{{1,15}}://|\bwww\.|\bmailto:){_ADDRESS}",
    r"(?<![\w.+-])[\w.+-]{1,64}+@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}\b",
    rf"(?<![\w@.-])(?:[\w-]+\.)*?{_HOSTS}\b(?!\.\w)(?::\d{{2,5}}\b)?(?:[/?#]{_ADDRESS}?)?",
    # Tags, comments and entities: <b>, </b>, <a href="...">, <!-- ... -->, &nbsp;
    r"<!--[^\n]{0,400}?-->|<![A-Z][^<>]{0,200}>|<(?i:script|style)\b[^<>]{0,200}>[^<]{0,4000}</(?i:script|style)>",
    rf"(?<!<)</?(?:(?i:{_TAGS})\b|(?=[\w:.-]+\s+[\w:.-]+=)[A-Za-z][\w:-]*+)(?:{_ATTRIBUTE}){{0,12}}+\s*/?>(?!>)",
    rf"&(?:{_ENTITIES}|#\d{{1,6}}|#x[0-9A-Fa-f]{{1,5}});",
    # Of templates: {% if x %}, {{#if x}}, {\\an8}, and the branches of {count, plural, one {...} other {...}}.
    r"\{%[^{}\n]{1,200}%\}|\{\{[#/^!>&][^{}\n]{1,100}\}\}|\{\\[a-z]\w{0,12}\}",
    r"\{\w{1,40},\s?(?:plural|select|selectordinal),\s?[\w=]{1,40}\s?\{|\}\s?(?:zero|one|two|few|many|other|=\d{1,3})\s?\{",
    # Placeholders: {name}, {{ name }}, ${name}, %s, %(name)s, %1$s, $name.
    rf"[$%]?(?:\{{\{{\s?{_FIELD}\s?\}}\}}|\{{{_FIELD}\}}|\{{\}})",
    r"(?<![\d%])%(?:\(\w+\)|\d+\$)?\d*(?:\.\d+)?[sdifuxSD]\b(?!['’])",
    r"(?<![\w$])(?<!\d )\$(?!(?:US|CA|CAN|AU|NZ|HK)\b)[A-Za-z_]\w+",
    # Paths and files: /usr/local/bin, C:\Users, src/report.pdf.
    r"(?<![^\s(\"'«“=:])(?:~|\.\.?)?(?:/[\w.@+-]*\w){2,}/?",
    r"\b[A-Za-z]:\\[^\s\"<>|]*\w",
    rf"(?<![\w./-])(?:[\w@.-]+/)*[\w-]+(?:\.[\w-]+)*\.(?i:{_FILES})\b",
    # LaTeX: \\cite{smith2020}, $x^2$.
    r"\\(?:begin|end|cite\w*|(?:eq|page)?ref|label|url|input|include\w*|usepackage)\*?(?:\[[^\[\]\n]{0,80}\])?\{[^{}\s]{0,80}\}",
    r"\$\$[^$\n]{1,400}\$\$|(?<![\w$\\])\$(?=[^\s$])(?=[^$\n]{0,200}[\\^_=<>+])[^$\n]{0,200}[^\s$\\]\$(?![\w$])",
    # Code: call(), snake_case, camelCase, --out=x, \textbf{, \n, __init__.
    rf"(?<!\w)__(?:{_DUNDERS})__(?!\w)",
    r"(?<![\w.])[A-Za-z_][\w.]*+\(\)",
    r"(?<!\w)_{0,2}[^\W_]++(?:_{1,2}[^\W_]++)++_{0,2}(?!\w)",
    r"\b[a-z]{3,}(?:[A-Z][a-z0-9]{2,}|[A-Z]{2,}|(?:[A-Z][a-z0-9]+){2,})\b",
    r"(?<!\S)--[a-z]+(?:-[a-z]+)*=\S*\w",
    r"\\(?:[A-Za-z]+\{|[nrt](?![A-Za-z]))",
    # @name, #topic, #4711.
    r"(?<![\w@])@\w+(?:[-/.]\w+)*",
    r"(?<![\w&#])#(?:[^\W\d_]\w{2,}(?:-\w+)*|\d{3,}\b)",
    # Lines to write on, leaders, boxes to tick.
    r"_{3,}|\.{5,}|={4,}|\*{4,}|(?<!\S)-{4,}(?!\S)|[(\[] {1,3}[)\]]",
    # IBAN, card numbers, IPv6 and MAC addresses.
    r"\b[A-Z]{2}\d\d(?: ?[A-Z\d]{4}){3,7}(?: ?[A-Z\d]{1,3})?\b",
    r"(?<![\w.,])\d{4}(?:[ -]\d{4}){2,4}(?:[ -]\d{1,3})?\b(?![.,]?\d)",
    r"(?<![\w:])(?:[0-9A-Fa-f]{1,4}::?){3,7}[0-9A-Fa-f]{1,4}(?![\w:])|(?<![\w:])(?:[0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}\b",
    # Identifiers and hashes, AB-4471.
    r"\b(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b",
    r"\b(?=[a-f]*\d)(?=(?:\d*[a-f]){2})[0-9a-f]{7,64}\b",
    r"\b(?!EUR|USD|GBP|CHF|CAD)[A-Z]{1,5}[-/]?\d{3,}+[A-Z\d]*+\b(?:-[A-Z\d]++\b)*+(?![.,]\d)",
    # 2.0.1, 192.168.0.1:80, 05.34.71.00.54; not the amount 1.000.000.
    r"(?<![\w.,])[vV]?(?!\d{1,3}(?:\.\d{3})+(?!\.?\w))\d++(?:\.\d++){2,}+\b(?!,\d)(?::\d{2,5}\b)?",
    # Telephone numbers, and long numbers without groups.
    r"(?<![\w+.,])\+(?=(?:\D?\d){7})\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}\b(?![.,]?\d)",
    r"(?<![\d.,] )(?<![\w.,])\d\d(?: \d\d){4}\b(?! ?\d)",
    r"(?<![\w+])(?:\+?1[ .-])?\(?\d{3}\)?[ -]\d{3}-\d{4}\b",
    r"(?<![\w.,-])(?!(?:1\d|20)\d\d-(?:1\d|20)\d\d\b)\d{4,}-\d{3,}\b(?![.,-]?\d)",
    r"(?<![\w.,])\d{5,}\b(?![.,]\d)",
)
_VERBATIM = re.compile("|".join(_KINDS))
# What each kind has somewhere; most sentences have none of it.
_SIGN = re.compile(r"[@/\\{%$<&_`#\d\[*~]|\w\.\w|\( {0,3}\)|[a-z][A-Z]|--|==|\.{5}")

# Marks round words: **bold**, _slanted_, ~~struck out~~.
_EMPHASIS = re.compile(r"(?<![\w*_~\\])(\*{1,3}|~~|__?)(?=[^\s*_~])(?:(?!\1)[^\n]){0,200}?(?<!\s)\1(?![\w*_~])")
_SIGN_OF_EMPHASIS = re.compile(r"[*_~]")
EMPHASIS_MARK = re.compile(r"\*{1,3}|~~|__?")
"""One of the two marks round emphasised words."""


@lru_cache(64)  # a sentence is asked about several times in a row
def verbatim_spans(text: str) -> tuple[Span, ...]:
    """Where such parts stand in ``text``: half-open, ascending, apart from each other, with the marks on their ends."""
    if not _SIGN.search(text):
        return ()
    spans = tuple((match.start(), _after_marks(text, match.end())) for match in _VERBATIM.finditer(text))
    if not _SIGN_OF_EMPHASIS.search(text):
        return spans
    taken = {place for start, end in spans for place in range(start, end)}
    pairs = (
        ((match.start(), match.end(1)), (match.end() - len(match[1]), match.end()))
        for match in _EMPHASIS.finditer(text)
    )
    marks = (
        mark for pair in pairs if not any(place in taken for mark in pair for place in range(*mark)) for mark in pair
    )
    return tuple(sorted((*spans, *marks)))


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
