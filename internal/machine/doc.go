// Package machine says what this process may use of the machine it runs on:
// cores and memory, within the limits of its CPU affinity and its cgroups, and
// how much memory it has used.
//
// What a system does not tell is reported as unknown, never guessed.
package machine
