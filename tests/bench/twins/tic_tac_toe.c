/* Alpha-beta on the whole game of tic-tac-toe, wins and blocks first: the same nodes in C. */
#define STEP 1e-6
#define FULL 511

static const int LINES[8] = {7, 56, 448, 73, 146, 292, 273, 84};
static long nodes;

static int line(int stones)
{
    for (int k = 0; k < 8; k++)
        if ((stones & LINES[k]) == LINES[k])
            return 1;
    return 0;
}

/* The empty cells in which a mark would complete a line. */
static int wins(int own, int filled)
{
    int found = 0;
    for (int k = 0; k < 8; k++) {
        int missing = LINES[k] & ~own;
        if (!(missing & (missing - 1)))
            found |= missing & ~filled;
    }
    return found;
}

/* The value to whoever moves; `own` are his marks. */
static double value(int own, int other, int ply, double alpha, double beta)
{
    int filled = own | other;
    double best = -1e300, ceiling = 1.0 - (ply + 1) * STEP;
    if (beta > ceiling) {
        beta = ceiling;
        if (alpha >= beta)
            return beta;
    }
    int urgent = wins(own, filled);
    if (!urgent)
        urgent = wins(other, filled);
    for (int later = urgent ? 0 : 1; later < 2; later++)
        for (int cell = 1; cell < FULL; cell <<= 1) {
            if ((filled & cell) || (urgent && ((urgent & cell) != 0) == later))
                continue;
            double score;
            nodes++;
            if (line(own | cell))
                score = 1.0 - (ply + 1) * STEP;
            else if ((filled | cell) == FULL)
                score = 0.0;
            else
                score = -value(other, own | cell, ply + 1, -beta, -alpha);
            if (score > best) {
                best = score;
                if (score > alpha) {
                    alpha = score;
                    if (alpha >= beta)
                        return best;
                }
            }
        }
    return best;
}

/* Search from the empty board; return the nodes. */
long search(void)
{
    nodes = 0;
    value(0, 0, 0, -1e300, 1.0 - STEP);
    return nodes;
}
