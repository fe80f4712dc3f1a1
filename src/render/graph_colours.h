/*
 * graph_colours.h - the colours of a call graph: light paper, warm where the time is
 *
 * Shares go from almost white over sand to a dark orange: the eye finds the hot path,
 * and a small node stays a quiet one. Changes go to blue (less) and orange (more),
 * which everybody can tell apart. All are "#rrggbb".
 */
#pragma once
#include "base/view.h"

#define COLOUR_ROOM 8

struct node_colours {
    char fill[COLOUR_ROOM], border[COLOUR_ROOM], text[COLOUR_ROOM];
};

struct node_colours colours_of_share(double share);      /* 0..1 */
struct node_colours colours_of_name(struct view module); /* the same for the same name */
struct node_colours colours_of_change(double change);    /* -1..1; 0 is grey */
struct node_colours colours_plain(void);

void colour_of_edge(char out[COLOUR_ROOM], double share);
void colour_of_edge_change(char out[COLOUR_ROOM], double change);
