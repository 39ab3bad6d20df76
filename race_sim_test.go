//go:build dst && race

package dst_test

const raceFlag = " -race"
