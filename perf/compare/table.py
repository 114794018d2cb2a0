"""From the rounds of all contestants to medians, ratios and their spread; as text and as plain data."""
import statistics


def size_text(size):
    for unit, factor in (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if size >= factor and size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)


def time_text(us):
    if us is None:
        return "-"
    return f"{us:.2f}" if us < 100 else f"{us:.0f}"


def summarize(rounds, keys, rivals):
    """rounds: a list of {key: {bytes: median_us}}. For each size: the median over the rounds of each contestant, and
    for each of ours (`keys` that begin with "tutti") the ratio to the best rival *of the same round*: median, least
    and largest over the rounds. Below 1 is faster than the best rival."""
    sizes = sorted({size for one in rounds for results in one.values() for size in results})
    rows = []
    for size in sizes:
        row = {"bytes": size, "median_us": {}, "spread_us": {}, "ratio": {}}
        for key in keys:
            times = [one[key][size] for one in rounds if size in one.get(key, {})]
            if times:
                row["median_us"][key] = statistics.median(times)
                row["spread_us"][key] = [min(times), max(times)]
        for key in (key for key in keys if key.startswith("tutti")):
            ratios = []
            for one in rounds:
                best = [one[rival][size] for rival in rivals if size in one.get(rival, {})]
                if best and size in one.get(key, {}):
                    ratios.append(one[key][size] / min(best))
            if ratios:
                row["ratio"][key] = {"median": statistics.median(ratios), "least": min(ratios), "largest": max(ratios)}
        rows.append(row)
    return rows


def bus_bandwidth(size, us, ranks):
    """GB/s as nccl-tests defines it for AllReduce."""
    return size / (us * 1e3) * 2 * (ranks - 1) / ranks if us else 0.0


def render(rows, titles, ranks):
    """A table of text. `titles` maps keys to column heads, in order."""
    ours = [key for key in titles if key.startswith("tutti")]
    head = [["bytes"] + [titles[key] for key in titles] + [f"{titles[key]} / best other" for key in ours] + ["busbw"],
            [""] + ["us"] * len(titles) + ["median (least .. largest)"] * len(ours) + ["GB/s, ours"]]
    body = []
    for row in rows:
        cells = [size_text(row["bytes"])]
        cells += [time_text(row["median_us"].get(key)) for key in titles]
        for key in ours:
            ratio = row["ratio"].get(key)
            cells.append(f"{ratio['median']:.2f} ({ratio['least']:.2f} .. {ratio['largest']:.2f})" if ratio else "-")
        times = [row["median_us"][key] for key in ours if key in row["median_us"]]
        cells.append(f"{bus_bandwidth(row['bytes'], min(times), ranks):.2f}" if times else "-")
        body.append(cells)
    widths = [max(len(line[i]) for line in head + body) for i in range(len(head[0]))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths)).rstrip() for line in head + body)
