"""Pictures of one shape on a patterned ground, among dots and bars that are none of the five shapes.

scenes(seed, count) draws what the pictures hold; rendered(scenes, side) paints them at any size: (count, side, side,
3) bytes, and where the shape is. Lengths are in parts of the side, so a picture is the same one at every size."""
import numpy as np

KINDS = ["circle", "square", "triangle", "cross", "ring"]
GROUNDS = ["plain", "stripes", "checks", "spots"]
MARKS = 4  # dots and bars at most


def scenes(seed, count):
    draw = np.random.default_rng(seed)

    def uniform(low, high, *shape):
        return draw.uniform(low, high, (count, *shape))

    def colours(*others):
        """One colour a picture, far from the others."""
        found = uniform(0, 255, 3)
        for _ in range(20):
            near = np.zeros(count, bool)
            for other in others:
                near |= np.abs(found - other).sum(1) < 200
            if not near.any():
                break
            found[near] = draw.uniform(0, 255, (near.sum(), 3))
        return found

    radius = uniform(0.15, 0.23)
    ground = colours()
    return {"kind": draw.integers(0, len(KINDS), count), "radius": radius, "turn": uniform(0, 2 * np.pi),
            "centre": radius[:, None] + uniform(0.02, 0.98, 2) * (1 - 2 * radius[:, None]), "ground": ground,
            "colour": colours(ground), "pattern": draw.integers(0, len(GROUNDS), count),
            "other_ground": (ground + uniform(25, 60, 3) * np.where(ground > 128, -1, 1)).clip(0, 255),
            "period": uniform(0.12, 0.3), "ground_turn": uniform(0, np.pi), "phase": uniform(0, 1, 2),
            "marks": draw.integers(1, MARKS + 1, count), "mark_centre": uniform(0.05, 0.95, MARKS, 2),
            "mark_bar": draw.random((count, MARKS)) < 0.5, "mark_size": uniform(0.03, 0.055, MARKS),
            "mark_turn": uniform(0, np.pi, MARKS), "mark_length": uniform(0.06, 0.13, MARKS),
            "mark_colour": np.stack([colours(ground) for _ in range(MARKS)], 1)}


def wide(array):
    return np.asarray(array, np.float32)[:, None, None]


def box(x, y, half_width, half_height):
    """The signed distance from a rectangle about the origin."""
    outside_x, outside_y = np.abs(x) - half_width, np.abs(y) - half_height
    return np.hypot(np.maximum(outside_x, 0), np.maximum(outside_y, 0)) + np.minimum(
        np.maximum(outside_x, outside_y), 0)


def turned(x, y, centre, turn):
    x, y, cosine, sine = x - wide(centre[:, 0]), y - wide(centre[:, 1]), wide(np.cos(turn)), wide(np.sin(turn))
    return x * cosine + y * sine, y * cosine - x * sine


def outline(kind, x, y, radius):
    """The signed distance from the shape, whose corners are about `radius` from the middle."""
    name = KINDS[kind]
    if name == "circle":
        return np.hypot(x, y) - 0.9 * radius
    if name == "ring":
        return np.abs(np.hypot(x, y) - 0.72 * radius) - 0.24 * radius
    if name == "square":
        return box(x, y, 0.74 * radius, 0.74 * radius)
    if name == "cross":
        return np.minimum(box(x, y, radius, 0.3 * radius), box(x, y, 0.3 * radius, radius))
    edges = [x * np.cos(at) + y * np.sin(at) for at in (np.pi / 2, np.pi * 7 / 6, np.pi * 11 / 6)]
    return np.maximum.reduce(edges) - 0.55 * radius


def ground_of(scene, side):
    """(count, side, side): 0 where the one colour of the ground is, 1 where the other is."""
    at = (np.arange(side, dtype=np.float32) + 0.5) / side
    found = np.zeros((len(scene["kind"]), side, side), np.float32)
    for pattern in (1, 2, 3):
        own = np.flatnonzero(scene["pattern"] == pattern)
        period = wide(scene["period"][own])
        waves = [(along / period) % 1 - 0.5 for along in
                 turned(at[None, None], at[None, :, None], scene["phase"][own], scene["ground_turn"][own])]

        def covered(distance):
            return np.clip(0.5 - distance * period * side, 0, 1)

        if pattern == 3:
            found[own] = covered(np.hypot(*waves) - 0.3)
            continue
        first, second = (covered(np.abs(wave) - 0.25) for wave in waves)
        found[own] = first if pattern == 1 else first + second - 2 * first * second
    return found


def rendered(scene, side):
    reach = 0.27  # of the largest shape
    margin = int(np.ceil(reach * side)) + 1
    count = len(scene["kind"])
    canvas = np.zeros((count, side + 2 * margin, side + 2 * margin, 3), np.float32)
    cover = np.zeros(canvas.shape[:3], np.float32)
    middle = np.s_[:, margin:margin + side, margin:margin + side]
    canvas[middle] = scene["ground"][:, None, None] + ground_of(scene, side)[..., None] * (
        scene["other_ground"] - scene["ground"])[:, None, None]

    def paint(own, centre, turn, distance, colour, reach, keep=False):
        """Paints on the pictures `own` what is nearer than 0, in a window about its middle."""
        window = np.arange(2 * int(np.ceil(reach * side)) + 1)
        first = np.floor((centre - reach) * side).astype(int)
        columns, rows = (first[:, axis, None] + window for axis in (0, 1))
        here = turned((columns[:, None] + 0.5) / side, (rows[:, :, None] + 0.5) / side, centre, turn)
        painted = np.clip(0.5 - distance(*(axis.astype(np.float32) for axis in here)) * side, 0, 1)
        place = own[:, None, None], rows[:, :, None] + margin, columns[:, None] + margin
        canvas[place] += painted[..., None] * (wide(colour) - canvas[place])
        if keep:
            cover[place] = painted

    for mark in range(MARKS):
        for bar in (False, True):
            own = np.flatnonzero((scene["mark_bar"][:, mark] == bar) & (scene["marks"] > mark))
            size, length = (wide(scene[key][own, mark]) for key in ("mark_size", "mark_length"))
            paint(own, scene["mark_centre"][own, mark], scene["mark_turn"][own, mark],
                  (lambda x, y: box(x, y, length, 0.4 * size)) if bar else (lambda x, y: np.hypot(x, y) - size),
                  scene["mark_colour"][own, mark], 0.15)
    for kind in range(len(KINDS)):
        own = np.flatnonzero(scene["kind"] == kind)
        paint(own, scene["centre"][own], scene["turn"][own],
              lambda x, y: outline(kind, x, y, wide(scene["radius"][own])), scene["colour"][own], reach, keep=True)
    return canvas[middle].round().astype(np.uint8), cover[middle]
