/* A* with Manhattan on the 8-puzzle, as one writes it in C: states in rows with a table of them, a binary heap of the frontier.
   Of equal priorities the larger cost comes first, of equal costs the last one in. */
#include <stdlib.h>
#include <string.h>

typedef unsigned long long Tiles;
typedef struct { Tiles tiles; int blank, g, h, parent; } Row;
typedef struct { int f, g, turn, row; } Entry;

enum { ROWS = 1 << 18, SLOTS = 1 << 19 };
static Row *rows;
static Entry *heap;
static int *table, used, size;
static int beside[9][5], distance[9][9];

static int before(const Entry *one, const Entry *other)
{
    if (one->f != other->f)
        return one->f < other->f;
    if (one->g != other->g)
        return one->g > other->g;
    return one->turn > other->turn;
}

static void push(Entry entry)
{
    int place = size++;
    while (place > 0 && before(&entry, &heap[(place - 1) / 2])) {
        heap[place] = heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap[place] = entry;
}

static Entry popped(void)
{
    Entry first = heap[0], entry = heap[--size];
    int place = 0;
    for (;;) {
        int child = place * 2 + 1;
        if (child >= size)
            break;
        if (child + 1 < size && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &entry))
            break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = entry;
    return first;
}

static int *slot_of(Tiles tiles)
{
    unsigned slot = (unsigned)(tiles * 0x9e3779b97f4a7c15ULL >> 40) & (SLOTS - 1);
    while (table[slot] && rows[table[slot] - 1].tiles != tiles)
        slot = (slot + 1) & (SLOTS - 1);
    return &table[slot];
}

/* Return the length of a shortest solution of the 8-puzzle, -1 without one; the nodes are written to *nodes. */
int solve(const unsigned char *start, const unsigned char *goal, long *nodes)
{
    int homes[9], turn = 1;
    Tiles target = 0;
    Row first = {0, 0, 0, 0, -1};
    if (!rows) {
        rows = malloc(ROWS * sizeof *rows);
        heap = malloc(2 * ROWS * sizeof *heap);
        table = malloc(SLOTS * sizeof *table);
    }
    memset(table, 0, SLOTS * sizeof *table);
    for (int cell = 0; cell < 9; cell++) {
        int *place = beside[cell];
        homes[goal[cell]] = cell;
        target |= (Tiles)goal[cell] << 4 * cell;
        if (cell >= 3) *place++ = cell - 3;
        if (cell % 3) *place++ = cell - 1;
        if (cell % 3 < 2) *place++ = cell + 1;
        if (cell < 6) *place++ = cell + 3;
        *place = -1;
    }
    for (int tile = 1; tile < 9; tile++)
        for (int cell = 0; cell < 9; cell++)
            distance[tile][cell] = abs(homes[tile] / 3 - cell / 3) + abs(homes[tile] % 3 - cell % 3);
    for (int cell = 0; cell < 9; cell++) {
        first.tiles |= (Tiles)start[cell] << 4 * cell;
        if (start[cell]) first.h += distance[start[cell]][cell];
        else first.blank = cell;
    }
    rows[0] = first;
    used = 1;
    size = 0;
    *nodes = 0;
    *slot_of(first.tiles) = 1;
    push((Entry){first.h, 0, 0, 0});
    while (size) {
        Entry entry = popped();
        Row here = rows[entry.row];
        if (here.g < entry.g)
            continue;
        if (here.tiles == target)
            return here.g;
        for (int *place = beside[here.blank]; *place >= 0; place++) {
            int cell = *place, tile = here.tiles >> 4 * cell & 15, *slot, row;
            Row after = {here.tiles ^ (Tiles)tile << 4 * cell ^ (Tiles)tile << 4 * here.blank, cell, here.g + 1, 0, entry.row};
            after.h = here.h + distance[tile][here.blank] - distance[tile][cell];
            ++*nodes;
            slot = slot_of(after.tiles);
            row = *slot - 1;
            if (row < 0)
                *slot = (row = used++) + 1;
            else if (after.g >= rows[row].g)
                continue;
            rows[row] = after;
            push((Entry){after.g + after.h, after.g, turn++, row});
        }
    }
    return -1;
}
