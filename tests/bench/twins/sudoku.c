/* Sudoku depth first, as one writes it in C: a mask of candidates for every cell, bit 9 for an empty one, copied at every step.
   The cell with the fewest digits is filled first; where all have two or more, a digit with one place in a row, column or box. */
#include <string.h>

enum { ALL = 511, EMPTY = 512 };
typedef unsigned short Grid[81];

static int units[27][9], peers[81][20];
static long nodes;

static void prepared(void)
{
    for (int n = 0; n < 9; n++)
        for (int k = 0; k < 9; k++) {
            units[n][k] = n * 9 + k;
            units[9 + n][k] = k * 9 + n;
            units[18 + n][k] = (n / 3 * 3 + k / 3) * 9 + n % 3 * 3 + k % 3;
        }
    for (int cell = 0; cell < 81; cell++) {
        int count = 0;
        for (int other = 0; other < 81; other++) {
            int same_box = cell / 27 == other / 27 && cell % 9 / 3 == other % 9 / 3;
            if (other != cell && (cell / 9 == other / 9 || cell % 9 == other % 9 || same_box))
                peers[cell][count++] = other;
        }
    }
}

static void put(Grid grid, int cell, int digit)
{
    for (int k = 0; k < 20; k++)
        grid[peers[cell][k]] &= ~digit;
    grid[cell] = digit;
}

/* The cell of the lowest digit that has one place in a unit from `start` on, the digit in *digits; -1 at a dead end, -2 without one. */
static int only_place(const unsigned short *grid, int start, int *digits)
{
    int single = 0, first = 81;
    for (int unit = start; unit < start + 9; unit++) {
        int once = 0, twice = 0, free = 0;
        for (int k = 0; k < 9; k++) {
            int here = grid[units[unit][k]];
            twice |= once & here;
            once |= here;
            if (here & EMPTY)
                free |= here;
        }
        if ((once & ALL) != ALL)
            return -1;
        single |= once & ~twice & free & ALL;
    }
    if (!single)
        return -2;
    *digits = single & -single;
    for (int unit = start; unit < start + 9; unit++) {
        int places = 0, last = 0;
        for (int k = 0; k < 9; k++)
            if (grid[units[unit][k]] & *digits) {
                places++;
                last = units[unit][k];
            }
        if (places == 1 && grid[last] & EMPTY && last < first)
            first = last;
    }
    return first;
}

static int chosen(const unsigned short *grid, int *digits)
{
    int fewest = 10, found = 0;
    for (int cell = 0; cell < 81; cell++)
        if (grid[cell] & EMPTY) {
            int left = __builtin_popcount(grid[cell]) - 1;
            if (left < fewest) {
                fewest = left;
                found = cell;
            }
        }
    if (fewest == 0 || fewest == 10)
        return -1;
    if (fewest > 1)
        for (int start = 0; start < 27; start += 9) {
            int forced = only_place(grid, start, digits);
            if (forced != -2)
                return forced;
        }
    *digits = grid[found] & ALL;
    return found;
}

static int filled(const unsigned short *grid, unsigned short *solution)
{
    int digits = 0, cell = chosen(grid, &digits);
    if (cell < 0)
        return 0;
    for (; digits; digits &= digits - 1) {
        Grid after;
        int left = 0;
        nodes++;
        memcpy(after, grid, sizeof after);
        put(after, cell, digits & -digits);
        for (int k = 0; k < 81; k++)
            left |= after[k];
        if (!(left & EMPTY)) {
            memcpy(solution, after, sizeof after);
            return 1;
        }
        if (filled(after, solution))
            return 1;
    }
    return 0;
}

/* Fill a grid of 81 characters, `.` for empty cells, in place; return the nodes. */
long solve(char *text)
{
    Grid grid, solution;
    if (!peers[0][0])
        prepared();
    for (int cell = 0; cell < 81; cell++)
        grid[cell] = ALL | EMPTY;
    for (int cell = 0; cell < 81; cell++)
        if (text[cell] != '.')
            put(grid, cell, 1 << (text[cell] - '1'));
    nodes = 0;
    if (filled(grid, solution))
        for (int cell = 0; cell < 81; cell++)
            text[cell] = '1' + __builtin_ctz(solution[cell]);
    return nodes;
}
