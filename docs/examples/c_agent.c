/* An agent in C: it plays tic-tac-toe by looking at all games to their end. It speaks the protocol of docs/reference/protocol.md.
 *
 *     cc -O2 -o c_agent c_agent.c
 *
 *     agents:
 *       - {agent: {command: [./c_agent]}, label: c}
 */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char cells[9]; /* x, o or '.', row by row */
static long nodes, limit; /* the positions generated for this decision, and how many are allowed */

static const int lines[8][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};

static int won(char side)
{
    for (int i = 0; i < 8; i++)
        if (cells[lines[i][0]] == side && cells[lines[i][1]] == side && cells[lines[i][2]] == side)
            return 1;
    return 0;
}

static char to_move(void)
{
    int balance = 0;
    for (int cell = 0; cell < 9; cell++)
        balance += (cells[cell] == 'x') - (cells[cell] == 'o');
    return balance == 0 ? 'x' : 'o';
}

/* Store the best cell for the side to move in *best, and return its value: 1 for a win, 0 for a draw, -1 for a loss. Beyond the
 * node limit, every position counts as a draw. */
static int search(int *best)
{
    char side = to_move();
    int value = -2;
    for (int cell = 0; cell < 9 && nodes < limit; cell++) {
        int reply, unused;
        if (cells[cell] != '.')
            continue;
        nodes++;
        cells[cell] = side;
        reply = won(side) ? 1 : -search(&unused);
        cells[cell] = '.';
        if (reply > value) {
            value = reply;
            *best = cell;
        }
    }
    return value == -2 ? 0 : value; /* a full board is a draw, too */
}

/* Find the beginning of the value of a key, which is a text in quotes before a colon; NULL if the key is missing. */
static const char *value_of(const char *message, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = strchr(message, '"'); at != NULL; at = strchr(at + 1, '"')) {
        const char *after = at + 1 + length;
        if (strncmp(at + 1, key, length) != 0 || *after != '"')
            continue;
        after += 1 + strspn(after + 1, " \t");
        if (*after == ':')
            return after + 1 + strspn(after + 1, " \t");
    }
    return NULL;
}

static int is(const char *message, const char *type)
{
    const char *value = value_of(message, "type");
    size_t length = strlen(type);
    return value != NULL && *value == '"' && strncmp(value + 1, type, length) == 0 && value[1 + length] == '"';
}

/* "limits":{"nodes":1000}, or null without a limit; "rows":3,"columns":3: the program knows only this size of the board */
static int start(const char *message)
{
    const char *most = value_of(message, "nodes");
    limit = most != NULL && *most >= '1' && *most <= '9' ? strtol(most, NULL, 10) : LONG_MAX;
    const char *game = value_of(message, "game"), *rows = value_of(message, "rows"), *columns = value_of(message, "columns");
    return game != NULL && strncmp(game, "\"tic-tac-toe\"", 13) == 0 && rows != NULL && *rows == '3' && columns != NULL
        && *columns == '3';
}

/* "position":"x../.o./...", in the first request of a match */
static void place(const char *message)
{
    const char *position = value_of(message, "position");
    int cell = 0;
    if (position == NULL)
        return;
    for (position++; *position != '"' && *position != '\0'; position++)
        if (*position != '/' && cell++ < 9)
            cells[cell - 1] = *position;
}

/* "played":["1","5"] */
static void follow(const char *message)
{
    const char *at = value_of(message, "played");
    for (; at != NULL && *at != ']' && *at != '\0'; at++)
        if (*at >= '1' && *at <= '9')
            cells[*at - '1'] = to_move();
}

int main(void)
{
    char *message = NULL;
    size_t size = 0;
    int best = 0, value;
    setvbuf(stdout, NULL, _IOLBF, 0); /* flush the output after each line */
    while (getline(&message, &size, stdin) > 0) {
        if (is(message, "hello")) {
            printf("{\"type\":\"hello\",\"protocol\":2,\"name\":\"C example\",\"can\":[\"choose\"]}\n");
        } else if (is(message, "start")) {
            if (start(message))
                printf("{\"type\":\"ready\"}\n");
            else
                printf("{\"type\":\"failed\",\"message\":\"knows tic-tac-toe on the 3x3 board alone\"}\n");
        } else if (is(message, "choose")) {
            place(message);
            follow(message);
            nodes = 0;
            value = search(&best);
            printf("{\"type\":\"action\",\"action\":\"%d\",\"nodes\":%ld,\"value\":%d}\n", best + 1, nodes, value);
        } else if (is(message, "quit")) {
            break;
        }
    }
    free(message);
    return 0;
}
