//go:build dstsim

// This file lets the package declare functions that the overlay defines.
