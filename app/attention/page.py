"""A picture as one HTML file that opens anywhere, without a network."""

import html

from app.attention.signals import CAPTION

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
figure { margin: 0; overflow-x: auto; } svg { max-width: none; border-radius: 8px; }
figcaption, footer { color: GrayText; font-size: 0.875rem; }
"""


def to_html(title: str, svg: str, data: str, languages: tuple[str, str]) -> str:
    """A complete document.

    Args:
        svg: the picture.
        data: JSON of what it shows, kept in the file for programs.
        languages: of text and translation.
    """
    # "</" would end the script element and "<!--" open a state of its own, wherever in a string they stand.
    inlined = data.replace("<", "\\u003c")
    source, target = (html.escape(language) for language in languages)
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{html.escape(title)}</title>
<style>{_STYLE}</style>
<main>
<h1 dir="auto">{html.escape(title)}</h1>
<figure>
{svg}
<figcaption>{html.escape(CAPTION)}</figcaption>
</figure>
<footer>{source} to {target}, by Vitrail</footer>
</main>
<script type="application/json" id="explanation">{inlined}</script>
</html>
"""
