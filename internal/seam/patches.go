package seam

// patches is a placeholder until the runtime patches are in.
func patches(release, goarch string) []Patch {
	return []Patch{{
		File: "runtime/synctest.go",
		Edits: []Edit{{
			Find:    "// A synctestBubble is a set of goroutines started by synctest.Run.",
			Replace: "// Placeholder of the simulation build.\n\n$0",
		}},
	}}
}
