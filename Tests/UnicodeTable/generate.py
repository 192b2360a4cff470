#!/usr/bin/env python3
"""Writes Sources/CRealmPlatform/letters.h: simple case folding, and decompositions without nonspacing marks.

usage: generate.py FILE          writes the table
       generate.py --check FILE  compares the table with the one that would be written

The data is from Unicode 14.0.0. Python's unicodedata gives decompositions, categories and combining classes. Perl's
Unicode::UCD gives Simple_Case_Folding, which has the statuses C and S of CaseFolding.txt. The script stops if one of
them has another version. Servers and clients must fold in the same way, and another version changes what queries find.
"""

import subprocess
import sys
import unicodedata

VERSION = "14.0.0"
BLOCK = 64
SCALARS = [scalar for scalar in range(0x110000) if not 0xD800 <= scalar < 0xE000]
HANGUL = range(0xAC00, 0xD7A4)

PERL = """
use Unicode::UCD qw(prop_invmap);
print Unicode::UCD::UnicodeVersion(), "\\n";
my ($starts, $values, $format, $default) = prop_invmap("Simple_Case_Folding");
die "unknown form $format" unless $format eq "a" && $default == 0;
for my $i (0 .. $#$starts) {
  my $end = $i < $#$starts ? $starts->[$i + 1] : 0x110000;
  print "$starts->[$i] $end $values->[$i]\\n" if $values->[$i] != 0;
}
"""


def simple_case_folding():
    lines = subprocess.run(["perl", "-e", PERL], check=True, capture_output=True, text=True).stdout.split("\n")
    assert lines[0] == VERSION, f"perl has Unicode {lines[0]}, not {VERSION}"
    folding = {}
    for line in lines[1:-1]:
        # The value is for the first scalar of a range. It grows by one for each scalar that follows.
        start, end, first = map(int, line.split())
        for scalar in range(start, end):
            folding[scalar] = first + scalar - start
    return {scalar: folded for scalar, folded in folding.items() if folded != scalar}


def is_mark(scalar):
    return unicodedata.category(chr(scalar)) == "Mn"


def decomposition(scalar):
    """The full canonical decomposition without nonspacing marks."""
    return [ord(part) for part in unicodedata.normalize("NFD", chr(scalar)) if not is_mark(ord(part))]


def width(scalars):
    return sum(len(chr(scalar).encode()) for scalar in scalars)


def check(folding, spelling, classes):
    """Checks what the code that reads the tables relies on."""
    fold = lambda scalar: folding.get(scalar, scalar)
    spell = lambda scalar: spelling.get(scalar, decomposition(scalar) if scalar in HANGUL else [scalar])
    for scalar in SCALARS:
        spelled = spell(scalar)
        both = [fold(part) for part in spelled]
        # Folding a folded text again does not change it.
        assert fold(fold(scalar)) == fold(scalar)
        assert [again for part in spelled for again in spell(part)] == spelled
        assert [fold(again) for part in both for again in spell(part)] == both
        # The number of bytes grows threefold at most.
        assert width([fold(scalar)]) <= 3 * width([scalar])
        assert width(spelled) <= 3 * width([scalar]) and width(both) <= 3 * width([scalar])
        assert len(spelled) <= 3
        # In a spelling the ordered marks are at the end, and no ordered mark has case.
        ordered = [part in classes for part in spelled]
        assert ordered == sorted(ordered)
        assert all(fold(part) == part for part in spelled if part in classes)
    assert all(spell(scalar) == [scalar] for scalar in range(0x80))
    # Beyond ASCII only the long s and the Kelvin sign are folded to ASCII. If the text to find is ASCII without s and k,
    # the C code therefore needs no test of letters that are not ASCII.
    assert {scalar for scalar in folding if scalar >= 0x80 and folding[scalar] < 0x80} == {0x17F, 0x212A}
    capitals = range(ord("A"), ord("Z") + 1)
    assert all(fold(scalar) == scalar + 32 * (scalar in capitals) for scalar in range(0x80))


def two_stages(values, default):
    """The numbers of the blocks by the higher bits of a scalar, and the distinct blocks one after another."""
    last = max(scalar for scalar, value in values.items() if value != default)
    blocks, numbers = [], []
    for start in range(0, last + 1, BLOCK):
        block = tuple(values.get(scalar, default) for scalar in range(start, start + BLOCK))
        if block not in blocks:
            blocks.append(block)
        numbers.append(blocks.index(block))
    assert len(blocks) <= 256
    return numbers, [value for block in blocks for value in block]


def array(kind, name, values):
    assert all(-(1 << 31) <= value < 1 << 32 for value in values)
    bits = {"uint8_t": range(256), "uint16_t": range(1 << 16), "uint32_t": range(1 << 32)}
    assert kind not in bits or all(value in bits[kind] for value in values)
    lines, line = [], " "
    for value in values:
        item = f"{value},"
        if len(line) + len(item) > 128:
            lines.append(line)
            line = " "
        line += (" " if line == " " else "") + item
    lines.append(line)
    return f"static const {kind} {name}[{len(values)}] = {{\n" + "\n".join(lines) + "\n};\n"


def table():
    assert unicodedata.unidata_version == VERSION, f"python has Unicode {unicodedata.unidata_version}"
    folding = simple_case_folding()
    # The last marks, variation selectors, would make the table five times as long, so the C code drops them itself.
    selectors = range(0xE0100, 0xE01F0)
    assert all(is_mark(scalar) for scalar in selectors)
    spelling = {
        scalar: decomposition(scalar)
        for scalar in SCALARS
        if scalar not in HANGUL and decomposition(scalar) != [scalar]
    }
    classes = {
        scalar: unicodedata.combining(chr(scalar))
        for scalar in SCALARS
        if unicodedata.combining(chr(scalar)) and not is_mark(scalar)
    }
    check(folding, spelling, classes)

    # Case: the index of the distance to the folded scalar in the list of all distances.
    distances = [0]
    for scalar, folded in sorted(folding.items()):
        if folded - scalar not in distances:
            distances.append(folded - scalar)
    assert len(distances) <= 256
    case_values = {scalar: distances.index(folded - scalar) for scalar, folded in folding.items()}
    case_blocks, case_places = two_stages(case_values, 0)

    # Spelling: 0 for the scalar itself, else 1 + the index in the pool of the scalars of its spelling, each with two
    # bits. The first entry of the pool is for marks, which are left out.
    pool, places = [0], {(): 1}
    values = {}
    for scalar, spelled in sorted((spelling | {mark: [mark] for mark in classes}).items()):
        if scalar in selectors:
            continue
        key = tuple(spelled)
        if key not in places:
            places[key] = 1 + len(pool)
            pool += [part << 2 | (part in classes) << 1 | (index + 1 < len(key)) for index, part in enumerate(key)]
        values[scalar] = places[key]
    spelling_blocks, spelling_places = two_stages(values, 0)

    ordered = sorted(classes)
    return f"""// Made by Tests/UnicodeTable/generate.py from the data of Unicode {VERSION}. Change the script, not this file.
//
// Case: Simple_Case_Folding, which has the statuses C and S of CaseFolding.txt. Spelling: full canonical decompositions
// without nonspacing marks (General_Category Mn), except for Hangul syllables and for the marks U+E0100 to U+E01EF.
//
// Both are looked up in the same way. A block of {BLOCK} scalars has the number of a block of places, which has a place for
// each scalar.
#ifndef CREALMPLATFORM_LETTERS_H
#define CREALMPLATFORM_LETTERS_H

#include <stdint.h>

#define CP_LETTERS_BLOCK {BLOCK}

{array("uint8_t", "case_blocks", case_blocks)}
{array("uint8_t", "case_places", case_places)}
// The distance that is added to a scalar to fold it.
{array("int32_t", "case_distances", distances)}
{array("uint8_t", "spelling_blocks", spelling_blocks)}
// 0 for the scalar itself, else 1 more than the index at which its spelling starts.
{array("uint16_t", "spelling_places", spelling_places)}
// Four times each scalar, 2 more if it is one of the ordered marks, and 1 more if another scalar follows in the spelling.
// The first entry is not a scalar. The spelling of marks starts there, because it has no scalars.
{array("uint32_t", "spellings", pool)}
// The marks that are not nonspacing and have a combining class. A spelling is sorted by these classes.
{array("uint32_t", "ordered_marks", ordered)}
{array("uint8_t", "ordered_classes", [classes[scalar] for scalar in ordered])}
#endif
"""


def main():
    if len(sys.argv) == 2:
        with open(sys.argv[1], "w") as file:
            file.write(table())
    elif len(sys.argv) == 3 and sys.argv[1] == "--check":
        with open(sys.argv[2]) as file:
            if file.read() != table():
                sys.exit(f"{sys.argv[2]} is not what this script makes")
    else:
        sys.exit(__doc__)


main()
