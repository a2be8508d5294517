# ---- one_by_one: asks again after each change
def mended(info, verilog):
    while faults := dict(diy.checklist(info, verilog)):
        rule = min(faults)
        names = re.findall(r"\w+\[\d\]", faults[rule])
        if rule == "driven":
            head, tail = verilog.rsplit("endmodule", 1)
            verilog = f"{head}assign {', '.join(f'{n} = 0' for n in names)};"
            verilog += f"\nendmodule{tail}"
        if rule == "pinout":
            at = info.index("pinout:\n") + len("pinout:\n")
            info = info[:at] + "".join(f"  {n}: ''\n" for n in names) + info[at:]
        if rule == "tiles":
            lines = info.split("\n")
            info = "\n".join("  tiles: 1x2" if "tiles:" in x else x for x in lines)
        if rule == "reset":
            verilog = "if (!rst_n)".join(verilog.split("if (rst_n)"))
    return info, verilog


def area(cells, widths, row):
    total = 0.0
    for name in cells:
        total += cells[name] * widths[name] * row
    return total


def share(area, growth, width, height, site, row):
    room = (width - 2 * 6 * site) * (height - 2 * row)
    return area / room * growth


# ---- by_side: a row of all widths, and the margins side by side
def area(cells, widths, row):
    return row * sum(widths[name] * many for name, many in cells.items())


def share(area, growth, width, height, site, row):
    return growth * area / (width - 2 * 6 * site) / (height - row - row)
