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


# ---- by_line: changes lines of both texts
def mended(info, verilog):
    above, below = info.split("\n"), verilog.split("\n")
    for rule, says in diy.checklist(info, verilog):
        names = re.findall(r"\w+\[\d\]", says)
        if rule == "driven":
            below.insert(
                below.index("endmodule"), f"assign {{{', '.join(names)}}} = 0;"
            )
        elif rule == "pinout":
            at = above.index("pinout:") + 1
            above[at:at] = [f'  {name}: ""' for name in names]
        elif rule == "tiles":
            above = [re.sub("2x1", "1x2", line) for line in above]
        else:
            below = [line.replace("if (rst_n)", "if (!rst_n)") for line in below]
    return "\n".join(above), "\n".join(below)
