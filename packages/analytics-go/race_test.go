//go:build race

package analytics

// The race detector drops pooled encoders at random, which costs allocations.
const raceEnabled = true
