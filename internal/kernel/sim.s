//go:build dstsim

// This file lets the package declare a function that the overlay defines.
