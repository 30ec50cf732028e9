/* IDA* with disjoint pattern databases on the 15-puzzle, as one writes it in C: where the tiles of each set are is carried along,
   of the state and of its mirror image, and the larger of the two sums of the tables counts. No slide back. */
#include <stddef.h>

enum { MOST = 8 };
static int tiles[16], beside[16][5], set_of[16], shift_of[16], image[16], mirror[16], sets;
static const unsigned char *tables[MOST];
static long nodes;
static int least;

typedef struct { unsigned place[MOST], mirrored[MOST]; } Places;

static int estimate(const Places *at)
{
    int own = 0, other = 0;
    for (int set = 0; set < sets; set++) {
        own += tables[set][at->place[set]];
        other += tables[set][at->mirrored[set]];
    }
    return own > other ? own : other;
}

static void moved(Places *at, int tile, int from, int to)
{
    at->place[set_of[tile]] += (unsigned)(to - from) << shift_of[tile];
    at->mirrored[set_of[image[tile]]] += (unsigned)(mirror[to] - mirror[from]) << shift_of[image[tile]];
}

static int within(int blank, int before, int g, const Places *at, int bound)
{
    for (int *place = beside[blank]; *place >= 0; place++) {
        int cell = *place, tile, f;
        Places after;
        nodes++;
        if (cell == before)
            continue;
        tile = tiles[cell];
        after = *at;
        moved(&after, tile, cell, blank);
        f = g + 1 + estimate(&after);
        if (f > bound) {
            if (f < least)
                least = f;
            continue;
        }
        if (f == g + 1)
            return f;
        tiles[blank] = tile;
        tiles[cell] = 0;
        int found = within(cell, blank, g + 1, &after, bound);
        tiles[cell] = tile;
        tiles[blank] = 0;
        if (found)
            return found;
    }
    return 0;
}

/* Return the length of a shortest solution; `members` are the tiles of the sets one after the other, `counts` how many of each. */
int solve(const unsigned char *start, const unsigned char *goal, int many, const int *counts, const int *members,
          const unsigned char **given, long *used)
{
    Places first = {{0}, {0}};
    int blank = 0, bound, found = 0, home[16];
    sets = many;
    for (int set = 0; set < sets; set++) {
        tables[set] = given[set];
        for (int n = 0; n < counts[set]; n++, members++) {
            set_of[*members] = set;
            shift_of[*members] = 4 * n;
        }
    }
    for (int cell = 0; cell < 16; cell++) {
        int *place = beside[cell];
        home[goal[cell]] = cell;
        mirror[cell] = cell % 4 * 4 + cell / 4;
        if (cell >= 4) *place++ = cell - 4;
        if (cell % 4) *place++ = cell - 1;
        if (cell % 4 < 3) *place++ = cell + 1;
        if (cell < 12) *place++ = cell + 4;
        *place = -1;
    }
    for (int tile = 0; tile < 16; tile++)
        image[tile] = goal[mirror[home[tile]]];
    for (int cell = 0; cell < 16; cell++) {
        tiles[cell] = start[cell];
        if (!start[cell])
            blank = cell;
        else {
            first.place[set_of[start[cell]]] += (unsigned)cell << shift_of[start[cell]];
            first.mirrored[set_of[image[start[cell]]]] += (unsigned)mirror[cell] << shift_of[image[start[cell]]];
        }
    }
    nodes = 0;
    for (bound = estimate(&first); bound > 0; bound = least) {
        least = 1 << 30;
        found = within(blank, -1, 0, &first, bound);
        if (found || least == 1 << 30)
            break;
    }
    *used = nodes;
    return found;
}
