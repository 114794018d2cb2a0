"""A small line chart as SVG: time over size, both logarithmic, one line for each contestant with its spread."""
import math
from xml.sax.saxutils import escape

from table import size_text

WIDTH, HEIGHT = 900, 560
LEFT, RIGHT, TOP, BOTTOM = 80, 200, 60, 60
COLOURS = ["#0b6e99", "#5aa9c8", "#c0392b", "#d68910", "#6c3483", "#5d6d7e"]


def chart(rows, titles, heading):
    points = {key: [(row["bytes"], row["median_us"][key], *row["spread_us"][key])
                    for row in rows if key in row["median_us"]] for key in titles}
    points = {key: line for key, line in points.items() if line}
    if not points:
        return ""
    sizes = [x for line in points.values() for x, *_ in line]
    times = [t for line in points.values() for _, _, *spread in line for t in spread]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    high = max(high, low + 1)
    first, last = math.log2(min(sizes)), math.log2(max(sizes))
    last = max(last, first + 1)

    def x_of(size):
        return LEFT + (math.log2(size) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y_of(us):
        return HEIGHT - BOTTOM - (math.log10(us) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
           f'font-size="13"><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="28" font-size="16">{escape(heading)}</text>',
           f'<text x="{LEFT}" y="46" fill="#555">median time of one operation (us); bars: least and largest round'
           '</text>']
    for power in range(low, high + 1):
        y = y_of(10.0 ** power)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0 ** power:g}</text>')
    for size in sorted(set(sizes)):
        if (round(math.log2(size)) - round(first)) % 3 == 0:
            x = x_of(size)
            out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#eee"/>')
            out.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{size_text(size)}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 15}" text-anchor="middle">bytes</text>')
    for index, (key, line) in enumerate(points.items()):
        colour = COLOURS[index % len(COLOURS)]
        path = " ".join(f"{x_of(size):.1f},{y_of(us):.1f}" for size, us, *_ in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for size, _, least, largest in line:
            out.append(f'<line x1="{x_of(size):.1f}" x2="{x_of(size):.1f}" y1="{y_of(least):.1f}" '
                       f'y2="{y_of(largest):.1f}" stroke="{colour}"/>')
        y = TOP + 20 + 22 * index
        out.append(f'<rect x="{WIDTH - RIGHT + 20}" y="{y - 9}" width="14" height="4" fill="{colour}"/>')
        out.append(f'<text x="{WIDTH - RIGHT + 40}" y="{y}">{escape(titles[key])}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"
