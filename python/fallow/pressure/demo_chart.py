"""The demonstration as a picture: use of the device over time, and what responders gave, in SVG."""

from xml.sax.saxutils import escape

WIDTH = 760
PANEL = 130
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 34, 24
CAPACITY = 64 << 20


def draw(recorders):
    """An SVG document with one panel for each scenario."""
    height = PANEL * len(recorders) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    for number, recorder in enumerate(recorders):
        parts += panel(recorder, PANEL * number)
    return "\n".join([*parts, "</svg>", ""])


def panel(recorder, y):
    width, height = WIDTH - LEFT - RIGHT, PANEL - TOP - BOTTOM
    longest = max(recorder.use[-1][0], 1e-9)

    def at(seconds, used):
        return f"{LEFT + width * seconds / longest:.1f},{y + TOP + height * (1 - used / CAPACITY):.1f}"

    mark = "held" if recorder.held else "NOT HELD"
    yield (
        f'<text x="{LEFT}" y="{y + 20}"><tspan font-weight="bold">{escape(recorder.title)}</tspan>'
        f": {mark}; {escape(recorder.verdict)}</text>"
    )
    yield (
        f'<rect x="{LEFT}" y="{y + TOP}" width="{width}" height="{height}" fill="none" '
        'stroke="#bbb"/>'
    )
    for used in (0, CAPACITY):
        text_y = y + TOP + height * (1 - used / CAPACITY) + 4
        yield f'<text x="{LEFT - 6}" y="{text_y}" text-anchor="end">{used >> 20} MiB</text>'
    yield (
        f'<text x="{LEFT + width}" y="{y + PANEL - 8}" text-anchor="end" fill="#555">'
        f"{longest * 1e3:.0f} ms</text>"
    )
    for seconds, freed in recorder.runs:
        x = LEFT + width * min(seconds / longest, 1)
        yield (
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y + TOP}" y2="{y + TOP + height}" '
            f'stroke="#d62728" stroke-width="1"><title>a responder gave {freed >> 20} MiB</title>'
            "</line>"
        )
    points = " ".join(at(seconds, used) for seconds, used in recorder.use)
    yield f'<polyline points="{points}" fill="none" stroke="#1f77b4" stroke-width="1.5"/>'
