/* A twin of min-conflicts on n queens from a greedy start, with the same random numbers, moves and nodes: two generators of
   625 words, the one of the start and the one of the search. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { int count, columns; } Line; /* queens on it, and the exclusive or of their columns */
typedef struct { int *items, length; char *inside; } Pool;

static int n, *rows;
static long cost;
static Line *level, *rising, *falling;
static Pool attacked, empty;

static uint32_t word(uint32_t *mt) {
    if (mt[624] >= 624) {
        for (int i = 0; i < 624; i++) {
            uint32_t mixed = (mt[i] & 0x80000000u) | (mt[i < 623 ? i + 1 : 0] & 0x7fffffffu);
            mt[i] = mt[i < 227 ? i + 397 : i - 227] ^ (mixed >> 1) ^ ((mixed & 1) * 0x9908b0dfu);
        }
        mt[624] = 0;
    }
    uint32_t found = mt[mt[624]++];
    found ^= found >> 11;
    found ^= (found << 7) & 0x9d2c5680u;
    found ^= (found << 15) & 0xefc60000u;
    return found ^ (found >> 18);
}

static double random01(uint32_t *mt) {
    uint32_t high = word(mt) >> 5, low = word(mt) >> 6;
    return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0);
}

static int below(uint32_t *mt, int count) { return (int)(random01(mt) * count); }

static void add(Pool *pool, int item) {
    if (!pool->inside[item]) {
        pool->inside[item] = 1;
        pool->items[pool->length++] = item;
    }
}

static void drop(Pool *pool, int place) {
    pool->inside[pool->items[place]] = 0;
    pool->items[place] = pool->items[--pool->length];
}

static void greedy(uint32_t *mt) {
    char *up = calloc(2 * n + 1, 1), *down = calloc(2 * n + 1, 1);
    int column = 0, other, row;
    for (int i = 0; i < n; i++) rows[i] = i + 1;
    for (long left = (long)(3.08 * n); left > 0 && column < n; left--) {
        other = column + below(mt, n - column);
        row = rows[other];
        if (up[row + column] || down[row - column + n]) continue;
        up[row + column] = down[row - column + n] = 1;
        rows[other] = rows[column];
        rows[column++] = row;
    }
    for (; column < n; column++) {
        other = column + below(mt, n - column);
        row = rows[other];
        rows[other] = rows[column];
        rows[column] = row;
    }
    free(up);
    free(down);
}

static void begin(void) {
    cost = 0;
    attacked.length = empty.length = 0;
    for (int column = 0; column < n; column++) {
        int row = rows[column];
        Line *lines[3] = {&level[row], &rising[row + column], &falling[row - column + n]};
        for (int i = 0; i < 3; i++) {
            cost += lines[i]->count++;
            lines[i]->columns ^= column;
        }
        add(&attacked, column);
    }
    for (int row = 1; row <= n; row++)
        if (!level[row].count) add(&empty, row);
}

static int is_free(int column, int row) { return !rising[row + column].count && !falling[row - column + n].count; }

static int conflicted(uint32_t *mt) {
    while (attacked.length) {
        int place = below(mt, attacked.length), column = attacked.items[place], row = rows[column];
        if (level[row].count > 1 || rising[row + column].count > 1 || falling[row - column + n].count > 1) return column;
        drop(&attacked, place);
    }
    return below(mt, n);
}

static void propose(uint32_t *mt, int *column, int *row, int *other) {
    *column = conflicted(mt);
    *row = *other = -1;
    double chance = random01(mt);
    if (chance < 0.05) {
        *row = 1 + below(mt, n);
        return;
    }
    int looks = chance < 0.15 ? 1 : 12, partner = *column;
    if (level[rows[*column]].count > 1) {
        int good;
        for (int left = looks;;) {
            int place = below(mt, empty.length);
            *row = empty.items[place];
            if (level[*row].count) drop(&empty, place);
            else if ((good = is_free(*column, *row)) || left-- <= 1) break;
        }
        if (good || random01(mt) < 0.5) return;
        *row = -1;
    }
    for (; looks > 0; looks--) {
        partner = below(mt, n - 1);
        if (partner >= *column) partner++;
        if (is_free(*column, rows[partner])) break;
    }
    *other = partner;
}

static long delta(int column, int to, int other) {
    int row = rows[column], target = other < 0 ? to : rows[other];
    if (row == target) return 0;
    long change = rising[target + column].count + falling[target - column + n].count - rising[row + column].count
                  - falling[row - column + n].count;
    if (other < 0) return change + level[target].count - level[row].count + 3;
    change += rising[row + other].count + falling[row - other + n].count - rising[target + other].count
              - falling[target - other + n].count + 4;
    return abs(row - target) == abs(column - other) ? change + 2 : change;
}

static void lift(int column, int row) {
    Line *up = &rising[row + column], *down = &falling[row - column + n];
    cost -= --up->count + --down->count;
    up->columns ^= column;
    down->columns ^= column;
}

static void land(int column, int row) {
    Line *up = &rising[row + column], *down = &falling[row - column + n];
    rows[column] = row;
    if (up->count || down->count) {
        cost += up->count + down->count;
        add(&attacked, column);
        if (up->count == 1) add(&attacked, up->columns);
        if (down->count == 1) add(&attacked, down->columns);
    }
    up->count++;
    down->count++;
    up->columns ^= column;
    down->columns ^= column;
}

static void apply(int column, int target, int other) {
    int row = rows[column];
    if (other >= 0) target = rows[other];
    if (row == target) return;
    level[row].columns ^= column;
    level[target].columns ^= column;
    lift(column, row);
    if (other >= 0) {
        level[row].columns ^= other;
        level[target].columns ^= other;
        lift(other, target);
        land(column, target);
        land(other, row);
        if (level[target].count > 1) add(&attacked, column);
        if (level[row].count > 1) add(&attacked, other);
        return;
    }
    if (!--level[row].count) add(&empty, row);
    if (level[target].count) {
        add(&attacked, column);
        if (level[target].count == 1) add(&attacked, level[target].columns ^ column);
    }
    cost += level[target].count++ - level[row].count;
    land(column, target);
}

/* Fill `found` with the rows of a solution and return the nodes. */
long solve(int queens, uint32_t *start, uint32_t *search, int *found) {
    long nodes = 0;
    int column, row, other;
    n = queens;
    rows = found;
    level = calloc(n + 1, sizeof(Line));
    rising = calloc(2 * n + 1, sizeof(Line));
    falling = calloc(2 * n + 1, sizeof(Line));
    attacked = (Pool){malloc(n * sizeof(int)), 0, calloc(n + 1, 1)};
    empty = (Pool){malloc(n * sizeof(int)), 0, calloc(n + 1, 1)};
    greedy(start);
    begin();
    while (cost > 0) {
        propose(search, &column, &row, &other);
        nodes++;
        if (delta(column, row, other) <= 0) apply(column, row, other);
    }
    void *made[] = {level, rising, falling, attacked.items, attacked.inside, empty.items, empty.inside};
    for (int i = 0; i < 7; i++) free(made[i]);
    return nodes;
}
