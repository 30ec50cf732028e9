/* Alpha-beta on connect four 7x6 to a depth, wins and blocks first, with the heuristic `open-lines`: the same nodes in C. */
typedef long long board;

#define STRIDE 7
#define STEP 1e-6

static const board FEET = 0x40810204081LL, FULL = 0x40810204081LL * 63;
static const int STEPS[4] = {1, 7, 8, 6};
static long nodes, evaluations;

static int line(board s)
{
    for (int k = 0; k < 4; k++) {
        board run = s & s >> STEPS[k];
        if (run & run >> 2 * STEPS[k])
            return 1;
    }
    return 0;
}

static board up(board cells, int n) { return (cells & FULL >> n) << n; }

static board wins(board s, board filled)
{
    board found = 0;
    for (int k = 0; k < 4; k++) {
        int d = STEPS[k];
        board two = s & s >> d, three = two & s >> 2 * d;
        found |= up(three, 3 * d) | three >> d | (two >> d & up(s, d)) | (up(two, 2 * d) & s >> d);
    }
    return found & (filled + FEET) & FULL;
}

static int counted(board own, board other, int d, board lines)
{
    board free = lines & ~(other | other >> d | other >> 2 * d | other >> 3 * d);
    board one = own, two = own >> d, three = own >> 2 * d, four = own >> 3 * d;
    board either = one | two, both = one & two, any = three | four, all = three & four;
    return __builtin_popcountll((either | any) & free) + 2 * __builtin_popcountll((both | all | (either & any)) & free)
        + 6 * __builtin_popcountll(((both & any) | (all & either)) & free);
}

static double estimate(board own, board filled)
{
    board theirs = own ^ filled;
    int total = 0;
    for (int k = 0; k < 4; k++) {
        int d = STEPS[k];
        board lines = FULL & FULL >> d & FULL >> 2 * d & FULL >> 3 * d;
        total += counted(own, theirs, d, lines) - counted(theirs, own, d, lines);
    }
    double value = total / 90.0;
    return value > 0.99 ? 0.99 : value < -0.99 ? -0.99 : value;
}

/* The value to whoever moves; `own` are his stones. */
static double value(board own, board filled, int ply, int depth, double alpha, double beta)
{
    double best = -1e300, ceiling = 1.0 - (ply + 1) * STEP;
    if (beta > ceiling) {
        beta = ceiling;
        if (alpha >= beta)
            return beta;
    }
    board urgent = wins(own, filled);
    if (!urgent)
        urgent = wins(own ^ filled, filled);
    for (int later = urgent ? 0 : 1; later < 2; later++)
        for (int column = 0; column < 7; column++) {
            board foot = 1LL << column * STRIDE, stone = (filled + foot) & ~filled & 63 * foot;
            if (!stone || (urgent && ((stone & urgent) != 0) == later))
                continue;
            board after = filled | stone;
            double score;
            nodes++;
            if (line(own | stone))
                score = 1.0 - (ply + 1) * STEP;
            else if (after == FULL)
                score = 0.0;
            else if (ply + 1 >= depth) {
                evaluations++;
                score = -estimate(own ^ filled, after);
            } else
                score = -value(own ^ filled, after, ply + 1, depth, -beta, -alpha);
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
long search(int depth)
{
    nodes = evaluations = 0;
    value(0, 0, 0, depth, -1e300, 1.0 - STEP);
    return nodes;
}
