"""SVG on standard input to PNG on standard output; what fonts lack goes to standard error.

Runs as a process of its own, see ``app.attention.png``, and imports nothing of the rest.
"""

import os
import sys

from resvg_py import svg_to_bytes

# The first that is installed draws all it can; for other characters every installed font is tried. The generic names
# of CSS would not do: without fonts of certain names they stand for none, and text would be left out.
FAMILIES = (
    "Noto Sans",
    "DejaVu Sans",
    "Liberation Sans",
    "Roboto",
    "Open Sans",
    "FreeSans",
    "Arial",
    "Helvetica",
    "Segoe UI",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "WenQuanYi Zen Hei",
    "Noto Serif",
    "DejaVu Serif",
    "Liberation Serif",
    "Times New Roman",
)


def main() -> None:
    """Draws one picture.

    Raises:
        ValueError: it is no SVG.
    """
    # Resvg tells what it has to tell on standard output, among the bytes of the picture.
    output = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    families = ", ".join(f'"{family}"' for family in FAMILIES)
    svg = sys.stdin.buffer.read().decode()
    style = f"text {{ font-family: {families} }}"
    picture = svg_to_bytes(svg_string=svg, style_sheet=style, log_information=True)
    with os.fdopen(output, "wb") as file:
        file.write(picture)


if __name__ == "__main__":
    main()
