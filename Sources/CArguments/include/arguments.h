// The words that the program was started with. Swift's own list of them is read from /proc on Linux, and empty where there is none.
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

// How many there are, the program's name among them.
int started_with_count(void);

// One of them; NULL beyond the last.
const char *started_with(int place);

#endif
