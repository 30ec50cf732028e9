/* IDA* with Manhattan on the 15-puzzle, as one writes it in C: tiles in place, the estimate carried along, no slide back. */
#include <string.h>

static int tiles[16], home[16], deltas[16][16][16], beside[16][5];
static long nodes;
static int least;

static int within(int blank, int before, int g, int h, int bound)
{
    for (int *place = beside[blank]; *place >= 0; place++) {
        int cell = *place, tile, after, f;
        nodes++;
        if (cell == before)
            continue;
        tile = tiles[cell];
        after = h + deltas[tile][cell][blank];
        f = g + 1 + after;
        if (f > bound) {
            if (f < least)
                least = f;
            continue;
        }
        if (after == 0)
            return g + 1;
        tiles[blank] = tile;
        tiles[cell] = 0;
        int found = within(cell, blank, g + 1, after, bound);
        tiles[cell] = tile;
        tiles[blank] = 0;
        if (found)
            return found;
    }
    return 0;
}

static int distance(int tile, int cell)
{
    int row = home[tile] / 4 - cell / 4, column = home[tile] % 4 - cell % 4;
    return (row < 0 ? -row : row) + (column < 0 ? -column : column);
}

/* Return the length of a shortest solution; the nodes are written to *used. */
int solve(const unsigned char *start, const unsigned char *goal, long *used)
{
    int h = 0, blank = 0, bound, found;
    for (int cell = 0; cell < 16; cell++) {
        int *place = beside[cell];
        home[goal[cell]] = cell;
        if (cell >= 4) *place++ = cell - 4;
        if (cell % 4) *place++ = cell - 1;
        if (cell % 4 < 3) *place++ = cell + 1;
        if (cell < 12) *place++ = cell + 4;
        *place = -1;
    }
    for (int tile = 1; tile < 16; tile++)
        for (int from = 0; from < 16; from++)
            for (int to = 0; to < 16; to++)
                deltas[tile][from][to] = distance(tile, to) - distance(tile, from);
    for (int cell = 0; cell < 16; cell++) {
        tiles[cell] = start[cell];
        if (start[cell]) h += distance(start[cell], cell);
        else blank = cell;
    }
    nodes = 0;
    for (bound = h;; bound = least) {
        least = 1 << 30;
        found = within(blank, -1, 0, h, bound);
        if (found || least == 1 << 30)
            break;
    }
    *used = nodes;
    return found;
}
